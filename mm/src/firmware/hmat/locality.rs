//! Latencies or bandwidths from initiators to targets (ACPI 6.5, 5.2.27.4).

use super::Body;
use crate::firmware::bytes::{u8_at, u16_at, u32_at, u64_at};
use crate::ids::ProximityDomain;

/// Low nibble: the level of memory; then two flags about the transfers (ACPI 6.5).
const FLAGS: usize = 8;
const DATA_TYPE: usize = 9;
const INITIATORS: usize = 12;
const TARGETS: usize = 16;
const BASE_UNIT: usize = 24;
/// The lists: initiators u32, targets u32, entries u16 row by row, a row per initiator.
const LISTS: usize = 32;
const _: () = assert!(BASE_UNIT + size_of::<u64>() == LISTS);

const HIERARCHY: u8 = 0xf;
const PXM_BYTES: usize = size_of::<u32>();
const ENTRY_BYTES: usize = size_of::<u16>();

/// What an entry says of a pair that cannot reach each other.
const UNREACHABLE: u16 = 0xffff;

/// Latencies or bandwidths, one for each pair of an initiator and a target. The domains are as
/// the firmware names them: there may be no such node, and one may stand twice in a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Locality<'a> {
    /// What the figures are of: 0 the memory, or what is in it when there are caches; 1 to 3 the
    /// memory side cache of that level; others are reserved.
    pub hierarchy: u8,
    /// What the figures are: [`DataType`] says which are known.
    pub data_type: u8,
    /// What an entry is multiplied with: picoseconds or MB/s; in revision 1 tenths of a nanosecond
    /// or of a MB/s, as Linux takes it.
    pub base_unit: u64,
    /// Bytes behind the matrix.
    pub behind: u32,
    initiators: &'a [u8],
    targets: &'a [u8],
    entries: &'a [u8],
    revision: u8,
}

/// What the figures of a [`Locality`] are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DataType {
    /// 0: latency of reads and writes.
    AccessLatency,
    /// 1: latency of reads.
    ReadLatency,
    /// 2: latency of writes.
    WriteLatency,
    /// 3: bandwidth of reads and of writes.
    AccessBandwidth,
    /// 4: bandwidth of reads.
    ReadBandwidth,
    /// 5: bandwidth of writes.
    WriteBandwidth,
}

/// What one entry says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Value {
    /// Nanoseconds or MB/s, above 0.
    Known(u32),
    /// Nothing: an entry of 0, or in revision 1 a product below 10.
    Unknown,
    /// That the target cannot be reached: 0xffff.
    Unreachable,
    /// More than 32 bits hold: entry times base unit.
    TooLarge,
}

impl Value {
    /// Nanoseconds or MB/s; `None` when it is not known.
    pub fn known(self) -> Option<u32> {
        match self {
            Value::Known(value) => Some(value),
            _ => None,
        }
    }
}

impl DataType {
    /// What a number means; `None` for reserved ones.
    pub fn new(data_type: u8) -> Option<DataType> {
        Some(match data_type {
            0 => DataType::AccessLatency,
            1 => DataType::ReadLatency,
            2 => DataType::WriteLatency,
            3 => DataType::AccessBandwidth,
            4 => DataType::ReadBandwidth,
            5 => DataType::WriteBandwidth,
            _ => return None,
        })
    }

    /// Its name in Linux's log.
    pub fn name(self) -> &'static str {
        match self {
            DataType::AccessLatency => "Access Latency",
            DataType::ReadLatency => "Read Latency",
            DataType::WriteLatency => "Write Latency",
            DataType::AccessBandwidth => "Access Bandwidth",
            DataType::ReadBandwidth => "Read Bandwidth",
            DataType::WriteBandwidth => "Write Bandwidth",
        }
    }

    /// Whether it is a latency, in nanoseconds; a bandwidth, in MB/s, otherwise.
    pub fn is_latency(self) -> bool {
        use DataType::{AccessLatency, ReadLatency, WriteLatency};
        matches!(self, AccessLatency | ReadLatency | WriteLatency)
    }
}

