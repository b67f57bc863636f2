//! `hvm_start_info`, the structure that a PVH loader passes (Xen's public header
//! `arch-x86/hvm/start_info.h`). All numbers are little-endian.

/// `magic`: "xEn3" with the top bit of the E set.
const MAGIC: u32 = 0x336e_c578;
/// Bytes of version 1 of the structure, which has the memory map.
pub const START_INFO_BYTES: usize = 56;
/// Bytes of one entry of its memory map: address, length, type and a reserved word.
pub const REGION_BYTES: usize = 24;

/// The fields that the kernel wants. Addresses are physical; 0 stands for "there is none".
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StartInfo {
    /// The command line, ended by a zero byte.
    pub command_line: u64,
    /// The RSDP.
    pub rsdp: u64,
    /// The memory map.
    pub regions: u64,
    /// How many entries the memory map has.
    pub region_count: u32,
}

/// Why a structure was not understood.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StartInfoError {
    /// Fewer than [`START_INFO_BYTES`] bytes.
    TooShort,
    /// This is not the magic number.
    Magic(u32),
}

impl StartInfo {
    /// Reads the structure. Version 0 has no memory map; then `region_count` is 0.
    pub fn parse(bytes: &[u8]) -> Result<StartInfo, StartInfoError> {
        let u32_at = |at| bytes_at(bytes, at).map(u32::from_le_bytes);
        let u64_at = |at| bytes_at(bytes, at).map(u64::from_le_bytes);
        let magic = u32_at(0).ok_or(StartInfoError::TooShort)?;
        if magic != MAGIC {
            return Err(StartInfoError::Magic(magic));
        }
        let parse = || {
            let version = u32_at(4)?;
            Some(StartInfo {
                command_line: u64_at(24)?,
                rsdp: u64_at(32)?,
                regions: u64_at(40)?,
                region_count: if version == 0 { 0 } else { u32_at(48)? },
            })
        };
        parse().ok_or(StartInfoError::TooShort)
    }
}

/// `N` bytes at an offset, if they are there.
pub(super) fn bytes_at<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Vec<u8> {
        let mut bytes = vec![0; START_INFO_BYTES];
        bytes[0..4].copy_from_slice(&MAGIC.to_le_bytes());
        bytes[4] = 1;
        for (at, value) in [(24, 0x9_0000u64), (32, 0xf_5ad0), (40, 0x1000), (48, 10)] {
            bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
        }
        bytes
    }

    #[test]
    fn fields_are_where_xen_puts_them() {
        let info =
            StartInfo { command_line: 0x9_0000, rsdp: 0xf_5ad0, regions: 0x1000, region_count: 10 };
        assert_eq!(StartInfo::parse(&sample()), Ok(info));
    }

    #[test]
    fn version_0_has_no_memory_map() {
        let mut bytes = sample();
        bytes[4] = 0;
        assert_eq!(StartInfo::parse(&bytes).unwrap().region_count, 0);
    }

    #[test]
    fn foreign_or_short_structures_are_refused() {
        let bytes = sample();
        for len in [0, 3, 4, 8, 40, 51] {
            assert_eq!(StartInfo::parse(&bytes[..len]), Err(StartInfoError::TooShort), "{len}");
        }
        assert_eq!(StartInfo::parse(&[0; 56]), Err(StartInfoError::Magic(0)));
    }
}
