//! Single rules of the node map, by example.

use nearmem::finding::OneNode;
use nearmem::topology::{CacheId, Inputs, NumaOption, Source, UnlistedCpus};
use nearmem::{ApicId, NodeId, PhysAddr, PhysRange, ProximityDomain};

use super::tables::{Machine, cpu, initiator, memory, slit, srat};

const MIB: u64 = 1 << 20;

fn mib(start: u64, end: u64) -> PhysRange {
    PhysRange::new(start * MIB, end * MIB)
}

/// Two nodes of 256 MiB; APIC 0 on the first, 2 and 3 on the second.
fn two_nodes() -> Vec<u8> {
    let cpus = [cpu(0, 0), cpu(1, 2), cpu(1, 3)];
    let ranges = [memory(0, mib(0, 256)), memory(1, mib(256, 512))];
    srat(1, &[&cpus[..], &ranges].concat())
}

fn cpu_nodes(srat: &[u8], unlisted: UnlistedCpus, apics: &[u32]) -> Vec<u16> {
    let apics: Vec<_> = apics.iter().copied().map(ApicId).collect();
    let ram = [mib(0, 512)];
    let machine = Machine { cpus: &apics, unlisted, ..Machine::new(&ram, srat) };
    machine.map(|map, _| map.cpus().iter().map(|cpu| cpu.node.0).collect())
}

/// What Linux did when it was booted so (reference: numa-discovery, section 6).
#[test]
fn cpus_without_a_record_go_where_their_vendor_sends_them() {
    let all = [0, 1, 2, 3, 4];
    let cache = |shift| UnlistedCpus::ByCache(CacheId::Shift(shift));
    assert_eq!(cpu_nodes(&two_nodes(), cache(0), &all), [0, 1, 1, 1, 1]);
    assert_eq!(cpu_nodes(&two_nodes(), UnlistedCpus::Dealt, &all), [0, 1, 1, 1, 0]);
    assert_eq!(cpu_nodes(&two_nodes(), cache(3), &all), [0, 0, 1, 1, 0]);
    // A shift beyond the id leaves nothing of it.
    assert_eq!(cpu_nodes(&two_nodes(), cache(40), &[9]), [0]);
}

#[test]
fn a_die_is_counted_through_all_sockets() {
    // Two dies of six CPUs in a socket with room for sixteen.
    let die = CacheId::Die { socket_shift: 4, cpus: 6, dies: 2 };
    let ids = [0, 5, 6, 11, 16, 21, 22, 27].map(|apic| die.of(ApicId(apic)));
    assert_eq!(ids, [0, 0, 1, 1, 2, 2, 3, 3]);
    // Nothing that a CPU may say stops it.
    let odd = CacheId::Die { socket_shift: 99, cpus: 0, dies: u32::MAX };
    assert_eq!(odd.of(ApicId(7)), 7);
    let odd = CacheId::Die { socket_shift: 0, cpus: 0, dies: u32::MAX };
    assert_eq!(odd.of(ApicId(u32::MAX)), u32::MAX);
    let by_die = UnlistedCpus::ByCache(CacheId::Die { socket_shift: 2, cpus: 3, dies: 2 });
    // CPU 1 is of die 0, and so on node 0; CPU 4 of die 2, which is no node: as APIC 3.
    assert_eq!(cpu_nodes(&two_nodes(), by_die, &[0, 1, 4]), [0, 0, 1]);
}

#[test]
fn a_cpu_whose_cache_is_no_node_goes_to_the_nearest_apic_id() {
    let cache = UnlistedCpus::ByCache(CacheId::Shift(0));
    assert_eq!(cpu_nodes(&two_nodes(), cache, &[0, 2, 900]), [0, 1, 1]);
    // Node 1 has no CPU that is present, but memory: it is online.
    assert_eq!(cpu_nodes(&two_nodes(), cache, &[900]), [1]);
    // Nothing is lower than APIC 4, and the next higher one is on node 1.
    let cpus = [cpu(0, 9), cpu(1, 5)];
    let ranges = [memory(0, mib(0, 256)), memory(1, mib(256, 512))];
    let table = srat(1, &[&cpus[..], &ranges].concat());
    assert_eq!(cpu_nodes(&table, cache, &[4, 9]), [1, 0]);
}

