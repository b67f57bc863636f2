//! Reading QEMU's options as given by a person, a machine file or a case.

use super::size;

/// The values of all options of this name, in order. QEMU takes `-name` and `--name` alike.
pub fn values<'a>(options: &'a [String], name: &'a str) -> impl Iterator<Item = &'a str> {
    options.windows(2).filter(move |pair| is(&pair[0], name)).map(|pair| pair[1].as_str())
}

/// Whether an option of this name is there.
pub fn has(options: &[String], name: &str) -> bool {
    options.iter().any(|option| is(option, name))
}

fn is(option: &str, name: &str) -> bool {
    option
        .strip_prefix('-')
        .map(|rest| rest.strip_prefix('-').unwrap_or(rest))
        .is_some_and(|rest| rest == name)
}

/// The value of a key in an option's list: `key` of `first,key=value`. The first word may stand
/// without its key, which is `implied` then.
fn field<'a>(list: &'a str, key: &str, implied: &str) -> Option<&'a str> {
    list.split(',').enumerate().find_map(|(place, word)| match word.split_once('=') {
        Some((name, value)) => (name == key).then_some(value),
        None => (place == 0 && key == implied).then_some(word),
    })
}

/// What `-m` asks for in bytes: memory at boot, and the most it can become.
///
/// `None` without `-m`, or where its value cannot be read; then QEMU says what it thinks of it.
pub fn memory(options: &[String]) -> Option<(u64, u64)> {
    let value = values(options, "m").last()?;
    let bytes = size::parse(field(value, "size", "size")?).ok()?;
    let most = field(value, "maxmem", "").and_then(|text| size::parse(text).ok());
    Some((bytes, most.unwrap_or(bytes).max(bytes)))
}

/// The number of CPUs that `-smp` names, if it names one.
pub fn cpus(options: &[String]) -> Option<u32> {
    field(values(options, "smp").last()?, "cpus", "cpus")?.parse().ok()
}

/// The options with `reserve=off` in every `memory-backend-ram` that does not say it itself:
/// without it the host refuses a guest that is larger than its own memory.
pub fn unreserved(options: &[String]) -> Vec<String> {
    let mut previous = "";
    let mut out = Vec::with_capacity(options.len());
    for option in options {
        let backend = is(previous, "object") && option.starts_with("memory-backend-ram,");
        out.push(match backend && !option.contains(",reserve=") {
            true => format!("{option},reserve=off"),
            false => option.clone(),
        });
        previous = option;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn memory_in_its_spellings() {
        assert_eq!(memory(&options("-m 2G")), Some((2 << 30, 2 << 30)));
        assert_eq!(memory(&options("-m 512,slots=2,maxmem=8G")), Some((512 << 20, 8 << 30)));
        assert_eq!(memory(&options("--m size=1G -m 3G")), Some((3 << 30, 3 << 30)));
        assert_eq!(memory(&options("-m slots=2")), None);
        assert_eq!(memory(&options("-m")), None);
        assert_eq!(memory(&options("-smp 2")), None);
    }

    #[test]
    fn cpus_in_their_spellings() {
        assert_eq!(cpus(&options("-smp 6")), Some(6));
        assert_eq!(cpus(&options("-smp cpus=4,maxcpus=8")), Some(4));
        assert_eq!(cpus(&options("-smp sockets=2,cores=3")), None);
    }

    #[test]
    fn reserve_is_added_once() {
        let given = options(
            "-object memory-backend-ram,id=a,size=1G -object \
             memory-backend-ram,id=b,size=1G,reserve=on -object rng-random,id=r",
        );
        let want = options(
            "-object memory-backend-ram,id=a,size=1G,reserve=off -object \
             memory-backend-ram,id=b,size=1G,reserve=on -object rng-random,id=r",
        );
        assert_eq!(unreserved(&given), want);
    }
}
