//! Records that name a domain and make no node here: generic ports, and what other architectures
//! have. Linux on x86 skips them by their length, too.

use core::fmt;

use super::DeviceHandle;
use super::decode::{ENABLED, device};
use crate::firmware::bytes::u32_at;
use crate::ids::ProximityDomain;

/// Type 3, GICC affinity, 18 bytes (ACPI 6.5, table 5.51).
mod gicc {
    pub const KIND: u8 = 3;
    pub const PXM: usize = 2;
    pub const UID: usize = 6;
    pub const FLAGS: usize = 10;
}

/// Type 4, GIC interrupt translation service affinity, 12 bytes (ACPI 6.5, table 5.52).
mod its {
    pub const KIND: u8 = 4;
    pub const PXM: usize = 2;
    pub const ID: usize = 8;
}

/// Type 6, generic port affinity: laid out as type 5 (ACPI 6.5, table 5.57).
const PORT: u8 = 6;

/// Type 7, RINTC affinity, 20 bytes (ACPI 6.6, 5.2.16).
mod rintc {
    pub const KIND: u8 = 7;
    pub const PXM: usize = 4;
    pub const UID: usize = 8;
    pub const FLAGS: usize = 12;
}

/// What a record of a known type says that makes no node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Named {
    /// An ARM CPU: type 3.
    Gicc {
        /// The domain.
        pxm: ProximityDomain,
        /// The CPU's ACPI id.
        uid: u32,
        /// Whether the record counts.
        enabled: bool,
    },
    /// An ARM interrupt translation service: type 4, which is always enabled.
    Its {
        /// The domain.
        pxm: ProximityDomain,
        /// Its id.
        id: u32,
    },
    /// A way out of the system to devices that come later, as a CXL host bridge: type 6.
    Port {
        /// The domain.
        pxm: ProximityDomain,
        /// Which device.
        handle: DeviceHandle,
        /// Whether the record counts.
        enabled: bool,
    },
    /// A RISC-V CPU: type 7.
    Rintc {
        /// The domain.
        pxm: ProximityDomain,
        /// The CPU's ACPI id.
        uid: u32,
        /// Whether the record counts.
        enabled: bool,
    },
}

impl Named {
    /// Reads a record; `None` for another type, and for one that ends too early.
    pub(super) fn of(record: &[u8]) -> Option<Named> {
        let word = |at| u32_at(record, at);
        let pxm = |at| word(at).map(ProximityDomain);
        let enabled = |at| word(at).map(|flags| flags & ENABLED != 0);
        Some(match *record.first()? {
            gicc::KIND => Named::Gicc {
                pxm: pxm(gicc::PXM)?,
                uid: word(gicc::UID)?,
                enabled: enabled(gicc::FLAGS)?,
            },
            its::KIND => Named::Its { pxm: pxm(its::PXM)?, id: word(its::ID)? },
            PORT => Named::Port {
                pxm: pxm(device::PXM)?,
                handle: DeviceHandle::of(record)?,
                enabled: enabled(device::FLAGS)?,
            },
            rintc::KIND => Named::Rintc {
                pxm: pxm(rintc::PXM)?,
                uid: word(rintc::UID)?,
                enabled: enabled(rintc::FLAGS)?,
            },
            _ => return None,
        })
    }

    /// The domain.
    pub fn pxm(&self) -> ProximityDomain {
        match *self {
            Named::Gicc { pxm, .. }
            | Named::Its { pxm, .. }
            | Named::Port { pxm, .. }
            | Named::Rintc { pxm, .. } => pxm,
        }
    }

    /// Whether the firmware says that the record counts.
    pub fn is_enabled(&self) -> bool {
        match *self {
            Named::Gicc { enabled, .. }
            | Named::Port { enabled, .. }
            | Named::Rintc { enabled, .. } => enabled,
            Named::Its { .. } => true,
        }
    }
}

/// `generic port ACPI0016:0`, `GICC of CPU 3`, `GIC ITS 1`, `RINTC of CPU 3`.
impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Named::Gicc { uid, .. } => write!(f, "GICC of CPU {uid}"),
            Named::Its { id, .. } => write!(f, "GIC ITS {id}"),
            Named::Port { handle, .. } => write!(f, "generic port {handle}"),
            Named::Rintc { uid, .. } => write!(f, "RINTC of CPU {uid}"),
        }
    }
}
