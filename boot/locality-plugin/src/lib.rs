//! The locality meter's eye: a plugin for QEMU's translator (TCG) that counts loads, stores and
//! instructions of every virtual CPU between markers in the guest.
//!
//! In: the instructions that QEMU translates, and each access that they make, by virtual address.
//! Out: at the end of QEMU a file of text, see the module `counts`. The plugin knows nothing of
//! nodes: the guest says where things lie, and the launcher joins both (docs/locality.md).
//!
//! ```text
//! marker     the instruction that opens or closes a region
//! counts     what one virtual CPU counted, and how it is written down
//! vcpus      the counts of all virtual CPUs
//! qemu       the plugin interface, as far as it is used
//! callbacks  what QEMU calls: the only code that runs in it
//! ```
//!
//! Code fetches are not seen: QEMU reports what instructions do, not how they are read.

mod counts;
mod marker;
mod vcpus;

// A test program is not loaded by QEMU, which has the functions that these two call.
#[cfg(not(test))]
mod callbacks;
#[cfg(not(test))]
mod qemu;