#[test]
fn a_node_whose_cpus_are_absent_does_not_come_up() {
    let records = [cpu(0, 0), cpu(1, 7), initiator(2), memory(0, mib(0, 64))];
    let table = srat(1, &records);
    let ram = [mib(0, 64)];
    let machine = Machine { cpus: &[ApicId(0)], ..Machine::new(&ram, &table) };
    let sets = |machine: &Machine<'_>| {
        machine.map(|map, _| {
            let sets = [map.possible(), map.online(), map.with_memory(), map.with_cpus()];
            sets.map(|set| set.to_string())
        })
    };
    assert_eq!(sets(&machine), ["0-2", "0,2", "0", "0"]);
    // A tool that knows of no CPUs takes all of them as present.
    assert_eq!(sets(&Machine { cpus: &[], ..machine }), ["0-2", "0-2", "0", "0-1"]);
}

#[test]
fn an_x2apic_id_out_of_reach_names_no_domain() {
    let table = srat(1, &[cpu(2, 300), cpu(1, 1), cpu(4, 0), memory(4, mib(0, 64))]);
    let ram = [mib(0, 64)];
    let machine = Machine { max_apic_id: Inputs::XAPIC, ..Machine::new(&ram, &table) };
    machine.map(|map, seen| {
        assert_eq!(map.pxm(NodeId(0)), Some(ProximityDomain(1)));
        assert_eq!(map.node_of_pxm(ProximityDomain(2)), None);
        assert_eq!(seen.names()[0], "srat-cpu-id-too-high");
    });
}

#[test]
fn a_present_cpu_beyond_xapic_is_listed_and_named() {
    let (ram, table) = ([mib(0, 512)], two_nodes());
    let cpus = [0, 254, 255, 7, 0x12345].map(ApicId);
    let machine = Machine { cpus: &cpus, ..Machine::new(&ram, &table) };
    for max_apic_id in [Inputs::XAPIC, Inputs::X2APIC] {
        Machine { max_apic_id, ..machine }.map(|map, seen| {
            assert_eq!(map.cpus().len(), 5);
            let found = seen.findings.iter().find(|f| f.kind.name() == "cpu-needs-x2apic");
            let text = found.unwrap().to_string();
            assert!(
                text.starts_with("CPUs with ids above 254: 2, the first is CPU 2 (APIC 0xff)."),
                "{text}"
            );
        });
    }
    let few = Machine { cpus: &cpus[..2], ..machine };
    assert!(!few.names().contains(&"cpu-needs-x2apic"));
}

#[test]
fn domains_with_disabled_records_alone_have_no_node_and_are_named() {
    let off = |mut record: Vec<u8>, flags: usize| {
        record[flags] = 0;
        record
    };
    let records = [
        off(cpu(3, 1), 12),
        cpu(0, 0),
        off(memory(0, mib(0, 1)), 28),
        memory(0, mib(0, 8)),
        off(memory(9, mib(8, 9)), 28),
        off(initiator(4), 24),
    ];
    Machine::new(&[mib(0, 8)], &srat(2, &records)).map(|map, seen| {
        assert_eq!(map.possible().to_string(), "0");
        let found = seen.findings.iter().find(|f| f.kind.name() == "srat-disabled-domains");
        assert_eq!(
            found.unwrap().to_string(),
            "SRAT, record 0 at 0x30: 3 disabled records are of domains without an enabled one, \
             domain 3 the first: these have no node"
        );
    });
    let names = Machine::new(&[mib(0, 8)], &srat(2, &records[1..4])).names();
    assert!(!names.contains(&"srat-disabled-domains"));
}

#[test]
fn a_disabled_initiator_hides_no_record_behind_it() {
    let mut off = initiator(7);
    off[24] = 0;
    let records = [cpu(0, 0), off, cpu(1, 1), initiator(2), memory(0, mib(0, 8))];
    let ram = [mib(0, 8)];
    Machine::new(&ram, &srat(2, &records)).map(|map, seen| {
        assert_eq!((map.possible().to_string(), map.cpu_records().len()), ("0-2".into(), 2));
        assert!(seen.names().contains(&"srat-disabled-generic-initiator"));
    });
}

#[test]
fn bytes_behind_a_record_are_ignored_and_named() {
    let mut long = memory(0, mib(0, 8));
    long.extend([0xff; 8]);
    long[1] = 48;
    let records = [cpu(0, 0), long, memory(1, mib(8, 16))];
    Machine::new(&[mib(0, 16)], &srat(2, &records)).map(|map, seen| {
        assert_eq!(map.with_memory().to_string(), "0-1");
        assert!(seen.names().contains(&"srat-entry-oversize"));
    });
}

#[test]
fn apic_ids_beyond_what_linux_takes_count() {
    // Linux ignores ids from 32768 on, after the domain has got its node.
    let records = [cpu(0, 0), cpu(1, 40000), memory(0, mib(0, 8))];
    let table = srat(2, &records);
    let ram = [mib(0, 8)];
    let machine = Machine { cpus: &[ApicId(0), ApicId(40000)], ..Machine::new(&ram, &table) };
    machine.map(|map, _| {
        assert_eq!(map.cpus()[1].node, NodeId(1));
        assert_eq!(map.online().to_string(), "0-1");
    });
}

