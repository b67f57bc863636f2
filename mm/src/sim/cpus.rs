//! CPUs of a simulated machine: a thread is one while it says so.

use core::cell::Cell;
use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::vec;
use std::vec::Vec;

use crate::ids::CpuId;
use crate::platform::CpuToken;
use crate::sync::{AtomicU64, LocalPointer, Ordering};

/// Machines are told apart by number, so that a thread can remember which CPU of which it is. (With
/// that memory the statics of the simulation; the crate proper has none.)
static NEXT_MACHINE: AtomicU64 = AtomicU64::new(1);

thread_local! {
    static HERE: Here = const {
        Here { machine: Cell::new(0), cpu: Cell::new(CpuId(0)), pins: Cell::new(0) }
    };
}

/// What a thread knows of itself without asking others.
struct Here {
    /// The machine that it was last told to be a CPU of; 0: none.
    machine: Cell<u64>,
    /// Which CPU of it.
    cpu: Cell<CpuId>,
    /// How many pins it holds, of whichever machine.
    pins: Cell<u32>,
}

/// Which thread is which CPU.
pub(super) struct Cpus {
    machine: u64,
    /// One word for each CPU.
    locals: Vec<LocalPointer>,
    seats: Mutex<Seats>,
    first_is_free: Condvar,
}

struct Seats {
    /// The thread that is each CPU.
    owners: Vec<Option<ThreadId>>,
    /// The CPU that a thread was told to be, of those that it owns.
    current: HashMap<ThreadId, CpuId>,
    /// How many pins keep CPU 0 with a thread that was not told to be one.
    casual_pins: u32,
}

/// "Interrupts off" on a simulated CPU.
pub struct SimPin {
    token: CpuToken,
    /// The pin is of a thread that is CPU 0 for as long as it is pinned.
    casual: Option<Arc<Cpus>>,
}

impl AsRef<CpuToken> for SimPin {
    fn as_ref(&self) -> &CpuToken {
        &self.token
    }
}

impl Drop for SimPin {
    fn drop(&mut self) {
        HERE.with(|here| here.pins.set(here.pins.get() - 1));
        let Some(cpus) = &self.casual else { return };
        let mut seats = cpus.lock();
        seats.casual_pins -= 1;
        if seats.casual_pins == 0 {
            seats.owners[0] = None;
            cpus.first_is_free.notify_all();
        }
    }
}

/// How many pins this thread holds, of whichever machine.
pub(super) fn pins() -> u32 {
    HERE.with(|here| here.pins.get())
}

impl Cpus {
    pub(super) fn new(cpus: usize) -> Arc<Cpus> {
        let seats = Seats { owners: vec![None; cpus], current: HashMap::new(), casual_pins: 0 };
        // Relaxed: only the uniqueness of the number matters.
        let machine = NEXT_MACHINE.fetch_add(1, Ordering::Relaxed);
        let locals = (0..cpus).map(|_| LocalPointer::null()).collect();
        Arc::new(Cpus { machine, locals, seats: Mutex::new(seats), first_is_free: Condvar::new() })
    }

    /// Pins the CPU that this thread is. A thread that is none is CPU 0 for as long as it is
    /// pinned; where another is that just so, too, it waits.
    pub(super) fn pin(self: &Arc<Cpus>) -> SimPin {
        let (cpu, casual) = HERE.with(|here| {
            here.pins.set(here.pins.get() + 1);
            let known = here.machine.get() == self.machine;
            if known { (here.cpu.get(), false) } else { self.find_or_take_first() }
        });
        // SAFETY: this thread owns the CPU as long as there is a pin, nothing interrupts it, and
        // the token cannot leave the thread.
        let token = unsafe { CpuToken::assume(cpu) };
        SimPin { token, casual: casual.then(|| Arc::clone(self)) }
    }

    /// The word of a CPU.
    pub(super) fn local(&self, cpu: CpuId) -> &LocalPointer {
        &self.locals[cpu.index()]
    }

    fn find_or_take_first(&self) -> (CpuId, bool) {
        let me = thread::current().id();
        let mut seats = self.lock();
        if let Some(&cpu) = seats.current.get(&me) {
            return (cpu, false);
        }
        while seats.owners[0].is_some_and(|owner| owner != me) {
            if seats.casual_pins == 0 {
                drop(seats);
                panic!("this thread is no CPU of the machine, and CPU 0 is taken: use run_on");
            }
            seats = self.first_is_free.wait(seats).unwrap_or_else(PoisonError::into_inner);
        }
        seats.owners[0] = Some(me);
        seats.casual_pins += 1;
        (CpuId(0), true)
    }

    /// Runs `work` as `cpu`.
    pub(super) fn run_on<R>(&self, cpu: CpuId, work: impl FnOnce() -> R) -> R {
        assert_eq!(pins(), 0, "a pinned thread cannot move to CPU {cpu}");
        let me = thread::current().id();
        let mut seats = self.lock();
        assert!(cpu.index() < seats.owners.len(), "the machine has no CPU {cpu}");
        let others = |seats: &Seats| seats.owners[cpu.index()].is_some_and(|owner| owner != me);
        while others(&seats) {
            if cpu != CpuId(0) || seats.casual_pins == 0 {
                drop(seats);
                panic!("CPU {cpu} is run by another thread");
            }
            seats = self.first_is_free.wait(seats).unwrap_or_else(PoisonError::into_inner);
        }
        let release = seats.owners[cpu.index()].replace(me).is_none();
        let before = seats.current.insert(me, cpu);
        drop(seats);
        let here = HERE.with(|here| (here.machine.replace(self.machine), here.cpu.replace(cpu)));
        let _leave = Leave { cpus: self, cpu, release, before, here };
        work()
    }

    /// Another thread's panic leaves the seats whole.
    fn lock(&self) -> MutexGuard<'_, Seats> {
        self.seats.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Puts a thread back to the CPU that it was before, also when its work panics.
struct Leave<'a> {
    cpus: &'a Cpus,
    cpu: CpuId,
    release: bool,
    before: Option<CpuId>,
    here: (u64, CpuId),
}

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        let me = thread::current().id();
        let mut seats = self.cpus.lock();
        if self.release {
            seats.owners[self.cpu.index()] = None;
        }
        match self.before {
            Some(cpu) => seats.current.insert(me, cpu),
            None => seats.current.remove(&me),
        };
        self.cpus.first_is_free.notify_all();
        HERE.with(|here| {
            here.machine.set(self.here.0);
            here.cpu.set(self.here.1);
        });
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
            drop(outer);
            assert_eq!(pins(), 0);
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
    fn a_thread_that_was_told_nothing_is_cpu_0_while_it_is_pinned() {
        let cpus = Cpus::new(2);
        drop((cpus.pin(), cpus.pin()));
        let done = thread::scope(|scope| {
            let pinned = cpus.pin();
            let told = scope.spawn(|| cpus.run_on(CpuId(0), || cpus.pin().token.cpu()));
            let casual = scope.spawn(|| cpus.pin().token.cpu());
            assert_eq!(pinned.token.cpu(), CpuId(0));
            drop(pinned);
            (told.join(), casual.join())
        });
        assert_eq!(done.0.unwrap(), CpuId(0));
        // The other came while CPU 0 was taken for good, or before, or after.
        assert!(done.1.is_err() || done.1.unwrap() == CpuId(0));
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
