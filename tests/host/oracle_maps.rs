//! The node maps that Linux made of QEMU machines (`tests/data/oracle`, `oracle-maps`), without a
//! boot: the recorded tables and memory maps go in on the host, and what Linux decided has to come
//! out.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use nearmem::alloc::zonelist::FallbackOrders;
use nearmem::finding::{FakePart, Finding, Findings, Merge, OneNode};
use nearmem::firmware::madt::{self, IdLinks, Madt};
use nearmem::options;
use nearmem::topology::{
    CacheId, HeapRoom, Inputs, MapOptions, MemoryMap, NodeMap, Region, RegionKind, StorageNeeds,
    UnlistedCpus,
};
use nearmem::{ApicId, NodeId, NodeSet, PfnRange};
use serde_json::{Map, Value, json};

/// The members of `exact` that follow from the node map.
const MEMBERS: [&str; 8] = [
    "numa",
    "possible_nodes",
    "online_nodes",
    "memory_nodes",
    "cpu_nodes",
    "nodes",
    "distances",
    "zonelists",
];

/// Linux logs the parts of nodes while it cuts them, so `numa` is `fake` even where it then gives
/// `numa=fake` up.
const DIFFERENT: [(&str, &str); 2] = [("numa-fake-7u-hole", "numa"), ("numa-fake-7u-hole", "log")];

fn read(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn cases() -> BTreeMap<String, PathBuf> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    let files =
        ["oracle", "oracle-maps"].map(|folder| std::fs::read_dir(data.join(folder)).unwrap());
    let mut cases = BTreeMap::new();
    for file in files.into_iter().flatten() {
        let path = file.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if let Some(name) = name.strip_suffix(".facts.json") {
            cases.insert(name.to_owned(), path);
        }
    }
    cases
}

/// Base64 (RFC 4648, section 4).
fn base64(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bits, mut count, mut bytes) = (0u32, 0, Vec::new());
    for letter in text.bytes().filter(|&letter| letter != b'=') {
        let digit = DIGITS.iter().position(|&other| other == letter).unwrap();
        bits = bits << 6 | digit as u32;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    bytes
}

/// The enabled CPUs of a MADT in table order.
fn enabled_cpus(bytes: &[u8]) -> Vec<ApicId> {
    let mut ignore = |_: Finding| ();
    let madt = Madt::parse(bytes, &mut ignore);
    let most = bytes.len() / 8;
    let (mut ids, mut links) = (vec![ApicId(0); most], vec![IdLinks::NONE; most]);
    let counts = madt::present(madt.as_ref(), None, &mut ids, &mut links, &mut ignore);
    ids.truncate(counts.present);
    ids
}

/// Log lines that the library makes as Linux does.
#[derive(Default)]
struct Log {
    lines: Vec<String>,
}

/// How those lines begin.
const LINES: [&str; 5] =
    ["No NUMA configuration", "NUMA turned off", "Faking a node", "Faking node", "NUMA: Node"];

impl Findings for Log {
    fn add(&mut self, _: Finding) {}

    fn merged(&mut self, merge: Merge) {
        self.lines.push(merge.to_string());
    }

    fn one_node(&mut self, one: OneNode) {
        self.lines.extend(one.to_string().lines().map(str::to_owned));
    }

    fn faked(&mut self, part: FakePart) {
        self.lines.push(part.to_string());
    }
}

fn regions(e820: &Value) -> Vec<Region> {
    let region = |region: &Value| {
        let usable = region[2] == "usable";
        let kind = if usable { RegionKind::Usable } else { RegionKind::Other };
        Region::new(region[0].as_u64().unwrap(), region[1].as_u64().unwrap(), kind)
    };
    e820.as_array().unwrap().iter().map(region).collect()
}

