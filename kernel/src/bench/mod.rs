//! The benchmarks that `bench=` names, one subject per file.
//!
//! In: a machine that is up, on one CPU. Out: one JSON line on COM2 for each figure, with the raw
//! count of every run ([`Figure`]); the launcher makes medians of them. What is counted is the
//! time-stamp counter, which under QEMU's `-icount shift=0` is instructions.
//!
//! Everything goes through the public request path, with NUMA counters on and the request opaque
//! to the optimiser. An empty loop of the same shape is counted beside it, to be subtracted. What
//! each name means is said where it is measured.

mod boot;
mod bulk;
mod cold;
mod figure;
pub(crate) mod measure;
mod metadata;
mod pair;
mod vmalloc;
mod worst;

use alloc::vec::Vec;

use nearmem_x86_64::println;

use crate::{Kernel, facts_port};
pub use boot::allocate_on_every_node;
pub use figure::{Figure, Take};

/// What one workload gives: figures, some of which the machine may not have.
type Workload = fn(&Kernel) -> Vec<Figure>;

/// All workloads with the names of their figures, in the order in which they run: what needs
/// memory that nobody has touched comes before what touches it.
const WORKLOADS: &[(&[&str], Workload)] = &[
    (&["memory_startup", "memory_startup_output", "boot_to_allocator"], boot::figures),
    (&["metadata", "metadata_fixed"], metadata::figures),
    (&["cold_alloc"], cold::alloc),
    (&["worst_order0_cold"], cold::worst),
    (&["order0_pair"], pair::local),
    (&["order0_pair_flat"], pair::flat),
    (&["order0_pair_guarded"], pair::guarded),
    (&["order0_pair_remote"], pair::remote),
    (&["order4_pair"], pair::order4),
    (&["order9_pair"], pair::order9),
    (&["order10_pair"], pair::order10),
    (&["bulk_alloc", "bulk_free", "random_free"], bulk::figures),
    (&["worst_order0"], worst::figures),
    (&["vmalloc_32m", "vfree_32m"], vmalloc::small),
    (&["vmalloc_huge_32m", "vfree_huge_32m"], vmalloc::huge),
];

/// Runs what `wanted` names, `all` or names separated by commas, and sends the figures. A name that
/// is none, or that this machine has no figure for, is missing in the output.
pub fn run(kernel: &Kernel, wanted: &str) {
    let is_wanted = |name: &str| wanted == "all" || wanted.split(',').any(|word| word == name);
    for (names, workload) in WORKLOADS {
        if !names.iter().any(|name| is_wanted(name)) {
            continue;
        }
        println!("bench: {}", names.join(", "));
        for figure in workload(kernel) {
            if is_wanted(figure.name) {
                facts_port::send(&figure.json());
            }
        }
    }
}
