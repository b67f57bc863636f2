//! Tasks: pieces of work that take turns on a CPU, many on each, all CPUs at once.
//!
//! In: closures that do a turn of work at a time, each for one CPU. Out: all of them have said that
//! they are done. A turn ends when the closure returns, so one that never returns keeps its CPU.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

use nearmem::CpuId;
use spin::Mutex;

use super::run_on;

/// What a task says after a turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Turn {
    /// It wants another, when the others of its CPU have had theirs.
    Again,
    /// It has done all that it had to.
    Done,
}

/// A task: called with its CPU for each turn.
pub type Task<'a> = Box<dyn FnMut(CpuId) -> Turn + Send + 'a>;

/// Tasks for some CPUs, before they run.
pub struct Tasks<'a> {
    cpus: Vec<CpuId>,
    /// One for each of the CPUs. The lock is only ever taken by one of them.
    queues: Vec<Mutex<VecDeque<Task<'a>>>>,
}

impl<'a> Tasks<'a> {
    /// None yet, for these CPUs, each of which is named once.
    pub fn new(cpus: Vec<CpuId>) -> Tasks<'a> {
        let queues = cpus.iter().map(|_| Mutex::default()).collect();
        Tasks { cpus, queues }
    }

    /// Adds a task for one of the CPUs, the last in its queue; gives it back when the CPU is none
    /// of them.
    ///
    /// # Errors
    /// The task.
    pub fn add(&mut self, cpu: CpuId, task: Task<'a>) -> Result<(), Task<'a>> {
        match self.cpus.iter().position(|&other| other == cpu) {
            Some(place) => {
                self.queues[place].get_mut().push_back(task);
                Ok(())
            }
            None => Err(task),
        }
    }

    /// Runs all to their ends, and says how many are left because their CPU is off: they had no
    /// turn. To be called where [`run_on`] may be.
    pub fn run(self) -> usize {
        let Tasks { cpus, queues } = self;
        run_on(&cpus, &|cpu| {
            let own = cpus.iter().position(|&other| other == cpu);
            let Some(queue) = own.and_then(|place| queues.get(place)) else { return };
            let mut queue = queue.lock();
            while let Some(mut task) = queue.pop_front() {
                if task(cpu) == Turn::Again {
                    queue.push_back(task);
                }
            }
        });
        queues.into_iter().map(|queue| queue.into_inner().len()).sum()
    }
}
