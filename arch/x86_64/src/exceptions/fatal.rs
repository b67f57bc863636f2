//! The end: an exception that nobody expected.

use core::sync::atomic::{AtomicBool, Ordering};

use nearmem::VirtAddr;

use super::ExceptionFrame;
use crate::backtrace::Backtrace;
use crate::cpu::{self, stacks};
use crate::{exit, println, serial, stop};

/// Prints what happened and panics. A second exception on the way ends at once.
pub(super) fn end(frame: &ExceptionFrame) -> ! {
    static ENDING: AtomicBool = AtomicBool::new(false);
    stop::others();
    // SAFETY: this CPU does not return to the code that was interrupted, and the others stand still.
    unsafe { serial::break_locks() };
    // Relaxed: the flag is all that is passed on.
    if ENDING.swap(true, Ordering::Relaxed) {
        println!("{}, while another one was reported", frame.headline());
        exit::failure()
    }
    println!("\n{} on CPU {}", frame.headline(), cpu::current());
    if frame.fault_address().is_some_and(|at| stacks::is_guard(VirtAddr(at))) {
        println!("The address is in the guard page of a stack: the stack has overflowed.");
    }
    println!("{frame}{}", Backtrace::of(frame));
    panic!("{}", frame.headline())
}
