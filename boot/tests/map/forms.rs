//! Every form of input, damaged ones too: what is written where, and the exit code.

use nearmem_boot::scratch::Scratch;
use serde_json::{Value, json};

use super::run::*;

#[test]
fn every_form_of_one_machine_gives_one_map() {
    let folder = Scratch::new().unwrap();
    let expected = of_case();
    let (srat, slit) = (corpus("srat.bin"), corpus("slit.bin"));
    let (srat, slit, case) = (path(&srat), path(&slit), path(&corpus("json")).to_owned());
    let dump_file = file(&folder, "dump.txt", dump());
    let iomem = file(&folder, "iomem.txt", iomem());
    let log = file(&folder, "boot.log", boot_log());
    let report = file(&folder, "bug-report", format!("Dear all,\n{}\n{}", boot_log(), dump()));
    let wide: Vec<u8> = std::iter::once(0xfeffu16)
        .chain(dump().replace('\n', "\r\n").encode_utf16())
        .flat_map(u16::to_le_bytes)
        .collect();
    let wide = file(&folder, "windows.txt", wide);
    let lower = file(&folder, "lower.txt", dump().to_lowercase());
    let quoted: String = dump().lines().map(|line| format!("> {line}\n")).collect();
    let quoted = file(&folder, "quoted.txt", quoted);
    let forms: [&[&str]; 12] = [
        &["--srat", srat, "--slit", slit, "--memory-map", &case],
        &["--srat", srat, "--slit", slit, "--memory-map", &iomem],
        &["--acpidump", &dump_file, "--memory-map", &log],
        &["--srat", &dump_file, "--slit", &dump_file, "--memory-map", &log],
        &[srat, slit, &iomem],
        &[&log, slit, srat],
        &[&dump_file, &iomem],
        &[&iomem, &dump_file, "--json"],
        &[&report],
        &[&wide, &log],
        &[&lower, &log],
        &[&quoted, &log],
    ];
    for words in forms {
        let (got, errors) = map(words, b"");
        assert_eq!(got, expected, "{words:?}");
        assert_eq!(errors, [""; 0], "{words:?}");
    }
}

#[test]
fn standard_input_is_a_file_like_any_other() {
    let expected = of_case();
    let folder = Scratch::new().unwrap();
    let iomem = file(&folder, "iomem.txt", iomem());
    assert_eq!(map(&["-", &iomem], dump().as_bytes()).0, expected);
    let (srat, slit) = (corpus("srat.bin"), corpus("slit.bin"));
    let words = ["--srat", "-", "--slit", path(&slit), "--memory-map", &iomem];
    assert_eq!(map(&words, &bytes("srat.bin")).0, expected);
    let words = [path(&srat), path(&slit), "--memory-map", "-"];
    assert_eq!(map(&words, boot_log().as_bytes()).0, expected);
    // No tables lie beside standard input: entries count.
    let nodes = &map(&["-"], &bytes("json")).0["nodes"];
    assert_eq!(nodes, &expected["nodes"]);
    refused(&["-", "--memory-map", "-"], dump().as_bytes(), &["standard input is empty", "once"]);
}

#[test]
fn a_folder_has_tables_under_their_names() {
    let folder = Scratch::new().unwrap();
    refused(&[path(folder.path())], b"", &["no table in this folder", "srat.dat"]);
    file(&folder, "SRAT", bytes("srat.bin"));
    file(&folder, "slit.dat", bytes("slit.bin"));
    file(&folder, "facp.dat", b"FACP\x30\0\0\0");
    let other = Scratch::new().unwrap();
    let log = file(&other, "boot.log", boot_log());
    assert_eq!(map(&[path(folder.path()), &log], b"").0, of_case());
}

#[test]
fn tables_that_say_nothing_and_second_ones_are_passed_over_and_named() {
    let folder = Scratch::new().unwrap();
    let facp = file(&folder, "facp.dat", b"FACP\x30\0\0\0");
    let rsdp = file(&folder, "rsdp.dat", b"RSD PTR \x8fBOCHS");
    let other = file(&folder, "other.dat", b"SRAT\x24\0\0\0\x03");
    let (srat, slit) = (corpus("srat.bin"), corpus("slit.bin"));
    let log = file(&folder, "boot.log", boot_log());
    let (got, errors) = map(&[&facp, path(&srat), &rsdp, &other, path(&slit), &log], b"");
    assert_eq!(got, of_case());
    assert_eq!(errors.len(), 3, "{errors:?}");
    assert!(errors[0].contains("FACP") && errors[1].contains("RSDP"), "{errors:?}");
    assert!(errors[2].contains("its SRAT is not used"), "{errors:?}");
    // What an option names wins over both.
    let (got, _) = map(&[&other, path(&slit), &log, "--srat", path(&srat)], b"");
    assert_eq!(got, of_case());
}

