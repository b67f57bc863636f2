//! What the kernel is started with, whichever door it came through.

use bootloader_api::BootInfo;

/// The way by which the kernel was entered. For the boot log only: nothing depends on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Door {
    /// A PVH loader, such as `qemu-system-x86_64 -kernel`.
    Pvh,
    /// A disk image of the `bootloader` crate, started by a BIOS or by UEFI.
    Bootloader,
}

/// All that the loader said. It lies in the kernel image and stays valid for good.
#[derive(Debug)]
pub struct Boot {
    /// Memory regions (in the firmware's order; they may overlap), RSDP address, offset of the
    /// direct map.
    pub info: &'static mut BootInfo,
    /// The command line, ASCII; other bytes have become `?`. Empty when there is none.
    pub command_line: &'static str,
    /// Bytes of the command line that did not fit.
    pub command_line_cut: usize,
    /// The door.
    pub door: Door,
    /// How many memory regions did not fit into `info`.
    pub dropped_regions: usize,
}