impl<'a> Locality<'a> {
    /// [`Locality::hierarchy`] of the memory itself.
    pub const MEMORY: u8 = 0;
    /// The last [`Locality::hierarchy`] that is not reserved: the third level of caches.
    pub const LAST_CACHE: u8 = 3;
    /// Bytes without lists.
    pub(super) const FIXED: usize = LISTS;

    /// `None` for fewer bytes than [`Locality::FIXED`].
    pub(super) fn decode(structure: &'a [u8], revision: u8) -> Option<Body<'a>> {
        let initiators = u32_at(structure, INITIATORS)?;
        let targets = u32_at(structure, TARGETS)?;
        let Some(lists) = cut(structure, initiators as usize, targets as usize) else {
            let length = structure.len() as u32;
            return Some(Body::BadCounts { initiators, targets, length });
        };
        let [initiators, targets, entries, behind] = lists;
        Some(Body::Locality(Locality {
            hierarchy: u8_at(structure, FLAGS)? & HIERARCHY,
            data_type: u8_at(structure, DATA_TYPE)?,
            base_unit: u64_at(structure, BASE_UNIT)?,
            behind: behind.len() as u32,
            initiators,
            targets,
            entries,
            revision,
        }))
    }

    /// The initiators' domains, by row.
    pub fn initiators(&self) -> impl ExactSizeIterator<Item = ProximityDomain> + use<'a> {
        domains(self.initiators)
    }

    /// The targets' domains, by column.
    pub fn targets(&self) -> impl ExactSizeIterator<Item = ProximityDomain> + use<'a> {
        domains(self.targets)
    }

    /// What the table says of an initiator's row and a target's column; `None` for one that there
    /// is not. Counted from 0.
    pub fn value(&self, row: usize, column: usize) -> Option<Value> {
        let targets = self.targets().len();
        if column >= targets {
            return None;
        }
        let entry = row.checked_mul(targets)?.checked_add(column)?;
        let entry = u16_at(self.entries, entry.checked_mul(ENTRY_BYTES)?)?;
        let latency = DataType::new(self.data_type).is_some_and(DataType::is_latency);
        Some(value(entry, self.base_unit, self.revision, latency))
    }

    /// All figures as (initiator, target, value), row by row.
    pub fn values(&self) -> impl Iterator<Item = (ProximityDomain, ProximityDomain, Value)> + 'a {
        let all = *self;
        all.initiators().enumerate().flat_map(move |(row, initiator)| {
            let columns = all.targets().enumerate();
            columns.filter_map(move |(column, target)| {
                Some((initiator, target, all.value(row, column)?))
            })
        })
    }
}

/// The lists of a structure, and what lies behind them.
fn cut(structure: &[u8], initiators: usize, targets: usize) -> Option<[&[u8]; 4]> {
    let rest = structure.get(LISTS..)?;
    let (initiator_list, rest) = rest.split_at_checked(initiators.checked_mul(PXM_BYTES)?)?;
    let (target_list, rest) = rest.split_at_checked(targets.checked_mul(PXM_BYTES)?)?;
    let entries = initiators.checked_mul(targets)?.checked_mul(ENTRY_BYTES)?;
    let (entries, behind) = rest.split_at_checked(entries)?;
    Some([initiator_list, target_list, entries, behind])
}

fn domains(list: &[u8]) -> impl ExactSizeIterator<Item = ProximityDomain> + use<'_> {
    let pxm = |bytes: &[u8]| ProximityDomain(u32_at(bytes, 0).unwrap_or_default());
    list.chunks_exact(PXM_BYTES).map(pxm)
}

/// An entry in nanoseconds or MB/s, by the rules of Linux (reference: numa-discovery, section 10).
fn value(entry: u16, base_unit: u64, revision: u8, latency: bool) -> Value {
    if entry == 0 {
        return Value::Unknown;
    }
    if entry == UNREACHABLE {
        return Value::Unreachable;
    }
    let product = base_unit.checked_mul(u64::from(entry)).map(u32::try_from);
    let Some(Ok(product)) = product else { return Value::TooLarge };
    match product {
        0 => Value::Unknown,
        1..10 if revision == 1 => Value::Unknown,
        _ if revision == 1 => Value::Known(product.div_ceil(10)),
        _ if latency => Value::Known(product.div_ceil(1000)),
        _ => Value::Known(product),
    }
}
