//! The interrupt descriptor table of one CPU: every exception on a stack of its own kind, so that
//! no fault depends on the stack that it happened on, and a second one on the way does not
//! overwrite the frame of the first. Interrupts stay on the stack of what they interrupt.

use x86_64::VirtAddr;
use x86_64::instructions::tables::lidt;
use x86_64::structures::DescriptorTablePointer;
use x86_64::structures::idt::{Entry, HandlerFunc};

use crate::exceptions::stub;
use crate::interrupts::FIRST;

/// Exceptions, and room for interrupts.
const ENTRIES: usize = 256;

/// The table. The CPU reads it whenever it likes: it stays where it is.
#[repr(C, align(16))]
#[derive(Debug)]
pub struct Idt([Entry<HandlerFunc>; ENTRIES]);

impl Idt {
    /// An empty one.
    pub const fn new() -> Idt {
        Idt([const { Entry::missing() }; ENTRIES])
    }

    /// Fills it and makes this CPU use it.
    pub fn load(&'static mut self) {
        for (vector, entry) in (0..=u8::MAX).zip(&mut self.0) {
            let Some(stub) = stub(vector) else { continue };
            // SAFETY: the stub of `vector` takes what the CPU pushes for it, and the stack is one
            // of those that the TSS names.
            unsafe {
                let options = entry.set_handler_addr(VirtAddr::new(stub.0));
                if vector < FIRST {
                    options.set_stack_index(stack_of(vector));
                }
            }
        }
        let pointer = DescriptorTablePointer {
            limit: (size_of::<Idt>() - 1) as u16,
            base: VirtAddr::from_ptr(self),
        };
        // SAFETY: the table stays for good, and its entries were made above.
        unsafe { lidt(&pointer) };
    }
}

/// Which of the seven exception stacks a vector uses. Those that can strike while another exception
/// is being handled have one for themselves.
fn stack_of(vector: u8) -> u16 {
    match vector {
        8 => 0,       // double fault
        2 => 1,       // NMI
        18 => 2,      // machine check
        14 => 3,      // page fault
        1 | 3 => 4,   // debug, breakpoint
        12 | 13 => 5, // stack segment, general protection
        _ => 6,
    }
}
