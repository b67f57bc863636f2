//! Addresses, frames and orders: a type for every number that must not be mixed up.

use core::fmt;
use core::ops::{Add, Sub};

/// log2 of the size of a page frame.
pub const PAGE_SHIFT: u32 = 12;
/// Size of a page frame in bytes.
pub const PAGE_SIZE: u64 = 1 << PAGE_SHIFT;

/// A physical address, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(transparent)]
pub struct PhysAddr(pub u64);

/// A virtual address, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(transparent)]
pub struct VirtAddr(pub u64);

/// A page frame number: physical address / 4096.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(transparent)]
pub struct Pfn(pub u64);

impl PhysAddr {
    /// The frame that holds this byte.
    pub const fn pfn(self) -> Pfn {
        Pfn(self.0 >> PAGE_SHIFT)
    }

    /// The first whole frame at or above this address.
    pub const fn pfn_up(self) -> Pfn {
        Pfn(self.0.div_ceil(PAGE_SIZE))
    }
}

impl Pfn {
    /// The address of the frame's first byte.
    pub const fn addr(self) -> PhysAddr {
        PhysAddr(self.0 << PAGE_SHIFT)
    }

    /// Whether a block of `order` may begin here: orders are naturally aligned.
    pub const fn is_aligned(self, order: Order) -> bool {
        self.0 & (order.pages() - 1) == 0
    }
}

impl VirtAddr {
    /// The address as a pointer.
    pub const fn as_ptr<T>(self) -> *mut T {
        core::ptr::with_exposed_provenance_mut(self.0 as usize)
    }
}

/// The order of a block: it has 2^order frames, 0 to [`Order::MAX`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(transparent)]
pub struct Order(u8);

impl Order {
    /// One frame.
    pub const ZERO: Order = Order(0);
    /// 512 frames, 2 MiB: what one large page maps.
    pub const HUGE: Order = Order(9);
    /// The largest block: 1024 frames, 4 MiB.
    pub const MAX: Order = Order(10);
    /// How many orders there are.
    pub const COUNT: usize = Self::MAX.0 as usize + 1;

    /// An order, if `order` is one: 0 to 10.
    pub const fn new(order: u8) -> Option<Order> {
        if order <= Self::MAX.0 { Some(Order(order)) } else { None }
    }

    /// The smallest order whose block holds `bytes`, or `None` beyond 4 MiB. 0 bytes need order 0.
    pub const fn for_bytes(bytes: u64) -> Option<Order> {
        let pages = bytes.div_ceil(PAGE_SIZE);
        if pages <= 1 {
            return Some(Order(0));
        }
        if pages > Self::MAX.pages() {
            return None;
        }
        Some(Order((u64::BITS - (pages - 1).leading_zeros()) as u8))
    }

    /// As a number, 0 to 10.
    pub const fn get(self) -> u8 {
        self.0
    }

    /// As an index, 0 to 10.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Frames in a block of this order.
    pub const fn pages(self) -> u64 {
        // The mask changes nothing, and says so to the compiler.
        1 << (self.0 & 0xf)
    }

    /// Bytes in a block of this order.
    pub const fn bytes(self) -> u64 {
        self.pages() << PAGE_SHIFT
    }

    /// All orders, ascending.
    pub fn all() -> impl DoubleEndedIterator<Item = Order> + ExactSizeIterator {
        (0..=Self::MAX.0).map(Order)
    }
}

/// Frames `start..end`, the end exclusive. Empty when `end <= start`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct PfnRange {
    /// First frame.
    pub start: Pfn,
    /// One past the last frame.
    pub end: Pfn,
}

/// Bytes `start..end` of physical memory, the end exclusive. Empty when `end <= start`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct PhysRange {
    /// First byte.
    pub start: PhysAddr,
    /// One past the last byte.
    pub end: PhysAddr,
}

impl PfnRange {
    /// Frames `start..end`.
    pub const fn new(start: u64, end: u64) -> PfnRange {
        PfnRange { start: Pfn(start), end: Pfn(end) }
    }

    /// How many frames.
    pub const fn len(self) -> u64 {
        self.end.0.saturating_sub(self.start.0)
    }

    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Whether `pfn` is in it.
    pub const fn contains(self, pfn: Pfn) -> bool {
        self.start.0 <= pfn.0 && pfn.0 < self.end.0
    }

    /// What both have; may be empty.
    pub fn intersect(self, other: PfnRange) -> PfnRange {
        PfnRange { start: self.start.max(other.start), end: self.end.min(other.end) }
    }

