//! Lines and spinners on standard error; standard output belongs to what was asked for.

use std::io::{self, IsTerminal};
use std::process::{Command, Output};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// How long something may take without a word about it.
const PATIENCE: Duration = Duration::from_millis(1500);

/// Says one line to the person, on standard error.
pub fn say(line: &str) {
    eprintln!("nearmem: {line}");
}

/// Shows that something goes on once it takes long: a spinner with the time it took so far on a
/// terminal, one line elsewhere. Ends when dropped.
#[derive(Debug)]
pub struct Progress {
    news: Option<Sender<String>>,
    thread: Option<JoinHandle<()>>,
}

impl Progress {
    /// Starts to wait; `text` says what goes on ("builds the kernel").
    pub fn start(text: &str) -> Progress {
        let (sender, news) = mpsc::channel();
        let text = text.to_owned();
        let thread = std::thread::spawn(move || show(text, &news));
        Progress { news: Some(sender), thread: Some(thread) }
    }

    /// Says how far it has come; on a terminal only.
    pub fn update(&self, text: &str) {
        if let Some(news) = &self.news {
            // Nobody listens where there is no terminal.
            let _ = news.send(text.to_owned());
        }
    }
}

/// Shows the text until the other end of the channel is gone.
fn show(mut text: String, news: &Receiver<String>) {
    let begun = Instant::now();
    loop {
        match news.recv_timeout(PATIENCE.saturating_sub(begun.elapsed())) {
            Ok(later) => text = later,
            Err(RecvTimeoutError::Disconnected) => return,
            Err(RecvTimeoutError::Timeout) => break,
        }
    }
    if !io::stderr().is_terminal() {
        return say(&text);
    }
    let spinner = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} nearmem: {msg} [{elapsed}]") {
        spinner.set_style(style);
    }
    spinner.set_message(text);
    spinner.enable_steady_tick(Duration::from_millis(120));
    news.iter().for_each(|later| spinner.set_message(later));
    spinner.finish_and_clear();
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.news.take();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread costs a spinner, nothing else.
            let _ = thread.join();
        }
    }
}

/// Runs a command to its end with its output kept, and shows `text` when it takes long.
///
/// # Errors
/// The command cannot be started.
pub fn run(command: &mut Command, text: &str) -> io::Result<Output> {
    let _progress = Progress::start(text);
    command.stdin(std::process::Stdio::null()).output()
}

/// The last line of a command's standard error that says something, else of its standard output.
pub fn last_words(output: &Output) -> String {
    [&output.stderr, &output.stdout]
        .into_iter()
        .find_map(|bytes| {
            let text = String::from_utf8_lossy(bytes);
            let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty());
            line.map(str::to_owned)
        })
        .unwrap_or_else(|| output.status.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Output {
        run(Command::new("sh").args(["-c", script]), "runs a script").unwrap()
    }

    #[test]
    fn last_words_prefer_the_error() {
        assert_eq!(last_words(&shell("echo out; echo first >&2; echo 'last ' >&2")), "last");
        assert_eq!(last_words(&shell("echo out")), "out");
        assert_eq!(last_words(&shell("exit 3")), "exit status: 3");
    }
}
