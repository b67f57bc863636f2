//! The interrupt descriptor table, one for all CPUs: every exception on a stack of its own kind,
//! so that no fault depends on the stack that it happened on, and a second one on the way does not
//! overwrite the frame of the first.

use spin::Once;
use x86_64::VirtAddr;
use x86_64::instructions::tables::lidt;
use x86_64::structures::DescriptorTablePointer;
use x86_64::structures::idt::{Entry, HandlerFunc};

use crate::exceptions::{VECTORS, stub};

/// Exceptions, and room for interrupts.
const ENTRIES: usize = 256;

#[repr(C, align(16))]
struct Idt([Entry<HandlerFunc>; ENTRIES]);

static IDT: Once<Idt> = Once::new();

/// Makes this CPU use the table.
pub(super) fn load() {
    let idt = IDT.call_once(|| {
        let mut idt = Idt([const { Entry::missing() }; ENTRIES]);
        for vector in 0..VECTORS {
            // SAFETY: the stub of `vector` takes what the CPU pushes for it, and the stack is one
            // of those that the TSS names.
            unsafe {
                idt.0[usize::from(vector)]
                    .set_handler_addr(VirtAddr::new(stub(vector).0))
                    .set_stack_index(stack_of(vector));
            }
        }
        idt
    });
    let pointer = DescriptorTablePointer {
        limit: (size_of::<Idt>() - 1) as u16,
        base: VirtAddr::from_ptr(idt),
    };
    // SAFETY: the table is a static, and its entries were made above.
    unsafe { lidt(&pointer) };
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
