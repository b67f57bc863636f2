//! A simulated machine in a host process: RAM that is filled with 0xA5, CPUs that are threads,
//! and a vmalloc range that really remaps.
