// From real mode to 64-bit code. Copied to a page below 1 MiB; the SIPI's vector is the number of
// that page, so a CPU begins here with cs = page * 256 and ip = 0. Nothing here depends on the CPU,
// and nothing is written: all of them run through it at the same time.
//
// The way is the short one: paging and protection are switched on by one write to CR0, so that there
// is no 32-bit stage. What it takes stands behind the code, in `Data` of trampoline.rs.

.pushsection .rodata.trampoline, "a"
.balign 16
.code16
trampoline_begin:
    cli
    cld
    mov %cs, %ax
    mov %ax, %ds                            // ds:0 is the page

    mov (DATA + {cr4}), %eax                // PAE and what else the boot CPU has
    mov %eax, %cr4
    mov (DATA + {cr3}), %eax                // tables that map this page, too
    mov %eax, %cr3
    mov $0xc0000080, %ecx                   // EFER: long mode, no-execute
    mov (DATA + {efer}), %eax
    xor %edx, %edx
    wrmsr
    lgdtl (DATA + {gdt_pointer})
    mov (DATA + {cr0}), %eax                // protection and paging
    mov %eax, %cr0
    ljmpl *(DATA + {far})                   // a 64-bit code segment

.code64
trampoline_long:
    mov trampoline_data + {root}(%rip), %rdi
    mov trampoline_data + {ids}(%rip), %rsi
    mov trampoline_data + {count}(%rip), %r8d
    mov trampoline_data + {main}(%rip), %r9
    mov trampoline_data + {entry}(%rip), %rax
    jmp *%rax

.balign 8
trampoline_data:
    .fill {data_bytes}, 1, 0
trampoline_end:
.set DATA, trampoline_data - trampoline_begin
.global trampoline_begin, trampoline_long, trampoline_data, trampoline_end
.popsection
