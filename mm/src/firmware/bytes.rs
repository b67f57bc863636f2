//! Little-endian numbers from bytes that may end too early.

/// The byte at `at`.
pub fn u8_at(bytes: &[u8], at: usize) -> Option<u8> {
    bytes.get(at).copied()
}

/// The two bytes from `at` on.
pub fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    array_at(bytes, at).map(u16::from_le_bytes)
}

/// The four bytes from `at` on.
pub fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    array_at(bytes, at).map(u32::from_le_bytes)
}

/// The eight bytes from `at` on.
pub fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    array_at(bytes, at).map(u64::from_le_bytes)
}

/// `N` bytes from `at` on.
pub fn array_at<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_little_endian_and_end_with_the_bytes() {
        let bytes = [1, 2, 3, 4, 5, 6, 7, 8];
        assert_eq!(u8_at(&bytes, 7), Some(8));
        assert_eq!(u8_at(&bytes, 8), None);
        assert_eq!(u16_at(&bytes, 6), Some(0x0807));
        assert_eq!(u16_at(&bytes, 7), None);
        assert_eq!(u32_at(&bytes, 4), Some(0x08070605));
        assert_eq!(u32_at(&bytes, 5), None);
        assert_eq!(u64_at(&bytes, 0), Some(0x0807060504030201));
        assert_eq!(u64_at(&bytes, usize::MAX), None);
    }
}
