//! A machine as QEMU's arguments.

use std::path::Path;

use anyhow::{Context, Result};

use super::{Machine, options, size};

/// From so much memory on, the CPU needs more physical address bits than QEMU's default of 40.
const WIDE: u64 = 512 * size::GIB;

/// The id of the memory of a machine without nodes.
const FLAT_MEMORY: &str = "nearmem-ram";

/// All arguments that say what the machine is: type, CPU, memory, nodes, its tables, and at the
/// end its own options. Writes the tables to files in `folder`.
///
/// Whatever of `-m`, `-smp` and `-numa` is among the machine's own options is not said twice.
///
/// # Errors
/// A table cannot be written.
pub fn arguments(machine: &Machine, folder: &Path) -> Result<Vec<String>> {
    let own = options::unreserved(&machine.qemu);
    let given = options::memory(&own);
    let memory = given.or(machine.memory.map(|bytes| (bytes, bytes)));
    let mut out = Vec::new();
    let mut say = |words: &[&str]| out.extend(words.iter().map(|&word| word.to_owned()));

    say(&["-machine", &machine.chipset]);
    say(&["-cpu", cpu(memory.map(|(_, most)| most))]);
    if let Some(cpus) = machine.cpus.filter(|_| !options::has(&own, "smp")) {
        say(&["-smp", &cpus.to_string()]);
    }
    if let Some(bytes) = machine.memory.filter(|_| !options::has(&own, "m")) {
        say(&["-m", &kib(bytes)]);
    }
    if options::has(&own, "numa") {
        // The machine's own options describe the nodes.
    } else if !machine.nodes.is_empty() {
        nodes(machine, &mut say);
    } else if let Some((bytes, _)) = memory
        && !own.iter().any(|option| option.contains("memory-backend"))
    {
        let bytes = bytes.checked_next_multiple_of(8 * size::KIB).unwrap_or(bytes);
        say(&["-object", &backend(FLAT_MEMORY, bytes)]);
        say(&["-machine", &format!("memory-backend={FLAT_MEMORY}")]);
    }
    for (place, table) in machine.tables.iter().enumerate() {
        let path = folder.join(format!("{place}-{}", table.signature));
        std::fs::write(&path, &table.bytes).with_context(|| format!("{}", path.display()))?;
        say(&["-acpitable", &format!("file={}", escaped(&path))]);
    }
    out.extend(own);
    Ok(out)
}

/// The CPU of a machine that can come to have this much memory, in bytes.
pub fn cpu(most: Option<u64>) -> &'static str {
    match most.is_some_and(|most| most >= WIDE) {
        true => "max,phys-bits=46",
        false => "max",
    }
}

/// The nodes, their memory, CPUs and distances.
fn nodes(machine: &Machine, say: &mut impl FnMut(&[&str])) {
    for (id, node) in machine.nodes.iter().enumerate() {
        let mut words = format!("node,nodeid={id}");
        if node.memory > 0 {
            let name = format!("m{id}");
            say(&["-object", &backend(&name, node.memory)]);
            words += &format!(",memdev={name}");
        }
        if !node.cpus.is_empty() {
            words += &format!(",cpus={}-{}", node.cpus.start, node.cpus.end - 1);
        }
        say(&["-numa", &words]);
    }
    for (from, row) in machine.distances.iter().enumerate() {
        for (to, distance) in row.iter().enumerate().filter(|&(to, _)| to != from) {
            say(&["-numa", &format!("dist,src={from},dst={to},val={distance}")]);
        }
    }
}

fn backend(id: &str, bytes: u64) -> String {
    format!("memory-backend-ram,id={id},size={},reserve=off", kib(bytes))
}

/// Bytes as QEMU reads them; sizes are whole KiB here.
fn kib(bytes: u64) -> String {
    format!("{}K", bytes.div_ceil(size::KIB))
}

/// A path within one of QEMU's comma-separated lists.
pub fn escaped(path: &Path) -> String {
    path.display().to_string().replace(',', ",,")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{NodeSpec, case, nodes};
    use crate::scratch::Scratch;

    fn line(machine: &Machine) -> String {
        arguments(machine, Path::new("/nowhere")).unwrap().join(" ")
    }

    #[test]
    fn two_nodes() {
        let machine = Machine::with_nodes("two", nodes::spread(2, 64 << 20, 3).unwrap());
        assert_eq!(
            line(&machine),
            "-machine q35 -cpu max -smp 3 -m 65536K \
             -object memory-backend-ram,id=m0,size=32768K,reserve=off \
             -numa node,nodeid=0,memdev=m0,cpus=0-1 \
             -object memory-backend-ram,id=m1,size=32768K,reserve=off \
             -numa node,nodeid=1,memdev=m1,cpus=2-2"
        );
    }

    #[test]
    fn a_node_without_memory_and_one_without_cpus() {
        let specs =
            vec![NodeSpec { memory: 0, cpus: 0..1 }, NodeSpec { memory: 64 << 20, cpus: 1..1 }];
        let mut machine = Machine::with_nodes("odd", specs);
        machine.distances = vec![vec![10, 30], vec![40, 10]];
        let line = line(&machine);
        assert!(line.contains("-smp 1 -m 65536K -numa node,nodeid=0,cpus=0-0 -object"), "{line}");
        assert!(line.ends_with(
            "-numa node,nodeid=1,memdev=m1 -numa dist,src=0,dst=1,val=30 \
             -numa dist,src=1,dst=0,val=40"
        ));
    }

    #[test]
    fn own_options_are_not_said_twice() {
        let mut machine = Machine::with_nodes("own", nodes::spread(2, 64 << 20, 2).unwrap());
        machine.qemu = ["-m", "1G", "-smp", "1", "-numa", "node"].map(String::from).into();
        assert_eq!(line(&machine), "-machine q35 -cpu max -m 1G -smp 1 -numa node");
    }

    #[test]
    fn memory_without_nodes_is_not_reserved_either() {
        let machine = Machine { qemu: vec!["-m".into(), "1G".into()], ..Machine::new("flat") };
        assert_eq!(
            line(&machine),
            "-machine q35 -cpu max -object memory-backend-ram,id=nearmem-ram,size=1048576K,\
             reserve=off -machine memory-backend=nearmem-ram -m 1G"
        );
        assert_eq!(line(&Machine::new("bare")), "-machine q35 -cpu max");
    }

    #[test]
    fn large_machines_get_address_bits() {
        let spread = |memory| nodes::spread(1, memory, 1).unwrap();
        let wide = |machine: &Machine| line(machine).contains("phys-bits=46");
        assert!(wide(&Machine::with_nodes("large", spread(512 << 30))));
        assert!(!wide(&Machine::with_nodes("less", spread(511 << 30))));
        let mut hotplug = Machine::new("hotplug");
        hotplug.qemu = vec!["-m".into(), "1G,slots=2,maxmem=1T".into()];
        assert!(wide(&hotplug));
    }

    #[test]
    fn tables_go_to_files() {
        let scratch = Scratch::new().unwrap();
        let machine =
            case::parse(r#"{"name": "a/b", "qemu": ["-m", "1G"], "slit": [[10]]}"#).unwrap();
        let arguments = arguments(&machine, scratch.path()).unwrap();
        let place = arguments.iter().position(|word| word == "-acpitable").unwrap();
        let file = arguments[place + 1].strip_prefix("file=").unwrap();
        assert_eq!(std::fs::read(file).unwrap(), machine.tables[0].bytes);
        assert_eq!(escaped("/a,b".as_ref()), "/a,,b");
    }
}
