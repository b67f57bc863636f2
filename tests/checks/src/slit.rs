//! The SLIT's decoder: whole and valid, or refused with the reason.

use nearmem::ProximityDomain;
use nearmem::firmware::slit::Slit;

use crate::Collected;

/// Where the number of localities and the matrix are (ACPI 6.5, table 5.60).
const COUNT: usize = 36;
const MATRIX: usize = 44;

/// Takes a whole table, header included.
pub fn check(bytes: &[u8]) {
    let mut found = Collected::default();
    let slit = Slit::parse(bytes, &mut found);
    found.check(6, &[("SLIT", bytes.len())]);
    let Some(slit) = slit else {
        assert!(!found.findings.is_empty(), "refused without a reason");
        return;
    };
    let count = slit.count();
    let said = u64::from_le_bytes(bytes[COUNT..MATRIX].try_into().unwrap());
    assert_eq!(count as u64, said);
    let matrix = &bytes[MATRIX..][..count * count];
    let entry = |row: usize, column: usize| matrix[row * count + column];

    let mut asymmetric = false;
    for (number, (row, column, cell)) in slit.cells().enumerate() {
        assert_eq!((row, column, cell), (number / count, number % count, matrix[number]));
        assert_eq!(cell == 10, row == column, "{cell} from {row} to {column}");
        assert!(cell >= 10, "{cell} from {row} to {column}");
        assert_eq!(slit.place(row, column).offset, Some((MATRIX + number) as u32));
        asymmetric |= cell != entry(column, row);
    }
    assert_eq!(slit.cells().count(), count * count);
    assert_eq!(slit.asymmetric().is_some(), asymmetric);
    for from in [0, 1, count.wrapping_sub(1), count, u32::MAX as usize] {
        for to in [0, 1, count.wrapping_sub(1), count, u32::MAX as usize] {
            let there = from < count && to < count;
            let expected = there.then(|| entry(from, to));
            let domain = |number: usize| ProximityDomain(number as u32);
            assert_eq!(slit.distance(domain(from), domain(to)), expected, "{from} to {to}");
        }
    }
}
