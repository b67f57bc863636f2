//! The page tables that are in force, read from CR3 on: what the CPU itself goes by.
//!
//! Written against the manual (Intel SDM volume 3, 4.5, "4-level paging"), not against the
//! kernel's own mapper: the tests check that one.

use nearmem::{PhysAddr, VirtAddr};
use nearmem_x86_64::paging::direct_map;
use x86_64::registers::control::Cr3;

/// One leaf, with the rights that all levels together leave.
#[derive(Clone, Copy, Debug)]
pub struct Leaf {
    /// First address.
    pub at: VirtAddr,
    /// What is mapped there.
    pub to: PhysAddr,
    /// Bytes that it maps.
    pub bytes: u64,
    /// Whether it can be written.
    pub writable: bool,
    /// Whether code can run there.
    pub executable: bool,
}

const PRESENT: u64 = 1 << 0;
const WRITABLE: u64 = 1 << 1;
const LARGE: u64 = 1 << 7;
const NO_EXECUTE: u64 = 1 << 63;
/// Bits of an entry that are an address.
const ADDRESS: u64 = 0x000f_ffff_ffff_f000;
/// log2 of what one entry of a level-1 table maps; each level above has 9 bits more.
const SHIFT: u32 = 12;

/// Calls `visit` for every leaf, ascending.
pub fn leaves(visit: &mut dyn FnMut(Leaf)) {
    walk(root(), 4, 0, (true, true), visit);
}

/// The leaf that maps an address, if there is one.
pub fn leaf(at: VirtAddr) -> Option<Leaf> {
    let (mut table, mut rights) = (root(), (true, true));
    for level in (1..=4).rev() {
        let shift = SHIFT + 9 * (level - 1);
        let entry = entry(table, (at.0 >> shift) as usize % 512);
        if entry & PRESENT == 0 {
            return None;
        }
        rights = narrowed(rights, entry);
        if is_leaf(entry, level) {
            return Some(made(at.0 >> shift << shift, shift, entry, rights));
        }
        table = PhysAddr(entry & ADDRESS);
    }
    None
}

/// The level-1 table that an address is looked up in, if there is one.
pub fn last_table(at: VirtAddr) -> Option<PhysAddr> {
    let mut table = root();
    for level in (2..=4).rev() {
        let entry = entry(table, (at.0 >> (SHIFT + 9 * (level - 1))) as usize % 512);
        if entry & PRESENT == 0 || is_leaf(entry, level) {
            return None;
        }
        table = PhysAddr(entry & ADDRESS);
    }
    Some(table)
}

fn walk(table: PhysAddr, level: u32, base: u64, rights: (bool, bool), visit: &mut dyn FnMut(Leaf)) {
    let shift = SHIFT + 9 * (level - 1);
    for index in 0..512 {
        let entry = entry(table, index);
        if entry & PRESENT == 0 {
            continue;
        }
        // The upper half of the address space has all bits above 47 set.
        let upper = if level == 4 && index >= 256 { 0xffff << 48 } else { 0 };
        let at = base | upper | (index as u64) << shift;
        let rights = narrowed(rights, entry);
        match is_leaf(entry, level) {
            true => visit(made(at, shift, entry, rights)),
            false => walk(PhysAddr(entry & ADDRESS), level - 1, at, rights, visit),
        }
    }
}

fn root() -> PhysAddr {
    PhysAddr(Cr3::read().0.start_address().as_u64())
}

fn entry(table: PhysAddr, index: usize) -> u64 {
    // SAFETY: page tables in force are RAM, which is behind the direct map, and have 512 entries.
    // The CPU sets bits of them by itself, hence the volatile read.
    unsafe { direct_map(table).cast::<u64>().add(index).read_volatile() }
}

/// A right is there only when every level gives it: (writable, executable).
fn narrowed((writable, executable): (bool, bool), entry: u64) -> (bool, bool) {
    (writable && entry & WRITABLE != 0, executable && entry & NO_EXECUTE == 0)
}

fn is_leaf(entry: u64, level: u32) -> bool {
    level == 1 || (level < 4 && entry & LARGE != 0)
}

fn made(at: u64, shift: u32, entry: u64, (writable, executable): (bool, bool)) -> Leaf {
    let bytes = 1 << shift;
    // A large leaf has flags where a small one has address bits (PAT, bit 12).
    let to = PhysAddr(entry & ADDRESS & !(bytes - 1));
    Leaf { at: VirtAddr(at), to, bytes, writable, executable }
}
