//! Work for chosen CPUs at once.

use core::sync::atomic::{AtomicUsize, Ordering};

use nearmem::CpuId;
use nearmem_x86_64::cpu::{self, Left};
use nearmem_x86_64::remote;

/// What the CPUs are given: the same for all.
struct Job<'a> {
    work: &'a (dyn Fn(CpuId) + Sync),
    /// How many have not done it.
    left: AtomicUsize,
}

/// Runs `work` on each of these CPUs, at once, with interrupts on, on this one last if it is among
/// them; returns when all are done and says how many did it. Left out are CPUs that are off and,
/// unless it is this one, the boot CPU, which never idles. Each does one thing after the other: within
/// work, to name a CPU whose work waits for this one is to wait for ever.
pub fn run_on(cpus: &[CpuId], work: &(dyn Fn(CpuId) + Sync)) -> usize {
    let job = Job { work, left: AtomicUsize::new(0) };
    let this = cpu::current();
    let mut count = 0;
    for &cpu in cpus.iter().filter(|&&cpu| cpu != this) {
        job.left.fetch_add(1, Ordering::Relaxed);
        match leave(cpu, &job) {
            true => count += 1,
            false => drop(job.left.fetch_sub(1, Ordering::Relaxed)),
        }
    }
    if cpus.contains(&this) {
        work(this);
        count += 1;
    }
    // Acquire: what they did is seen.
    while job.left.load(Ordering::Acquire) > 0 {
        core::hint::spin_loop();
    }
    count
}

/// Leaves the job for a CPU, when it has done what it has; false when it is off.
fn leave(cpu: CpuId, job: &Job<'_>) -> bool {
    let Some(mailbox) = cpu::mailbox_of(cpu) else { return false };
    loop {
        match mailbox.leave(core::ptr::from_ref(job).cast()) {
            Ok(()) => break,
            Err(Left::Closed) => return false,
            Err(Left::Full) => core::hint::spin_loop(),
        }
    }
    remote::wake(cpu);
    true
}

/// Does what was left for this CPU.
pub(super) fn do_what_is_left() {
    let mailbox = cpu::mailbox();
    let Some(job) = mailbox.find() else { return };
    // SAFETY: only `leave` puts anything there: a `Job` whose owner waits until `left` says that
    // this CPU is done.
    let job = unsafe { &*job.cast::<Job<'_>>() };
    (job.work)(cpu::current());
    mailbox.open();
    // The last use of it. Release: with the Acquire of the owner.
    job.left.fetch_sub(1, Ordering::Release);
}
