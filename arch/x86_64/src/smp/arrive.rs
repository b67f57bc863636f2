//! A CPU's first steps in the kernel image.

use core::arch::naked_asm;

use nearmem::CpuId;

use crate::cpu::{self, Area};
use crate::layout::CPU_AREAS;
use crate::{apic, exit, remote};

/// The stack's end within an area, from `CPU_AREAS` on.
const STACK_TOP: u64 = Area::FIRST.stack_top().0;
const _: () = assert!(STACK_TOP > CPU_AREAS.0);

/// Where the trampoline jumps to, in 64-bit mode, on the trampoline's page tables, without a stack.
///
/// In: `rdi` the root of the kernel's page tables; `rsi` the APIC ids of all CPUs, by CPU number,
/// `r8d` of them; `r9` what to go on with. CPUs run through this at the same time, so each finds
/// its number by its APIC id, and its stack by its number.
///
/// # Safety
/// Only the trampoline comes here, with registers as above.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn arrive() -> ! {
    naked_asm!(
        "mov cr3, rdi",
        // The APIC id, as `CpuFacts` has it: leaf 0xb where there is one, else leaf 1.
        "xor eax, eax",
        "cpuid",
        "cmp eax, 0xb",
        "jb 2f",
        "mov eax, 0xb",
        "xor ecx, ecx",
        "cpuid",
        "test ebx, ebx",
        "jnz 3f",
        "2:",
        "mov eax, 1",
        "cpuid",
        "shr ebx, 24",
        "mov edx, ebx",
        "3:",
        "xor ecx, ecx",
        "4:",
        "cmp ecx, r8d",
        "jae 6f",
        "cmp dword ptr [rsi + 4 * rcx], edx",
        "je 5f",
        "inc ecx",
        "jmp 4b",
        // Its stack: as many strides behind that of CPU 0.
        "5:",
        "mov rdi, rcx",
        "imul rcx, rcx, {stride}",
        "movabs rsp, {stack_top}",
        "add rsp, rcx",
        "mov rsi, r9",
        "xor ebp, ebp",
        "call {start}",
        // Nobody knows this CPU.
        "6:",
        "hlt",
        "jmp 6b",
        stride = const Area::STRIDE,
        stack_top = const STACK_TOP,
        start = sym start,
    )
}

/// On its stack: the CPU becomes one like the boot CPU, and goes on with `main`.
extern "C" fn start(cpu: u64, main: extern "C" fn() -> !) -> ! {
    let block = cpu::block_of(CpuId(cpu as u16));
    // SAFETY: this CPU is the one with this number: its APIC id says so.
    let arrived = block.is_some_and(|block| unsafe { cpu::arrive(block) });
    if !arrived {
        // It was given up: it comes too late.
        exit::halt();
    }
    apic::switch_on();
    remote::join();
    main()
}
