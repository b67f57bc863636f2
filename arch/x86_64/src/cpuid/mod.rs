//! What the CPU says about itself.
//!
//! In: the answers of the CPUID instruction. Out: plain facts. Pure: a test asks a made-up CPU.

mod topology;
mod vendor;

use nearmem::ApicId;

pub use topology::CacheTopology;
pub use vendor::Vendor;

/// The answer to one question.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[allow(missing_docs)] // registers
pub struct Registers {
    pub eax: u32,
    pub ebx: u32,
    pub ecx: u32,
    pub edx: u32,
}

/// What the kernel wants to know of a CPU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CpuFacts {
    /// Who made it.
    pub vendor: Vendor,
    /// How many bits a physical address has.
    pub physical_bits: u8,
    /// Whether page tables may have 1 GiB leaves.
    pub gib_pages: bool,
    /// Whether page-table entries may forbid execution.
    pub no_execute: bool,
    /// Whether TLB entries may be global.
    pub global_pages: bool,
    /// Whether machine checks can be caught.
    pub machine_check: bool,
    /// Whether there is a local APIC.
    pub apic: bool,
    /// Whether the local APIC has 32-bit ids.
    pub x2apic: bool,
    /// The APIC id that this CPU had at reset.
    pub initial_apic_id: ApicId,
    /// How to tell which CPUs share a last-level cache.
    pub cache: CacheTopology,
}

/// Physical address bits of a CPU that does not say.
const DEFAULT_PHYSICAL_BITS: u8 = 36;

impl CpuFacts {
    /// Asks a CPU: `cpuid(leaf, subleaf)` gives its answer. Leaves that it does not have are not
    /// asked for.
    pub fn of(cpuid: &impl Fn(u32, u32) -> Registers) -> CpuFacts {
        let ask = |leaf, subleaf| ask(cpuid, leaf, subleaf);
        let features = ask(1, 0);
        let extended = ask(0x8000_0001, 0);
        let physical_bits = match ask(0x8000_0008, 0).eax as u8 {
            0 => DEFAULT_PHYSICAL_BITS,
            bits => bits,
        };
        let x2apic_leaf = ask(0xb, 0);
        let initial_apic_id =
            if x2apic_leaf.ebx != 0 { x2apic_leaf.edx } else { features.ebx >> 24 };
        CpuFacts {
            vendor: Vendor::of(cpuid(0, 0)),
            physical_bits,
            gib_pages: extended.edx >> 26 & 1 == 1,
            no_execute: extended.edx >> 20 & 1 == 1,
            global_pages: features.edx >> 13 & 1 == 1,
            machine_check: features.edx >> 7 & 1 == 1,
            apic: features.edx >> 9 & 1 == 1,
            x2apic: features.ecx >> 21 & 1 == 1,
            initial_apic_id: ApicId(initial_apic_id),
            cache: CacheTopology::of(cpuid),
        }
    }

    /// The first physical address that this CPU cannot name.
    pub fn physical_end(&self) -> u64 {
        1u64.checked_shl(self.physical_bits.into()).unwrap_or(u64::MAX)
    }
}

/// The answer of a leaf, all zero when the CPU does not have it: Intel CPUs answer such a question
/// with the data of another leaf.
fn ask(cpuid: &impl Fn(u32, u32) -> Registers, leaf: u32, subleaf: u32) -> Registers {
    let highest = cpuid(leaf & 0x8000_0000, 0).eax;
    if leaf <= highest { cpuid(leaf, subleaf) } else { Registers::default() }
}

/// The facts of the CPU that this runs on.
#[cfg(target_os = "none")]
pub fn this_cpu() -> CpuFacts {
    CpuFacts::of(&|leaf, subleaf| {
        let answer = core::arch::x86_64::__cpuid_count(leaf, subleaf);
        Registers { eax: answer.eax, ebx: answer.ebx, ecx: answer.ecx, edx: answer.edx }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cpu(answers: &'static [(u32, u32, [u32; 4])]) -> impl Fn(u32, u32) -> Registers {
        move |leaf, subleaf| {
            let found = answers.iter().find(|answer| (answer.0, answer.1) == (leaf, subleaf));
            // What is not in the list looks like another leaf's data.
            let [eax, ebx, ecx, edx] = found.map_or([u32::MAX; 4], |answer| answer.2);
            Registers { eax, ebx, ecx, edx }
        }
    }

    #[test]
    fn leaves_beyond_the_highest_are_not_believed() {
        let facts = CpuFacts::of(&cpu(&[
            (0, 0, [1, 0x756e_6547, 0x6c65_746e, 0x4965_6e69]),
            (1, 0, [0x663, 3 << 24, 0, 0]),
            (0x8000_0000, 0, [0x8000_0001, 0, 0, 0]),
            (0x8000_0001, 0, [0, 0, 0, 1 << 20]),
        ]));
        assert_eq!(facts.vendor, Vendor::Intel);
        assert_eq!(facts.physical_bits, 36);
        assert_eq!(facts.initial_apic_id, ApicId(3));
        assert!(
            facts.no_execute
                && !facts.gib_pages
                && !facts.apic
                && !facts.x2apic
                && !facts.global_pages
        );
    }

    #[test]
    fn the_x2apic_leaf_has_the_whole_id() {
        let facts = CpuFacts::of(&cpu(&[
            (0, 0, [0xb, 0x6874_7541, 0x444d_4163, 0x6974_6e65]),
            (1, 0, [0x663, 0x2c << 24, 1 << 21, 1 << 13 | 1 << 9]),
            (0xb, 0, [0, 1, 0x100, 0x12c]),
            (0xb, 1, [0, 0, 0, 0x12c]),
            (0x8000_0000, 0, [0x8000_0008, 0, 0, 0]),
            (0x8000_0001, 0, [0, 0, 0, 1 << 26]),
            (0x8000_0006, 0, [0, 0, 0, 0]),
            (0x8000_0008, 0, [0x3028, 0, 0, 0]),
        ]));
        assert_eq!(facts.vendor, Vendor::Amd);
        assert_eq!(facts.initial_apic_id, ApicId(0x12c));
        assert_eq!((facts.physical_bits, facts.physical_end()), (40, 1 << 40));
        assert!(
            facts.apic
                && facts.x2apic
                && facts.gib_pages
                && facts.global_pages
                && !facts.no_execute
        );
    }
}
