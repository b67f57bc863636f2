//! Instructions on the host, counted by valgrind's callgrind: they do not depend on how fast or how
//! busy the host is.
//!
//! The program runs itself under callgrind, once for each figure, and counts between the entry to
//! and the return from one function. Without valgrind it says so and is done. A figure can be
//! compared with that of another build by the same compiler; peers' locks are the host's.

use std::process::{Command, ExitCode};

use comfy_table::{CellAlignment, Table, presets};
use nearmem_bench::peers::{ArrayStack, Bitmap, Buddy, Nearmem};
use nearmem_bench::random::Random;
use nearmem_bench::{Peer, options};

/// The argument under which this program counts one figure of one allocator.
const COUNT: &str = "--count";
/// Operations of a count.
const OPERATIONS: u64 = 10_000;

/// Figures by name, with the order of the blocks.
const FIGURES: [(&str, u8); 6] = [
    ("pair, order 0", 0),
    ("pair, order 3", 3),
    ("pair, order 9", 9),
    ("bulk alloc, order 0", 0),
    ("bulk free, order 0", 0),
    ("random free, order 0", 0),
];

const PEERS: [&str; 4] = [Nearmem::NAME, ArrayStack::NAME, Buddy::NAME, Bitmap::NAME];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().collect();
    if let [_, flag, figure, peer] = &words[..]
        && flag == COUNT
    {
        return count_one(figure, peer);
    }
    if !options::is_wanted("instructions") {
        return ExitCode::SUCCESS;
    }
    if Command::new("valgrind").arg("--version").output().is_err() {
        println!(
            "Instruction counts are left out: there is no valgrind (`apt-get install valgrind`)."
        );
        return ExitCode::SUCCESS;
    }
    println!("Instructions of one operation on the host, by callgrind:\n\n{}\n", counts());
    ExitCode::SUCCESS
}

/// The table of all figures.
fn counts() -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(std::iter::once("figure").chain(PEERS));
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    for (figure, _) in FIGURES {
        let cells = PEERS.map(|peer| match callgrind(figure, peer) {
            Some(instructions) => format!("{:.1}", instructions as f64 / OPERATIONS as f64),
            None => String::new(),
        });
        table.add_row(std::iter::once(figure.to_owned()).chain(cells));
    }
    table
}

/// Instructions of one figure of one allocator; `None` where it has no such blocks.
fn callgrind(figure: &str, peer: &str) -> Option<u64> {
    let program = std::env::current_exe().expect("this program has a path");
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .args(["--collect-atstart=no", "--toggle-collect=*counted*"])
        .arg(program)
        .args([COUNT, figure, peer])
        .output()
        .expect("valgrind starts");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{figure}, {peer}:\n{text}");
    collected(&text).filter(|&instructions| instructions > 0)
}

/// What callgrind says at the end: `==123== Collected : 4567`.
fn collected(text: &str) -> Option<u64> {
    let line = text.lines().rev().find(|line| line.contains("Collected :"))?;
    line.rsplit(' ').next()?.parse().ok()
}

fn count_one(figure: &str, peer: &str) -> ExitCode {
    let Some(&(_, order)) = FIGURES.iter().find(|(name, _)| *name == figure) else {
        eprintln!("{figure}: no such figure");
        return ExitCode::FAILURE;
    };
    match peer {
        Nearmem::NAME => work(&Nearmem::new(1), figure, order),
        ArrayStack::NAME => work(&ArrayStack::new(), figure, order),
        Buddy::NAME => work(&Buddy::new(), figure, order),
        Bitmap::NAME => work(&Bitmap::new(), figure, order),
        _ => {
            eprintln!("{peer}: no such allocator");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// Does the work of a figure: all of it once to warm up, and the part that counts once more.
fn work<P: Peer>(peer: &P, figure: &str, order: u8) {
    if !peer.has(order) {
        return;
    }
    peer.on_cpu(0, |local| match figure {
        "bulk alloc, order 0" => {
            fill_and_clear(peer, local);
            let mut held = Vec::with_capacity(OPERATIONS as usize);
            counted(|| fill(peer, local, &mut held));
            clear(peer, local, held);
        }
        "bulk free, order 0" | "random free, order 0" => {
            fill_and_clear(peer, local);
            let mut held = Vec::with_capacity(OPERATIONS as usize);
            fill(peer, local, &mut held);
            if figure.starts_with("random") {
                Random::new(1).shuffle(&mut held);
            }
            counted(|| clear(peer, local, held));
        }
        _ => {
            pairs(peer, local, order);
            counted(|| pairs(peer, local, order));
        }
    });
}

/// The one function whose callees are counted.
#[inline(never)]
fn counted(work: impl FnOnce()) {
    work();
}

fn pairs<P: Peer>(peer: &P, local: &P::Local<'_>, order: u8) {
    for _ in 0..OPERATIONS {
        let block = peer.take(local, std::hint::black_box(order)).expect("a block");
        peer.give(local, std::hint::black_box(block));
    }
}

fn fill<P: Peer>(peer: &P, local: &P::Local<'_>, held: &mut Vec<P::Block>) {
    let frames = (0..OPERATIONS).map(|_| peer.take(local, std::hint::black_box(0)));
    held.extend(frames.map(|block| block.expect("a frame")));
}

fn clear<P: Peer>(peer: &P, local: &P::Local<'_>, held: Vec<P::Block>) {
    held.into_iter().rev().for_each(|block| peer.give(local, block));
}

fn fill_and_clear<P: Peer>(peer: &P, local: &P::Local<'_>) {
    let mut held = Vec::with_capacity(OPERATIONS as usize);
    fill(peer, local, &mut held);
    clear(peer, local, held);
}
