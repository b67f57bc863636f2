#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| nearmem_checks::madt::check(bytes));
