//! The door for disk images of the `bootloader` crate, started by a BIOS or by UEFI.

use core::arch::naked_asm;

use bootloader_api::config::Mapping;
use bootloader_api::{BootInfo, BootloaderConfig};

use crate::boot_info::{self, MAX_COMMAND_LINE};
use crate::clock;
use crate::cpu::stacks::BOOT_STACK;
use crate::layout::DIRECT_MAP;

/// What the loader is asked for: the direct map where the kernel expects it, and everything that it
/// places by itself in the part of the higher half that the kernel does not use.
const CONFIG: BootloaderConfig = {
    let mut config = BootloaderConfig::new_default();
    config.mappings.physical_memory = Some(Mapping::FixedAddress(DIRECT_MAP.0));
    config.mappings.dynamic_range_start = Some(0xffff_e000_0000_0000);
    config.mappings.dynamic_range_end = Some(0xffff_efff_ffff_f000);
    config
};

bootloader_api::entry_point!(enter, config = &CONFIG);

/// Runs on the loader's stack, which is not mapped for long.
fn enter(info: &'static mut BootInfo) -> ! {
    on_boot_stack(info)
}

/// Goes on with [`bootloader_start`] on the boot stack.
#[unsafe(naked)]
extern "C" fn on_boot_stack(info: &'static mut BootInfo) -> ! {
    naked_asm!(
        "lea rsp, [{stack} + {bytes}]",
        "xor ebp, ebp",
        "call {start}",
        "ud2",
        stack = sym BOOT_STACK,
        bytes = const size_of_val(&BOOT_STACK),
        start = sym bootloader_start,
    )
}

extern "C" fn bootloader_start(info: &'static mut BootInfo) -> ! {
    let entered = clock::ticks();
    let ramdisk = info.ramdisk_addr.into_option().map_or(&[][..], |at| {
        let len = (info.ramdisk_len as usize).min(MAX_COMMAND_LINE * 2);
        // SAFETY: the loader mapped `ramdisk_len` bytes there for us alone.
        unsafe { core::slice::from_raw_parts(at as *const u8, len) }
    });
    super::start(entered, boot_info::from_bootloader(info, ramdisk, super::storage()))
}
