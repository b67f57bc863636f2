//! Waiting by the PC's interval timer (8254), channel 2, which runs at a known rate and takes no
//! interrupt. For one CPU at a time.

use core::time::Duration;

use x86_64::instructions::port::Port;

/// Ticks of the timer in a second.
const RATE: u64 = 1_193_182;
/// One count at most, in ticks: about 50 ms.
const LONGEST: u64 = 60_000;
/// Channel 2's count, the command register, and the port with its gate and its output.
const COUNT: u16 = 0x42;
const COMMAND: u16 = 0x43;
const GATE: u16 = 0x61;
/// Channel 2, both bytes, mode 0: the output rises at the end of the count.
const ONCE: u8 = 0b1011_0000;
/// Bits of the gate's port: count; let the speaker hear it; the output.
const RUN: u8 = 1 << 0;
const SPEAKER: u8 = 1 << 1;
const OUTPUT: u8 = 1 << 5;
/// Looks for what is waited for between two at the timer, which takes long to ask.
const LOOKS: u32 = 64;
/// Rounds of a loop that does nothing, likewise.
const IDLE_ROUNDS: u32 = 256;
/// Looks at a timer before it is taken for missing.
const PATIENCE: u32 = 1 << 22;

/// Waits until `done` says so, `limit` at most; says whether it did.
pub fn wait_until(limit: Duration, mut done: impl FnMut() -> bool) -> bool {
    let mut look = || {
        (0..LOOKS).any(|_| {
            core::hint::spin_loop();
            done()
        })
    };
    count(limit, &mut look) || done()
}

/// Waits for so long. Without a pause between the looks: where a counted instruction is the only
/// clock, pauses are dear and take no time.
pub fn wait(time: Duration) {
    let mut idle = || {
        (0..IDLE_ROUNDS).for_each(|_| core::hint::black_box(()));
        false
    };
    count(time, &mut idle);
}

/// Counts the time down; between two looks at the timer calls `look`, and ends when that says so.
fn count(time: Duration, look: &mut dyn FnMut() -> bool) -> bool {
    let mut left = (time.as_micros() as u64).saturating_mul(RATE) / 1_000_000;
    while left > 0 {
        let ticks = left.min(LONGEST);
        left -= ticks;
        start(ticks as u16);
        for _ in 0..PATIENCE {
            if look() {
                return true;
            }
            if is_over() {
                break;
            }
        }
    }
    false
}

fn start(ticks: u16) {
    let [low, high] = ticks.to_le_bytes();
    // SAFETY: the ports are the timer's or nobody's; channel 2 drives the speaker, which stays off.
    unsafe {
        let mut gate = Port::<u8>::new(GATE);
        let off = gate.read() & !(RUN | SPEAKER);
        gate.write(off);
        Port::<u8>::new(COMMAND).write(ONCE);
        Port::<u8>::new(COUNT).write(low);
        Port::<u8>::new(COUNT).write(high);
        gate.write(off | RUN);
    }
}

fn is_over() -> bool {
    // SAFETY: reading the port has no side effect.
    unsafe { Port::<u8>::new(GATE).read() & OUTPUT != 0 }
}
