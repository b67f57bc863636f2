//! vmalloc of 32 MiB near this CPU, per page of 4 KiB.
//!
//! * `vmalloc_32m`, `vfree_32m`: in pages of 4 KiB.
//! * `vmalloc_huge_32m`, `vfree_huge_32m`: in pages of 2 MiB.

use alloc::vec;
use alloc::vec::Vec;
use core::hint::black_box;

use nearmem::PAGE_SIZE;
use nearmem::alloc::Policy;
use nearmem::platform::MapSize;
use nearmem::vmalloc::VmRequest;

use super::Figure;
use super::measure::{free, near, ticks_of};
use super::worst::empty;
use crate::Kernel;

const BYTES: u64 = 32 << 20;
const RUNS: usize = 5;

pub(super) fn small(kernel: &Kernel) -> Vec<Figure> {
    let request = VmRequest::new(BYTES).on(Policy::Preferred(near(kernel)));
    figures(kernel, ["vmalloc_32m", "vfree_32m"], &request, MapSize::Small)
}

pub(super) fn huge(kernel: &Kernel) -> Vec<Figure> {
    let request = VmRequest::new(BYTES).on(Policy::Preferred(near(kernel))).huge();
    figures(kernel, ["vmalloc_huge_32m", "vfree_huge_32m"], &request, MapSize::Huge)
}

/// The first run is not counted: it makes what the others find.
fn figures(
    kernel: &Kernel,
    names: [&'static str; 2],
    request: &VmRequest<'_>,
    leaf: MapSize,
) -> Vec<Figure> {
    let (mut alloc, mut release) = (Vec::new(), Vec::new());
    for run in 0..=RUNS {
        let mut area = None;
        let taken = ticks_of(|| area = Some(kernel.vmalloc.alloc(black_box(request))));
        let area = match area {
            Some(Ok(area)) if area.info().leaf == leaf => area,
            other => panic!("vmalloc for the benchmark: {other:?}"),
        };
        let freed = ticks_of(|| free(kernel.vmalloc.free(area)));
        if run > 0 {
            alloc.push(taken);
            release.push(freed);
        }
    }
    let pages = BYTES / PAGE_SIZE;
    vec![
        Figure::median(names[0], pages, alloc, empty()),
        Figure::median(names[1], pages, release, empty()),
    ]
}
