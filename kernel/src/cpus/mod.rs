//! The CPUs of a machine that is up.
//!
//! In: a machine whose memory is up, on the boot CPU with the stack of the kernel image. Out: each
//! CPU with an area on its own node, in which it works from then on.

mod area;

use nearmem::CpuId;
use nearmem_x86_64::{cpu, println};
use spin::Once;

use crate::Kernel;

/// What the boot CPU goes on with, on its own stack.
pub type Main = fn(&'static Kernel) -> !;

static MAIN: Once<(&'static Kernel, Main)> = Once::new();

/// Moves the boot CPU to its own node and goes on with `main` there.
pub fn move_boot_cpu(kernel: &'static Kernel, main: Main) -> ! {
    MAIN.call_once(|| (kernel, main));
    match area::make(kernel.memory, CpuId(0)) {
        Ok((area, node)) => {
            println!("CPU 0 works in its own area on node {node}");
            // SAFETY: the area was just made, for CPU 0, which is the only one that runs; `start`
            // holds neither guard nor token here.
            unsafe { cpu::move_boot_cpu(area, enter) }
        }
        Err(error) => {
            println!("CPU 0 stays in the kernel image: {error}");
            enter()
        }
    }
}

extern "C" fn enter() -> ! {
    let (kernel, main) = MAIN.wait();
    main(kernel)
}
