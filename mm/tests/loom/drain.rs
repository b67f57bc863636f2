//! Parked frames that other CPUs ask for, and the spin lock.

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;
use nearmem::alloc::request_word::{RequestWord, take_wanted, wait, want};
use nearmem::sync::{AtomicBool, AtomicU32, Ordering, SpinLock, relax};

/// A CPU as the drain protocol sees it. `parked` is plain memory that only its own CPU touches.
struct Cpu {
    word: RequestWord,
    online: AtomicBool,
    wanted: AtomicBool,
    parked: UnsafeCell<u32>,
    /// What came back to the zone.
    returned: AtomicU32,
}

impl Cpu {
    fn new(parked: u32) -> Cpu {
        Cpu {
            word: RequestWord::new(),
            online: AtomicBool::new(true),
            wanted: AtomicBool::new(false),
            parked: UnsafeCell::new(parked),
            returned: AtomicU32::new(0),
        }
    }

    /// Own CPU only.
    fn drain(&self) {
        // SAFETY: the models call it on one thread; loom checks that.
        let frames = self.parked.with_mut(|parked| unsafe { core::mem::take(&mut *parked) });
        let returned = self.returned.load(Ordering::Relaxed);
        self.returned.store(returned + frames, Ordering::Relaxed);
    }

    /// Own CPU only.
    fn serve(&self) -> bool {
        self.word.serve(|| {
            if take_wanted(&self.wanted) {
                self.drain();
            }
        })
    }

    /// Own CPU only: as `MemorySubsystem::set_offline`.
    fn go_offline(&self) {
        self.drain();
        self.online.store(false, Ordering::Release);
        self.serve();
    }

    /// Another CPU: asks and waits.
    fn drain_from(&self, meanwhile: impl FnMut()) {
        want(&self.wanted);
        let ticket = self.word.post();
        wait(&self.word, &self.online, ticket, meanwhile);
    }
}

#[test]
fn a_spin_lock_lets_one_in_at_a_time() {
    loom::model(|| {
        let lock = Arc::new(SpinLock::new(0));
        let add = |lock: Arc<SpinLock<u32>>| {
            let mut value = lock.lock();
            let read = *value;
            *value = read + 1;
        };
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let lock = lock.clone();
                thread::spawn(move || add(lock))
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(*lock.lock(), 2);
    });
}

#[test]
fn a_spin_lock_that_is_held_refuses() {
    loom::model(|| {
        let lock = Arc::new(SpinLock::new(0));
        let held = lock.lock();
        let other = lock.clone();
        assert!(thread::spawn(move || other.try_lock().is_none()).join().unwrap());
        drop(held);
        assert!(lock.try_lock().is_some());
    });
}

/// When the wait is over, all that was parked at the time of the request is back.
#[test]
fn a_request_is_not_lost() {
    loom::model(|| {
        let cpu = Arc::new(Cpu::new(5));
        let idle = cpu.clone();
        let server = thread::spawn(move || {
            while !idle.serve() {
                relax();
            }
        });
        cpu.drain_from(|| ());
        assert_eq!(cpu.returned.load(Ordering::Relaxed), 5);
        server.join().unwrap();
    });
}

/// Two CPUs ask a third one while it serves: whoever sees its request done sees the frames back,
/// and the round after the last request does all that is left.
#[test]
fn two_requests_at_once_are_both_served() {
    loom::model(|| {
        let cpu = Arc::new(Cpu::new(5));
        let others: Vec<_> = (0..2)
            .map(|_| {
                let cpu = cpu.clone();
                thread::spawn(move || {
                    want(&cpu.wanted);
                    let ticket = cpu.word.post();
                    if cpu.word.is_done(ticket) {
                        assert_eq!(cpu.returned.load(Ordering::Relaxed), 5);
                    }
                    ticket
                })
            })
            .collect();
        cpu.serve();
        let tickets: Vec<_> = others.into_iter().map(|other| other.join().unwrap()).collect();
        cpu.serve();
        assert!(tickets.iter().all(|&ticket| cpu.word.is_done(ticket)));
        assert_eq!(cpu.returned.load(Ordering::Relaxed), 5);
    });
}

fn drain_each_other(serve_meanwhile: bool) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(move || {
        let cpus = Arc::new([Cpu::new(1), Cpu::new(2)]);
        let run = move |cpus: &[Cpu; 2], me: usize| {
            let (own, other) = (&cpus[me], &cpus[1 - me]);
            other.drain_from(|| {
                if serve_meanwhile {
                    own.serve();
                }
            });
            assert_eq!(other.returned.load(Ordering::Relaxed), 2 - me as u32);
            own.go_offline();
        };
        let first = cpus.clone();
        let thread = thread::spawn(move || run(&first, 0));
        run(&cpus, 1);
        thread.join().unwrap();
    });
}

#[test]
fn two_cpus_that_drain_each_other_do_not_lock_up() {
    drain_each_other(true);
}

/// The wrong variant: who waits does not serve. Both wait for ever, and the model says so.
#[test]
#[should_panic]
fn without_serving_meanwhile_they_would() {
    drain_each_other(false);
}

/// A CPU that goes offline is waited for no longer, and its frames are back by then.
#[test]
fn a_cpu_that_goes_offline_leaves_nothing_behind() {
    loom::model(|| {
        let cpu = Arc::new(Cpu::new(3));
        let leaving = cpu.clone();
        let thread = thread::spawn(move || leaving.go_offline());
        cpu.drain_from(|| ());
        assert_eq!(cpu.returned.load(Ordering::Relaxed), 3);
        thread.join().unwrap();
    });
}
