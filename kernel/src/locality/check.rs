//! Loads and stores whose number is known: what the meter makes of them shows whether it is right.

use core::arch::asm;

use nearmem::alloc::{Policy, Request};
use nearmem::{NodeId, NodeSet, Order};
use nearmem_x86_64::marker;

use super::Ends;
use super::region::{Known, Region, Role};
use crate::Kernel;

/// Rounds of the loop.
const TIMES: u64 = 1000;
/// What one round is: see [`rounds`].
const KNOWN: Known = Known { instructions: 5, loads: 2, stores: 2 };

/// Works on a frame of this CPU's own node, then on one of another node.
pub(super) fn run(kernel: &Kernel, ends: &Ends) -> impl Iterator<Item = Region> {
    let own = on_frame::<1>(kernel, ends.own);
    let other = ends.other.filter(|&node| on_frame::<2>(kernel, node));
    let region =
        |id, name, node| Region { id, cpu: ends.cpu, name, node, times: TIMES, role: Role::Check(KNOWN) };
    [
        own.then(|| region(1, "check, own node", ends.own)),
        other.map(|node| region(2, "check, other node", node)),
    ]
    .into_iter()
    .flatten()
}

/// Works on a word of a frame of this node; false where the node gives none.
fn on_frame<const REGION: u8>(kernel: &Kernel, node: NodeId) -> bool {
    let nodes = NodeSet::of(node);
    let request = Request::new(Order::ZERO).on(Policy::Bind(&nodes)).zeroed();
    let Ok(block) = kernel.memory.alloc(&request) else { return false };
    // SAFETY: the frame is ours, zeroed, and aligned for any integer.
    let word = unsafe { &mut *block.as_ptr(kernel.memory.platform()).cast::<u64>() };
    rounds::<REGION>(word);
    // Cannot fail: the block is of this subsystem.
    let _ = kernel.memory.free(block);
    true
}

/// A load, a store, an addition in memory (which is both), and the two instructions of the loop. The
/// marks stand right around them.
#[inline(never)]
fn rounds<const REGION: u8>(word: &mut u64) {
    // SAFETY: touches `word` alone, and registers that are named.
    unsafe {
        asm!(
            ".byte 0x0f, 0x1f, 0x84, 0x00",
            ".long {begin}",
            "2:",
            "mov {value}, [{word}]",
            "mov [{word}], {value}",
            "add qword ptr [{word}], 1",
            "dec {left}",
            "jnz 2b",
            ".byte 0x0f, 0x1f, 0x84, 0x00",
            ".long {end}",
            begin = const marker::displacement(marker::BEGIN, REGION),
            end = const marker::displacement(marker::END, REGION),
            word = in(reg) word,
            value = out(reg) _,
            left = inout(reg) TIMES => _,
            options(nostack),
        );
    }
}
