//! Who called whom: return addresses by the chain of frame pointers, which all code but `core`
//! keeps. `addr2line` turns them into names.

use core::arch::asm;
use core::fmt;

use nearmem::VirtAddr;

use crate::cpu::stacks;
use crate::exceptions::ExceptionFrame;
use crate::layout::IMAGE_OFFSET;

/// The most calls that are shown.
const DEPTH: usize = 24;

/// A chain of calls, shown one address a line.
#[derive(Clone, Copy, Debug)]
pub struct Backtrace {
    frame_pointer: u64,
}

impl Backtrace {
    /// The callers of the function that asks.
    #[inline(always)]
    pub fn here() -> Backtrace {
        let frame_pointer: u64;
        // SAFETY: copies a register.
        unsafe { asm!("mov {}, rbp", out(reg) frame_pointer, options(nomem, nostack)) };
        Backtrace { frame_pointer }
    }

    /// The callers of the function that an exception interrupted.
    pub fn of(frame: &ExceptionFrame) -> Backtrace {
        Backtrace { frame_pointer: frame.rbp }
    }
}

impl fmt::Display for Backtrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut frame = self.frame_pointer;
        for _ in 0..DEPTH {
            let (Some(next), Some(caller)) = (word(frame), word(frame.wrapping_add(8))) else {
                return Ok(());
            };
            if caller < IMAGE_OFFSET {
                return Ok(());
            }
            writeln!(f, "  called from {caller:#x}")?;
            // Stacks grow downward, so callers lie higher; anything else is no chain.
            if next <= frame {
                return Ok(());
            }
            frame = next;
        }
        writeln!(f, "  and so on")
    }
}

/// The eight bytes at `at`, if that is in a stack: the chain may be broken. A read that faulted
/// would fall on the stack of the page fault that is being reported.
fn word(at: u64) -> Option<u64> {
    if !at.is_multiple_of(8) || !stacks::holds(VirtAddr(at)) {
        return None;
    }
    // SAFETY: aligned, and in a stack of this CPU, all of which is mapped; a copy is read.
    Some(unsafe { VirtAddr(at).as_ptr::<u64>().read_volatile() })
}
