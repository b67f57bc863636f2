//! Random numbers that are the same at every run: an xorshift generator, and bytes made by it.

/// A generator.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// One of its own for each seed.
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `end`, which is above 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.bits() >> 16) as usize % end
    }

    /// That many random bytes.
    pub fn bytes(&mut self, length: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(length + 8);
        while bytes.len() < length {
            bytes.extend(self.bits().to_le_bytes());
        }
        bytes.truncate(length);
        bytes
    }

    /// The bytes with some overwritten, cut off, doubled or moved.
    pub fn mutated(&mut self, bytes: &[u8]) -> Vec<u8> {
        const ODD: [u8; 8] = [0, 1, 2, 0x10, 0x7f, 0x80, 0xfe, 0xff];
        let mut bytes = bytes.to_vec();
        for _ in 0..1 + self.below(8) {
            if bytes.is_empty() {
                return bytes;
            }
            let at = self.below(bytes.len());
            match self.below(16) {
                0..=5 => bytes[at] = self.bits() as u8,
                6..=9 => bytes[at] = ODD[self.below(ODD.len())],
                10 | 11 => bytes[at] ^= 1 << self.below(8),
                12 => bytes.truncate(at),
                13 => {
                    let length = self.below(48).min(bytes.len() - at);
                    let part = bytes[at..at + length].to_vec();
                    let to = self.below(bytes.len() + 1);
                    bytes.splice(to..to, part);
                }
                14 => drop(bytes.drain(at..(at + 1 + self.below(40)).min(bytes.len()))),
                _ => {
                    let length = self.below(16);
                    let part = self.bytes(length);
                    bytes.splice(at..at, part);
                }
            }
        }
        bytes
    }
}
