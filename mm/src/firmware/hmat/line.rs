//! One line of text for a structure, much as Linux logs it.

use core::fmt;

use super::{Body, DataType, Structure};

impl Structure<'_> {
    /// One line: `HMAT: Cache: Domain:1 Size:10240 Level:1`, without the figures of a
    /// [`Locality`](super::Locality).
    pub fn line(&self) -> impl fmt::Display + '_ {
        fmt::from_fn(|f| write(f, &self.body))
    }
}

fn write(f: &mut fmt::Formatter<'_>, body: &Body<'_>) -> fmt::Result {
    match body {
        Body::Attributes(attributes) => {
            let name = |pxm: Option<crate::ids::ProximityDomain>| {
                fmt::from_fn(move |f| match pxm {
                    Some(pxm) => write!(f, "{pxm}"),
                    None => f.write_str("-"),
                })
            };
            let (initiator, memory) = (name(attributes.initiator), name(attributes.memory));
            write!(f, "HMAT: Memory Domain:{memory} Initiator Domain:{initiator}")
        }
        Body::Locality(locality) => {
            let (initiators, targets) = (locality.initiators().len(), locality.targets().len());
            let name = DataType::new(locality.data_type).map_or("Reserved", DataType::name);
            write!(f, "HMAT: Locality: Level:{} Type:{name} ", locality.hierarchy)?;
            write!(f, "Initiator Domains:{initiators} Target Domains:{targets} ")?;
            write!(f, "Base:{}", locality.base_unit)
        }
        Body::Cache(cache) => {
            write!(f, "HMAT: Cache: Domain:{} Size:{} ", cache.memory, cache.size)?;
            write!(f, "Level:{} of {} Line:{}", cache.level, cache.levels, cache.line)
        }
        Body::Other { kind, length } | Body::BadLength { kind, length } => {
            write!(f, "HMAT: type {kind}, length {length}")
        }
        Body::BadCounts { initiators, targets, length } => {
            write!(f, "HMAT: {initiators} times {targets} figures, length {length}")
        }
        Body::Truncated { present } => write!(f, "HMAT: {present} bytes of a structure"),
    }
}
