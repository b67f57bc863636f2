//! What executes the guest: the host's virtualisation, or QEMU's translator.

use clap::ValueEnum;

use crate::machine::options;

/// The accelerator to use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Accel {
    /// KVM where the host has hardware virtualisation, TCG elsewhere.
    #[default]
    Auto,
    /// QEMU's translator; works everywhere.
    Tcg,
    /// The host's virtualisation.
    Kvm,
}

impl Accel {
    /// QEMU's arguments for it; none where the user's own options choose.
    pub fn arguments(self, own: &[String]) -> Vec<String> {
        let in_machine = options::values(own, "machine")
            .chain(options::values(own, "M"))
            .any(|value| value.split(',').any(|word| word.starts_with("accel=")));
        if in_machine || options::has(own, "accel") || options::has(own, "enable-kvm") {
            return Vec::new();
        }
        let kvm = match self {
            Accel::Auto => host_has_kvm(),
            Accel::Tcg => false,
            Accel::Kvm => true,
        };
        // Counting instructions takes one thread for all CPUs, and only TCG can do it.
        let value = match (options::has(own, "icount"), kvm) {
            (true, _) => "tcg",
            (false, true) => "kvm",
            (false, false) => "tcg,thread=multi",
        };
        vec!["-accel".into(), value.into()]
    }
}

/// Whether KVM is worth a try: some hosts without virtualisation in hardware have a `/dev/kvm`
/// that opens, and on which kernels die or crawl.
fn host_has_kvm() -> bool {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let device = std::fs::OpenOptions::new().read(true).write(true).open("/dev/kvm");
    virtualises(&cpu) && device.is_ok()
}

/// Whether the host CPU's flags have Intel's or AMD's virtualisation.
fn virtualises(cpuinfo: &str) -> bool {
    cpuinfo
        .lines()
        .filter(|line| line.starts_with("flags"))
        .flat_map(str::split_whitespace)
        .any(|flag| flag == "vmx" || flag == "svm")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(accel: Accel, own: &[&str]) -> String {
        let own: Vec<String> = own.iter().map(|&word| word.into()).collect();
        accel.arguments(&own).join(" ")
    }

    #[test]
    fn forced() {
        assert_eq!(line(Accel::Tcg, &[]), "-accel tcg,thread=multi");
        assert_eq!(line(Accel::Kvm, &[]), "-accel kvm");
    }

    #[test]
    fn the_users_own_choice_stands_alone() {
        assert_eq!(line(Accel::Tcg, &["-accel", "kvm"]), "");
        assert_eq!(line(Accel::Tcg, &["-machine", "pc,accel=kvm"]), "");
        assert_eq!(line(Accel::Tcg, &["-machine", "pc"]), "-accel tcg,thread=multi");
    }

    #[test]
    fn counting_takes_one_thread() {
        assert_eq!(line(Accel::Tcg, &["-icount", "shift=0"]), "-accel tcg");
        assert_eq!(line(Accel::Kvm, &["-icount", "shift=0"]), "-accel tcg");
    }

    #[test]
    fn flags_are_whole_words() {
        assert!(virtualises("model name\t: x\nflags\t\t: fpu vmx sse\n"));
        assert!(!virtualises("flags\t\t: fpu vmxnet sse\nbugs\t: svm\n"));
    }
}
