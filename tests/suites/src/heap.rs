//! The kernel heap: `alloc` works, grows, and takes back.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use nearmem_kernel::{Kernel, heap};
use nearmem_suites::kernel_tests;

kernel_tests! {
    a_vector_grows_over_many_blocks,
    boxes_keep_what_is_in_them,
    freed_memory_is_used_again,
    alignment_is_kept,
    too_much_is_refused,
}

/// 1.5 MiB in the end, more than any arena has at the start; room for 2 MiB.
fn a_vector_grows_over_many_blocks(_kernel: &Kernel) {
    let mut vector: Vec<u64> = Vec::new();
    for value in 0..(3 << 19) / 8 {
        vector.push(value);
    }
    assert!(vector.iter().enumerate().all(|(at, &value)| value == at as u64));
}

fn boxes_keep_what_is_in_them(_kernel: &Kernel) {
    let mut boxes: BTreeMap<usize, Box<[usize; 40]>> =
        (0..2000).map(|at| (at, Box::new([at; 40]))).collect();
    for at in (0..2000).step_by(3) {
        boxes.remove(&at);
    }
    for at in (0..2000).step_by(6) {
        boxes.insert(at, Box::new([at; 40]));
    }
    assert!(boxes.iter().all(|(at, content)| content.iter().all(|value| value == at)));
}

fn freed_memory_is_used_again(_kernel: &Kernel) {
    let use_some = || drop((0..64).map(|_| Box::new([0u8; 4000])).collect::<Vec<_>>());
    use_some();
    let (size, used) = heap::size_and_used();
    for _ in 0..100 {
        use_some();
    }
    assert_eq!(heap::size_and_used(), (size, used), "bytes of the heap, and bytes in use");
}

fn alignment_is_kept(_kernel: &Kernel) {
    #[repr(align(4096))]
    struct Page([u8; 4096]);
    let pages: Vec<Box<Page>> = (0..8).map(|_| Box::new(Page([1; 4096]))).collect();
    for page in &pages {
        assert!((&raw const **page).addr().is_multiple_of(4096));
        assert_eq!(page.0[4095], 1);
    }
}

fn too_much_is_refused(_kernel: &Kernel) {
    let mut vector: Vec<u8> = Vec::new();
    assert!(vector.try_reserve_exact(1 << 30).is_err(), "1 GiB in one piece");
    assert!(vector.try_reserve_exact(4096).is_ok(), "the heap is of use afterwards");
}