#[test]
fn of_a_dumps_second_table_of_a_kind_nothing_counts_but_that_it_is_there() {
    let folder = Scratch::new().unwrap();
    let twice = dump() + &dumped("SRAT @ 0xBFFE9000", b"SRAT");
    let twice = file(&folder, "twice.txt", twice);
    let log = file(&folder, "boot.log", boot_log());
    let (got, expected) = (map(&[&twice, &log], b"").0, of_case());
    assert_eq!(got["nodes"], expected["nodes"]);
    let notes = got["notes"].as_array().unwrap();
    assert!(notes.contains(&json!("table-duplicate")), "{notes:?}");
}

#[test]
fn damaged_dumps_give_what_is_there_and_say_so() {
    let folder = Scratch::new().unwrap();
    let log = file(&folder, "boot.log", boot_log());
    let notes = |got: &Value| got["notes"].to_string();

    // The SRAT comes last but one: cut inside it, at a byte and inside one.
    let whole = dump();
    for cut in [whole.find("0400: ").unwrap() + 20, whole.find("0400: ").unwrap() + 22] {
        let cut = file(&folder, "cut.txt", &whole[..cut]);
        let (got, errors) = map(&[&cut, &log], b"");
        assert!(notes(&got).contains("table-length"), "{got}");
        assert_eq!(errors, [""; 0]);
    }
    // A line is missing.
    let at = whole.rfind("    0400: ").unwrap();
    let next = at + whole[at..].find('\n').unwrap() + 1;
    let lost = file(&folder, "lost.txt", whole[..at].to_owned() + &whole[next..]);
    let (got, errors) = map(&[&lost, &log], b"");
    assert!(notes(&got).contains("table-length"), "{got}");
    assert!(errors[0].contains("1024 bytes are read") && errors[0].contains("0x410"), "{errors:?}");
    // A heading and nothing more; then there is no SRAT, and one node has everything.
    let (got, errors) = map(&["-", &log], b"SRAT @ 0xBFFE1B00\n\nSLIT @ 0x1\n  0000: 53\n");
    assert_eq!((&got["fallback"], &got["warnings"]), (&json!(true), &json!(["srat-absent"])));
    assert!(errors[0].contains("SRAT: there are no bytes"), "{errors:?}");
}

#[test]
fn damaged_raw_tables_give_a_map() {
    let folder = Scratch::new().unwrap();
    let log = file(&folder, "boot.log", boot_log());
    let srat = bytes("srat.bin");
    let mut wrong = srat.clone();
    wrong[9] ^= 0xff;
    for (bytes, kind) in [
        (&srat[..700], "table-length"),
        (&srat[..20], "table-too-short"),
        (b"", "table-too-short"),
        (b"no table at all, but text that is long enough", "table-signature"),
        (&wrong, "table-checksum"),
    ] {
        let file = file(&folder, "srat", bytes);
        let (got, _) = map(&["--srat", &file, "--memory-map", &log], b"");
        assert!(got["notes"].to_string().contains(kind), "{kind}: {got}");
        assert!(!got["nodes"].as_array().unwrap().is_empty());
    }
}

#[test]
fn memory_maps_that_are_none_say_what_is_expected() {
    let folder = Scratch::new().unwrap();
    let srat = corpus("srat.bin");
    let zeros = "00000000-00000000 : Reserved\n00000000-00000000 : System RAM\n";
    let zeros = file(&folder, "iomem.txt", zeros);
    let said = ["iomem.txt: all addresses are 0", "root only", "sudo cat /proc/iomem"];
    refused(&[path(&srat), "--memory-map", &zeros], b"", &said);
    refused(&[path(&srat), &zeros], b"", &said);
    let other = file(&folder, "other.txt", "hello\n");
    refused(&[path(&srat), "--memory-map", &other], b"", &["other.txt: no memory map: expected"]);
}

