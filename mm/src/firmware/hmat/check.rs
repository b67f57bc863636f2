//! Whether an HMAT may be used, and what is odd in it.

use super::{Body, DataType, Hmat, Locality, REVISION, REVISIONS, SIGNATURE, Value};
use crate::finding::{Finding, Findings, Kind, Place};

impl Hmat<'_> {
    /// Whether the units are known and every structure has a length and counts that it can have.
    /// What is wrong or passed over is a finding. Looks at every byte once.
    pub(super) fn check(&self, findings: &mut dyn Findings) -> bool {
        let revision = self.header().revision;
        if !REVISIONS.contains(&revision) {
            let kind = Kind::HmatRevision { revision };
            findings.add(Finding::at(Place::byte(SIGNATURE, REVISION), kind));
            return false;
        }
        let mut sound = true;
        for structure in self.structures() {
            let mut find = |kind| findings.add(Finding::at(structure.place(), kind));
            match structure.body {
                Body::Attributes(_) | Body::Cache(_) => {}
                Body::Locality(locality) => look_at(&locality, &mut find),
                Body::Other { kind, length } => find(Kind::HmatUnknownType { kind, length }),
                Body::Truncated { present } => find(Kind::HmatTruncated { present }),
                Body::BadLength { kind, length } => {
                    find(Kind::HmatBadLength { kind, length });
                    sound = false;
                }
                Body::BadCounts { initiators, targets, length } => {
                    find(Kind::HmatBadCounts { initiators, targets, length });
                    sound = false;
                }
            }
        }
        sound
    }
}

/// Looks at figures that can be read; the first that is too large is a finding.
fn look_at(locality: &Locality<'_>, find: &mut dyn FnMut(Kind)) {
    let &Locality { hierarchy, data_type, behind, .. } = locality;
    if DataType::new(data_type).is_none() {
        return find(Kind::HmatReservedDataType { data_type });
    }
    if hierarchy > Locality::LAST_CACHE {
        find(Kind::HmatReservedHierarchy { hierarchy });
    }
    if behind > 0 {
        find(Kind::HmatLongerThanCounts { bytes: behind });
    }
    let too_large = locality.values().find(|&(_, _, value)| value == Value::TooLarge);
    if let Some((initiator, target, _)) = too_large {
        find(Kind::HmatValueTooLarge { initiator, target });
    }
}
