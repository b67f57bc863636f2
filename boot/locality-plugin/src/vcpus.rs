//! The counts of all virtual CPUs.
//!
//! QEMU runs each virtual CPU in a thread of its own, so each has its own counts; the locks are
//! there for the end, when the main thread reads while others may still run.

use std::fmt::{self, Write};
use std::sync::atomic::{AtomicU16, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard};

use crate::counts::{Counts, HEADER};
use crate::marker::Marker;

/// No region is open.
const NONE: u16 = u16::MAX;

/// One virtual CPU.
struct Vcpu {
    /// The number of the open region, or [`NONE`]. Written by the CPU's own thread, which is the
    /// only one whose reads matter: hence `Relaxed`.
    open: AtomicU16,
    counts: Mutex<Counts>,
}

impl Vcpu {
    fn counts(&self) -> MutexGuard<'_, Counts> {
        // A thread that panicked counts no more; what it counted is still true.
        self.counts.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn open(&self) -> Option<u8> {
        u8::try_from(self.open.load(Relaxed)).ok()
    }
}

/// All virtual CPUs, by index. What an index beyond them does is not counted.
pub struct Vcpus(Vec<Vcpu>);

impl Vcpus {
    /// So many, outside all regions.
    pub fn new(count: usize) -> Vcpus {
        let vcpu = |_| Vcpu { open: AtomicU16::new(NONE), counts: Mutex::default() };
        Vcpus((0..count).map(vcpu).collect())
    }

    /// A CPU executes a marker. Regions of one CPU do not nest: a begin within a region is counted
    /// as a stray, and the region goes on.
    pub fn marker(&self, vcpu: usize, marker: Marker) {
        let Some(cpu) = self.0.get(vcpu) else { return };
        match (marker, cpu.open()) {
            (Marker::Begin(region), None) => {
                cpu.counts().enter(region);
                cpu.open.store(region.into(), Relaxed);
            }
            (Marker::End(region), Some(open)) if open == region => cpu.open.store(NONE, Relaxed),
            _ => cpu.counts().stray(),
        }
    }

    /// A CPU executes an instruction that is no marker.
    pub fn instruction(&self, vcpu: usize) {
        if let Some((cpu, region)) = self.in_region(vcpu) {
            cpu.counts().instruction(region);
        }
    }

    /// The instruction at `pc` reads or writes memory at the virtual address `address`.
    pub fn access(&self, vcpu: usize, pc: u64, address: u64, store: bool) {
        if let Some((cpu, region)) = self.in_region(vcpu) {
            cpu.counts().access(region, pc, address, store);
        }
    }

    /// Writes the whole file.
    pub fn write(&self, out: &mut dyn Write) -> fmt::Result {
        writeln!(out, "{HEADER}")?;
        self.0.iter().enumerate().try_for_each(|(vcpu, cpu)| cpu.counts().write(vcpu, out))
    }

    fn in_region(&self, vcpu: usize) -> Option<(&Vcpu, u8)> {
        let cpu = self.0.get(vcpu)?;
        Some((cpu, cpu.open()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_between_markers_counts_and_for_its_own_cpu() {
        let vcpus = Vcpus::new(2);
        vcpus.access(0, 1, 0x10, false);
        vcpus.marker(0, Marker::Begin(5));
        vcpus.instruction(0);
        vcpus.access(0, 1, 0x10, false);
        vcpus.access(1, 1, 0x10, false);
        vcpus.marker(0, Marker::End(5));
        vcpus.access(0, 1, 0x10, false);
        vcpus.marker(1, Marker::Begin(0));
        vcpus.access(1, 1, 0x20, true);
        vcpus.marker(7, Marker::Begin(1));
        vcpus.access(7, 1, 0x20, true);
        let mut text = String::new();
        vcpus.write(&mut text).unwrap();
        let lines = [
            HEADER,
            "region 0 5 1 1 0",
            "access 0 5 1 10 1 0",
            "region 1 0 1 0 0",
            "access 1 0 1 20 0 1\n",
        ];
        assert_eq!(text, lines.join("\n"));
    }

    #[test]
    fn regions_do_not_nest() {
        let vcpus = Vcpus::new(1);
        vcpus.marker(0, Marker::End(1));
        vcpus.marker(0, Marker::Begin(1));
        vcpus.marker(0, Marker::Begin(2));
        vcpus.instruction(0);
        vcpus.marker(0, Marker::End(2));
        vcpus.instruction(0);
        let mut text = String::new();
        vcpus.write(&mut text).unwrap();
        assert_eq!(text, format!("{HEADER}\nregion 0 1 1 2 0\nstray 0 3\n"));
    }
}
