//! The MADT: which CPUs are present, in which order.
//!
//! The records are `acpi`'s; the walk is ours, since that crate's trusts every length byte: a
//! record of length 0 keeps it for ever.

use acpi::madt::{LocalApicEntry, LocalX2ApicEntry, Madt};
use nearmem::ApicId;

/// Offset of the first record (ACPI 6.5, table 5.19).
const RECORDS: usize = size_of::<Madt>();
/// Flag bit 0 of a local APIC record: enabled (ACPI 6.5, table 5.22).
const ENABLED: u32 = 1;
/// The broadcast id in xAPIC mode, which is no CPU's.
const XAPIC_BROADCAST: u8 = 255;

/// One record of the walk.
pub enum Record {
    /// A CPU that is present.
    Cpu(ApicId),
    /// Anything else.
    Other,
    /// The record at this offset is cut short or has a length that its type cannot have. The walk
    /// ends.
    Broken(usize),
}

/// The records in table order. Both forms of CPU record count.
pub fn records(table: &[u8]) -> impl Iterator<Item = Record> + '_ {
    let mut at = RECORDS;
    core::iter::from_fn(move || {
        let head = table.get(at..).filter(|rest| !rest.is_empty())?;
        let record = head.get(1).and_then(|&length| head.get(..usize::from(length)));
        let Some(record) = record.filter(|record| record.len() >= 2) else {
            let broken = Record::Broken(at);
            at = usize::MAX;
            return Some(broken);
        };
        at += record.len();
        Some(match record[0] {
            0 => local_apic(record),
            9 => local_x2apic(record),
            _ => Some(Record::Other),
        })
        .map(|found| {
            found.unwrap_or_else(|| {
                let broken = Record::Broken(at - record.len());
                at = usize::MAX;
                broken
            })
        })
    })
}

fn local_apic(record: &[u8]) -> Option<Record> {
    let entry: LocalApicEntry = structure(record)?;
    let present = entry.flags & ENABLED != 0 && entry.apic_id != XAPIC_BROADCAST;
    Some(if present { Record::Cpu(ApicId(u32::from(entry.apic_id))) } else { Record::Other })
}

fn local_x2apic(record: &[u8]) -> Option<Record> {
    let entry: LocalX2ApicEntry = structure(record)?;
    let present = entry.flags & ENABLED != 0;
    Some(if present { Record::Cpu(ApicId(entry.x2apic_id)) } else { Record::Other })
}

/// One of `acpi`'s packed record structures.
trait Plain: Copy {}
impl Plain for LocalApicEntry {}
impl Plain for LocalX2ApicEntry {}

/// A copy of the structure that `record` begins with; `None` when it is too short.
fn structure<T: Plain>(record: &[u8]) -> Option<T> {
    let bytes = record.get(..size_of::<T>())?;
    // SAFETY: `bytes` is as long as `T`, which is packed (no alignment, no padding) and made of
    // integers only, so any bytes are a value.
    Some(unsafe { bytes.as_ptr().cast::<T>().read_unaligned() })
}
