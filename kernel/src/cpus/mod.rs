//! The CPUs of a machine whose memory is up.
//!
//! In: the boot CPU, on the stack of the kernel image. Out: each CPU in an area on its own node, the
//! boot CPU with the kernel's main function, the others asleep until there is something for them.
//!
//! ```text
//! low_page   memory for their first steps
//! area       memory for each
//! start      all others at once
//! idle       sleep, and what wakes a CPU
//! work       something to do, on chosen CPUs at once
//! tasks      many things to do on each, in turns
//! rest       off and on again
//! ```

mod area;
mod idle;
pub mod low_page;
mod rest;
mod start;
pub mod tasks;
mod work;

use nearmem::CpuId;
use nearmem_x86_64::{cpu, println};
use spin::Once;

use crate::Kernel;

pub use rest::{CpuError, put_on, take_off};
pub use start::online;
pub use work::run_on;

/// What the boot CPU goes on with, on its own stack.
pub type Main = fn(&'static Kernel) -> !;

static MAIN: Once<(&'static Kernel, Main)> = Once::new();

/// Moves the boot CPU to its own node, starts the others, and goes on with `main` there.
pub fn run(kernel: &'static Kernel, main: Main) -> ! {
    MAIN.call_once(|| (kernel, main));
    match area::make(kernel.memory, CpuId(0)) {
        Ok((area, node)) => {
            println!("CPU 0 works in its own area on node {node}");
            let id = kernel.map.cpus().first().map(|cpu| cpu.apic).unwrap_or_default();
            // SAFETY: the area was just made, for CPU 0, which is the only one that runs; nothing
            // holds a guard or a token here.
            unsafe { cpu::move_boot_cpu(area, id, enter) }
        }
        Err(error) => {
            println!("CPU 0 stays in the kernel image: {error}");
            enter()
        }
    }
}

extern "C" fn enter() -> ! {
    let (kernel, main) = MAIN.wait();
    start::others(kernel);
    main(kernel)
}
