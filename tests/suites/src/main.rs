//! The in-kernel tests: the kernel boots as always, and then runs these instead of ending.
//!
//! One file per subject, each a suite. What a machine cannot have is left out by its machine file,
//! so a test that runs is a test that means something there.
#![no_std]
#![no_main]

extern crate alloc;

mod access;
mod allocator;
mod boot;
mod cpus;
mod exhaustion;
mod fire;
mod hash;
mod heap;
mod nodes;
mod owners;
mod page_tables;
mod pagesets;
mod support;
mod tasks;
mod vmalloc;
mod zones;

use core::panic::PanicInfo;

use nearmem_kernel::{Kernel, facts, facts_port, panic};
use nearmem_x86_64::{Boot, entry_point, exit};
use serde_json::json;

entry_point!(main);

fn main(boot: Boot) -> ! {
    nearmem_kernel::start(boot, run)
}

fn run(kernel: &'static Kernel) -> ! {
    facts_port::send(&facts::facts(kernel));
    if !nearmem_suites::run(kernel, kernel.options.test) {
        exit::failure();
    }
    facts_port::send(&json!({"type": "end", "code": 0}));
    exit::success()
}

#[panic_handler]
fn panicked(info: &PanicInfo<'_>) -> ! {
    panic::report(info);
    nearmem_suites::report_failure(info);
    exit::failure()
}
