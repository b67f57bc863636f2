//! Loads and stores whose number is known: what the meter makes of them shows whether it is right.

use core::arch::asm;

use nearmem::alloc::{Policy, Request};
use nearmem::{NodeId, NodeSet, Order};
use nearmem_x86_64::{clock, marker};

use super::Ends;
use super::region::{Known, Region, Role};
use crate::Kernel;

/// Rounds of the loop.
const TIMES: u64 = 1000;
/// What one round is: see [`rounds`].
const KNOWN: Known = Known { instructions: 5, loads: 2, stores: 2 };

/// Works on a frame of this CPU's own node, then on one of another node.
pub(super) fn run(kernel: &Kernel, ends: &Ends) -> impl Iterator<Item = Region> {
    let cpu = ends.cpu;
    let role = Role::Check(KNOWN);
    let region =
        move |id, name, node, ticks| Region { id, cpu, name, node, times: TIMES, ticks, role };
    let own =
        on_frame::<1>(kernel, ends.own).map(|ticks| region(1, "check, own node", ends.own, ticks));
    let other = ends.other.and_then(|node| {
        let ticks = on_frame::<2>(kernel, node)?;
        Some(region(2, "check, other node", node, ticks))
    });
    own.into_iter().chain(other)
}

/// Works on a word of a frame of this node and says how many ticks it took; `None` where the node
/// gives no frame.
fn on_frame<const REGION: u8>(kernel: &Kernel, node: NodeId) -> Option<u64> {
    let nodes = NodeSet::of(node);
    let request = Request::new(Order::ZERO).on(Policy::Bind(&nodes)).zeroed();
    let block = kernel.memory.alloc(&request).ok()?;
    // SAFETY: the frame is ours, zeroed, and aligned for any integer.
    let word = unsafe { &mut *block.as_ptr(kernel.memory.platform()).cast::<u64>() };
    let start = clock::ticks();
    rounds::<REGION>(word);
    let ticks = clock::ticks() - start;
    // Cannot fail: the block is of this subsystem.
    let _ = kernel.memory.free(block);
    Some(ticks)
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
