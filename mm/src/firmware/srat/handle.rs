//! Which device a generic initiator or a generic port is: a device handle of 16 bytes, of one of
//! two kinds (ACPI 6.5, tables 5.54 and 5.55).

use core::fmt;

use super::decode::device::{HANDLE, HANDLE_KIND};
use crate::firmware::bytes::{array_at, u8_at, u32_at};

/// The kinds of handle.
const ACPI: u8 = 0;
const PCI: u8 = 1;

/// ACPI: a hardware id of eight letters, a unique id, four reserved bytes.
const UID: usize = HANDLE + 8;
/// PCI: a segment, then the bus and the device with its function, a byte each; the rest is reserved.
const BUS: usize = HANDLE + 2;
const DEVICE: usize = HANDLE + 3;

/// The name of a device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DeviceHandle {
    /// A device of the ACPI namespace.
    Acpi {
        /// `_HID`, as letters.
        hid: [u8; 8],
        /// `_UID`.
        uid: u32,
    },
    /// A PCI function.
    Pci {
        /// The segment.
        segment: u16,
        /// The bus.
        bus: u8,
        /// The device, 0 to 31.
        device: u8,
        /// The function, 0 to 7.
        function: u8,
    },
    /// A kind of handle that ACPI does not know.
    Unknown {
        /// The kind.
        kind: u8,
    },
}

impl DeviceHandle {
    /// The handle in a record of type 5 or 6; `None` when the record ends inside it.
    pub(super) fn of(record: &[u8]) -> Option<DeviceHandle> {
        Some(match u8_at(record, HANDLE_KIND)? {
            ACPI => {
                DeviceHandle::Acpi { hid: array_at(record, HANDLE)?, uid: u32_at(record, UID)? }
            }
            PCI => {
                let device = u8_at(record, DEVICE)?;
                DeviceHandle::Pci {
                    segment: u16::from_le_bytes(array_at(record, HANDLE)?),
                    bus: u8_at(record, BUS)?,
                    device: device >> 3,
                    function: device & 7,
                }
            }
            kind => DeviceHandle::Unknown { kind },
        })
    }
}

/// `ACPI0016:0`, `PCI 0000:c1:00.0`, or `device of kind 7`.
impl fmt::Display for DeviceHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            DeviceHandle::Acpi { hid, uid } => {
                // Shorter names end in zero bytes.
                let end = hid.iter().position(|&byte| byte == 0).unwrap_or(hid.len());
                let name = hid.get(..end).unwrap_or_default();
                write!(f, "{}:{uid}", name.escape_ascii())
            }
            DeviceHandle::Pci { segment, bus, device, function } => {
                write!(f, "PCI {segment:04x}:{bus:02x}:{device:02x}.{function}")
            }
            DeviceHandle::Unknown { kind } => write!(f, "device of kind {kind}"),
        }
    }
}