#[test]
fn numa_off_and_noacpi_leave_one_node_and_say_nothing() {
    let table = two_nodes();
    let ram = [mib(0, 512)];
    for (numa, source) in [(NumaOption::Off, Source::Off), (NumaOption::NoAcpi, Source::None)] {
        let cpus = [0, 2].map(ApicId);
        let machine = Machine { numa, cpus: &cpus, ..Machine::new(&ram, &table) };
        machine.map(|map, seen| {
            assert_eq!((map.source(), map.ranges().len()), (source, 1));
            assert_eq!((map.possible().len(), map.pxm(NodeId(0))), (1, None));
            assert!(map.cpus().iter().all(|cpu| cpu.node == NodeId(0)));
            assert!(seen.findings.is_empty());
            let one = OneNode { off: numa == NumaOption::Off, end: PhysAddr(512 * MIB) };
            assert_eq!(seen.one_node, Some(one));
        });
    }
}

#[test]
fn one_node_is_said_where_the_tables_give_none_and_nowhere_else() {
    let ram = [mib(0, 512)];
    let said = |srat: Option<&[u8]>| {
        Machine { srat, ..Machine::new(&ram, &[]) }.map(|_, seen| seen.one_node)
    };
    let none = Some(OneNode { off: false, end: PhysAddr(512 * MIB) });
    let overlap = srat(1, &[memory(0, mib(0, 300)), memory(1, mib(200, 512))]);
    assert_eq!([said(None), said(Some(&overlap)), said(Some(&[]))], [none; 3]);
    assert_eq!(said(Some(&two_nodes())), None);
}

#[test]
fn ranges_merge_in_table_order_as_linux_logs_it() {
    let ranges = [(1, 6, 8), (0, 2, 3), (1, 8, 9), (0, 0, 1), (0, 3, 5)];
    let records: Vec<_> = ranges.iter().map(|&(pxm, a, b)| memory(pxm, mib(a, b))).collect();
    Machine::new(&[mib(0, 1), mib(2, 5), mib(6, 9)], &srat(2, &records)).map(|map, seen| {
        let lines: Vec<_> = seen.merges.iter().map(|merge| merge.to_string()).collect();
        assert_eq!(
            lines,
            [
                "NUMA: Node 0 [mem 0x00600000-0x007fffff] + [mem 0x00800000-0x008fffff] -> \
                 [mem 0x00600000-0x008fffff]",
                "NUMA: Node 1 [mem 0x00200000-0x002fffff] + [mem 0x00000000-0x000fffff] -> \
                 [mem 0x00000000-0x002fffff]",
                "NUMA: Node 1 [mem 0x00000000-0x002fffff] + [mem 0x00300000-0x004fffff] -> \
                 [mem 0x00000000-0x004fffff]",
            ]
        );
        // The hole belongs to the node around it; what is between nodes belongs to none.
        assert_eq!(map.node_of_address(PhysAddr(MIB)), Some(NodeId(1)));
        assert_eq!(map.node_of_address(PhysAddr(5 * MIB)), None);
        assert_eq!(map.node_of(PhysAddr(MIB).pfn()), None);
    });
}

#[test]
fn memory_in_a_hole_of_one_node_is_that_nodes() {
    let records = [memory(0, mib(0, 2)), memory(0, mib(4, 6)), memory(1, mib(6, 8))];
    Machine::new(&[mib(0, 8)], &srat(2, &records)).map(|map, seen| {
        assert_eq!(map.node_of(PhysAddr(3 * MIB).pfn()), Some(NodeId(0)));
        assert_eq!(map.uncovered_bytes(), 0);
        assert!(seen.names().contains(&"srat-hole-with-ram"));
    });
}

#[test]
fn a_frame_on_the_border_of_two_nodes_is_lost_and_named() {
    let border = 4 * MIB + 0x800;
    let records =
        [memory(0, PhysRange::new(0, border)), memory(1, PhysRange::new(border, 8 * MIB))];
    Machine::new(&[mib(0, 8)], &srat(2, &records)).map(|map, seen| {
        assert_eq!(map.node_of(PhysAddr(border).pfn()), None);
        assert_eq!(map.ranges().len(), 2);
        assert!(seen.names().contains(&"srat-split-frames"));
        assert!(!seen.names().contains(&"srat-uncovered-ram"));
    });
}

