//! How one CPU asks another for something, and waits for it.
//!
//! A [`RequestWord`] belongs to one CPU. Others post; the CPU serves when it is told to (an
//! interrupt), when it idles, before it allocates, and while it waits for another itself. The
//! last is what keeps two CPUs that wait for each other from locking up.
//!
//! What is asked for is said by flags ([`want`]) that are set before the word is posted.
//! `tests/loom/` runs these functions in models.
#![forbid(unsafe_code)]

use crate::sync::{AtomicBool, AtomicU32, Ordering, relax};

/// Requests to one CPU, as tickets: how many were posted, and up to which all are done.
#[derive(Debug, Default)]
pub struct RequestWord {
    asked: AtomicU32,
    done: AtomicU32,
}

/// What a poster waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ticket(u32);

impl RequestWord {
    /// Nothing asked.
    #[cfg(not(loom))]
    pub const fn new() -> RequestWord {
        RequestWord { asked: AtomicU32::new(0), done: AtomicU32::new(0) }
    }

    /// Nothing asked.
    #[cfg(loom)]
    pub fn new() -> RequestWord {
        RequestWord::default()
    }

    /// Asks. What the caller wrote before is seen by whoever serves.
    pub fn post(&self) -> Ticket {
        // Release: with the Acquire in `serve`. Read-modify-writes of other posters in between
        // keep the chain.
        Ticket(self.asked.fetch_add(1, Ordering::Release).wrapping_add(1))
    }

    /// The ticket of the last request.
    pub fn last(&self) -> Ticket {
        Ticket(self.asked.load(Ordering::Relaxed))
    }

    /// Whether there is a request that was not served.
    #[inline]
    pub fn is_open(&self) -> bool {
        // Relaxed: a look before `serve`, which looks again.
        self.asked.load(Ordering::Relaxed) != self.done.load(Ordering::Relaxed)
    }

    /// Whether this request was served; then what the server did is seen.
    pub fn is_done(&self, ticket: Ticket) -> bool {
        // Acquire: with the Release in `serve`. Tickets wrap: fewer than 2^31 are open at a time.
        self.done.load(Ordering::Acquire).wrapping_sub(ticket.0) as i32 >= 0
    }

    /// Does `work` if anything was asked and not served. Only by the word's own CPU, under its
    /// token. One round serves all requests posted before it; what is posted meanwhile stays open
    /// for the next. Says whether there was anything to do.
    pub fn serve(&self, work: impl FnOnce()) -> bool {
        let asked = self.asked.load(Ordering::Acquire);
        if self.done.load(Ordering::Relaxed) == asked {
            return false;
        }
        work();
        self.done.store(asked, Ordering::Release);
        true
    }
}

/// Says what the next [`RequestWord::post`] is about.
pub fn want(flag: &AtomicBool) {
    // Relaxed: the Release in `post` publishes it.
    flag.store(true, Ordering::Relaxed);
}

/// Whether this was wanted, and forgets it. Within [`RequestWord::serve`], before the work: if it
/// is wanted again meanwhile, that is done in the round that its post asks for, or was done in
/// this one.
pub fn take_wanted(flag: &AtomicBool) -> bool {
    // Relaxed: the Acquire in `serve` came before. One read-modify-write, so that no `want` that
    // comes between is overwritten.
    flag.swap(false, Ordering::Relaxed)
}

/// Waits until `ticket` is served or the CPU it was posted to is offline, which it only becomes
/// after it has done all that could be asked. `meanwhile` is called again and again: it serves
/// the caller's own requests.
pub fn wait(word: &RequestWord, online: &AtomicBool, ticket: Ticket, mut meanwhile: impl FnMut()) {
    // Acquire: with the Release of the CPU that went offline.
    while !word.is_done(ticket) && online.load(Ordering::Acquire) {
        meanwhile();
        relax();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_round_serves_what_was_posted_before_it_and_nothing_later() {
        let word = RequestWord::new();
        assert!(!word.serve(|| panic!("nothing was asked")));
        let first = word.post();
        let second = word.post();
        assert!(!word.is_done(first));
        let mut late = None;
        assert!(word.serve(|| late = Some(word.post())));
        assert!(word.is_done(first) && word.is_done(second));
        assert!(!word.is_done(late.unwrap()));
        assert!(word.serve(|| ()) && word.is_done(word.last()));
    }

    #[test]
    fn tickets_wrap() {
        let word = RequestWord::new();
        for near in [u32::MAX - 1, u32::MAX, 0] {
            word.asked.store(near, Ordering::Relaxed);
            word.done.store(near, Ordering::Relaxed);
            let ticket = word.post();
            assert!(!word.is_done(ticket));
            word.serve(|| ());
            assert!(word.is_done(ticket));
        }
    }
}
