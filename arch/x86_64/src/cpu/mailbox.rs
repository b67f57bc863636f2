//! What others leave for a CPU to find when it has nothing else to do. Lies in the CPU's block.

use core::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use nearmem::CpuId;

use super::per_cpu::{block, block_of};

/// A place for one piece of work, and a request to rest.
#[derive(Debug)]
pub struct Mailbox {
    work: AtomicPtr<()>,
    rest: AtomicBool,
}

/// What stands in the place while nothing is taken.
const CLOSED: *mut () = core::ptr::without_provenance_mut(1);

impl Mailbox {
    pub(super) const fn new() -> Mailbox {
        Mailbox { work: AtomicPtr::new(CLOSED), rest: AtomicBool::new(false) }
    }

    /// Leaves work, as a pointer that only the two ends understand. `Err` has what is there already:
    /// [`Left::Closed`] when the CPU takes no work.
    ///
    /// # Errors
    /// Nothing is left.
    pub fn leave(&self, work: *const ()) -> Result<(), Left> {
        // Release: whoever finds it sees what it points to.
        let result = self.work.compare_exchange(
            core::ptr::null_mut(),
            work.cast_mut(),
            Ordering::Release,
            Ordering::Relaxed,
        );
        match result {
            Ok(_) => Ok(()),
            Err(CLOSED) => Err(Left::Closed),
            Err(_) => Err(Left::Full),
        }
    }

    /// The work that was left, if any. It stays in its place until [`open`](Self::open).
    pub fn find(&self) -> Option<*const ()> {
        let work = self.work.load(Ordering::Acquire);
        (!work.is_null() && work != CLOSED).then_some(work.cast_const())
    }

    /// Takes work from now on. By its CPU, which has done what it found.
    pub fn open(&self) {
        self.work.store(core::ptr::null_mut(), Ordering::Release);
    }

    /// Takes no more; false when there is some. By its CPU.
    pub fn close(&self) -> bool {
        let open = core::ptr::null_mut();
        self.work.compare_exchange(open, CLOSED, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Whether it takes work, or has some.
    pub fn is_open(&self) -> bool {
        self.work.load(Ordering::Acquire) != CLOSED
    }

    /// Asks the CPU to rest, or not to any more.
    pub fn ask_to_rest(&self, rest: bool) {
        self.rest.store(rest, Ordering::Release);
    }

    /// Whether it is asked to.
    pub fn shall_rest(&self) -> bool {
        self.rest.load(Ordering::Acquire)
    }
}

/// Why no work could be left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Left {
    /// The CPU takes none.
    Closed,
    /// It has some.
    Full,
}

/// This CPU's.
pub fn mailbox() -> &'static Mailbox {
    &block().mailbox
}

/// That of a CPU that has an area.
pub fn mailbox_of(cpu: CpuId) -> Option<&'static Mailbox> {
    block_of(cpu).map(|block| &block.mailbox)
}
