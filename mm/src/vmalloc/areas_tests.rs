use super::*;
use std::alloc::{Layout, alloc, dealloc};
use std::vec::Vec;

const BASE: u64 = 1 << 40;
const PAGE: u64 = 4096;

struct Fixture {
    areas: Areas,
    frames: Vec<*mut u8>,
}

fn layout() -> Layout {
    Layout::from_size_align(4096, 4096).unwrap()
}

impl Fixture {
    fn new(pages: u64) -> Fixture {
        let areas = Areas::new(VirtAddr(BASE)..VirtAddr(BASE + pages * PAGE));
        Fixture { areas, frames: Vec::new() }
    }

    /// Pages from the start of the window.
    fn reserve(&mut self, pages: u64) -> Option<u64> {
        self.reserve_leaf(pages, MapSize::Small)
    }

    fn reserve_leaf(&mut self, pages: u64, leaf: MapSize) -> Option<u64> {
        loop {
            match self.areas.reserve(pages * PAGE, leaf, "test") {
                Ok(start) => {
                    self.areas.publish(start);
                    return Some((start.0 - BASE) / PAGE);
                }
                Err(ReserveError::NoAddresses) => return None,
                Err(ReserveError::NoRecord) => {
                    // SAFETY: the size is not 0; the page is kept until the fixture goes.
                    unsafe {
                        let memory = alloc(layout());
                        self.areas.add_frame(Pfn(self.frames.len() as u64), memory);
                        self.frames.push(memory);
                    }
                }
            }
        }
    }

    fn free(&mut self, page: u64) -> Option<Pfn> {
        let start = VirtAddr(BASE + page * PAGE);
        self.areas.begin_free(start).expect("live");
        self.areas.release(start)
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        for &memory in &self.frames {
            // SAFETY: allocated above with this layout; the areas are not used any more.
            unsafe { dealloc(memory, layout()) };
        }
    }
}

#[test]
fn first_fit_with_a_guard_page_after_each_area() {
    let mut window = Fixture::new(100);
    assert_eq!(window.reserve(1), Some(0));
    assert_eq!(window.reserve(1), Some(2));
    assert_eq!(window.reserve(10), Some(4));
    assert_eq!(window.free(2), None);
    assert_eq!(window.reserve(2), Some(15), "the gap has room for one page and its guard");
    assert_eq!(window.reserve(1), Some(2));
    assert_eq!(window.areas.count(), 4);
}

#[test]
fn the_end_of_the_window_has_its_guard_too() {
    let mut window = Fixture::new(10);
    assert_eq!(window.reserve(10), None);
    assert_eq!(window.reserve(9), Some(0));
    assert_eq!(window.reserve(1), None);
    assert!(window.free(0).is_some(), "the last record gives its frame back");
    assert_eq!(window.reserve_leaf(u64::MAX / PAGE, MapSize::Small), None);
}

#[test]
fn large_leaves_are_aligned() {
    let mut window = Fixture::new(4096);
    assert_eq!(window.reserve(1), Some(0));
    assert_eq!(window.reserve_leaf(512, MapSize::Huge), Some(512));
    assert_eq!(window.reserve(1), Some(2));
    assert_eq!(window.reserve_leaf(512, MapSize::Huge), Some(1536), "a guard is in between");
}

#[test]
fn an_area_is_freed_once_and_only_when_it_is_live() {
    let mut window = Fixture::new(100);
    window.reserve(1).unwrap();
    let start = VirtAddr(BASE);
    assert_eq!(window.areas.begin_free(VirtAddr(BASE + PAGE)), None);
    assert_eq!(window.areas.begin_free(start).unwrap().state, State::Freeing);
    assert_eq!(window.areas.begin_free(start), None);
    assert!(window.areas.release(start).is_some());
    assert_eq!(window.areas.release(start), None);
}

#[test]
fn an_area_that_is_freed_holds_the_gap_around_it() {
    let mut window = Fixture::new(1000);
    for _ in 0..3 {
        window.reserve(1).unwrap();
    }
    window.areas.begin_free(VirtAddr(BASE + 4 * PAGE)).unwrap();
    let held = window.areas.held(VirtAddr(BASE + 4 * PAGE)).unwrap();
    assert_eq!(held, VirtAddr(BASE + 4 * PAGE)..VirtAddr(BASE + 1000 * PAGE));
    assert_eq!(window.reserve(1), None);
    window.areas.release(VirtAddr(BASE + 4 * PAGE));
    assert_eq!(window.reserve(1), Some(4));
}

#[test]
fn areas_never_overlap_whatever_comes_and_goes() {
    let mut window = Fixture::new(2000);
    let mut live: Vec<(u64, u64)> = Vec::new();
    let mut seed = 7_u64;
    let mut random = move |below: u64| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) % below
    };
    for _ in 0..2000 {
        if random(3) == 0 && !live.is_empty() {
            let (start, _) = live.swap_remove(random(live.len() as u64) as usize);
            window.free(start);
        } else {
            let pages = 1 + random(20);
            if let Some(start) = window.reserve(pages) {
                let clash =
                    |&(other, len): &(u64, u64)| start <= other + len && other <= start + pages;
                assert!(!live.iter().any(clash), "{start} {pages} {live:?}");
                live.push((start, pages));
            }
        }
        assert_eq!(window.areas.count(), live.len());
    }
    let mut at = VirtAddr(0);
    let mut starts = Vec::new();
    while let Some(area) = window.areas.at_or_after(at) {
        starts.push((area.start.0 - BASE) / PAGE);
        at = area.start + 1;
    }
    let mut expected: Vec<u64> = live.iter().map(|&(start, _)| start).collect();
    expected.sort_unstable();
    assert_eq!(starts, expected, "by address");
}
