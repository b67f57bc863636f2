//! A few frames of made-up physical memory, filled with 0xA5 as a machine's might be.

use std::cell::{Cell, UnsafeCell};

use nearmem::platform::{PhysMap, TableFrames};
use nearmem::{Pfn, PhysAddr};

#[repr(C, align(4096))]
struct Frame(UnsafeCell<[u8; 4096]>);

/// Frames 1 to n; frame 0 is missing, so that a zero is no table.
pub struct TestMemory {
    frames: Box<[Frame]>,
    used: Cell<u64>,
}

// SAFETY: `frames` never move; any other address panics.
unsafe impl PhysMap for TestMemory {
    fn phys_to_virt(&self, addr: PhysAddr) -> *mut u8 {
        self.frames[addr.pfn().0 as usize - 1]
            .0
            .get()
            .cast::<u8>()
            .wrapping_add(addr.0 as usize & 4095)
    }
}

impl TestMemory {
    pub fn new(frames: usize) -> TestMemory {
        let frames = (0..frames).map(|_| Frame(UnsafeCell::new([0xa5; 4096]))).collect();
        TestMemory { frames, used: Cell::new(0) }
    }

    /// The next frame that was never given out.
    pub fn next_frame(&self) -> Option<PhysAddr> {
        let next = self.used.get() + 1;
        (next <= self.frames.len() as u64).then(|| {
            self.used.set(next);
            Pfn(next).addr()
        })
    }
}

/// Frames for tables, with a limit; filled with rubbish when they come back.
pub struct TestFrames<'a> {
    pub memory: &'a TestMemory,
    pub free: Vec<Pfn>,
    /// How many more may be taken.
    pub limit: usize,
    pub out: usize,
}

impl TableFrames for TestFrames<'_> {
    fn take(&mut self) -> Option<Pfn> {
        self.limit = self.limit.checked_sub(1)?;
        let pfn = self.free.pop().or_else(|| self.memory.next_frame().map(PhysAddr::pfn))?;
        self.out += 1;
        Some(pfn)
    }

    fn give_back(&mut self, pfn: Pfn) {
        assert!(!self.free.contains(&pfn), "{pfn:?} came back twice");
        // SAFETY: the frame is whole, and in no table any more.
        unsafe { self.memory.phys_to_virt(pfn.addr()).write_bytes(0xa5, 4096) };
        self.free.push(pfn);
        self.out -= 1;
    }
}
