//! What a marked region is, for the launcher.

use nearmem::{CpuId, NodeId};
use serde_json::{Value, json};

/// One region as one CPU went through it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Region {
    /// The number in its marks.
    pub(super) id: u8,
    /// The CPU.
    pub(super) cpu: CpuId,
    /// What is in it, for people.
    pub(super) name: &'static str,
    /// Whose zone or memory it works on.
    pub(super) node: NodeId,
    /// How often it does what it is named for.
    pub(super) times: u64,
    /// Ticks of the time-stamp counter around the marks: with instruction counting they are
    /// instructions, some of them the marks' own.
    pub(super) ticks: u64,
    /// What it is for.
    pub(super) role: Role,
}

/// What a region is for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Role {
    /// To check the meter: each time does what is known beforehand.
    Check(Known),
    /// What a loop costs by itself.
    Loop,
    /// Each time is an allocation and a free of one frame that the pageset serves.
    Pair,
    /// Each time is an allocation or a free of one frame, one of many.
    Bulk,
}

/// Counts that are known beforehand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub(super) instructions: u64,
    pub(super) loads: u64,
    pub(super) stores: u64,
}

impl Region {
    pub(super) fn as_json(&self) -> Value {
        let (role, known) = match self.role {
            Role::Check(known) => ("check", Some(known)),
            Role::Loop => ("loop", None),
            Role::Pair => ("pair", None),
            Role::Bulk => ("bulk", None),
        };
        json!({
            "role": role,
            "id": self.id,
            "cpu": self.cpu.0,
            "name": self.name,
            "node": self.node.0,
            "times": self.times,
            "ticks": self.ticks,
            "known": known.map(|known| json!({
                "instructions": known.instructions,
                "loads": known.loads,
                "stores": known.stores,
            })),
        })
    }
}
