//! Sets the watermarks of all zones, and what depends on them.
#![forbid(unsafe_code)]

use crate::platform::CpuPlatform;
use crate::zone::{ZoneId, ZoneKind};

use super::MemorySubsystem;
use super::subsystem::kilobytes;
use super::watermark::{DEFAULT_SCALE, lowmem_reserve, min_free_kbytes, zone_watermarks};

impl<'m, P: CpuPlatform> MemorySubsystem<'m, P> {
    /// Computes watermarks and lowmem reserve of all zones from what they manage now, and batch
    /// and high of all pagesets. Done at the hand-over; to be done again when a zone grows. Never
    /// called with a token held: when sizes of pagesets change, all are drained.
    pub fn set_watermarks(&self) {
        let total = self.managed();
        let min_free = self.min_free_kbytes();
        let scale = self.options.watermark_scale_factor.unwrap_or(DEFAULT_SCALE);
        for zone in self.zones {
            zone.set_watermarks(zone_watermarks(zone.managed(), total, min_free, scale));
            let ZoneId { node, kind } = zone.id();
            let managed = ZoneKind::ALL
                .map(|kind| self.zone(ZoneId { node, kind }).map_or(0, |zone| zone.managed()));
            for limit in ZoneKind::ALL {
                zone.set_protection(limit, lowmem_reserve(managed, kind, limit));
            }
        }
        self.resize_pagesets();
    }

    /// `min_free_kbytes` as it is in force, in kB: the option, or by the formula for all managed
    /// memory.
    pub fn min_free_kbytes(&self) -> u64 {
        let memory = kilobytes(self.managed());
        match self.options.min_free_kbytes {
            Some(chosen) => chosen.min(memory / 2),
            None => min_free_kbytes(memory),
        }
    }

    /// Managed frames of all zones.
    pub fn managed(&self) -> u64 {
        self.zones.iter().map(|zone| zone.managed()).sum()
    }
}
