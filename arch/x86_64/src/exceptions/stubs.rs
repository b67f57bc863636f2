//! The first instructions of every exception and interrupt: what the CPU pushed, made into one
//! frame.

use core::arch::global_asm;

use nearmem::VirtAddr;

use crate::interrupts::FIRST;

/// How many exception vectors there are (Intel SDM volume 3, 7.3.1); all have a stub, those that
/// are reserved, too.
pub(crate) const VECTORS: u8 = 32;
/// How many interrupt vectors have a stub, the last ones.
const INTERRUPTS: u16 = 256 - FIRST as u16;
/// Bytes of one stub.
const STUB_BYTES: u64 = 16;
/// Vectors for which the CPU pushes an error code, one bit each.
const WITH_ERROR_CODE: u32 = 1 << 8
    | 1 << 10
    | 1 << 11
    | 1 << 12
    | 1 << 13
    | 1 << 14
    | 1 << 17
    | 1 << 21
    | 1 << 29
    | 1 << 30;

// The order of the pushes is that of `ExceptionFrame`, backwards. The stack is aligned to 16 bytes
// at the call: the CPU aligns it before it pushes, and 22 words lie on it.
global_asm!(
    ".pushsection .text.exceptions, \"ax\"",
    ".balign {stub_bytes}",
    ".global exception_stubs",
    "exception_stubs:",
    ".set vector, 0",
    ".rept {vectors}",
    ".balign {stub_bytes}",
    ".if (({with_error_code} >> vector) & 1) == 0",
    "    push 0",
    ".endif",
    "    push vector",
    "    jmp 2f",
    ".set vector, vector + 1",
    ".endr",
    ".global interrupt_stubs",
    ".balign {stub_bytes}",
    "interrupt_stubs:",
    ".set vector, {first_interrupt}",
    ".rept {interrupts}",
    ".balign {stub_bytes}",
    "    push 0",
    "    push vector",
    "    jmp 2f",
    ".set vector, vector + 1",
    ".endr",
    "2:",
    "    push rax",
    "    push rbx",
    "    push rcx",
    "    push rdx",
    "    push rsi",
    "    push rdi",
    "    push rbp",
    "    push r8",
    "    push r9",
    "    push r10",
    "    push r11",
    "    push r12",
    "    push r13",
    "    push r14",
    "    push r15",
    "    cld",
    "    mov rdi, rsp",
    "    call exception_entry",
    "    pop r15",
    "    pop r14",
    "    pop r13",
    "    pop r12",
    "    pop r11",
    "    pop r10",
    "    pop r9",
    "    pop r8",
    "    pop rbp",
    "    pop rdi",
    "    pop rsi",
    "    pop rdx",
    "    pop rcx",
    "    pop rbx",
    "    pop rax",
    "    add rsp, 16",
    "    iretq",
    ".popsection",
    stub_bytes = const STUB_BYTES,
    vectors = const VECTORS,
    with_error_code = const WITH_ERROR_CODE,
    first_interrupt = const FIRST,
    interrupts = const INTERRUPTS,
);

unsafe extern "C" {
    safe static exception_stubs: u8;
    safe static interrupt_stubs: u8;
}

/// The address of the stub of an exception, or of an interrupt; `None` for other vectors.
pub(crate) fn stub(vector: u8) -> Option<VirtAddr> {
    let (stubs, number) = match vector {
        0..VECTORS => (&raw const exception_stubs, vector),
        FIRST.. => (&raw const interrupt_stubs, vector - FIRST),
        _ => return None,
    };
    Some(VirtAddr(stubs.addr() as u64 + u64::from(number) * STUB_BYTES))
}
