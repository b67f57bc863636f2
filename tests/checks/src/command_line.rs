//! The command line: every word has an effect or is named, and numbers are what they say.

use nearmem::options::{self, Complaint, Options};
use nearmem::topology::{Change, Split};

/// Takes text; bytes that are none are replaced.
pub fn check(bytes: &[u8]) {
    check_text(&String::from_utf8_lossy(bytes));
}

fn check_text(line: &str) {
    let mut complaints = Vec::new();
    let read = options::parse(line, &mut |complaint| complaints.push(complaint));
    let words: Vec<_> = options::words(line).collect();
    // Only the items of memmap= are named one by one.
    let commas = line.matches(',').count();
    assert!(complaints.len() <= words.len() + commas, "{} complaints", complaints.len());
    complaints.iter().for_each(check_complaint);
    for word in &words {
        assert!(line.contains(word.name), "{word:?}");
        check_numbers(word.value.unwrap_or(word.name));
    }
    check_options(&read);

    // The same again gives the same, and so does what it is said to mean, word by word.
    let mut again = Vec::new();
    let second = options::parse(line, &mut |complaint| again.push(complaint));
    assert_eq!(complaints, again);
    assert_eq!(format!("{read:?}"), format!("{second:?}"));
}

fn check_complaint(complaint: &Complaint<'_>) {
    let text = complaint.to_string();
    assert!(
        text.starts_with("command line: ") && text.contains(" is used") || text.contains("ignored")
    );
    assert!(!text.chars().any(char::is_control), "not one line: {text:?}");
}

fn check_options(options: &Options<'_>) {
    if let Some(factor) = options.alloc.watermark_scale_factor {
        assert!((1..=3000).contains(&factor), "{factor}");
    }
    if let Some(fake) = options.fake {
        assert!(!matches!(fake.split, Split::Nodes(0) | Split::Size(0) | Split::EachNode(0)));
        assert!(fake.distances.iter().all(|distance| distance >= 10));
    }
    assert_eq!(options.user_map.is_empty(), options.user_map.changes().count() == 0);
    for change in options.user_map.changes() {
        match change {
            Change::Exact => {}
            Change::Limit(limit) => assert!(limit.0 > 0),
            Change::Add(region) => assert!(region.range.start <= region.range.end, "{region:?}"),
        }
    }
}

/// Numbers against a reading in 128 bits.
fn check_numbers(text: &str) {
    assert_eq!(options::number(text).map(u128::from), number(text), "{text:?}");
    let (digits, unit) = match text.char_indices().next_back() {
        Some((at, 'k' | 'K')) => (&text[..at], 1u128 << 10),
        Some((at, 'm' | 'M')) => (&text[..at], 1 << 20),
        Some((at, 'g' | 'G')) => (&text[..at], 1 << 30),
        Some((at, 't' | 'T')) => (&text[..at], 1 << 40),
        _ => (text, 1),
    };
    let fits = |bytes: &u128| *bytes <= u128::from(u64::MAX);
    let size = number(digits).map(|number| number * unit).filter(fits);
    assert_eq!(options::size(text).map(u128::from), size, "{text:?}");
}

fn number(text: &str) -> Option<u128> {
    let (digits, base) = match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => (&text[2..], 16),
        [b'0', _, ..] => (&text[1..], 8),
        _ => (text, 10),
    };
    if digits.is_empty() {
        return None;
    }
    let mut value = 0u128;
    for letter in digits.chars() {
        value = value * base + u128::from(letter.to_digit(base as u32)?);
        if value > u128::from(u64::MAX) {
            return None;
        }
    }
    Some(value)
}
