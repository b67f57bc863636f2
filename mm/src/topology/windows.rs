//! The CEDT's CXL windows -> nodes-to-be (reference: Linux's acpi_parse_cfmws).
//!
//! A window that no block reaches into gets a domain of its own, counting on from the highest one
//! that the SRAT names, and so the next node id. Its addresses are a block like those of the SRAT:
//! the clean-up drops it where there is no memory yet, which leaves a node that is possible only.

use super::domains::Domains;
use super::fill::Fill;
use super::records::Block;
use crate::finding::{Finding, Findings, Kind};
use crate::firmware::cedt::{Body, Cedt, Entry, Window};
use crate::ids::{NodeId, ProximityDomain};
use crate::units::{PhysAddr, PhysRange};

/// Reads the windows. `blocks` has the SRAT's; their order changes, the windows' come behind them.
pub fn read(
    cedt: &[u8],
    domains: &mut Domains<'_>,
    blocks: &mut Fill<'_, Block>,
    findings: &mut dyn Findings,
) {
    let Some(cedt) = Cedt::parse(cedt, findings) else { return };
    sort_by_reach(blocks.as_mut_slice());
    let mut windows =
        Windows { by_srat: blocks.len(), next: next_domain(domains), domains, blocks };
    for entry in cedt.entries() {
        let kind = match entry.body {
            Body::Window(window) => windows.add(&entry, &window),
            Body::BadLength { kind, length } => Some(Kind::CedtBadEntryLength { kind, length }),
            Body::Truncated { present } => Some(Kind::CedtTruncated { present }),
            Body::HostBridge(_) | Body::Other { .. } => None,
        };
        if let Some(kind) = kind {
            findings.add(Finding::at(entry.place(), kind));
        }
    }
}

/// The domain behind the highest one; `None` when there is none.
fn next_domain(domains: &Domains<'_>) -> Option<ProximityDomain> {
    let highest = domains.named().iter().map(|domain| domain.pxm).max();
    highest.map_or(Some(ProximityDomain(0)), after)
}

fn after(pxm: ProximityDomain) -> Option<ProximityDomain> {
    pxm.0.checked_add(1).map(ProximityDomain)
}

/// Sorts by address and notes in each block which one reaches furthest of it and those before it.
fn sort_by_reach(blocks: &mut [Block]) {
    blocks.sort_unstable_by_key(|block| (block.range.start, block.order()));
    let (mut furthest, mut end) = (0, PhysAddr(0));
    for (at, block) in blocks.iter_mut().enumerate() {
        if block.range.end > end {
            (furthest, end) = (at as u64, block.range.end);
        }
        block.group = furthest;
    }
}

struct Windows<'a, 'd, 'm> {
    /// How many blocks are the SRAT's.
    by_srat: usize,
    /// The domain of the next window.
    next: Option<ProximityDomain>,
    domains: &'a mut Domains<'d>,
    blocks: &'a mut Fill<'m, Block>,
}

impl Windows<'_, '_, '_> {
    /// Takes a window, and gives what there is to say of it.
    fn add(&mut self, entry: &Entry<'_>, window: &Window<'_>) -> Option<Kind> {
        let Window { base, length, .. } = *window;
        let range = window.range();
        // As in Linux a window without addresses has a node, unless its base is a block's.
        let shown = range.unwrap_or(PhysRange::new(base, base.saturating_add(1)));
        if let Some(node) = self.owner(shown) {
            return Some(Kind::CedtWindowInSrat { range: shown, node });
        }
        let node = self.next.and_then(|pxm| Some((pxm, self.domains.node(pxm)?)));
        let Some((pxm, node)) = node else {
            let limit = self.domains.named().len() as u32;
            return Some(Kind::CedtTooManyWindows { range: shown, limit });
        };
        self.next = after(pxm);
        let Some(range) = range else { return Some(Kind::CedtBadWindow { base, length }) };
        let Entry { offset, record, .. } = *entry;
        // Without room the node is kept all the same: only memory that is there would miss it.
        let block = Block { range, node, window: true, offset, record, ..Block::NONE };
        if !self.blocks.push(block) {
            let limit = self.blocks.room() as u32;
            return Some(Kind::SratTooManyRanges { limit });
        }
        Some(Kind::CedtWindow { range, pxm, node })
    }

    /// The node of a block that has a byte of this range. Of windows there are never more than
    /// node ids, so these are looked at one by one.
    fn owner(&self, range: PhysRange) -> Option<NodeId> {
        let (srat, windows) = self.blocks.as_slice().split_at_checked(self.by_srat)?;
        let before = srat.partition_point(|block| block.range.start < range.end);
        let last = before.checked_sub(1).and_then(|last| srat.get(last));
        let reach = last.and_then(|last| srat.get(usize::try_from(last.group).ok()?));
        let mut near = reach.into_iter().chain(windows);
        near.find(|block| block.range.overlaps(range)).map(|block| block.node)
    }
}
