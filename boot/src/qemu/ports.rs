//! The guest's two serial ports and QEMU's own messages, brought into one stream of events.

use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;
use std::thread::JoinHandle;

use serde_json::Value;

/// Something that came out of QEMU.
#[derive(Debug)]
pub(super) enum Event {
    /// A line of COM1.
    Console(String),
    /// A JSON value of COM2.
    Fact(Value),
    /// A line of COM2 that is no JSON.
    BadFact(String),
    /// A line of QEMU's standard error.
    Message(String),
}

/// Reads a stream to its end in a thread of its own and sends an event for each line.
///
/// A guest may write any bytes; what is no UTF-8 is replaced. The last line needs no line feed.
pub(super) fn read_lines<R: Read + Send + 'static>(
    stream: R,
    events: Sender<Event>,
    event: fn(String) -> Event,
) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let mut stream = BufReader::new(stream);
        let mut line = Vec::new();
        while stream.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
            let text = String::from_utf8_lossy(&line);
            // The receiver goes away when the boot is over; so may we.
            if events.send(event(text.trim_end_matches(['\r', '\n']).to_owned())).is_err() {
                return;
            }
            line.clear();
        }
    })
}

/// A line of COM2 as an event.
pub(super) fn fact(line: String) -> Event {
    match serde_json::from_str(&line) {
        Ok(value) => Event::Fact(value),
        Err(_) => Event::BadFact(line),
    }
}

/// The socket that QEMU connects COM2 to.
#[derive(Debug)]
pub(super) struct Com2 {
    path: PathBuf,
    thread: JoinHandle<()>,
}

impl Com2 {
    /// Listens on a socket of this path and sends what comes as facts.
    pub(super) fn listen(path: &Path, events: Sender<Event>) -> io::Result<Com2> {
        let listener = UnixListener::bind(path)?;
        let thread = std::thread::spawn(move || {
            if let Ok((stream, _)) = listener.accept() {
                let reader = read_lines(stream, events, fact);
                // It ends with the stream, and has nothing to return.
                let _ = reader.join();
            }
        });
        Ok(Com2 { path: path.to_owned(), thread })
    }

    /// Waits until all that QEMU wrote is read. QEMU has to have ended.
    pub(super) fn finish(self) {
        // Wakes the thread where QEMU never came to connect.
        drop(UnixStream::connect(&self.path));
        let _ = self.thread.join();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;
    use std::io::Write;
    use std::sync::mpsc;

    #[test]
    fn lines_of_any_bytes() {
        let (events, received) = mpsc::channel();
        read_lines(&b"one\r\n\xff\n\nlast"[..], events, Event::Console).join().unwrap();
        let lines: Vec<_> = received
            .iter()
            .map(|event| match event {
                Event::Console(line) => line,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(lines, ["one", "\u{fffd}", "", "last"]);
    }

    #[test]
    fn facts_and_what_is_none() {
        let scratch = Scratch::new().unwrap();
        let path = scratch.path().join("com2");
        let (events, received) = mpsc::channel();
        let com2 = Com2::listen(&path, events).unwrap();
        let mut stream = UnixStream::connect(&path).unwrap();
        stream.write_all(b"{\"type\":\"end\",\"code\":0}\n{cut").unwrap();
        drop(stream);
        com2.finish();
        let all: Vec<_> = received.iter().collect();
        let [Event::Fact(end), Event::BadFact(line)] = &all[..] else { panic!("{all:?}") };
        assert_eq!((end["code"].as_u64(), line.as_str()), (Some(0), "{cut"));
    }

    #[test]
    fn finishes_when_nobody_connects() {
        let scratch = Scratch::new().unwrap();
        let (events, received) = mpsc::channel();
        Com2::listen(&scratch.path().join("com2"), events).unwrap().finish();
        assert_eq!(received.iter().count(), 0);
    }
}
