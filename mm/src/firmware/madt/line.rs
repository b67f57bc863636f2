//! The lines of records, for people.

use core::fmt;

use super::{Body, CpuState, Entry};

/// `MADT: CPU 3 -> APIC 0x03 enabled`, `MADT: type 1, length 12`.
impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.body {
            Body::Cpu(cpu) => {
                let width = if cpu.x2apic { 6 } else { 4 };
                let (uid, apic, state) = (cpu.uid, cpu.apic.0, cpu.state.name());
                write!(f, "MADT: CPU {uid} -> APIC {apic:#0width$x} {state}")
            }
            Body::LocalApicAddress(address) => {
                write!(f, "MADT: the local APICs are at {address:#x}")
            }
            Body::Other { kind, length } | Body::BadLength { kind, length } => {
                write!(f, "MADT: type {kind}, length {length}")
            }
            Body::Truncated { present } => write!(f, "MADT: {present} bytes of a record"),
        }
    }
}

impl CpuState {
    /// `enabled`, `online capable`, `disabled` or `no CPU`.
    pub const fn name(self) -> &'static str {
        match self {
            CpuState::Present => "enabled",
            CpuState::OnlineCapable => "online capable",
            CpuState::Disabled => "disabled",
            CpuState::Nobody => "no CPU",
        }
    }
}
