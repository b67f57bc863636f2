//! vmalloc: scattered frames, mapped into one range of addresses.
