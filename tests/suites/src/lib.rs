//! In-kernel suites.
