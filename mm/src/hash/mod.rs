//! Large system hash tables: their sizes, and where their pages lie.
