//! The two doors, and what both do before the kernel's main function.
//!
//! In: whatever the loader passes. Out: one call of the binary's main function on the boot stack,
//! with interrupts off, both serial ports ready, and every exception caught.

mod bootloader;
mod memory;
mod pvh;

use crate::boot_info::Storage;
use crate::take_once::TakeOnce;
use crate::{Boot, clock, cpu, serial};

unsafe extern "Rust" {
    /// The binary's main function, defined by [`crate::entry_point!`].
    fn nearmem_kernel_main(boot: Boot) -> !;
}

/// Where the boot data go.
fn storage() -> &'static mut Storage {
    static STORAGE: TakeOnce<Storage> = TakeOnce::new(Storage::new());
    STORAGE.take().expect("a kernel is entered once")
}

/// Where both doors meet. `entered`: the time-stamp counter at the door.
fn start(entered: u64, boot: Boot) -> ! {
    clock::set_entry(entered);
    init();
    // SAFETY: the macro is the only one to define it, and checks the type.
    unsafe { nearmem_kernel_main(boot) }
}

/// What output and interrupt guards need.
fn init() {
    serial::init();
    cpu::init_boot_cpu();
}

/// Names the kernel's main function: `fn(nearmem_x86_64::Boot) -> !`.
#[macro_export]
macro_rules! entry_point {
    ($main:path) => {
        const _: () = {
            #[unsafe(no_mangle)]
            fn nearmem_kernel_main(boot: $crate::Boot) -> ! {
                let main: fn($crate::Boot) -> ! = $main;
                main(boot)
            }
        };
    };
}
