//! A machine by its records: first whole ones of likely shape, as `arbitrary` makes them of bytes,
//! then damage byte by byte.

use arbitrary::{Arbitrary, Result, Unstructured};
use nearmem::topology::{CacheId, Region, RegionKind, StorageNeeds};
use nearmem::{ApicId, PhysRange};

use crate::machine::Machine;
use crate::memory_map::any_range;

/// The most records and the most CPUs.
const MOST: usize = 48;

/// Takes bytes that choose records, memory, distances, options and damage.
pub fn check(bytes: &[u8]) {
    if let Ok(machine) = machine(&mut Unstructured::new(bytes)) {
        machine.check();
    }
}

fn machine(bytes: &mut Unstructured<'_>) -> Result<Machine> {
    let mut records = Vec::new();
    let mut ram = Vec::new();
    // Tables whose ranges follow each other are accepted, those that jump seldom.
    let neat = bytes.ratio(3, 4)?;
    let mut next = 0;
    for _ in 0..bytes.int_in_range(0..=MOST)? {
        let record = match bytes.int_in_range(0..=9)? {
            0..=4 => {
                let mut range = any_range(bytes)?;
                if neat {
                    range = PhysRange::new(next, next.saturating_add(range.len()));
                    next = range.end.0;
                }
                ram.push(range);
                memory(bytes, range)?
            }
            5..=7 => cpu(bytes)?,
            8 => initiator(bytes)?,
            _ => other(bytes)?,
        };
        records.extend(record);
    }
    let revision = bytes.int_in_range(0..=3)?;
    let body = [&[1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0][..], &records].concat();
    let mut srat = table(b"SRAT", revision, &body);
    let (mut slit, mut cedt) = (slit(bytes)?, cedt(bytes)?);
    let regions = regions(bytes, &ram)?;
    let line = line(bytes)?;
    let cpus = (0..bytes.int_in_range(0..=MOST)?)
        .map(|_| Ok(ApicId(u32::from(u8::arbitrary(bytes)? % 64))))
        .collect::<Result<_>>()?;
    let mut room = || bytes.int_in_range(0..=12);
    let room = StorageNeeds {
        nodes: room()?,
        ranges: room()?,
        cpus: room()?,
        records: room()?,
        blocks: room()?,
        fake_nodes: room()?,
        fake_blocks: room()?,
    };
    let (xapic, cache) = (bytes.ratio(1, 4)?, cache(bytes)?);
    damage(bytes, &mut srat)?;
    damage(bytes, &mut slit)?;
    damage(bytes, &mut cedt)?;
    let table = |bytes: Vec<u8>| (!bytes.is_empty()).then_some(bytes);
    let (srat, slit, cedt) = (table(srat), table(slit), table(cedt));
    Ok(Machine { srat, slit, cedt, regions, cpus, line, xapic, cache, room })
}

fn cache(bytes: &mut Unstructured<'_>) -> Result<Option<CacheId>> {
    let small = |bytes: &mut Unstructured<'_>| Ok(u32::from(u8::arbitrary(bytes)? % 40));
    Ok(match bytes.int_in_range(0..=3)? {
        0 => Some(CacheId::Shift(small(bytes)?)),
        1 => {
            let (socket_shift, cpus, dies) = (small(bytes)?, small(bytes)?, small(bytes)?);
            Some(CacheId::Die { socket_shift, cpus, dies })
        }
        _ => None,
    })
}

/// A table with a header that is right.
pub fn table(signature: &[u8; 4], revision: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; 36];
    bytes[..4].copy_from_slice(signature);
    bytes[8] = revision;
    bytes.extend(body);
    let length = bytes.len() as u32;
    bytes[4..8].copy_from_slice(&length.to_le_bytes());
    let sum = bytes.iter().fold(0u8, |sum, &byte| sum.wrapping_add(byte));
    bytes[9] = sum.wrapping_neg();
    bytes
}

/// A few domains, most of them small.
fn pxm(bytes: &mut Unstructured<'_>) -> Result<[u8; 4]> {
    let small = u32::from(u8::arbitrary(bytes)?);
    let pxm = if small < 248 { small % 7 } else { u32::arbitrary(bytes)? };
    Ok(pxm.to_le_bytes())
}

fn flags(bytes: &mut Unstructured<'_>) -> Result<u8> {
    let bits = u8::arbitrary(bytes)?;
    Ok(if bits & 0xf0 == 0 { bits & 7 } else { 1 })
}

fn memory(bytes: &mut Unstructured<'_>, range: PhysRange) -> Result<Vec<u8>> {
    let mut record = vec![0; 40];
    record[..2].copy_from_slice(&[1, 40]);
    record[2..6].copy_from_slice(&pxm(bytes)?);
    record[8..16].copy_from_slice(&range.start.0.to_le_bytes());
    let length = range.end.0.wrapping_sub(range.start.0);
    record[16..24].copy_from_slice(&length.to_le_bytes());
    record[28] = flags(bytes)?;
    Ok(record)
}

