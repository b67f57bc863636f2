//! Who made the CPU. Linux places CPUs that the SRAT forgets by vendor (reference: numa-discovery,
//! section 6).

use super::Registers;

/// The maker of a CPU, as far as it matters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Vendor {
    /// `GenuineIntel`.
    Intel,
    /// `AuthenticAMD`.
    Amd,
    /// `HygonGenuine`.
    Hygon,
    /// Any other.
    Other,
}

impl Vendor {
    /// The vendor by the answer to leaf 0.
    pub fn of(leaf_0: Registers) -> Vendor {
        let words = [leaf_0.ebx, leaf_0.edx, leaf_0.ecx].map(u32::to_le_bytes);
        match words.as_flattened() {
            b"GenuineIntel" => Vendor::Intel,
            b"AuthenticAMD" => Vendor::Amd,
            b"HygonGenuine" => Vendor::Hygon,
            _ => Vendor::Other,
        }
    }
}
