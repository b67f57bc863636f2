//! One test per machine and in-kernel test.
fn main() {}
