//! The figures for people: a table with Linux's beside.

use comfy_table::{CellAlignment, Table, presets};

use super::Figure;
use super::known::{self, Known};

/// The figures as text of many lines. Linux's figure for the start of memory management is shown on
/// the default machine only: it grows with memory.
pub fn text(figures: &[Figure], default_machine: bool) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(["Figure", "here", "Linux", "ratio", "what"]);
    for column in table.column_iter_mut().skip(1).take(3) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    for known in known::ALL {
        for figure in figures.iter().filter(|figure| figure.name == known.name) {
            let linux = linux(known, default_machine);
            table.add_row([
                figure.name.clone(),
                number(figure.value),
                linux.map(number).unwrap_or_default(),
                linux.map(|linux| ratio(linux, figure.value)).unwrap_or_default(),
                known.what.to_owned(),
            ]);
        }
    }
    format!(
        "Instructions, but for the metadata, which are bytes. Linux: {}, its mitigations and the \
         clearing of pages switched off. The ratio says how many times fewer ours are.\n\n{table}\n",
        known::LINUX
    )
}

fn linux(known: &Known, default_machine: bool) -> Option<f64> {
    known.linux.filter(|_| default_machine || !known.default_machine)
}

fn ratio(linux: f64, here: f64) -> String {
    match linux / here {
        ratio if !ratio.is_finite() => String::new(),
        ratio if ratio < 10.0 => format!("{ratio:.2}"),
        ratio => format!("{ratio:.0}"),
    }
}

/// Three digits or so: what is behind them is noise, or nobody's concern in a table.
fn number(value: f64) -> String {
    match value {
        _ if value < 10.0 => format!("{value:.3}"),
        _ if value < 1000.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(name: &str, value: f64) -> Figure {
        Figure { name: name.into(), unit: "instructions".into(), value }
    }

    fn row(text: &str, name: &str) -> String {
        let line = text.lines().find(|line| line.trim_start().starts_with(name));
        line.unwrap_or_else(|| panic!("{text}"))
            .split_whitespace()
            .take(4)
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn linux_stands_beside_and_the_ratio_says_how_many_times_fewer() {
        let figures = [figure("metadata", 0.128), figure("order0_pair", 400.0)];
        let text = text(&figures, true);
        assert_eq!(row(&text, "order0_pair"), "order0_pair 400.0 600.0 1.50");
        assert_eq!(row(&text, "metadata"), "metadata 0.128 64.0 500");
        assert!(text.find("order0_pair") < text.find("metadata  "), "{text}");
    }

    #[test]
    fn what_grows_with_memory_is_compared_on_the_same_machine_only() {
        let figures = [figure("memory_startup", 5e6)];
        assert_eq!(row(&text(&figures, true), "memory_st"), "memory_startup 5000000 558537241 112");
        let other = text(&figures, false);
        assert_eq!(row(&other, "memory_st"), "memory_startup 5000000 firmware tables");
    }
}
