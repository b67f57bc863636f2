//! The in-kernel benchmarks: instructions counted, not time.
//!
//! In: a machine and the names that are wanted. Two boots at most, under QEMU's instruction
//! counting with one CPU: the machine, and one with a single node for `order0_pair_flat`. The kernel
//! sends the raw counts of every run ([`figure`]), out comes one value for each name. [`known`] has
//! all names with what Linux took for the same, [`report`] the table for people.

pub mod figure;
pub mod known;
pub mod report;

use anyhow::Result;

use crate::machine::{Machine, arguments};
use crate::qemu::{self, BootRequest, Exit};
use crate::seed::hashdist::box_nodes;
use crate::setup::progress::Progress;
pub use figure::Figure;

/// The figure that takes a machine with one node.
const FLAT: &str = "order0_pair_flat";
/// The figure that takes a machine with several nodes.
const REMOTE: &str = "order0_pair_remote";

/// The box of the first seed with one CPU, or one of other nodes, or of other memory (bytes, of all
/// nodes together). Its instructions are counted.
///
/// # Errors
/// [`crate::fault::BadMachine`] for a machine that cannot be.
pub fn machine(nodes: Option<u32>, memory: Option<u64>) -> Result<Machine> {
    let nodes = box_nodes(nodes, memory, 1)?;
    let memory = nodes.iter().map(|node| node.memory).sum();
    let mut machine = Machine::with_nodes("bench", nodes);
    // A string instruction is one instruction then, whatever it moves.
    let cpu = format!("{},erms=off,fsrm=off", arguments::cpu(Some(memory)));
    machine.qemu = ["-icount", "shift=0,sleep=off", "-cpu", &cpu].map(String::from).into();
    Ok(machine)
}

/// Which of the names (all known ones when empty) each of the two boots is for: the machine's own,
/// and that of a machine with one node. The other boot is left out when it has none.
pub fn plan(machine: &Machine, only: &[String]) -> [Vec<&'static str>; 2] {
    let wanted = known::ALL.iter().map(|known| known.name);
    let wanted = wanted.filter(|name| only.is_empty() || only.iter().any(|only| only == name));
    let one_node = machine.nodes.len() == 1;
    let (flat, own) = wanted.partition(|&name| name == FLAT && !one_node);
    let own: Vec<_> = own;
    [own.into_iter().filter(|&name| name != REMOTE || !one_node).collect(), flat]
}

/// What came of a boot: its figures, or how it ended when not well.
pub type Attempt = std::result::Result<Vec<Figure>, Exit>;

/// Boots and counts `names`, all of which have to come.
///
/// # Errors
/// QEMU cannot be started, or what the kernel sends is not as agreed.
pub fn count(request: &BootRequest<'_>, names: &[&str]) -> Result<Attempt> {
    let nodes = request.machine.nodes.len();
    let text = |done| {
        let plural = if nodes == 1 { "" } else { "s" };
        format!("counts instructions on {nodes} node{plural}: {done} of {} figures", names.len())
    };
    let progress = Progress::start(&text(0));
    let request = BootRequest { append: format!("bench={}", names.join(",")), ..request.clone() };
    let mut figures = Vec::new();
    let mut wrong = None;
    let outcome = qemu::boot(
        &request,
        |_| {},
        |fact| {
            if fact["type"] == "bench" {
                match Figure::from_fact(fact) {
                    Ok(figure) => figures.push(figure),
                    Err(error) => wrong = Some(error),
                }
                progress.update(&text(figures.len()));
            }
        },
    )?;
    if let Some(error) = wrong {
        return Err(error);
    }
    if outcome.exit != Exit::Success {
        return Ok(Err(outcome.exit));
    }
    for &name in names {
        let found = figures.iter().filter(|figure| figure.name == name).count();
        if found != 1 {
            let why = format!("the kernel gave {found} figures for {name} in place of one");
            return Ok(Err(Exit::Failure(why)));
        }
    }
    Ok(Ok(figures))
}

/// The machine of the second boot: one node of the seed's box.
///
/// # Errors
/// As [`machine`].
pub fn flat_machine() -> Result<Machine> {
    machine(Some(1), None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::hashdist::NODE_MEMORY;

    #[test]
    fn the_default_is_the_seeds_box_with_one_cpu() {
        let machine = machine(None, None).unwrap();
        assert_eq!(machine.nodes.len(), 8);
        assert!(machine.nodes.iter().all(|node| node.memory == NODE_MEMORY));
        assert_eq!(machine.cpus, Some(1));
        let words = ["-icount", "shift=0,sleep=off", "-cpu", "max,erms=off,fsrm=off"];
        assert_eq!(machine.qemu, words);
        let wide = super::machine(Some(64), Some(16 << 40)).unwrap();
        assert_eq!(wide.qemu[3], "max,phys-bits=46,erms=off,fsrm=off");
        assert!(super::machine(Some(0), None).is_err());
    }

    #[test]
    fn each_name_is_counted_once_on_the_machine_that_it_takes() {
        let [own, flat] = plan(&machine(None, None).unwrap(), &[]);
        assert_eq!(flat, [FLAT]);
        assert_eq!(own.len() + 1, known::ALL.len());
        assert!(!own.contains(&FLAT) && own.contains(&REMOTE));

        let [own, flat] = plan(&machine(Some(1), None).unwrap(), &[]);
        assert!(flat.is_empty() && own.contains(&FLAT) && !own.contains(&REMOTE));

        let only = ["order0_pair".to_owned()];
        let [own, flat] = plan(&machine(None, None).unwrap(), &only);
        assert!(own == ["order0_pair"] && flat.is_empty());
    }
}
