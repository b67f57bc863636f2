//! CPUs of a simulated machine: a thread is one while it says so.

use core::cell::Cell;
use std::collections::HashMap;
use std::sync::Mutex;
use std::thread::{self, ThreadId};
use std::vec;
use std::vec::Vec;

use crate::ids::CpuId;
use crate::platform::CpuToken;
use crate::sync::{AtomicU64, Ordering};

/// Machines are told apart by number, so that a thread can remember which CPU of which it is.
/// (The one static of the simulation; the crate proper has none.)
static NEXT_MACHINE: AtomicU64 = AtomicU64::new(1);

thread_local! {
    /// The machine that this thread was last a CPU of, which CPU, and how many pins it holds.
    static HERE: Here = const { Here { machine: Cell::new(0), cpu: Cell::new(CpuId(0)), pins: Cell::new(0) } };
}

struct Here {
    machine: Cell<u64>,
    cpu: Cell<CpuId>,
    pins: Cell<u32>,
}

/// Which thread is which CPU.
pub(super) struct Cpus {
    machine: u64,
    seats: Mutex<Seats>,
}

struct Seats {
    /// The thread that is each CPU.
    owners: Vec<Option<ThreadId>>,
    /// The CPU that a thread is at the moment, of those that it owns.
    current: HashMap<ThreadId, CpuId>,
}

/// "Interrupts off" on a simulated CPU.
#[derive(Debug)]
pub struct SimPin {
    token: CpuToken,
}

impl AsRef<CpuToken> for SimPin {
    fn as_ref(&self) -> &CpuToken {
        &self.token
    }
}

impl Drop for SimPin {
    fn drop(&mut self) {
        HERE.with(|here| here.pins.set(here.pins.get() - 1));
    }
}

/// How many pins this thread holds, of whichever machine.
pub(super) fn pins() -> u32 {
    HERE.with(|here| here.pins.get())
}

impl Cpus {
    pub(super) fn new(cpus: usize) -> Cpus {
        let seats = Seats { owners: vec![None; cpus], current: HashMap::new() };
        // Relaxed: only the uniqueness of the number matters.
        let machine = NEXT_MACHINE.fetch_add(1, Ordering::Relaxed);
        Cpus { machine, seats: Mutex::new(seats) }
    }

    /// Pins the CPU that this thread is. A thread that is none becomes CPU 0 if nobody is.
    pub(super) fn pin(&self) -> SimPin {
        HERE.with(|here| {
            if here.machine.get() != self.machine {
                here.cpu.set(self.find_or_claim_first());
                here.machine.set(self.machine);
            }
            here.pins.set(here.pins.get() + 1);
            // SAFETY: this thread owns the CPU, nothing interrupts it, and the token cannot leave
            // the thread. `run_on` changes the CPU only while there is no pin.
            SimPin { token: unsafe { CpuToken::assume(here.cpu.get()) } }
        })
    }

    fn find_or_claim_first(&self) -> CpuId {
        let me = thread::current().id();
        let mut seats = self.seats.lock().unwrap();
        if let Some(&cpu) = seats.current.get(&me) {
            return cpu;
        }
        let first = seats.owners[0];
        assert!(
            first.is_none(),
            "this thread is no CPU of the machine, and CPU 0 is taken: use run_on"
        );
        seats.owners[0] = Some(me);
        seats.current.insert(me, CpuId(0));
        CpuId(0)
    }

    /// Runs `work` as `cpu`.
    pub(super) fn run_on<R>(&self, cpu: CpuId, work: impl FnOnce() -> R) -> R {
        assert_eq!(pins(), 0, "a pinned thread cannot move to CPU {cpu}");
        let me = thread::current().id();
        let mut seats = self.seats.lock().unwrap();
        let owner = *seats.owners.get(cpu.index()).unwrap_or_else(|| panic!("no CPU {cpu}"));
        assert!(owner.is_none_or(|owner| owner == me), "CPU {cpu} is run by another thread");
        seats.owners[cpu.index()] = Some(me);
        let before = seats.current.insert(me, cpu);
        drop(seats);
        let _leave = Leave { cpus: self, cpu, release: owner.is_none(), before };
        HERE.with(|here| here.machine.set(0));
        work()
    }
}

/// Puts a thread back to the CPU that it was before, also when its work panics.
struct Leave<'a> {
    cpus: &'a Cpus,
    cpu: CpuId,
    release: bool,
    before: Option<CpuId>,
}

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        let me = thread::current().id();
        // A poisoned lock is another thread's panic: the seats themselves are always whole.
        let mut seats = self.cpus.seats.lock().unwrap_or_else(|poison| poison.into_inner());
        if self.release {
            seats.owners[self.cpu.index()] = None;
        }
        match self.before {
            Some(cpu) => seats.current.insert(me, cpu),
            None => seats.current.remove(&me),
        };
        HERE.with(|here| here.machine.set(0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_the_cpu_that_it_says_and_goes_back() {
        let cpus = Cpus::new(3);
        assert_eq!(cpus.pin().token.cpu(), CpuId(0));
        cpus.run_on(CpuId(2), || {
            let outer = cpus.pin();
            assert_eq!(outer.token.cpu(), CpuId(2));
            assert_eq!(cpus.pin().token.cpu(), CpuId(2));
            assert_eq!(pins(), 1);
        });
        assert_eq!(cpus.pin().token.cpu(), CpuId(0));
    }

    #[test]
    fn machines_do_not_mix() {
        let (one, other) = (Cpus::new(2), Cpus::new(2));
        one.run_on(CpuId(1), || {
            assert_eq!(other.pin().token.cpu(), CpuId(0));
            assert_eq!(one.pin().token.cpu(), CpuId(1));
        });
    }

    #[test]
    fn a_cpu_is_one_thread_at_a_time() {
        let cpus = Cpus::new(2);
        cpus.run_on(CpuId(1), || {
            let twice = thread::scope(|scope| {
                scope.spawn(|| cpus.run_on(CpuId(0), || ())).join().unwrap();
                scope.spawn(|| cpus.run_on(CpuId(1), || ())).join()
            });
            assert!(twice.is_err());
        });
    }
}
