//! What QEMU's exit code and last words say about the boot.

use std::process::ExitStatus;

use serde_json::Value;

use super::Exit;

/// QEMU's exit code when the kernel writes 0x10 to isa-debug-exit: `value << 1 | 1`.
const FAILED: i32 = 0x10 << 1 | 1;

/// What was seen of a boot, as far as its end follows from it.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// Whether the guest wrote anything to either port.
    pub(super) guest_spoke: bool,
    /// The code of the kernel's last word, `{"type":"end","code":…}`.
    pub(super) end: Option<i64>,
    /// The message of a panic.
    pub(super) panic: Option<String>,
    /// QEMU's own messages.
    pub(super) messages: Vec<String>,
}

impl Seen {
    /// Notes what a fact says about the end.
    pub(super) fn fact(&mut self, fact: &Value) {
        self.guest_spoke = true;
        match fact["type"].as_str() {
            Some("end") => self.end = fact["code"].as_i64(),
            // One line for whoever reads standard error.
            Some("panic") => {
                let lines = fact["message"].as_str().map(|text| text.lines().map(str::trim));
                self.panic = lines.map(|lines| lines.collect::<Vec<_>>().join(" "));
            }
            _ => {}
        }
    }

    /// How the boot ended, by QEMU's exit status.
    pub(super) fn exit(&self, status: ExitStatus) -> Exit {
        match status.code() {
            // A reset ends QEMU with 0, too (`-no-reboot`): only the kernel's word tells them
            // apart.
            Some(0) => match self.end {
                Some(0) => Exit::Success,
                Some(code) => Exit::Failure(format!("the kernel ended with code {code}")),
                None => Exit::Failure(self.told(
                    "the kernel went away without a word: reset (a triple fault?) or switched off",
                )),
            },
            Some(FAILED) => Exit::Failure(self.told("the kernel failed")),
            Some(1) if !self.guest_spoke => Exit::Refused(self.complaint()),
            Some(code) => Exit::Failure(self.told(&format!("QEMU ended with code {code}"))),
            None => Exit::Failure(self.told(&format!("QEMU was ended: {status}"))),
        }
    }

    /// The text with the kernel's or QEMU's reason behind it, if one was given.
    fn told(&self, text: &str) -> String {
        match self.panic.as_ref().or(self.messages.iter().rfind(|line| !is_warning(line))) {
            Some(reason) => format!("{text}: {reason}"),
            None => text.to_owned(),
        }
    }

    /// QEMU's line that says why it does not start, without the program's name.
    fn complaint(&self) -> String {
        let line = self.messages.iter().find(|line| !is_warning(line)).or(self.messages.first());
        let line = line.map_or("it gave no reason", String::as_str);
        match line.split_once(": ") {
            Some((program, rest)) if program.contains("qemu") => rest.to_owned(),
            _ => line.to_owned(),
        }
    }
}

/// Whether one of QEMU's lines is only a warning.
fn is_warning(line: &str) -> bool {
    line.contains("warning: ") || line.contains("info: ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::os::unix::process::ExitStatusExt;

    fn exit(code: i32, seen: &Seen) -> Exit {
        seen.exit(ExitStatus::from_raw(code << 8))
    }

    #[test]
    fn success_needs_the_kernels_word() {
        let mut seen = Seen::default();
        assert!(matches!(exit(0, &seen), Exit::Failure(why) if why.contains("reset")));
        seen.fact(&json!({"type": "end", "code": 0}));
        assert_eq!(exit(0, &seen), Exit::Success);
    }

    #[test]
    fn a_panic_is_named() {
        let mut seen = Seen::default();
        seen.fact(&json!({"type": "panic", "message": "out of memory"}));
        assert_eq!(exit(33, &seen), Exit::Failure("the kernel failed: out of memory".into()));
        seen.fact(&json!({"type": "panic", "message": "panicked at a.rs:1:\nout of memory"}));
        let one_line = "the kernel failed: panicked at a.rs:1: out of memory";
        assert_eq!(exit(33, &seen), Exit::Failure(one_line.into()));
    }

    #[test]
    fn qemu_refuses_before_the_guest_speaks() {
        let messages = [
            "qemu-system-x86_64: warning: CPU(s) not present in any NUMA nodes: CPU 1",
            "qemu-system-x86_64: total memory for NUMA nodes (0x1) should equal RAM size (0x2)",
        ];
        let mut seen = Seen { messages: messages.map(String::from).into(), ..Seen::default() };
        let line = "total memory for NUMA nodes (0x1) should equal RAM size (0x2)";
        assert_eq!(exit(1, &seen), Exit::Refused(line.into()));
        seen.guest_spoke = true;
        assert_eq!(
            exit(1, &seen),
            Exit::Failure(format!("QEMU ended with code 1: {}", messages[1]))
        );
    }

    #[test]
    fn a_signal_is_a_failure() {
        assert!(matches!(Seen::default().exit(ExitStatus::from_raw(11)), Exit::Failure(_)));
    }
}
