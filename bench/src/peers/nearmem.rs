//! This project's allocator, on a simulated machine with one node.

use nearmem::alloc::{FrameBlock, LocalCpu, MemorySubsystem, Request};
use nearmem::sim::{SimMachine, SimPlatform};
use nearmem::{CpuId, Order};

use crate::{FRAMES, Peer};

/// This project's allocator: NUMA counters, watermarks and policies as in a kernel.
pub struct Nearmem {
    machine: &'static SimMachine,
    memory: &'static MemorySubsystem<'static, SimPlatform>,
}

impl Nearmem {
    /// On a machine with that many CPUs. It stays until the process ends.
    pub fn new(cpus: usize) -> Nearmem {
        let bytes = FRAMES * nearmem::PAGE_SIZE;
        let builder = SimMachine::builder().node(bytes, cpus as u16);
        let machine: &SimMachine = Box::leak(Box::new(builder.untouched().build()));
        let map = Box::leak(Box::new(machine.map()));
        let memory = machine.run_on(CpuId(0), || machine.start(map, Default::default()));
        Nearmem { machine, memory: Box::leak(Box::new(memory)) }
    }
}

impl Peer for Nearmem {
    const NAME: &'static str = "nearmem";
    type Block = FrameBlock<'static>;
    type Local<'a> = LocalCpu<'static, SimPlatform>;

    fn has(&self, order: u8) -> bool {
        Order::new(order).is_some()
    }

    fn on_cpu<R>(&self, cpu: usize, work: impl FnOnce(&Self::Local<'_>) -> R) -> R {
        self.machine.run_on(CpuId(cpu as u16), || work(&self.memory.pin()))
    }

    #[inline]
    fn take(&self, local: &Self::Local<'_>, order: u8) -> Option<Self::Block> {
        self.memory.try_alloc(local, &Request::new(Order::new(order)?)).ok()
    }

    #[inline]
    fn give(&self, local: &Self::Local<'_>, block: Self::Block) {
        if let Err(error) = self.memory.try_free(local, block) {
            panic!("{error}");
        }
    }

    fn settle(&self) {
        self.machine.run_on(CpuId(0), || self.memory.drain_all());
    }
}
