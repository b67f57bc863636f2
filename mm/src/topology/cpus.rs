//! Present CPUs -> the node of each (reference: numa-discovery, section 6).

use super::fill::Fill;
use super::records::CpuRecord;
use super::{CacheId, Cpu, Inputs, UnlistedCpus};
use crate::finding::{Finding, Findings, Kind};
use crate::ids::{ApicId, CpuId, NodeId, NodeSet};

/// What is known of nodes before CPUs are looked at.
pub struct Nodes<'a> {
    /// The SRAT's CPU records, ascending by APIC id.
    pub records: &'a mut [CpuRecord],
    /// Nodes with memory.
    pub with_memory: &'a NodeSet,
    /// Nodes with a generic initiator.
    pub initiators: &'a NodeSet,
}

/// Gives every present CPU its node. CPUs beyond the room are left out, with a finding.
pub fn assign<'m>(
    inputs: &Inputs<'_>,
    nodes: Nodes<'_>,
    room: &'m mut [Cpu],
    findings: &mut dyn Findings,
) -> &'m mut [Cpu] {
    let cpus = present(inputs, room, findings);
    let listed = cpus.iter().filter_map(|cpu| nodes.record(cpu.apic)).map(|record| record.node);
    let others = nodes.with_memory.iter().chain(nodes.initiators.iter());
    let online: NodeSet = listed.chain(others).collect();
    let first = note_online(nodes.records, &online).or(online.first()).unwrap_or_default();
    for (number, cpu) in cpus.iter_mut().enumerate() {
        if let Some(record) = nodes.record(cpu.apic) {
            cpu.node = record.node;
            continue;
        }
        cpu.node = match inputs.unlisted {
            UnlistedCpus::Dealt => nodes.dealt(number),
            UnlistedCpus::ByCache(cache) => nodes.near(cpu.apic, cache, &online).unwrap_or(first),
        };
        let id = CpuId(number as u16);
        let kind = Kind::CpuWithoutRecord { cpu: id, apic: cpu.apic.0, node: cpu.node };
        findings.add(Finding::new(kind));
    }
    cpus
}

/// Puts every present CPU on node 0.
pub fn all_on_node_0<'m>(
    inputs: &Inputs<'_>,
    room: &'m mut [Cpu],
    findings: &mut dyn Findings,
) -> &'m mut [Cpu] {
    present(inputs, room, findings)
}

/// The present CPUs, on node 0 for now.
fn present<'m>(
    inputs: &Inputs<'_>,
    room: &'m mut [Cpu],
    findings: &mut dyn Findings,
) -> &'m mut [Cpu] {
    let mut cpus = Fill::new(room);
    let kept = inputs.cpus.iter().take_while(|&&apic| cpus.push(Cpu { apic, ..Cpu::NONE })).count();
    if kept < inputs.cpus.len() {
        let (found, limit) = (inputs.cpus.len() as u32, cpus.room() as u32);
        findings.add(Finding::new(Kind::CpuTooMany { found, limit }));
    }
    let cpus = cpus.finish();
    let mut beyond =
        (0..).map(CpuId).zip(cpus.iter()).filter(|(_, cpu)| cpu.apic.0 > Inputs::XAPIC);
    if let Some((cpu, &Cpu { apic, .. })) = beyond.next() {
        let count = 1 + beyond.count() as u32;
        findings.add(Finding::new(Kind::CpuNeedsX2apic { cpu, apic: apic.0, count }));
    }
    cpus
}

impl Nodes<'_> {
    fn record(&self, apic: ApicId) -> Option<&CpuRecord> {
        let at = self.records.binary_search_by_key(&apic, |record| record.apic).ok()?;
        self.records.get(at)
    }

    /// Round robin over the nodes with memory.
    fn dealt(&self, number: usize) -> NodeId {
        let turn = number % self.with_memory.len().max(1);
        self.with_memory.nth(turn).unwrap_or_default()
    }

    /// The node numbered as the CPU's last-level cache, else that of the nearest lower APIC id on
    /// an online node.
    fn near(&self, apic: ApicId, cache: CacheId, online: &NodeSet) -> Option<NodeId> {
        let cache = u16::try_from(cache.of(apic)).map(NodeId);
        if let Ok(node) = cache
            && online.contains(node)
        {
            return Some(node);
        }
        let lower = self.records.partition_point(|record| record.apic < apic);
        let nearest = self.records.get(lower.checked_sub(1)?)?.up_to_online as usize;
        self.records.get(nearest.checked_sub(1)?).map(|record| record.node)
    }
}

/// Notes in each record where the last one of an online node is; gives the node of the first, which
/// is the nearest higher one where there is no lower one.
fn note_online(records: &mut [CpuRecord], online: &NodeSet) -> Option<NodeId> {
    let (mut first, mut up_to) = (None, 0);
    for (number, record) in (1..).zip(records) {
        if online.contains(record.node) {
            first.get_or_insert(record.node);
            up_to = number;
        }
        record.up_to_online = up_to;
    }
    first
}
