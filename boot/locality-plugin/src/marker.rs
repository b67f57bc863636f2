//! The instruction that opens or closes a region.
//!
//! It is a NOP of eight bytes, `nopl DISP(%rax,%rax,1)`: four bytes of opcode and address form, then
//! a displacement whose upper half says that it is ours. Assemblers pad with a displacement of 0.
//! `nearmem_x86_64::marker` emits it.

/// Opcode and address form.
const NOP: [u8; 4] = [0x0f, 0x1f, 0x84, 0x00];
/// The upper half of the displacement.
const MAGIC: u16 = 0x4e4d;
const BEGIN: u8 = 1;
const END: u8 = 2;

/// What a marker does to the region of this number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Marker {
    /// Counting begins behind the marker.
    Begin(u8),
    /// Counting ends before the marker.
    End(u8),
}

impl Marker {
    /// The marker that these bytes of one instruction are, if they are one.
    pub fn decode(instruction: &[u8]) -> Option<Marker> {
        let displacement: [u8; 4] = instruction.strip_prefix(&NOP)?.try_into().ok()?;
        let [region, action, magic @ ..] = displacement;
        if u16::from_le_bytes(magic) != MAGIC {
            return None;
        }
        match action {
            BEGIN => Some(Marker::Begin(region)),
            END => Some(Marker::End(region)),
            _ => None,
        }
    }

    /// As a number that goes through a pointer: never 0, so that it differs from no marker.
    pub fn to_word(self) -> usize {
        match self {
            Marker::Begin(region) => usize::from(BEGIN) << 8 | usize::from(region),
            Marker::End(region) => usize::from(END) << 8 | usize::from(region),
        }
    }

    /// Back from [`to_word`](Self::to_word).
    pub fn from_word(word: usize) -> Option<Marker> {
        let region = word as u8;
        match u8::try_from(word >> 8).ok()? {
            BEGIN => Some(Marker::Begin(region)),
            END => Some(Marker::End(region)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_told_from_padding() {
        let nop = |tail: [u8; 4]| Marker::decode(&[&NOP[..], &tail].concat());
        assert_eq!(nop([7, 1, 0x4d, 0x4e]), Some(Marker::Begin(7)));
        assert_eq!(nop([255, 2, 0x4d, 0x4e]), Some(Marker::End(255)));
        assert_eq!(nop([7, 3, 0x4d, 0x4e]), None);
        assert_eq!(nop([0, 0, 0, 0]), None);
        assert_eq!(nop([7, 1, 0x4e, 0x4d]), None);
        assert_eq!(Marker::decode(&[0x66, 0x0f, 0x1f, 0x84, 0, 7, 1, 0x4d, 0x4e]), None);
        assert_eq!(Marker::decode(&NOP), None);
        assert_eq!(Marker::decode(&[0x90]), None);
    }

    #[test]
    fn words_come_back() {
        for marker in [Marker::Begin(0), Marker::End(0), Marker::Begin(255), Marker::End(9)] {
            assert_eq!(Marker::from_word(marker.to_word()), Some(marker));
        }
        assert_eq!(Marker::from_word(0), None);
        assert_eq!(Marker::from_word(usize::MAX), None);
    }
}
