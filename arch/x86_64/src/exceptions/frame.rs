//! The registers of the interrupted code.

use core::fmt;

use x86_64::registers::control::{Cr2, Cr3};

use super::name;

/// What an exception finds: all registers, as they are when the code goes on. Changing them changes
/// the interrupted code.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[allow(missing_docs)] // registers, named as in the manual
pub struct ExceptionFrame {
    pub r15: u64,
    pub r14: u64,
    pub r13: u64,
    pub r12: u64,
    pub r11: u64,
    pub r10: u64,
    pub r9: u64,
    pub r8: u64,
    pub rbp: u64,
    pub rdi: u64,
    pub rsi: u64,
    pub rdx: u64,
    pub rcx: u64,
    pub rbx: u64,
    pub rax: u64,
    /// 0 to 31.
    pub vector: u64,
    /// 0 for vectors that have none.
    pub error_code: u64,
    pub rip: u64,
    pub cs: u64,
    pub rflags: u64,
    pub rsp: u64,
    pub ss: u64,
}

const _: () = assert!(size_of::<ExceptionFrame>() == 22 * 8);

/// The vector of a page fault.
pub(super) const PAGE_FAULT: u64 = 14;

impl ExceptionFrame {
    /// Whether it is a page fault.
    pub fn is_page_fault(&self) -> bool {
        self.vector == PAGE_FAULT
    }

    /// The address that a page fault is about. Only the handler may ask: the next page fault
    /// overwrites it.
    pub fn fault_address(&self) -> Option<u64> {
        self.is_page_fault().then(Cr2::read_raw)
    }

    /// One line: what happened where.
    pub fn headline(&self) -> impl fmt::Display + '_ {
        fmt::from_fn(|f| {
            write!(f, "exception {} ({})", self.vector, name(self.vector))?;
            if let Some(at) = self.fault_address() {
                let access = match self.error_code {
                    code if code & 0x10 != 0 => "executing",
                    code if code & 2 != 0 => "writing",
                    _ => "reading",
                };
                let why = if self.error_code & 1 != 0 { "protected" } else { "not mapped" };
                write!(f, " {access} {at:#x}, which is {why}")?;
            }
            write!(f, ", error code {:#x}, at rip {:#x}", self.error_code, self.rip)
        })
    }
}

/// All registers, a few lines.
impl fmt::Display for ExceptionFrame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = [
            [("rax", self.rax), ("rbx", self.rbx), ("rcx", self.rcx), ("rdx", self.rdx)],
            [("rsi", self.rsi), ("rdi", self.rdi), ("rbp", self.rbp), ("rsp", self.rsp)],
            [("r8 ", self.r8), ("r9 ", self.r9), ("r10", self.r10), ("r11", self.r11)],
            [("r12", self.r12), ("r13", self.r13), ("r14", self.r14), ("r15", self.r15)],
            [("rip", self.rip), ("rfl", self.rflags), ("cs ", self.cs), ("ss ", self.ss)],
            [
                ("cr2", Cr2::read_raw()),
                ("cr3", Cr3::read_raw().0.start_address().as_u64()),
                ("err", self.error_code),
                ("vec", self.vector),
            ],
        ];
        for row in rows {
            for (index, (register, value)) in row.into_iter().enumerate() {
                write!(f, "{}{register} {value:016x}", if index == 0 { "" } else { "  " })?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
