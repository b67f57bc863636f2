//! Runs QEMU for one boot and sees to its end.

use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::{Signal, set_parent_process_death_signal};
use serde_json::Value;

use super::command::{self, build};
use super::end::Seen;
use super::ports::{Com2, Event, read_lines};
use super::{BootRequest, Exit, Outcome};
use crate::scratch::Scratch;

/// Boots a kernel and returns how it ended.
///
/// `on_console` is called for each line of COM1 and `on_fact` for each JSON value of COM2, both
/// from the calling thread, as they come; between the two ports the order is that of arrival.
/// A line of COM2 that is no JSON goes to `on_console`, marked, so that it is not lost.
///
/// # Errors
/// QEMU cannot be started at all, or the folder for temporary files cannot be used. A machine
/// that QEMU refuses is no error but [`Exit::Refused`].
pub fn boot(
    request: &BootRequest<'_>,
    mut on_console: impl FnMut(&str),
    mut on_fact: impl FnMut(Value),
) -> Result<Outcome> {
    let deadline = Instant::now() + request.timeout;
    let scratch = Scratch::new()?;
    let socket = scratch.path().join("com2");
    let arguments = build(request, scratch.path(), command::Com2::Socket(&socket))?;
    let (sender, events) = mpsc::channel();
    let com2 = Com2::listen(&socket, sender.clone()).context("cannot listen for COM2")?;

    let started = start(Command::new(request.qemu).args(&arguments));
    let mut guest = match started {
        Ok(guest) => guest,
        Err(why) => {
            com2.finish();
            bail!("cannot start {}: {why}", request.qemu.display());
        }
    };
    let console = guest.0.stdout.take().map(|s| read_lines(s, sender.clone(), Event::Console));
    let messages = guest.0.stderr.take().map(|s| read_lines(s, sender, Event::Message));

    let mut seen = Seen::default();
    let mut take = |event| match event {
        Event::Console(line) => {
            seen.guest_spoke |= !line.is_empty();
            on_console(&line);
        }
        Event::Fact(value) => {
            seen.fact(&value);
            on_fact(value);
        }
        Event::BadFact(line) => {
            seen.guest_spoke = true;
            on_console(&format!("(COM2, no JSON) {line}"));
        }
        Event::Message(line) => seen.messages.push(line),
    };
    let limits = Limits { deadline, silence: request.silence };
    let in_time = receive(&events, limits, &mut guest, &mut take);
    let status = guest.end()?;
    com2.finish();
    for reader in [console, messages].into_iter().flatten() {
        // It ends with its stream, and has nothing to return.
        let _ = reader.join();
    }
    events.try_iter().for_each(take);

    let exit = match in_time {
        Ok(()) => seen.exit(status),
        Err(Over::Time) => Exit::Timeout(request.timeout),
        Err(Over::Silence) => Exit::Silent(request.silence),
    };
    Ok(Outcome { exit, messages: seen.messages })
}

/// How long a guest may run.
#[derive(Clone, Copy)]
struct Limits {
    deadline: Instant,
    silence: Duration,
}

/// Which limit was over.
enum Over {
    Time,
    Silence,
}

/// Hands on events until QEMU has ended or a limit is over.
fn receive(
    events: &Receiver<Event>,
    limits: Limits,
    guest: &mut Guest,
    take: &mut impl FnMut(Event),
) -> Result<(), Over> {
    let mut last_word = Instant::now();
    loop {
        let left = limits.deadline.saturating_duration_since(Instant::now());
        // A guest may leave a port's stream open in a child of its own, so its end is asked for.
        match events.recv_timeout(left.min(Duration::from_millis(20))) {
            Ok(event) => {
                take(event);
                last_word = Instant::now();
            }
            Err(RecvTimeoutError::Disconnected) => {
                return guest.wait_until(limits.deadline).then_some(()).ok_or(Over::Time);
            }
            Err(RecvTimeoutError::Timeout) if guest.has_ended() => return Ok(()),
            Err(RecvTimeoutError::Timeout) if last_word.elapsed() > limits.silence => {
                return Err(Over::Silence);
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        if left.is_zero() {
            return guest.has_ended().then_some(()).ok_or(Over::Time);
        }
    }
}

/// Starts QEMU with its output piped to us.
fn start(command: &mut Command) -> std::io::Result<Guest> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // SAFETY: the closure runs between fork and exec, where only async-signal-safe calls are
    // sound; it makes one system call, and allocates and locks nothing.
    unsafe {
        command.pre_exec(|| Ok(set_parent_process_death_signal(Some(Signal::KILL))?));
    }
    command.spawn().map(Guest)
}

/// The running QEMU, ended by its process id when dropped.
struct Guest(Child);

impl Guest {
    fn has_ended(&mut self) -> bool {
        matches!(self.0.try_wait(), Ok(Some(_)))
    }

    /// Waits for its end, until the deadline at most.
    fn wait_until(&mut self, deadline: Instant) -> bool {
        while !self.has_ended() {
            if Instant::now() >= deadline {
                return false;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        true
    }

    /// Ends it if it has not ended by itself, and returns its exit status.
    fn end(&mut self) -> Result<ExitStatus> {
        // An error means that it has ended already.
        let _ = self.0.kill();
        self.0.wait().context("cannot wait for QEMU")
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        let _ = self.end();
    }
}
