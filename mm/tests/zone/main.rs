//! Zones: how memory is divided into them, the free frames of one range against a model that is
//! too simple to be wrong, and zones as all CPUs share them.

mod boot;
mod exact;
mod layout;
mod machine;
mod memory;
mod misuse;
mod model;
mod properties;
mod shared;
mod suite;