    /// The same memory in bytes.
    pub const fn bytes(self) -> PhysRange {
        PhysRange { start: self.start.addr(), end: self.end.addr() }
    }
}

impl PhysRange {
    /// Bytes `start..end`.
    pub const fn new(start: u64, end: u64) -> PhysRange {
        PhysRange { start: PhysAddr(start), end: PhysAddr(end) }
    }

    /// How many bytes.
    pub const fn len(self) -> u64 {
        self.end.0.saturating_sub(self.start.0)
    }

    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Whether `addr` is in it.
    pub const fn contains(self, addr: PhysAddr) -> bool {
        self.start.0 <= addr.0 && addr.0 < self.end.0
    }

    /// Whether they share a byte.
    pub fn overlaps(self, other: PhysRange) -> bool {
        !self.intersect(other).is_empty()
    }

    /// What both have; may be empty.
    pub fn intersect(self, other: PhysRange) -> PhysRange {
        PhysRange { start: self.start.max(other.start), end: self.end.min(other.end) }
    }

    /// The whole frames in it.
    pub const fn whole_frames(self) -> PfnRange {
        PfnRange { start: self.start.pfn_up(), end: self.end.pfn() }
    }

    /// The frames that it touches: none when it is empty.
    pub const fn touched_frames(self) -> PfnRange {
        if self.is_empty() {
            return PfnRange { start: self.start.pfn(), end: self.start.pfn() };
        }
        PfnRange { start: self.start.pfn(), end: self.end.pfn_up() }
    }
}

impl Add<u64> for Pfn {
    type Output = Pfn;
    fn add(self, frames: u64) -> Pfn {
        Pfn(self.0 + frames)
    }
}

impl Sub<Pfn> for Pfn {
    type Output = u64;
    fn sub(self, other: Pfn) -> u64 {
        self.0 - other.0
    }
}

impl Add<u64> for PhysAddr {
    type Output = PhysAddr;
    fn add(self, bytes: u64) -> PhysAddr {
        PhysAddr(self.0 + bytes)
    }
}

impl Add<u64> for VirtAddr {
    type Output = VirtAddr;
    fn add(self, bytes: u64) -> VirtAddr {
        VirtAddr(self.0 + bytes)
    }
}

macro_rules! hex_debug {
    ($($name:ident),*) => {$(
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({:#x})"), self.0)
            }
        }
    )*};
}
hex_debug!(PhysAddr, VirtAddr, Pfn);

impl fmt::Debug for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Order({})", self.0)
    }
}

impl fmt::Debug for PfnRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pfn {:#x}..{:#x}", self.start.0, self.end.0)
    }
}

/// As Linux's log prints a range: `[mem 0x00100000-0x1fffffff]`, the end inclusive, or
/// `[mem 0x00100000 length 0]` when it is empty.
impl fmt::Display for PhysRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return write!(f, "[mem {:#010x} length 0]", self.start.0);
        }
        write!(f, "[mem {:#010x}-{:#010x}]", self.start.0, self.end.0 - 1)
    }
}

impl fmt::Debug for PhysRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}..{:#x}", self.start.0, self.end.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_for_bytes_is_the_smallest_that_holds_them() {
        for (bytes, order) in
            [(0, 0), (1, 0), (4096, 0), (4097, 1), (12288, 2), (2 << 20, 9), (4 << 20, 10)]
        {
            assert_eq!(Order::for_bytes(bytes), Order::new(order), "{bytes} bytes");
        }
        assert_eq!(Order::for_bytes((4 << 20) + 1), None);
        assert_eq!(Order::new(11), None);
    }

    #[test]
    fn partial_frames_are_not_whole_frames() {
        let range = PhysRange::new(0x800, 0x9fc00);
        assert_eq!(range.whole_frames(), PfnRange::new(1, 0x9f));
        assert_eq!(range.touched_frames(), PfnRange::new(0, 0xa0));
        assert!(PhysRange::new(0x10, 0x20).whole_frames().is_empty());
        assert!(PhysRange::new(0x10, 0x10).touched_frames().is_empty());
    }

    #[test]
    fn ranges_print_as_in_linux_log() {
        extern crate std;
        use std::string::ToString;
        assert_eq!(PhysRange::new(0x100000, 0x20000000).to_string(), "[mem 0x00100000-0x1fffffff]");
        assert_eq!(PhysRange::new(0x100000, 0x100000).to_string(), "[mem 0x00100000 length 0]");
    }
}
