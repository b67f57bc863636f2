//! From the RSDP to the addresses of all tables. The RSDP is `acpi`'s; its length is checked before
//! that crate sees it, since it trusts it.

use core::mem::size_of;

use acpi::rsdp::Rsdp;
use nearmem::finding::{Finding, Findings, Kind, Place};
use nearmem::firmware::{Header, Table};
use nearmem::{PhysAddr, PhysRange};

use super::window::Window;

/// The root of the firmware's tables: the list of their addresses.
#[derive(Clone, Copy, Debug)]
pub struct Root {
    /// Its signature: `RSDT` or `XSDT`.
    pub name: &'static str,
    /// Where the root table is.
    pub address: PhysAddr,
    entries: &'static [u8],
    entry_bytes: usize,
}

/// Length of an RSDP of revision 2 (ACPI 6.5, table 5.3).
const RSDP_BYTES: u64 = size_of::<Rsdp>() as u64;
/// Length of an RSDP of revision 0, with which every other begins.
const RSDP_FIRST_BYTES: usize = 20;
const HEADER_BYTES: u64 = Header::LENGTH as u64;
/// EBDA segment word, and the BIOS area (ACPI 6.5, 5.2.5.1).
const EBDA_SEGMENT: PhysAddr = PhysAddr(0x40e);
const BIOS_AREA: (PhysAddr, u64) = (PhysAddr(0xe0000), 0x20000);

impl Root {
    /// The bytes that the root table fills.
    pub fn range(&self) -> PhysRange {
        let bytes = HEADER_BYTES + self.entries.len() as u64;
        PhysRange { start: self.address, end: self.address + bytes }
    }

    /// The addresses of the tables, in the root's order; zero entries are skipped.
    pub fn tables(&self) -> impl Iterator<Item = PhysAddr> + use<> {
        self.entries.chunks_exact(self.entry_bytes).map(address).filter(|at| at.0 != 0)
    }
}

fn address(bytes: &[u8]) -> PhysAddr {
    PhysAddr(bytes.iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte)))
}

/// Where the RSDP is: as the loader says, or else where a BIOS puts it.
pub fn rsdp(window: &Window<'_>, told: Option<u64>) -> Option<PhysAddr> {
    told.map(PhysAddr).or_else(|| search(window))
}

/// Reads the root table that an RSDP names. What is wrong is a finding.
pub fn read(
    window: &Window<'_>,
    told: Option<PhysAddr>,
    findings: &mut dyn Findings,
) -> Option<Root> {
    let Some(at) = told else {
        findings.add(Finding::at(Place::table("RSDP"), Kind::RsdpAbsent));
        return None;
    };
    let rsdp = valid_rsdp(window, at).or_else(|| {
        let kind = Kind::RsdpInvalid { address: at.0 };
        findings.add(Finding::at(Place::table("RSDP"), kind));
        search(window).and_then(|at| valid_rsdp(window, at))
    });
    let Some(rsdp) = rsdp else {
        findings.add(Finding::at(Place::table("RSDP"), Kind::RsdpAbsent));
        return None;
    };
    let root = root_of(window, rsdp, findings);
    if let Err((name, address)) = root {
        let kind = Kind::RootTableInvalid { address: address.0 };
        findings.add(Finding::at(Place::table(name), kind));
    }
    root.ok()
}

fn valid_rsdp(window: &Window<'_>, at: PhysAddr) -> Option<&'static Rsdp> {
    let bytes = window.bytes(at, RSDP_BYTES)?;
    // SAFETY: packed (alignment 1), plain numbers, and as many bytes as the structure has.
    let rsdp: &'static Rsdp = unsafe { &*bytes.as_ptr().cast() };
    // This part has a checksum of its own in every revision, at which that crate does not look.
    let sum = bytes.iter().take(RSDP_FIRST_BYTES).fold(0u8, |sum, &byte| sum.wrapping_add(byte));
    if sum != 0 {
        return None;
    }
    // The checksum runs over the length that the structure claims: bytes 20 to 23, from revision 1.
    let length = u64::from(u32::from_le_bytes(bytes[20..24].try_into().ok()?));
    if rsdp.revision() > 0 && (length < RSDP_BYTES || window.bytes(at, length).is_none()) {
        return None;
    }
    rsdp.validate().ok().map(|()| rsdp)
}

/// The XSDT from revision 2 on, when there is one; the RSDT otherwise, as Linux does.
fn root_of(
    window: &Window<'_>,
    rsdp: &Rsdp,
    findings: &mut dyn Findings,
) -> Result<Root, (&'static str, PhysAddr)> {
    let xsdt = if rsdp.revision() > 1 { rsdp.xsdt_address() } else { 0 };
    let (name, at, entry_bytes) = match xsdt {
        0 => ("RSDT", u64::from(rsdp.rsdt_address()), 4),
        xsdt => ("XSDT", xsdt, 8),
    };
    let at = PhysAddr(at);
    // As in Linux a wrong checksum is a finding and no more: every pointer is checked anyway.
    let bytes = table(window, at).and_then(|bytes| Table::parse(bytes, name, findings));
    let bytes = bytes.ok_or((name, at))?.bytes;
    let entries = bytes.get(Header::LENGTH..).unwrap_or_default();
    Ok(Root { name, address: at, entries, entry_bytes })
}

/// The table at `at`, as long as its header says or as there is memory, but at least a header;
/// `None` when that cannot be read.
pub fn table(window: &Window<'_>, at: PhysAddr) -> Option<&'static [u8]> {
    let header = window.bytes(at, HEADER_BYTES)?;
    let length = u64::from(u32::from_le_bytes(header[4..8].try_into().ok()?));
    window.bytes_up_to(at, length.max(HEADER_BYTES))
}

/// The first valid RSDP on a 16-byte boundary of the BIOS areas.
fn search(window: &Window<'_>) -> Option<PhysAddr> {
    let ebda = window.bytes(EBDA_SEGMENT, 2).map(|word| PhysAddr(address(word).0 << 4));
    let ebda = ebda.filter(|at| at.0 > 0x400).map(|at| (at, 1024));
    ebda.into_iter().chain([BIOS_AREA]).find_map(|(start, bytes)| {
        (0..bytes).step_by(16).map(|offset| start + offset).find(|&at| {
            window.bytes(at, 8) == Some(b"RSD PTR ") && valid_rsdp(window, at).is_some()
        })
    })
}
