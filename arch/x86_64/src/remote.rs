//! Work that one CPU has others do at once, in an interrupt, and waits for: TLB shoot-down above
//! all.
//!
//! In: a function. Out: it has run on every CPU that takes calls. One call is under way at a time on
//! the whole machine; who waits, for its turn or for others, does meanwhile what others ask of it.

use core::sync::atomic::{AtomicPtr, Ordering};

use nearmem::CpuId;
use spin::{Mutex, MutexGuard};

use crate::apic::{self, Message};
use crate::cpu::{self, PerCpu};
use crate::interrupts::{InterruptsOff, Vector};
use crate::paging;

/// What is called: runs in an interrupt, with interrupts off. It waits for nobody.
type Work<'a> = &'a (dyn Fn() + Sync);

/// The call that is under way, for its caller. Its holder alone changes which CPUs take calls.
static TURN: Mutex<()> = Mutex::new(());
/// The work of that call: points to a `Work` of the caller's.
static WORK: AtomicPtr<Work<'static>> = AtomicPtr::new(core::ptr::null_mut());

/// Runs `work` on all CPUs that take calls and on this one, and waits until all are done. Never
/// called with a token held, nor within `work`.
pub fn on_all(work: Work<'_>) {
    call(|_| true, work, true);
}

/// Runs `work` on one other CPU; false when that one takes no calls. Otherwise as [`on_all`].
pub fn on(cpu: CpuId, work: Work<'_>) -> bool {
    call(|other| other.id == cpu, work, false) > 0
}

/// Has a CPU that takes calls do what [`crate::interrupts::on_wake`] says, soon.
pub fn wake(cpu: CpuId) {
    if let Some(block) = cpu::block_of(cpu) {
        apic::send(block.apic, Message::Interrupt(Vector::Wake));
    }
}

/// Whether a CPU takes calls.
pub fn takes_calls(cpu: CpuId) -> bool {
    cpu::block_of(cpu).is_some_and(PerCpu::takes_calls)
}

/// From now on this CPU takes calls. What its TLB knows from before is forgotten.
pub fn join() {
    let _turn = turn();
    cpu::block().set_takes_calls(true);
    // While it took no calls it was in no shoot-down.
    paging::flush_all();
}

/// From now on this CPU takes none, and uses nothing but its own area and the kernel image.
pub fn leave() {
    let _turn = turn();
    cpu::block().set_takes_calls(false);
}

/// Does what this CPU is called for, if it is.
pub(crate) fn serve() {
    let _interrupts = InterruptsOff::new();
    cpu::block().calls.serve(|| {
        let work = WORK.load(Ordering::Relaxed);
        // SAFETY: a CPU is only called while the caller has its turn and waits for it, and
        // `RequestWord` makes this CPU see what the caller wrote before: a `Work` that lives as
        // long as the caller waits.
        (unsafe { *work })();
    });
}

/// Calls those that take calls and are `wanted`; says how many they are.
fn call(wanted: impl Fn(&PerCpu) -> bool, work: Work<'_>, here: bool) -> usize {
    let others = || {
        let this = cpu::current();
        cpu::all_blocks().filter(move |other| other.id != this && other.takes_calls())
    };
    if cpu::all_blocks().nth(1).is_none() {
        // No other CPU was ever started.
        if here {
            work();
        }
        return 0;
    }
    let _turn = turn();
    let pointer: *const Work<'_> = &raw const work;
    WORK.store(pointer.cast_mut().cast(), Ordering::Relaxed);
    // Which CPUs take calls does not change during the turn. A page-table entry written before
    // this is seen by a CPU that joins later: it flushes after it has had its turn.
    for other in others().filter(|other| wanted(other)) {
        other.calls.post();
        apic::send(other.apic, Message::Interrupt(Vector::Call));
    }
    if here {
        work();
    }
    let mut count = 0;
    for other in others().filter(|other| wanted(other)) {
        // The last request to it is this one: nobody else has the turn.
        while !other.calls.is_done(other.calls.last()) {
            core::hint::spin_loop();
        }
        count += 1;
    }
    count
}

/// This CPU's turn to call.
fn turn() -> MutexGuard<'static, ()> {
    loop {
        if let Some(turn) = TURN.try_lock() {
            return turn;
        }
        serve();
        core::hint::spin_loop();
    }
}
