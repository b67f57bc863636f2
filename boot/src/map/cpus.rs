//! A MADT -> the CPUs that are present, by node, beside those that the SRAT names.

use std::collections::BTreeSet;

use nearmem::finding::Findings;
use nearmem::firmware::madt::{self, Body, CpuState, IdLinks, Madt};
use nearmem::topology::NodeMap;
use nearmem::{ApicId, NodeId};

/// CPUs as a MADT lists them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listed {
    /// The present ones in table order: CPU 0 first, since a boot CPU is listed first.
    pub present: Vec<ApicId>,
    /// Those that may come while the system runs, ascending.
    pub online_capable: BTreeSet<ApicId>,
    /// Those that are not there, ascending.
    pub disabled: BTreeSet<ApicId>,
}

/// The CPUs of a MADT and a node map side by side.
#[derive(Debug)]
pub struct Cpus {
    /// What the MADT lists.
    pub listed: Listed,
    /// The present CPUs of each node that comes up, ascending.
    pub by_node: Vec<(NodeId, Vec<ApicId>)>,
    /// Present and in no record of the SRAT, ascending.
    pub without_record: Vec<ApicId>,
    /// In a record of the SRAT and in none of the MADT, ascending.
    pub only_in_srat: Vec<ApicId>,
}

impl Listed {
    /// Reads a MADT; `None` when it has no header.
    pub fn read(bytes: &[u8], findings: &mut dyn Findings) -> Option<Listed> {
        let table = Madt::parse(bytes, findings)?;
        let cpus = table.entries().filter_map(|entry| match entry.body {
            Body::Cpu(cpu) => Some(cpu),
            _ => None,
        });
        let in_state =
            |state| cpus.clone().filter(|cpu| cpu.state == state).map(|cpu| cpu.apic).collect();
        let online_capable = in_state(CpuState::OnlineCapable);
        let disabled = in_state(CpuState::Disabled);
        let most = cpus.clone().count();
        let mut present = vec![ApicId(0); most];
        let mut links = vec![IdLinks::NONE; most];
        let counts = madt::present(Some(&table), None, &mut present, &mut links, findings);
        present.truncate(counts.present);
        Some(Listed { present, online_capable, disabled })
    }
}

impl Cpus {
    /// Puts the present CPUs on their nodes.
    pub fn on(map: &NodeMap<'_>, listed: Listed) -> Cpus {
        let by_node = map.online().iter().map(|node| {
            let here = map.cpus().iter().filter(|cpu| cpu.node == node).map(|cpu| cpu.apic);
            let ascending: BTreeSet<ApicId> = here.collect();
            (node, ascending.into_iter().collect())
        });
        let records: BTreeSet<ApicId> =
            map.cpu_records().iter().map(|record| record.apic).collect();
        let present: BTreeSet<ApicId> = listed.present.iter().copied().collect();
        let known = |apic: &ApicId| {
            let Listed { online_capable, disabled, .. } = &listed;
            present.contains(apic) || online_capable.contains(apic) || disabled.contains(apic)
        };
        Cpus {
            by_node: by_node.collect(),
            without_record: present.difference(&records).copied().collect(),
            only_in_srat: records.iter().copied().filter(|apic| !known(apic)).collect(),
            listed,
        }
    }
}
