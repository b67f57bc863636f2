//! What the exceptions are called (Intel SDM volume 3, table 7-1; AMD APM volume 2, 8.2).

/// The name of an exception vector.
pub fn name(vector: u64) -> &'static str {
    match vector {
        0 => "divide error",
        1 => "debug",
        2 => "non-maskable interrupt",
        3 => "breakpoint",
        4 => "overflow",
        5 => "bound range exceeded",
        6 => "invalid opcode",
        7 => "device not available",
        8 => "double fault",
        10 => "invalid TSS",
        11 => "segment not present",
        12 => "stack segment fault",
        13 => "general protection fault",
        14 => "page fault",
        16 => "x87 floating-point error",
        17 => "alignment check",
        18 => "machine check",
        19 => "SIMD floating-point error",
        20 => "virtualization exception",
        21 => "control protection",
        28 => "hypervisor injection",
        29 => "VMM communication",
        30 => "security exception",
        _ => "reserved",
    }
}
