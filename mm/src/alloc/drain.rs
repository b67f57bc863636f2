//! Parked frames back to their zones, on this CPU and on others.
#![forbid(unsafe_code)]

use crate::ids::CpuId;
use crate::platform::CpuPlatform;
use crate::sync::Ordering;
use crate::zone::ZoneId;

use super::cpu_block::CpuBlock;
use super::request_word;
use super::slot::Slot;
use super::{LocalCpu, MemorySubsystem};

impl<'m, P: CpuPlatform> MemorySubsystem<'m, P> {
    /// Returns this CPU's parked frames to their zones.
    pub fn drain_local(&self, cpu: &LocalCpu<'m, P>) {
        for slot in cpu.block().slots {
            slot.drain(cpu.token());
        }
    }

    /// Returns all parked frames of all CPUs to their zones: those that were parked when it was
    /// called. Waits for the other CPUs that are online; never called with a token held.
    pub fn drain_all(&self) {
        self.drain_where(|_| true);
    }

    /// The same for one zone.
    pub fn drain_zone(&self, zone: ZoneId) {
        self.drain_where(|slot| slot.id() == zone);
    }

    /// Does what other CPUs asked this one for. Called by the idle loop, by the interrupt that
    /// [`kick`](crate::platform::Cpus::kick) sends, by [`alloc`](Self::alloc), and while this CPU
    /// waits for another. Says whether there was anything to do.
    pub fn serve_requests(&self, cpu: &LocalCpu<'m, P>) -> bool {
        let block = cpu.block();
        block.requests.serve(|| {
            for slot in block.slots {
                if request_word::take_wanted(&slot.wanted) {
                    slot.drain(cpu.token());
                }
            }
        })
    }

    /// A CPU comes up: from now on it is asked, and has to look at its requests. Called on that
    /// CPU or before it runs. CPU 0 is online from the start.
    pub fn set_online(&self, cpu: CpuId) {
        if let Some(block) = self.cpus.get(cpu.index()) {
            block.online.store(true, Ordering::Release);
        }
    }

    /// This CPU goes: its parked frames return to their zones, and nobody waits for it any more.
    /// It allocates and frees nothing until it is online again.
    pub fn set_offline(&self, cpu: &LocalCpu<'m, P>) {
        self.drain_local(cpu);
        // Release: who sees it offline sees its frames back in their zones.
        cpu.block().online.store(false, Ordering::Release);
        // Nothing is parked any more, so whatever is asked is done.
        self.serve_requests(cpu);
    }

    /// Whether a CPU is asked for what it has parked.
    pub fn is_online(&self, cpu: CpuId) -> bool {
        self.cpus.get(cpu.index()).is_some_and(|block| block.is_online())
    }

    fn drain_where(&self, wanted: impl Fn(&Slot<'m>) -> bool) {
        let own = {
            let cpu = self.pin();
            cpu.block().slots.iter().filter(|slot| wanted(slot)).for_each(|slot| {
                slot.drain(cpu.token());
            });
            cpu.block()
        };
        // Ask all, then wait for each: they work at the same time.
        let others = || self.cpus.iter().copied().filter(|block| !core::ptr::eq(*block, own));
        for block in others() {
            self.ask(block, &wanted);
        }
        for block in others() {
            request_word::wait(&block.requests, &block.online, block.requests.last(), || {
                self.serve_requests(&self.pin());
            });
        }
    }

    /// Asks a CPU to drain what it has parked of some zones, if it has, and to keep to new limits.
    /// One that is offline finds it when it comes back.
    fn ask(&self, block: &CpuBlock<'m>, wanted: impl Fn(&Slot<'m>) -> bool) {
        let mut any = false;
        for slot in block.slots.iter().filter(|slot| slot.has_work() && wanted(slot)) {
            request_word::want(&slot.wanted);
            any = true;
        }
        if any {
            block.requests.post();
            if block.is_online() {
                self.platform.kick(block.cpu);
            }
        }
    }
}
