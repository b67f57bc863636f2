//! Which zones there are.

use core::fmt;

use crate::ids::NodeId;
use crate::units::{PAGE_SIZE, PfnRange};

/// Which addresses a zone has. The order is Linux's, and its index.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum ZoneKind {
    /// Below 16 MiB.
    Dma = 0,
    /// From 16 MiB to 4 GiB.
    Dma32 = 1,
    /// From 4 GiB on.
    Normal = 2,
}

impl ZoneKind {
    /// All kinds, ascending.
    pub const ALL: [ZoneKind; 3] = [ZoneKind::Dma, ZoneKind::Dma32, ZoneKind::Normal];

    /// The frames that such a zone may have.
    pub const fn frames(self) -> PfnRange {
        const DMA_END: u64 = (16 << 20) / PAGE_SIZE;
        const DMA32_END: u64 = (4 << 30) / PAGE_SIZE;
        match self {
            ZoneKind::Dma => PfnRange::new(0, DMA_END),
            ZoneKind::Dma32 => PfnRange::new(DMA_END, DMA32_END),
            // 2^60 bytes: what a block's word has room for.
            ZoneKind::Normal => PfnRange::new(DMA32_END, 1 << 48),
        }
    }

    /// As an index, 0 to 2.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Linux's name: `DMA`, `DMA32`, `Normal`.
    pub const fn name(self) -> &'static str {
        match self {
            ZoneKind::Dma => "DMA",
            ZoneKind::Dma32 => "DMA32",
            ZoneKind::Normal => "Normal",
        }
    }
}

impl fmt::Display for ZoneKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A zone's place: its node and kind.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ZoneId {
    /// The node.
    pub node: NodeId,
    /// Which addresses.
    pub kind: ZoneKind,
}

/// `Node 0 DMA32`.
impl fmt::Display for ZoneId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Node {} {}", self.node, self.kind)
    }
}
