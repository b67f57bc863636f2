//! Pagesets: each CPU's cache of single frames of one zone, on the CPU's node.
