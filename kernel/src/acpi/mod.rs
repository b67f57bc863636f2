//! The firmware's tables: from the RSDP to the bytes of SRAT, SLIT, HMAT and CEDT, and to the
//! present CPUs.

mod patch;
mod root;
mod window;

use nearmem::finding::{Finding, Findings, Kind, Place};
use nearmem::firmware::Header;
use nearmem::firmware::hmat;
use nearmem::firmware::madt::{self, IdLinks, Madt};
use nearmem::{ApicId, PhysAddr, PhysRange};
use nearmem_x86_64::{Boot, println};

use root::Root;
use window::Window;

/// What the firmware says about nodes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tables {
    /// The whole SRAT.
    pub srat: Option<&'static [u8]>,
    /// The whole SLIT.
    pub slit: Option<&'static [u8]>,
    /// The whole HMAT.
    pub hmat: Option<&'static [u8]>,
    /// The whole CEDT.
    pub cedt: Option<&'static [u8]>,
    madt: Option<&'static [u8]>,
    /// Where they lie: memory that must not be handed out.
    pub places: [PhysRange; 6],
}

/// Finds the tables, after `acpi_patch` was done. What is wrong is a finding.
pub fn read(boot: &Boot, acpi_patch: Option<&str>, findings: &mut dyn Findings) -> Tables {
    // SAFETY: both doors enter with the first 4 GiB in the direct map, and nothing else looks at
    // firmware tables.
    let mut window = unsafe { Window::new(boot) };
    let rsdp = root::rsdp(&window, boot.info.rsdp_addr.into_option());
    if let Some(patches) = acpi_patch {
        apply(&mut window, rsdp, patches);
    }
    let Some(root) = root::read(&window, rsdp, findings) else { return Tables::default() };
    if let Some(at) = rsdp {
        println!("ACPI: RSDP {:#018x}", at.0);
    }
    let mut tables = Tables::default();
    tables.places[0] = root.range();
    for at in root.tables() {
        tables.take(&window, &root, at, findings);
    }
    tables
}

impl Tables {
    fn take(
        &mut self,
        window: &Window<'_>,
        root: &Root,
        at: PhysAddr,
        findings: &mut dyn Findings,
    ) {
        let Some(bytes) = root::table(window, at) else {
            let kind = Kind::TableOutOfReach { address: at.0 };
            return findings.add(Finding::at(Place::table(root.name), kind));
        };
        if let Some(header) = Header::read(bytes) {
            println!("{}", header.line(at.0));
        }
        let (name, slot, place) = match bytes {
            [b'S', b'R', b'A', b'T', ..] => ("SRAT", &mut self.srat, 1),
            [b'S', b'L', b'I', b'T', ..] => ("SLIT", &mut self.slit, 2),
            [b'A', b'P', b'I', b'C', ..] => (madt::SIGNATURE, &mut self.madt, 3),
            [b'C', b'E', b'D', b'T', ..] => ("CEDT", &mut self.cedt, 4),
            [b'H', b'M', b'A', b'T', ..] => (hmat::SIGNATURE, &mut self.hmat, 5),
            _ => return,
        };
        if slot.is_some() {
            let kind = Kind::TableDuplicate { address: at.0 };
            return findings.add(Finding::at(Place::table(name), kind));
        }
        *slot = Some(bytes);
        self.places[place] = PhysRange { start: at, end: at + bytes.len() as u64 };
    }

    /// The present CPUs by CPU number: the boot CPU, then the MADT's other enabled entries in
    /// their order, each once. Says how many are in `room`, of which `links` has as much.
    pub fn present_cpus(
        &self,
        boot_cpu: ApicId,
        room: &mut [ApicId],
        links: &mut [IdLinks],
        findings: &mut dyn Findings,
    ) -> usize {
        let madt = self.madt.and_then(|bytes| Madt::parse(bytes, findings));
        let counts = madt::present(madt.as_ref(), Some(boot_cpu), room, links, findings);
        println!("ACPI: CPUs: {counts}");
        counts.present
    }
}

/// Does what the test option says, and says so.
fn apply(window: &mut Window<'_>, rsdp: Option<PhysAddr>, patches: &str) {
    for patch in patch::parse(patches) {
        let patch = match patch {
            Ok(patch) => patch,
            Err(text) => {
                println!("acpi_patch: {text}: expected TABLE@OFFSET:HEXBYTES; ignored");
                continue;
            }
        };
        let mut room = [0; patch::MAX_BYTES];
        let table = if patch.table == "RSDP" { rsdp } else { locate(window, rsdp, patch.table) };
        let done = match (table, patch.bytes(&mut room)) {
            (Some(at), Some(bytes)) => {
                at.0.checked_add(patch.offset).is_some_and(|at| window.patch(PhysAddr(at), bytes))
            }
            _ => false,
        };
        let outcome = if done { "done" } else { "not done: no such table, bytes or place" };
        println!("acpi_patch: {} at {:#x}: {outcome}", patch.table, patch.offset);
    }
}

fn locate(window: &Window<'_>, rsdp: Option<PhysAddr>, name: &str) -> Option<PhysAddr> {
    let root: Root = root::read(window, rsdp, &mut |_| ())?;
    if matches!(name, "RSDT" | "XSDT") {
        return Some(root.address);
    }
    root.tables().find(|&at| window.bytes(at, 4) == Some(name.as_bytes()))
}