/// What the library makes of the recorded inputs, in the shape of `exact`.
fn ours(case: &Value, inputs: &Value, log: &mut Log) -> Value {
    let table = |name: &str| inputs["tables"][name].as_str().map(base64);
    let (srat, slit) = (table("SRAT"), table("SLIT"));
    let cpus = enabled_cpus(&table("APIC").unwrap());
    let mut regions = regions(&inputs["e820"]);
    let mut usable = vec![PfnRange::default(); regions.len() + 2];
    let options = MapOptions { hold_back_bios: true, limit: None };
    let memory = MemoryMap::build(&mut regions, &mut usable, options, &mut |_| ());
    let intel = case["qemu"]
        .as_array()
        .unwrap()
        .iter()
        .any(|word| word.as_str().is_some_and(|word| word.contains("vendor=GenuineIntel")));
    let append = case["append"].as_str().unwrap_or_default();
    let chosen = options::parse(append, &mut |_| ());
    let built = Inputs {
        srat: srat.as_deref(),
        slit: slit.as_deref(),
        cpus: &cpus,
        // `-cpu max` says AMD; CPUs without a record are alone in their sockets.
        unlisted: if intel {
            UnlistedCpus::Dealt
        } else {
            UnlistedCpus::ByCache(CacheId::Shift(0))
        },
        max_apic_id: Inputs::XAPIC,
        numa: chosen.numa,
        fake: chosen.fake,
        ..Inputs::new(&memory)
    };
    let needs =
        StorageNeeds::of(srat.as_deref(), &memory, cpus.len()).with_fake(built.fake.as_ref());
    let mut room = HeapRoom::new(needs);
    exact(&NodeMap::build(&built, room.storage(), log))
}

fn exact(map: &NodeMap<'_>) -> Value {
    let ids = |nodes: &NodeSet| nodes.iter().map(|node| node.0).collect::<Vec<_>>();
    let online: Vec<NodeId> = map.online().iter().collect();
    let row = |from: NodeId| online.iter().map(|&to| map.distance(from, to)).collect::<Vec<_>>();
    let mut orders = FallbackOrders::new(map.with_memory(), |from, to| map.distance(from, to));
    let zonelists: Map<String, Value> = map
        .possible()
        .iter()
        .map(|node| {
            let mut list = Vec::new();
            orders.list(node, |next| list.push(next.0));
            (node.to_string(), json!(list))
        })
        .collect();
    json!({
        "numa": map.source().name(),
        "possible_nodes": ids(map.possible()),
        "online_nodes": ids(map.online()),
        "memory_nodes": ids(map.with_memory()),
        "cpu_nodes": ids(map.with_cpus()),
        "nodes": online.iter().map(|&node| exact_node(map, node)).collect::<Vec<_>>(),
        "distances": online.iter().map(|&from| row(from)).collect::<Vec<_>>(),
        "zonelists": zonelists,
    })
}

fn exact_node(map: &NodeMap<'_>, node: NodeId) -> Value {
    let mut cpus: Vec<_> = map.cpus_of(node).map(|cpu| cpu.index()).collect();
    cpus.sort_by_key(|&cpu| map.cpus()[cpu].apic);
    let memory = map.node_ranges(node).map(PfnRange::bytes);
    json!({
        "id": node.0,
        "pxm": map.pxm(node).map(|pxm| pxm.0),
        "cpus": cpus,
        "memory": memory.map(|range| [range.start.0, range.end.0]).collect::<Vec<_>>(),
    })
}

#[test]
fn every_recorded_machine_gives_the_node_map_that_linux_made() {
    let cases = cases();
    assert!(cases.len() >= 48, "only {} cases", cases.len());
    let mut wrong = Vec::new();
    for (name, path) in &cases {
        let case = read(&path.with_file_name(format!("{name}.json")));
        let mut facts = read(path);
        for node in facts["exact"]["nodes"].as_array_mut().unwrap() {
            node.as_object_mut().unwrap().remove("zones");
        }
        let mut log = Log::default();
        let ours = ours(&case, &facts["inputs"], &mut log);
        let logged = facts["informative"]["log"].as_array().into_iter().flatten();
        let logged = logged.filter_map(Value::as_str);
        let logged: Vec<_> =
            logged.filter(|line| LINES.iter().any(|start| line.starts_with(start))).collect();
        let same = log.lines == logged;
        if same == DIFFERENT.contains(&(name, "log")) {
            wrong.push(format!("{name}: log: Linux {logged:#?}, ours {:#?}", log.lines));
        }
        for member in MEMBERS {
            let linux = &facts["exact"][member];
            let same = ours[member] == *linux;
            if same == DIFFERENT.contains(&(name, member)) {
                wrong.push(format!("{name}: {member}: Linux {linux}, ours {}", ours[member]));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}
