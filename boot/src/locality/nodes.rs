//! The same machine with its boot CPU, which is the one that is measured, on another node.
//!
//! QEMU's own SRAT names CPU 0 first, and the node that is named first is node 0: whatever node of
//! `-numa` CPU 0 is given to, the kernel calls it 0. So these machines bring their own SRAT, which
//! names the CPUs node by node, and have no `-numa`.

use anyhow::Result;

use crate::acpi::{Oem, SratEntry, slit, srat};
use crate::fault::bad_machine;
use crate::machine::{Machine, options, size};

const OEM: Oem = Oem { id: *b"NEARME", table_id: *b"EACHNODE", creator: *b"NRMM" };

/// From so much memory on a q35 has 2 GiB of it below 4 GiB; less is all there.
const SPLIT_FROM: u64 = 0xb000_0000;
const BELOW_4G: u64 = 2 * size::GIB;
const ABOVE_4G: u64 = 4 * size::GIB;
/// From here on QEMU may put memory elsewhere.
const LARGEST: u64 = 900 * size::GIB;

/// For each node that has a CPU the same machine with the boot CPU on it, its node first.
///
/// # Errors
/// [`crate::fault::BadMachine`]: a machine with more than 255 nodes or CPUs, with tables or nodes of
/// its own (`-numa`), not a q35, or too large.
pub fn boot_cpu_on_each(machine: &Machine) -> Result<Vec<(u32, Machine)>> {
    check(machine)?;
    let with_cpus = machine.nodes.iter().enumerate().filter(|(_, node)| !node.cpus.is_empty());
    let mut machines = Vec::new();
    for (id, _) in with_cpus {
        machines.push((id as u32, boot_cpu_on(machine, id)?));
    }
    Ok(machines)
}

fn check(machine: &Machine) -> Result<()> {
    let replaced = ["numa", "m", "smp", "machine", "M", "acpitable"];
    let own = replaced.iter().find(|&&name| options::has(&machine.qemu, name));
    let memory = machine.memory.unwrap_or(0);
    let why = match (own, &machine.chipset[..]) {
        (Some(name), _) => format!("QEMU's option -{name}"),
        (None, chipset) if chipset != "q35" => format!("the machine type {chipset}"),
        _ if machine.nodes.is_empty() || !machine.tables.is_empty() => "no nodes of ours".into(),
        _ if memory > LARGEST => format!("{} of memory", size::show(memory)),
        _ => return Ok(()),
    };
    Err(bad_machine(format!("with {why} the boot CPU cannot be placed on every node")))
}

/// The machine with the boot CPU on the node at this place, which has one. That node's first CPU
/// takes its number, and the boot CPU's old node gets that one's.
fn boot_cpu_on(machine: &Machine, place: usize) -> Result<Machine> {
    let first = machine.nodes[place].cpus.start;
    let number = |cpu: u32| match cpu {
        cpu if cpu == first => 0,
        0 => first,
        cpu => cpu,
    };
    let mut entries = Vec::new();
    for (pxm, node) in (0..).zip(&machine.nodes) {
        for cpu in node.cpus.clone() {
            // A q35 of one socket has local APIC ids from 0 on, as it has CPUs.
            let id = u8::try_from(number(cpu)).map_err(|_| bad_machine("too many CPUs"))?;
            entries.push(SratEntry::Apic { id, pxm, enabled: true });
        }
    }
    let split = machine.memory.is_some_and(|memory| memory >= SPLIT_FROM);
    let mut next = 0_u64;
    for (pxm, node) in (0..).zip(&machine.nodes) {
        let end = next + node.memory;
        let low = if split { BELOW_4G } else { u64::MAX };
        let shift = ABOVE_4G - BELOW_4G;
        for (start, end) in [(next, end.min(low)), (next.max(low), end)] {
            if start < end {
                let at = if start >= low { start + shift } else { start };
                entries.push(SratEntry::Memory { pxm, start: at, length: end - start, flags: 1 });
            }
        }
        next = end;
    }
    let mut tables = vec![srat(&OEM, 1, &entries)];
    if !machine.distances.is_empty() {
        tables.push(slit(&OEM, 1, &machine.distances));
    }
    Ok(Machine { nodes: Vec::new(), distances: Vec::new(), tables, ..machine.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::nodes;

    fn spread(nodes: u32, memory: u64, cpus: u32) -> Machine {
        Machine::with_nodes("m", nodes::spread(nodes, memory, cpus).unwrap())
    }

    #[test]
    fn cpus_change_places_and_nodes_keep_their_order() {
        let machine = spread(3, 3 << 30, 4);
        let machines = boot_cpu_on_each(&machine).unwrap();
        assert_eq!(machines.iter().map(|(node, _)| *node).collect::<Vec<_>>(), [0, 1, 2]);
        let apic = |id, pxm| SratEntry::Apic { id, pxm, enabled: true };
        let memory = |pxm, start, length| SratEntry::Memory { pxm, start, length, flags: 1 };
        let last = &machines[2].1;
        let expected = srat(
            &OEM,
            1,
            &[
                // Node 0 has CPUs 0 and 1; 0 and 3 change places.
                apic(3, 0),
                apic(1, 0),
                apic(2, 1),
                apic(0, 2),
                memory(0, 0, 1 << 30),
                memory(1, 1 << 30, 1 << 30),
                memory(2, 4 << 30, 1 << 30),
            ],
        );
        assert_eq!(last.tables, [expected]);
        assert!(last.nodes.is_empty());
        assert_eq!((last.memory, last.cpus), (Some(3 << 30), Some(4)));
    }

    #[test]
    fn a_node_across_the_hole_has_two_ranges_and_one_without_cpus_no_machine() {
        let mut machine = spread(2, 6 << 30, 1);
        machine.distances = vec![vec![10, 21], vec![21, 10]];
        let machines = boot_cpu_on_each(&machine).unwrap();
        let [(0, machine)] = &machines[..] else { panic!("{machines:?}") };
        let memory = |pxm, start, length| SratEntry::Memory { pxm, start, length, flags: 1 };
        let entries = [
            SratEntry::Apic { id: 0, pxm: 0, enabled: true },
            memory(0, 0, 2 << 30),
            memory(0, 4 << 30, 1 << 30),
            memory(1, 5 << 30, 3 << 30),
        ];
        let slit = slit(&OEM, 1, &[vec![10, 21], vec![21, 10]]);
        assert_eq!(machine.tables, [srat(&OEM, 1, &entries), slit]);
    }

    #[test]
    fn machines_whose_memory_is_laid_out_otherwise_are_refused() {
        let refused = |machine: Machine| boot_cpu_on_each(&machine).unwrap_err().to_string();
        assert!(refused(Machine::new("flat")).contains("no nodes of ours"));
        let pc = Machine { chipset: "pc".into(), ..spread(2, 1 << 30, 2) };
        assert!(refused(pc).contains("machine type pc"));
        let own = Machine { qemu: vec!["-m".into(), "1G".into()], ..spread(2, 1 << 30, 2) };
        assert!(refused(own).contains("option -m"));
        assert!(refused(spread(2, 1 << 40, 2)).contains("1T of memory"));
    }
}