fn cpu(bytes: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let (pxm, flags, apic) = (pxm(bytes)?, flags(bytes)?, u8::arbitrary(bytes)?);
    if bytes.arbitrary()? {
        let mut record = vec![0; 16];
        record[..5].copy_from_slice(&[0, 16, pxm[0], apic % 64, flags]);
        record[9..12].copy_from_slice(&pxm[1..]);
        return Ok(record);
    }
    let wide = apic > 240;
    let apic = if wide { u32::arbitrary(bytes)? } else { u32::from(apic % 64) };
    let mut record = vec![0; 24];
    record[..2].copy_from_slice(&[2, 24]);
    record[4..8].copy_from_slice(&pxm);
    record[8..12].copy_from_slice(&apic.to_le_bytes());
    record[12] = flags;
    Ok(record)
}

fn initiator(bytes: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let mut record = vec![0; 32];
    record[..2].copy_from_slice(&[5, 32]);
    record[4..8].copy_from_slice(&pxm(bytes)?);
    record[24] = flags(bytes)?;
    Ok(record)
}

/// Any type with any length, and as many bytes as the length says.
fn other(bytes: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let (kind, length) = (bytes.int_in_range(0..=9)?, bytes.int_in_range(0..=48)?);
    let mut record = vec![kind, length];
    for _ in 2..length {
        record.push(bytes.arbitrary()?);
    }
    Ok(record)
}

/// None, or one with few rows, valid or not.
fn slit(bytes: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let count: usize = bytes.int_in_range(0..=8)?;
    if bytes.ratio(1, 4)? {
        return Ok(Vec::new());
    }
    let mut body = (count as u64).to_le_bytes().to_vec();
    for cell in 0..count * count {
        let remote = u8::arbitrary(bytes)?;
        body.push(if cell % (count + 1) == 0 { 10 } else { remote.max(11) });
    }
    Ok(table(b"SLIT", 1, &body))
}

/// Often none; else some CXL windows.
fn cedt(bytes: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    for _ in 0..bytes.int_in_range(0..=11)?.max(6) - 6 {
        let range = any_range(bytes)?;
        let mut window = vec![0; 40];
        window[..4].copy_from_slice(&[1, 0, 40, 0]);
        window[8..16].copy_from_slice(&range.start.0.to_le_bytes());
        window[16..24].copy_from_slice(&range.len().to_le_bytes());
        body.extend(window);
    }
    Ok(if body.is_empty() { body } else { table(b"CEDT", 1, &body) })
}

/// The SRAT's own ranges, with a hole or an odd end here and there; or others.
fn regions(bytes: &mut Unstructured<'_>, ram: &[PhysRange]) -> Result<Vec<Region>> {
    let mut regions = Vec::new();
    let own = bytes.ratio(7, 8)?;
    for &range in ram.iter().filter(|_| own) {
        if !bytes.ratio(1, 12)? {
            regions.push(Region { range, kind: RegionKind::Usable });
        }
    }
    for _ in 0..bytes.int_in_range(0..=4)? {
        let kind = if bytes.arbitrary()? { RegionKind::Usable } else { RegionKind::Other };
        regions.push(Region { range: any_range(bytes)?, kind });
    }
    Ok(regions)
}

/// Often empty; else `numa=` or a change of the memory map.
fn line(bytes: &mut Unstructured<'_>) -> Result<String> {
    let number = u32::from(u16::arbitrary(bytes)?);
    let (small, mib) = (number % 12, number / 7);
    Ok(match bytes.int_in_range(0..=15)? {
        0 => "numa=off".into(),
        1 => "numa=noacpi".into(),
        2 => format!("numa=fake={small}"),
        3 => format!("numa=fake={small}U"),
        4 => format!("numa=fake={mib}M"),
        5 => format!("numa=fake={small}:10,20,{}", u8::arbitrary(bytes)?),
        6 => format!("mem={mib}M"),
        7 => format!("memmap={small}M${mib}M"),
        8 => format!("numa=fake={small}U:{}", String::arbitrary(bytes)?),
        9 => format!("numa=noacpi numa=fake={small}"),
        _ => String::new(),
    })
}

/// Overwrites, cuts or leaves the bytes of a table.
fn damage(bytes: &mut Unstructured<'_>, table: &mut Vec<u8>) -> Result<()> {
    for _ in 0..bytes.int_in_range(0..=6)?.max(3) - 3 {
        let (at, value) = (usize::from(u16::arbitrary(bytes)?), u8::arbitrary(bytes)?);
        let length = table.len().max(1);
        if let Some(byte) = table.get_mut(at % length) {
            *byte = value;
        }
    }
    if bytes.ratio(1, 16)? {
        table.truncate(table.len() - usize::from(u8::arbitrary(bytes)?).min(table.len()));
    }
    Ok(())
}
