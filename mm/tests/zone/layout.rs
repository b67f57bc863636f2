//! How memory is divided into zones: what Linux 6.1 made of the same memory.
//!
//! The numbers are from boots of Debian's 6.1.0-57-amd64 in QEMU (cases `pci-hole-q35`,
//! `tiny-first`, `uneven-3`, `fw-interleaved` and `nodes-64` of the project's collection).

use nearmem::zone::{ZoneKind, kernel_pages, zone_span};
use nearmem::{NodeId, PfnRange};

use crate::machine::{with_map, zone_id};

/// Memory `(node, first frame, end)`, and what Linux said of it: `(node, zone, start_pfn,
/// spanned, present)` of each populated zone.
struct Case {
    name: &'static str,
    memory: &'static [(u16, u64, u64)],
    zones: &'static [(u16, ZoneKind, u64, u64, u64)],
}

use ZoneKind::{Dma, Dma32, Normal};

const CASES: &[Case] = &[
    Case {
        name: "pci-hole-q35",
        memory: &[
            (0, 0x1, 0x9f),
            (0, 0x100, 0x40000),
            (1, 0x40000, 0x7ffe0),
            (1, 0x100000, 0x140000),
            (2, 0x140000, 0x180000),
        ],
        zones: &[
            (0, Dma, 1, 4095, 3998),
            (0, Dma32, 4096, 258048, 258048),
            // To the zone's own limit: the node goes on above it.
            (1, Dma32, 262144, 786432, 262112),
            (1, Normal, 1048576, 262144, 262144),
            (2, Normal, 1310720, 262144, 262144),
        ],
    },
    Case {
        name: "tiny-first",
        memory: &[(0, 0x1, 0x9f), (0, 0x100, 0x800), (2, 0x800, 0xa00), (1, 0xa00, 0x409e0)],
        zones: &[
            (0, Dma, 1, 2047, 1950),
            (1, Dma, 2560, 1536, 1536),
            (1, Dma32, 4096, 260576, 260576),
            (2, Dma, 2048, 512, 512),
        ],
    },
    Case {
        name: "uneven-3",
        memory: &[
            (0, 0x1, 0x9f),
            (0, 0x100, 0x12c82),
            (1, 0x12c82, 0x53684),
            (2, 0x53684, 0x5826a),
        ],
        zones: &[
            (0, Dma, 1, 4095, 3998),
            (0, Dma32, 4096, 72834, 72834),
            (1, Dma32, 76930, 264706, 264706),
            (2, Dma32, 341636, 19430, 19430),
        ],
    },
    Case {
        name: "fw-interleaved",
        memory: &[
            (0, 0x1, 0x9f),
            (0, 0x100, 0x10000),
            (1, 0x10000, 0x20000),
            (0, 0x20000, 0x30000),
            (1, 0x30000, 0x3ffe0),
        ],
        zones: &[
            (0, Dma, 1, 4095, 3998),
            (0, Dma32, 4096, 192512, 126976),
            (1, Dma32, 65536, 196576, 131040),
        ],
    },
    Case {
        name: "nodes-64, the first three",
        memory: &[(0, 0x1, 0x9f), (0, 0x100, 0x3000), (1, 0x3000, 0x6000), (2, 0x6000, 0x9000)],
        zones: &[
            (0, Dma, 1, 4095, 3998),
            (0, Dma32, 4096, 8192, 8192),
            (1, Dma32, 12288, 12288, 12288),
            (2, Dma32, 24576, 12288, 12288),
        ],
    },
];

#[test]
fn zones_are_those_of_linux() {
    for case in CASES {
        with_map(case.memory, |map| {
            let mut zones = Vec::new();
            for node in 0..4 {
                for kind in ZoneKind::ALL {
                    let zone = zone_span(map, zone_id(node, kind));
                    if zone.present > 0 {
                        zones.push((node, kind, zone.span.start.0, zone.span.len(), zone.present));
                    }
                }
            }
            assert_eq!(zones, case.zones, "{}", case.name);
            // FR-18: sums of ranges, not of spans.
            let present: u64 = zones.iter().map(|zone| zone.4).sum();
            let usable: u64 = map.ranges().iter().map(|range| range.frames.len()).sum();
            assert_eq!(present, usable, "{}", case.name);
        });
    }
}

#[test]
fn a_node_without_memory_has_no_zones() {
    with_map(&[(0, 0x100, 0x1000), (2, 0x1000, 0x2000)], |map| {
        for kind in ZoneKind::ALL {
            let zone = zone_span(map, zone_id(1, kind));
            assert_eq!((zone.span, zone.present), (PfnRange::default(), 0));
        }
        assert_eq!(zone_span(map, zone_id(900, Dma)).present, 0);
    });
}

#[test]
fn a_zone_in_the_middle_of_a_node_may_be_all_hole() {
    with_map(&[(0, 0x100, 0x1000), (0, 0x100000, 0x100400)], |map| {
        let zone = zone_span(map, zone_id(0, Dma32));
        assert_eq!((zone.span, zone.present), (PfnRange::new(0x1000, 0x100000), 0));
    });
}

// Frames of 64 bytes of description per frame, 4096 in a page, rounded up.
#[test]
fn kernel_pages_are_present_less_page_structures_less_the_dma_reserve() {
    let case = &CASES[0];
    with_map(case.memory, |map| {
        let zones = [
            // Spanned 4095, present 3998: not sparse, so the span is described.
            3998 - 64 - 158,
            258048 - 4032,
            // Spanned 786432 is far more than present 262112: what is present is described.
            262112 - 4096,
            262144 - 4096,
            262144 - 4096,
        ];
        assert_eq!(kernel_pages(map, 158), zones.iter().sum::<u64>());
    });
}

#[test]
fn a_dma_reserve_larger_than_the_zone_is_not_taken_off() {
    with_map(&[(0, 0x100, 0x140), (1, 0x1000, 0x2000)], |map| {
        assert_eq!(kernel_pages(map, 62), 1 + 4096 - 64);
        assert_eq!(kernel_pages(map, 63), 63 + 4096 - 64);
        assert_eq!(map.with_memory().len(), 2);
        assert!(map.with_memory().contains(NodeId(1)));
    });
}
