//! The door for PVH loaders (Xen's public documentation `pvh.pandoc`): 32-bit protected mode,
//! paging off, flat segments, `ebx` = physical address of `hvm_start_info`.

use core::arch::global_asm;

use super::memory::{loader_bytes, loader_bytes_up_to};
use crate::boot_info::{
    self, MAX_COMMAND_LINE, MAX_REGIONS, Parts, REGION_BYTES, START_INFO_BYTES, StartInfo,
};
use crate::cpu::stacks::BOOT_STACK;
use crate::layout::IMAGE_OFFSET;
use crate::{exit, println};

// AT&T syntax: the assembler's Intel syntax knows no `offset symbol - constant`.
global_asm!(
    include_str!("pvh.s"),
    image_offset = const IMAGE_OFFSET,
    stack = sym BOOT_STACK,
    stack_bytes = const size_of_val(&BOOT_STACK),
    options(att_syntax)
);

/// The first Rust function: in long mode, in the higher half, on the boot stack, with the boot page
/// tables. `entered`: the time-stamp counter at the first instruction.
#[unsafe(no_mangle)]
extern "C" fn pvh_start(start_info: u64, entered: u64) -> ! {
    // SAFETY: the loader passed this address and left the structure for us to read.
    let bytes = unsafe { loader_bytes(start_info, START_INFO_BYTES) };
    let info = match StartInfo::parse(bytes.unwrap_or_default()) {
        Ok(info) => info,
        Err(error) => {
            super::init();
            println!("PVH start info at {start_info:#x} is not understood: {error:?}");
            exit::failure()
        }
    };
    let region_count = info.region_count as usize;
    let region_bytes = region_count.min(MAX_REGIONS) * REGION_BYTES;
    let parts = Parts {
        // SAFETY: the loader's memory, which nobody writes to while the loader's data are
        // converted. One byte more than is kept tells whether the line is longer.
        command_line: unsafe { loader_bytes_up_to(info.command_line, MAX_COMMAND_LINE * 2) }
            .unwrap_or_default(),
        // SAFETY: as above.
        regions: unsafe { loader_bytes(info.regions, region_bytes) }.unwrap_or_default(),
        region_count,
        rsdp: info.rsdp,
    };
    super::start(entered, boot_info::from_pvh(parts, super::storage()))
}
