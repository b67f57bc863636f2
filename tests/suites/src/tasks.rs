//! Tasks: they take turns, each on its CPU, and all come to their ends.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicUsize, Ordering};

use nearmem::CpuId;
use nearmem_kernel::cpus::tasks::{Tasks, Turn};
use nearmem_kernel::{Kernel, cpus};
use nearmem_suites::kernel_tests;
use nearmem_x86_64::cpu;
use spin::Mutex;

kernel_tests! {
    tasks_take_turns_on_their_cpu_until_they_are_done,
    tasks_of_a_cpu_that_is_off_are_left,
}

/// Three tasks on each CPU, of which the second has one turn less than the others.
fn tasks_take_turns_on_their_cpu_until_they_are_done(kernel: &Kernel) {
    let all = cpus::online(kernel.memory);
    let turns: Vec<Mutex<Vec<usize>>> = all.iter().map(|_| Mutex::default()).collect();
    let mut tasks = Tasks::new(all.clone());
    for (place, &cpu) in all.iter().enumerate() {
        for number in 0..3 {
            let (log, mut left) = (&turns[place], if number == 1 { 2 } else { 3 });
            let task = move |on: CpuId| {
                assert_eq!((on, cpu::current()), (cpu, cpu));
                log.lock().push(number);
                left -= 1;
                if left == 0 { Turn::Done } else { Turn::Again }
            };
            assert!(tasks.add(cpu, Box::new(task)).is_ok());
        }
    }
    assert_eq!(tasks.run(), 0);
    for log in turns {
        assert_eq!(log.into_inner(), [0, 1, 2, 0, 1, 2, 0, 2]);
    }
}

fn tasks_of_a_cpu_that_is_off_are_left(kernel: &Kernel) {
    let all = cpus::online(kernel.memory);
    let last = all[all.len() - 1];
    if last == CpuId(0) {
        return;
    }
    cpus::take_off(kernel.memory, last).expect("it is on");
    let done = AtomicUsize::new(0);
    let mut tasks = Tasks::new(Vec::from([CpuId(0), last]));
    for cpu in [CpuId(0), last, last] {
        let task = |_| {
            done.fetch_add(1, Ordering::Relaxed);
            Turn::Done
        };
        assert!(tasks.add(cpu, Box::new(task)).is_ok());
    }
    assert!(tasks.add(CpuId(u16::MAX), Box::new(|_| Turn::Done)).is_err(), "no such CPU");
    assert_eq!(tasks.run(), 2);
    assert_eq!(done.load(Ordering::Relaxed), 1);
    cpus::put_on(kernel, last).expect("it was off");
}