#[test]
fn what_cannot_be_read_is_said_in_one_line() {
    let folder = Scratch::new().unwrap();
    let other = file(&folder, "other.txt", "hello\n");
    let json = file(&folder, "package.json", r#"{"name": "x"}"#);
    let broken = file(&folder, "broken.json", r#"{"srat": "#);
    let (case, nowhere) = (corpus("json"), folder.path().join("none"));
    for option in ["--srat", "--slit", "--hmat", "--madt", "--cedt", "--acpidump", "--memory-map"] {
        refused(&[path(&case), option, path(&nowhere)], b"", &["cannot read", "none: No such"]);
    }
    refused(&[path(&nowhere)], b"", &["cannot read", "none: No such file"]);
    refused(&[&other], b"", &["other.txt: no raw table, no text of acpidump, no case"]);
    refused(&["--acpidump", &other], b"", &["other.txt: no dump", "sudo acpidump > FILE"]);
    refused(&[&json], b"", &["package.json: no case", "memory_map, srat or slit"]);
    refused(&[&broken], b"", &["broken.json: EOF"]);
    refused(&["-"], b"", &["standard input is empty"]);
}

#[test]
fn wrong_usage_is_clap_s_and_help_has_examples() {
    for words in [
        &[][..],
        &["--slit", "x"],
        &["x", "--numa", "maybe"],
        &["x", "--memmap", "1G@x"],
        &["x", "--mem", "lots"],
        &["x", "--json", "--report"],
        &["x", "--nodes", "2"],
    ] {
        let output = run(words, b"");
        assert_eq!(output.status.code(), Some(2), "{words:?}: {}", text(&output.stderr));
        assert!(output.stdout.is_empty());
    }
    let errors = text(&run(&["x", "--numa", "maybe"], b"").stderr);
    assert!(errors.contains("expected off, noacpi"), "{errors}");
    let help = text(&run(&["--help"], b"").stdout);
    for word in ["--acpidump", "--memory-map", "Examples:", "map dump.txt iomem.txt", "Exit code"] {
        assert!(help.contains(word), "{word}: {help}");
    }
}

#[test]
fn the_kernels_options_count() {
    let case = corpus("json");
    let case = path(&case);
    let nodes = |words: &[&str]| {
        let (got, _) = map(&[&[case], words].concat(), b"");
        (got["nodes"].as_array().unwrap().len(), got["fallback"].clone())
    };
    assert_eq!(nodes(&[]), (4, json!(false)));
    assert_eq!(nodes(&["--numa", "off"]), (1, json!(true)));
    assert_eq!(nodes(&["--numa", "noacpi"]), (1, json!(true)));
    assert_eq!(nodes(&["--numa", "fake=2U"]), (8, json!(false)));

    let end = |words: &[&str]| {
        let (got, _) = map(&[&[case], words].concat(), b"");
        let nodes = got["nodes"].as_array().unwrap().iter();
        nodes.filter_map(|node| node["memory"].as_array()?.last()?[1].as_u64()).max()
    };
    assert_eq!(end(&["--mem", "1G"]), Some(1 << 30));
    assert_eq!(end(&["--memmap", "exactmap,512M@1M"]), Some(513 << 20));
    assert_eq!(
        end(&["--memmap", "exactmap", "--memmap", "512M@1M", "--mem", "1G"]),
        Some(513 << 20)
    );
}

#[test]
fn the_report_is_written_where_it_is_wanted() {
    let folder = Scratch::new().unwrap();
    let dump = file(&folder, "dump.txt", dump());
    let log = file(&folder, "boot.log", boot_log());
    let output = run(&["--report", &dump, &log], b"");
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty());
    let report = text(&output.stdout);
    for wanted in [
        "SRAT  revision 1, 1984 bytes, checksum right, OEM \"CORPUS\" \"NUMATBL \" 1",
        "in memory at 0xbffe1b00",
        "regions of an e820 log in",
        "  node  domain     memory  ranges  CPUs  APIC ids",
        "Distances, from the node of the row",
        "pxm-differs-from-node",
        "\nVerdict: the tables stand: 4 nodes, ",
    ] {
        assert!(report.contains(wanted), "no {wanted:?} in:\n{report}");
    }
}
