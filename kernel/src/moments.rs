//! How far the boot was when, in ticks of the time-stamp counter (with instruction counting:
//! instructions), with what went into output known.

use nearmem_x86_64::{clock, serial};

/// Ticks since the kernel's entry; or, as the difference of two moments, a span.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Moment {
    /// All of them.
    pub all: u64,
    /// Those in which a serial port was held: output, its formatting included.
    pub output: u64,
}

impl Moment {
    /// This moment.
    pub fn now() -> Moment {
        Moment { all: clock::since_entry(), output: serial::ticks_held() }
    }

    /// The span from `earlier` to this moment.
    pub const fn since(self, earlier: Moment) -> Moment {
        Moment {
            all: self.all.saturating_sub(earlier.all),
            output: self.output.saturating_sub(earlier.output),
        }
    }

    /// The span from this moment to now.
    pub fn until_now(self) -> Moment {
        Moment::now().since(self)
    }

    /// Ticks that did not go into output.
    pub const fn work(self) -> u64 {
        self.all.saturating_sub(self.output)
    }
}

/// How far the boot was when.
#[derive(Clone, Copy, Debug)]
pub struct Moments {
    /// The command line is read, the firmware's tables are not.
    pub start: Moment,
    /// The span in which the hash tables were planned and the early ones taken, between `start`
    /// and `ready`.
    pub tables: Moment,
    /// Zones and pagesets are up.
    pub ready: Moment,
    /// Every node with memory has given a frame; only with `bench=`.
    pub first: Option<Moment>,
}
