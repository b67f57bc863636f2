//! Whatever text and bytes come: no reader panics, and what a dump gives is in the dump.

use proptest::prelude::*;

use super::acpidump;
use super::build::build;
use super::input::Input;
use super::source::Source;
use super::tables::{RawTable, Which};
use super::{memory, people, raw};

/// Pieces that real inputs are made of, so that random text reaches beyond the first test.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("SRAT @ 0x7FE2166A\n".to_owned()),
        Just("slit @ 0x1\r\n".to_owned()),
        Just("0000: 53 52 41 54 30 00 00 00 01  SRAT0\n".to_owned()),
        Just("BIOS-e820: [mem 0x0-0x9fbff] usable\n".to_owned()),
        Just("e820: update [mem 0x0-0xfff] usable ==> reserved\n".to_owned()),
        Just("e820: remove [mem 0xffffffffffffffff-0x0] usable\n".to_owned()),
        Just("BIOS-e820: 0000000000000000 - ffffffffffffffff (usable)\n".to_owned()),
        Just("00001000-0009fbff : System RAM\n".to_owned()),
        Just("[[0, \"0x1000\", \"usable\"]]".to_owned()),
        Just("{\"memory_map\": [[5, 1, \"usable\"]]}".to_owned()),
        "[ \t\r\n:@=>()\\[\\]-]{0,4}",
        "[0-9a-fA-Fx+-]{0,18}",
        "\\PC{0,8}",
        Just("\u{20ac}\u{0}".to_owned()),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

fn try_all(bytes: Vec<u8>) {
    raw::signature(&bytes);
    let source = Source { name: "x".into(), bytes };
    let text = source.text();
    for table in acpidump::parse(&text) {
        assert!(table.bytes.len() * 2 <= text.len() && table.signature.len() == 4);
    }
    if let Ok(found) = memory::parse(&text) {
        let mut input = Input::default();
        input.add_memory("x", found);
        people::report(&build(&input), &input, true);
    }
}

proptest! {
    #[test]
    fn text_of_likely_pieces_is_read_without_panic(text in pieces()) {
        try_all(text.into_bytes());
    }

    #[test]
    fn any_text_is_read_without_panic(text in "\\PC{0,200}") {
        try_all(text.into_bytes());
    }

    #[test]
    fn any_bytes_are_read_without_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        mark in prop::sample::select(vec![&b""[..], b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf"]),
    ) {
        try_all([mark, &bytes].concat());
    }

    /// A table that is made to text comes back as it was, wherever the text is cut: then a part.
    #[test]
    fn a_dumped_table_comes_back(
        bytes in prop::collection::vec(any::<u8>(), 1..100),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut dump = "preface\nSRAT @ 0x000000007FE2166A\n".to_owned();
        for (line, bytes) in bytes.chunks(16).enumerate() {
            let hex: String = bytes.iter().map(|byte| format!("{byte:02X} ")).collect();
            let text: String = bytes.iter().map(|&byte| char::from(byte.clamp(32, 126))).collect();
            dump += &format!("    {:04X}: {hex:<48} {text}\n", line * 16);
        }
        prop_assert_eq!(&acpidump::parse(&dump)[0].bytes, &bytes);
        let cut = cut.index(dump.len());
        for table in acpidump::parse(&dump[..cut]) {
            prop_assert!(bytes.starts_with(&table.bytes));
        }
    }

    /// Any bytes as tables: a map and a report come out, with lines that end.
    #[test]
    fn any_tables_give_a_map_and_a_report(
        bodies in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..160), 5),
        revision in 0u8..7,
    ) {
        let mut input = Input::default();
        for (which, body) in Which::ALL.into_iter().zip(bodies) {
            let mut bytes = which.signature().as_bytes().to_vec();
            bytes.extend((36 + body.len() as u32).to_le_bytes());
            bytes.push(revision);
            bytes.resize(36, 0);
            bytes.extend(body);
            input.tables.set(which, RawTable { bytes, from: "x".into(), address: None });
        }
        let built = build(&input);
        prop_assert!(people::report(&built, &input, true).contains("Verdict: "));
        super::json::value(&built);
    }
}
