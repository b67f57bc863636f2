//! The seeds, reproduced.
