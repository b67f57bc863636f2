// The way from the PVH loader to Rust. 32-bit code runs at physical addresses: linked address
// minus the image offset.

.set OFFSET, {image_offset}

// The note that tells the loader where to enter: owner "Xen", type 18 (PHYS32_ENTRY).
.pushsection .note.pvh, "a", @note
.balign 4
.long 4
.long 4
.long 18
.asciz "Xen"
.long pvh_entry - OFFSET
.popsection

// Boot page tables. The first 4 GiB in 2 MiB pages, seen three times: as they are, in the direct
// map (entry 273 of the top level), and, as far as 2 GiB go, where the image is linked. Everything
// may be written and executed: Rust's own tables take over before any memory is handed out.
.pushsection .data.boot_tables, "aw"
.balign 4096
boot_pml4:
    .quad boot_pdpt - OFFSET + 3
    .fill 272, 8, 0
    .quad boot_pdpt - OFFSET + 3
    .fill 237, 8, 0
    .quad boot_pdpt_image - OFFSET + 3
boot_pdpt:
    .quad boot_pd - OFFSET + 0x0003
    .quad boot_pd - OFFSET + 0x1003
    .quad boot_pd - OFFSET + 0x2003
    .quad boot_pd - OFFSET + 0x3003
    .fill 508, 8, 0
boot_pdpt_image:
    .fill 510, 8, 0
    .quad boot_pd - OFFSET + 0x0003
    .quad boot_pd - OFFSET + 0x1003
boot_pd:
.set page, 0
.rept 2048
    .quad page + 0x83
    .set page, page + 0x200000
.endr

.balign 8
boot_gdt:
    .quad 0
    .quad 0x00af9a000000ffff    // 0x08: 64-bit code
    .quad 0x00cf92000000ffff    // 0x10: data
boot_gdt_end:
boot_gdt_pointer:
    .word boot_gdt_end - boot_gdt - 1
    .long boot_gdt - OFFSET
.popsection

.pushsection .text.entry, "ax"
.code32
.global pvh_entry
pvh_entry:
    cli
    cld
    rdtsc                       // the moment of entry, for clock.rs
    mov %eax, %edi
    mov %edx, %ebp
    mov %ebx, %esi              // CPUID overwrites ebx

    mov $0x80000000, %eax
    cpuid
    cmp $0x80000001, %eax
    jb 5f
    mov $0x80000001, %eax
    cpuid
    bt $29, %edx                // long mode
    jnc 5f

    mov $0x20, %eax             // CR4: PAE
    mov %eax, %cr4
    mov $(boot_pml4 - OFFSET), %eax
    mov %eax, %cr3

    mov $0xc0000080, %ecx       // EFER
    rdmsr
    or $0x100, %eax             // LME
    wrmsr

    mov $0x80000011, %eax       // CR0: PG, ET, PE
    mov %eax, %cr0
    lgdt boot_gdt_pointer - OFFSET
    ljmp $0x08, $(4f - OFFSET)

    // No 64-bit CPU: say so on COM1, and end QEMU with its debug-exit device.
5:  mov $(no_long_mode - OFFSET), %esi
    mov $0x3f8, %dx
6:  lodsb
    test %al, %al
    jz 7f
    out %al, %dx
    jmp 6b
7:  mov $0x10, %eax
    out %eax, $0xf4
8:  hlt
    jmp 8b
no_long_mode:
    .asciz "This CPU has no 64-bit mode.\n"

.code64
4:  movabs $9f, %rax
    jmp *%rax                   // from the identity map to the linked address
9:  mov $0x10, %eax
    mov %eax, %ds
    mov %eax, %es
    mov %eax, %ss
    xor %eax, %eax
    mov %eax, %fs
    mov %eax, %gs
    movabs ${stack} + {stack_bytes}, %rsp
    mov %edi, %eax
    mov %esi, %edi              // hvm_start_info
    mov %ebp, %esi
    shl $32, %rsi
    or %rax, %rsi               // the moment of entry
    xor %ebp, %ebp              // the end of the chain of frames
    call pvh_start
    ud2
.popsection
