//! The test option `acpi_patch=TABLE@OFFSET:HEXBYTES,...`: QEMU mends the headers of tables that
//! it is given, so damage there has to be done in the guest, before anything reads the tables.

use nearmem::options::number;

/// One patch: bytes to put at an offset of a table.
#[derive(Clone, Copy, Debug)]
pub struct Patch<'a> {
    /// The table's signature; `RSDP`, `RSDT` and `XSDT` are the root's.
    pub table: &'a str,
    /// Offset in the table, in bytes.
    pub offset: u64,
    hex: &'a str,
}

/// The longest patch, in bytes.
pub const MAX_BYTES: usize = 64;

impl<'a> Patch<'a> {
    /// The bytes; `None` when they are not pairs of hexadecimal digits, or too many.
    pub fn bytes<'b>(&self, room: &'b mut [u8; MAX_BYTES]) -> Option<&'b [u8]> {
        let digits = self.hex.as_bytes();
        if digits.is_empty() || !digits.len().is_multiple_of(2) || digits.len() / 2 > MAX_BYTES {
            return None;
        }
        let digit = |byte: u8| (byte as char).to_digit(16);
        for (into, pair) in room.iter_mut().zip(digits.chunks(2)) {
            *into = (digit(pair[0])? << 4 | digit(pair[1])?) as u8;
        }
        Some(&room[..digits.len() / 2])
    }
}

/// The patches of an option's value; `Err` has the text of one that is malformed.
pub fn parse(value: &str) -> impl Iterator<Item = Result<Patch<'_>, &str>> {
    value.split(',').map(|text| {
        let parse = || {
            let (table, rest) = text.split_once('@')?;
            let (offset, hex) = rest.split_once(':')?;
            Some(Patch { table, offset: number(offset)?, hex })
        };
        parse().ok_or(text)
    })
}
