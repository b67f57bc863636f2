//! QEMU's whole command line.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use anyhow::Result;

use super::BootRequest;
use crate::machine::arguments::{arguments, escaped};

/// Where COM2 goes.
#[derive(Debug, Clone, Copy)]
pub enum Com2<'a> {
    /// To a Unix socket that somebody listens on.
    Socket(&'a Path),
    /// Nowhere; for a command typed by hand.
    Null,
}

/// QEMU's arguments for a boot. The tables of the machine go to files in `folder`.
///
/// The machine's own options come last, so that they win: QEMU merges a second `-machine` and
/// lets a second `-cpu`, `-append` or `-kernel` replace the first.
///
/// # Errors
/// A table cannot be written.
pub fn build(request: &BootRequest<'_>, folder: &Path, com2: Com2<'_>) -> Result<Vec<OsString>> {
    let machine = request.machine;
    let mut out: Vec<OsString> = Vec::new();
    let mut say = |words: &[&str]| out.extend(words.iter().map(OsString::from));
    say(&["-no-user-config", "-nodefaults", "-display", "none", "-no-reboot"]);
    say(&["-device", "isa-debug-exit,iobase=0xf4,iosize=0x04"]);
    say(&["-serial", "stdio"]);
    match com2 {
        Com2::Socket(path) => {
            say(&["-chardev", &format!("socket,id=com2,path={}", escaped(path))]);
            say(&["-serial", "chardev:com2"]);
        }
        Com2::Null => say(&["-serial", "null"]),
    }
    out.extend(request.accel.arguments(&machine.qemu).into_iter().map(OsString::from));
    if let Some(plugin) = &request.plugin {
        out.extend(["-plugin".into(), plugin.into()]);
    }
    out.extend(["-kernel".into(), request.elf.as_os_str().to_owned()]);
    let append = format!("{} {}", machine.append, request.append);
    out.extend(["-append".into(), append.trim().into()]);
    out.extend(arguments(machine, folder)?.into_iter().map(OsString::from));
    Ok(out)
}

/// A command as a person types it in a shell.
pub fn typed(program: &OsStr, arguments: &[OsString]) -> String {
    let words = std::iter::once(program).chain(arguments.iter().map(OsString::as_os_str));
    words.map(quoted).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &OsStr) -> String {
    let word = word.to_string_lossy();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:+@%".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.into_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{Machine, nodes};
    use crate::qemu::Accel;

    fn request<'a>(machine: &'a Machine, append: &str) -> BootRequest<'a> {
        BootRequest {
            append: append.into(),
            accel: Accel::Tcg,
            ..BootRequest::new("/bin/qemu".as_ref(), "/k/kernel".as_ref(), machine)
        }
    }

    #[test]
    fn the_users_options_come_last() {
        let mut machine = Machine::with_nodes("m", nodes::spread(1, 64 << 20, 1).unwrap());
        machine.append = "hashdist=0".into();
        machine.qemu = ["-machine", "pc", "-cpu", "qemu64"].map(String::from).into();
        let words = build(&request(&machine, "numa=off"), "/t".as_ref(), Com2::Null).unwrap();
        let line = typed("qemu".as_ref(), &words);
        assert!(line.ends_with(" -machine pc -cpu qemu64"), "{line}");
        assert!(line.contains("-kernel /k/kernel -append 'hashdist=0 numa=off' -machine q35"));
        assert!(line.contains("-accel tcg,thread=multi"));
        assert!(line.contains("-serial stdio -serial null"));
    }

    #[test]
    fn a_plugin_is_loaded() {
        let machine = Machine::new("m");
        let request = BootRequest { plugin: Some("file=/p.so".into()), ..request(&machine, "") };
        let words = build(&request, "/t".as_ref(), Com2::Null).unwrap();
        assert!(words.windows(2).any(|pair| pair == ["-plugin", "file=/p.so"]), "{words:?}");
    }

    #[test]
    fn com2_is_a_socket() {
        let machine = Machine::new("m");
        let com2 = Com2::Socket("/t/a,b".as_ref());
        let words = build(&request(&machine, ""), "/t".as_ref(), com2).unwrap();
        assert!(words.contains(&"socket,id=com2,path=/t/a,,b".into()));
    }

    #[test]
    fn quotes() {
        assert_eq!(typed("q".as_ref(), &["it's".into(), "".into()]), r"q 'it'\''s' ''");
    }
}