#[test]
fn coverage_is_refused_from_1_mib_on() {
    for (uncovered, source) in [(MIB - 4096, Source::Srat), (MIB, Source::None)] {
        let table = srat(2, &[memory(0, PhysRange::new(0, 8 * MIB - uncovered))]);
        Machine::new(&[mib(0, 8)], &table).map(|map, seen| {
            assert_eq!((map.source(), map.uncovered_bytes()), (source, uncovered));
            assert!(seen.names().contains(&"srat-uncovered-ram"));
        });
    }
}

#[test]
fn a_table_that_leaves_no_memory_at_all_is_refused() {
    // 512 KiB are below what is tolerated, but a machine without memory does not boot.
    let ram = [PhysRange::new(0, MIB / 2)];
    Machine::new(&ram, &srat(2, &[cpu(0, 0)])).map(|map, seen| {
        assert_eq!((map.source(), map.ranges().len()), (Source::None, 1));
        assert_eq!(seen.names(), ["srat-uncovered-ram", "srat-rejected"]);
    });
    // Nor does a table without a record name the node of a CPU.
    let table = srat(0, &[]);
    let machine = Machine { cpus: &[ApicId(0)], ..Machine::new(&[], &table) };
    machine.map(|map, _| assert!(map.possible().contains(map.cpus()[0].node)));
}

#[test]
fn what_was_found_before_a_refusal_stays_and_nothing_is_looked_for_after_it() {
    let (bad, cut) = (vec![0, 15, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], vec![1, 40, 9]);
    let ram = [mib(0, 8)];
    let table = srat(2, &[cpu(0, 0), bad, cpu(1, 0), cut]);
    Machine::new(&ram, &table).map(|map, seen| {
        assert_eq!(seen.names(), ["srat-bad-entry-length", "srat-rejected"]);
        assert_eq!(map.cpu_records().len(), 1);
    });
    let overlap = [memory(0, mib(0, 5)), memory(1, mib(4, 8)), memory(1, mib(7, 9))];
    let mut table = srat(2, &overlap);
    assert_eq!(Machine::new(&ram, &table).names(), ["srat-overlap", "srat-rejected"]);
    table[9] ^= 1;
    let names = ["table-checksum", "srat-overlap", "srat-rejected"];
    assert_eq!(Machine::new(&ram, &table).names(), names);
}

#[test]
fn a_cpu_in_three_records_is_a_conflict_and_a_repeat() {
    let records = [cpu(0, 5), cpu(0, 5), cpu(1, 5), memory(0, mib(0, 8))];
    Machine::new(&[mib(0, 8)], &srat(2, &records)).map(|map, seen| {
        assert_eq!(map.cpu_records().len(), 1);
        assert_eq!(map.cpu_records()[0].node, NodeId(1));
        let names = seen.names();
        assert!(names.contains(&"srat-cpu-conflict") && names.contains(&"srat-cpu-listed-twice"));
    });
}

#[test]
fn distances_follow_domains_and_what_is_missing_is_10_and_20() {
    let records = [memory(2, mib(0, 4)), memory(0, mib(4, 8)), memory(9, mib(8, 12))];
    let table = srat(2, &records);
    let distances = slit(3, &[10, 99, 30, 99, 10, 99, 40, 99, 10]);
    let ram = [mib(0, 12)];
    let machine = Machine { slit: Some(&distances), ..Machine::new(&ram, &table) };
    machine.map(|map, seen| {
        let row = |from| [0, 1, 2].map(|to| map.distance(NodeId(from), NodeId(to)));
        assert_eq!([row(0), row(1), row(2)], [[10, 40, 20], [30, 10, 20], [20, 20, 10]]);
        let names = seen.names();
        for name in ["slit-smaller-than-pxm", "slit-row-without-domain", "slit-asymmetric"] {
            assert!(names.contains(&name), "{name}");
        }
    });
}

#[test]
fn a_machine_of_1024_nodes_and_4096_records_fits_and_one_domain_more_does_not() {
    let ram = [PhysRange::new(0, 20 << 40)];
    let step = (20u64 << 40) / 4096;
    let mut records: Vec<_> = (0..4096u64)
        .map(|at| memory((at % 1024) as u32 * 7, PhysRange::new(at * step, (at + 1) * step)))
        .collect();
    let map = |records: &[Vec<u8>]| {
        Machine::new(&ram, &srat(2, records))
            .map(|map, seen| (map.possible().len(), map.ranges().len(), seen.names()))
    };
    let (nodes, ranges, names) = map(&records);
    assert_eq!((nodes, ranges), (1024, 4096));
    assert!(!names.contains(&"srat-too-many-domains"));
    records.push(memory(u32::MAX, PhysRange::new(21 << 40, 22 << 40)));
    assert!(map(&records).2.contains(&"srat-too-many-domains"));
}
