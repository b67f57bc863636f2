//! Bounded access to firmware memory: nothing that a pointer in a table says makes us read what
//! is not there.

use nearmem::{PhysAddr, PhysRange};
use nearmem_x86_64::Boot;
use nearmem_x86_64::paging::direct_map;
use spin::{Mutex, MutexGuard};

/// The memory that firmware tables may lie in: the regions of the firmware's memory map, of any
/// kind, and the first MiB, as far as the boot page tables reach (4 GiB).
pub struct Window<'a> {
    boot: &'a Boot,
    /// Where the BIOS area is read from instead, once something in it was patched.
    bios: Option<*mut u8>,
}

/// What the boot page tables map of the direct map.
const REACH: u64 = 4 << 30;
/// The BIOS areas, which are in no region of some memory maps.
const LOW: PhysRange = PhysRange::new(0, 1 << 20);
/// The area where a BIOS has its RSDP (ACPI 6.5, 5.2.5.1). Writes to it are lost.
const BIOS: PhysRange = PhysRange::new(0xe0000, 0x100000);
/// The copy of it that patches go to.
static BIOS_COPY: Mutex<[u8; BIOS.len() as usize]> = Mutex::new([0; BIOS.len() as usize]);

impl<'a> Window<'a> {
    /// The window over the memory map that the firmware gave.
    ///
    /// # Safety
    /// Until the window is gone, the direct map covers the first 4 GiB, and nobody else writes to
    /// firmware tables.
    pub unsafe fn new(boot: &'a Boot) -> Window<'a> {
        Window { boot, bios: None }
    }

    /// `len` bytes at `at`; `None` when they are not all in one region that may be read.
    pub fn bytes(&self, at: PhysAddr, len: u64) -> Option<&'static [u8]> {
        let pointer = self.pointer(at, len)?;
        // SAFETY: `pointer` checked that the bytes are memory behind the direct map; firmware
        // tables are plain bytes, and nobody writes while a slice is in use (`new`, `patch`).
        Some(unsafe { core::slice::from_raw_parts(pointer, len as usize) })
    }

    /// Up to `len` bytes at `at`: fewer when the region ends before; `None` when none may be read.
    pub fn bytes_up_to(&self, at: PhysAddr, len: u64) -> Option<&'static [u8]> {
        let end = self.regions().find(|range| range.contains(at))?.end.0.min(REACH);
        self.bytes(at, len.min(end.saturating_sub(at.0)))
    }

    /// Overwrites bytes, for the test option `acpi_patch=`. False when they are out of reach, or in
    /// read-only memory other than the BIOS area, of which a copy is patched.
    pub fn patch(&mut self, at: PhysAddr, bytes: &[u8]) -> bool {
        if BIOS.contains(at) && self.bios.is_none() {
            self.bios = self.bytes(BIOS.start, BIOS.len()).map(|area| {
                let copy = MutexGuard::leak(BIOS_COPY.lock());
                copy.copy_from_slice(area);
                copy.as_mut_ptr()
            });
        }
        let Some(pointer) = self.pointer(at, bytes.len() as u64) else { return false };
        // SAFETY: as in `bytes`; the exclusive borrow keeps this window from reading meanwhile,
        // and slices given out before are used no longer: patches come before the tables are read.
        unsafe { core::ptr::copy_nonoverlapping(bytes.as_ptr(), pointer, bytes.len()) };
        self.bytes(at, bytes.len() as u64) == Some(bytes)
    }

    fn pointer(&self, at: PhysAddr, len: u64) -> Option<*mut u8> {
        let end = at.0.checked_add(len).filter(|&end| end <= REACH)?;
        let within = |range: PhysRange| range.start <= at && PhysAddr(end) <= range.end;
        if at.0 == 0 || !self.regions().any(within) {
            return None;
        }
        match self.bios {
            // The offset is in the copy, which is as large as the area.
            Some(copy) if within(BIOS) => Some(copy.wrapping_add((at.0 - BIOS.start.0) as usize)),
            _ => Some(direct_map(at)),
        }
    }

    fn regions(&self) -> impl Iterator<Item = PhysRange> + '_ {
        let regions = self.boot.info.memory_regions.iter();
        core::iter::once(LOW).chain(regions.map(|region| PhysRange::new(region.start, region.end)))
    }
}
