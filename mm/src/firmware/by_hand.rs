//! Tables made by hand, for tests.

use std::vec;
use std::vec::Vec;

use super::Header;

/// A table whose header is right: `body` is all that follows it.
pub fn table(signature: &[u8; 4], revision: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; Header::LENGTH];
    bytes[..4].copy_from_slice(signature);
    bytes[4..8].copy_from_slice(&((Header::LENGTH + body.len()) as u32).to_le_bytes());
    bytes[8] = revision;
    bytes.extend(body);
    let sum = bytes.iter().fold(0u8, |sum, &byte| sum.wrapping_add(byte));
    bytes[9] = sum.wrapping_neg();
    bytes
}
