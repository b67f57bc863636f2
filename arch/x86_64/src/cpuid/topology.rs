//! Which CPUs share a socket and a last-level cache, by APIC id (reference: numa-discovery,
//! section 6, "Last-level cache id").

use nearmem::topology::CacheId;

use super::{Registers, Vendor, ask};

/// How many low bits of an APIC id tell CPUs of one group apart. All CPUs of a machine count as
/// made like the one that was asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CacheTopology {
    /// Bits within a socket, 0 to 31.
    pub socket_shift: u8,
    /// The id of a last-level cache as Linux counts them on AMD and Hygon; elsewhere the socket.
    pub last_level: CacheId,
}

/// Leaves that list the levels of the topology, the best one first; each sub-leaf says in `eax` how
/// many bits are below the next level.
const LEVEL_LEAVES: [u32; 3] = [0x8000_0026, 0x1f, 0xb];
/// No CPU has more levels or caches than this; a wrong answer must not loop for ever.
const MAX_SUBLEAVES: u32 = 16;
/// Feature bit TOPOEXT in `ecx` of leaf 0x80000001.
const TOPOLOGY_EXTENSIONS: u32 = 22;

impl CacheTopology {
    /// Asks a CPU.
    pub fn of(cpuid: &impl Fn(u32, u32) -> Registers) -> CacheTopology {
        let ask = |leaf, subleaf| ask(cpuid, leaf, subleaf);
        let vendor = Vendor::of(cpuid(0, 0));
        let socket_shift = socket_shift(&ask);
        let extended = ask(0x8000_0001, 0).ecx >> TOPOLOGY_EXTENSIONS & 1 == 1;
        let has_l3 = ask(0x8000_0006, 0).edx != 0;
        let shift = |bits: u8| CacheId::Shift(bits.into());
        let last_level = match vendor {
            Vendor::Hygon if extended && has_l3 => shift(3),
            Vendor::Amd if extended && has_l3 => match family_and_model(ask(1, 0).eax) {
                (..0x17, _) => die(&ask, socket_shift),
                (0x17, ..=0x1f) => shift(3),
                _ => shift(sharing_shift(&ask).unwrap_or(socket_shift)),
            },
            _ => shift(socket_shift),
        };
        CacheTopology { socket_shift, last_level }
    }
}

fn socket_shift(ask: &impl Fn(u32, u32) -> Registers) -> u8 {
    for leaf in LEVEL_LEAVES {
        let levels = (0..MAX_SUBLEAVES)
            .map(|subleaf| ask(leaf, subleaf))
            .take_while(|level| level.ecx >> 8 & 0xff != 0 && level.ebx & 0xffff != 0);
        if let Some(level) = levels.last() {
            return (level.eax & 0x1f) as u8;
        }
    }
    // The old way: the width of the core id, or else the number of cores (leaf 0x80000008, ecx).
    let cores = ask(0x8000_0008, 0).ecx;
    match (cores >> 12 & 0xf) as u8 {
        0 => log2_up((cores & 0xff) + 1),
        width => width,
    }
}

/// Before family 17h the cache is the die's; a socket has 1 to 8 of them (leaf 0x8000001e, ecx),
/// which share its CPUs (leaf 0x80000008, ecx) evenly. A CPU gives its own die's number alone, so
/// that of others is worked out.
fn die(ask: &impl Fn(u32, u32) -> Registers, socket_shift: u8) -> CacheId {
    let dies = (ask(0x8000_001e, 0).ecx >> 8 & 7) + 1;
    let cpus = (ask(0x8000_0008, 0).ecx & 0xff) + 1;
    CacheId::Die { socket_shift: socket_shift.into(), cpus: cpus / dies, dies }
}

/// From the number of threads that share the last cache of leaf 0x8000001d.
fn sharing_shift(ask: &impl Fn(u32, u32) -> Registers) -> Option<u8> {
    let last = (0..MAX_SUBLEAVES)
        .map(|subleaf| ask(0x8000_001d, subleaf).eax)
        .take_while(|cache| cache & 0x1f != 0)
        .last()?;
    Some(log2_up((last >> 14 & 0xfff) + 1))
}

fn log2_up(number: u32) -> u8 {
    number.next_power_of_two().trailing_zeros() as u8
}

fn family_and_model(signature: u32) -> (u32, u32) {
    let (family, model) = (signature >> 8 & 0xf, signature >> 4 & 0xf);
    if family < 0xf {
        return (family, model);
    }
    (family + (signature >> 20 & 0xff), model | signature >> 12 & 0xf0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nearmem::ApicId;

    const AMD: (u32, u32, [u32; 4]) = (0, 0, [0xd, 0x6874_7541, 0x444d_4163, 0x6974_6e65]);
    const HIGHEST: (u32, u32, [u32; 4]) = (0x8000_0000, 0, [0x8000_001e, 0, 0, 0]);
    const TOPOEXT: (u32, u32, [u32; 4]) = (0x8000_0001, 0, [0, 0, 1 << 22, 0]);
    const L3: (u32, u32, [u32; 4]) = (0x8000_0006, 0, [0, 0, 0, 1]);
    /// Two threads a core (1 bit), 64 threads a socket (6 bits).
    const LEVELS: [(u32, u32, [u32; 4]); 2] =
        [(0xb, 0, [1, 2, 0x100, 0]), (0xb, 1, [6, 64, 0x201, 0])];

    fn topology(answers: &[(u32, u32, [u32; 4])]) -> CacheTopology {
        CacheTopology::of(&|leaf, subleaf| {
            let found = answers.iter().find(|answer| (answer.0, answer.1) == (leaf, subleaf));
            let [eax, ebx, ecx, edx] = found.map_or([0; 4], |answer| answer.2);
            Registers { eax, ebx, ecx, edx }
        })
    }

    #[test]
    fn without_extensions_the_cache_is_the_sockets() {
        let one = topology(&[AMD, HIGHEST, L3, LEVELS[0], LEVELS[1]]);
        assert_eq!(one, CacheTopology { socket_shift: 6, last_level: CacheId::Shift(6) });
        assert_eq!(one.last_level.of(ApicId(0x43)), 1);
        // One CPU a socket: the id is the APIC id.
        let one = topology(&[AMD, HIGHEST, (0xb, 0, [0, 1, 0x100, 0]), (0xb, 1, [0, 1, 0x201, 0])]);
        assert_eq!(one.last_level.of(ApicId(4)), 4);
    }

    #[test]
    fn the_old_leaf_gives_the_width_or_the_number_of_cores() {
        let shift = |ecx| topology(&[AMD, HIGHEST, (0x8000_0008, 0, [0, 0, ecx, 0])]).socket_shift;
        assert_eq!((shift(0x4007), shift(5), shift(0)), (4, 3, 0));
    }

    #[test]
    fn families_differ() {
        let last_level = |signature, more: &[_]| {
            let mut answers = vec![AMD, HIGHEST, TOPOEXT, L3, LEVELS[0], LEVELS[1]];
            answers.push((1, 0, [signature, 0, 0, 0]));
            answers.extend(more);
            topology(&answers).last_level
        };
        // Family 15h, two dies a socket, which have 12 of 16 possible CPUs.
        let dies = [(0x8000_0008, 0, [0, 0, 0x400b, 0]), (0x8000_001e, 0, [0, 0, 0x100, 0])];
        let die = CacheId::Die { socket_shift: 6, cpus: 6, dies: 2 };
        assert_eq!(last_level(0x0060_0f12, &dies), die);
        // Family 17h, model 01h: by rule. Model 31h: 8 threads share the last of three caches.
        assert_eq!(last_level(0x0080_0f12, &[]), CacheId::Shift(3));
        let caches =
            [(0x8000_001d, 0, [0x21, 0, 0, 0]), (0x8000_001d, 1, [7 << 14 | 0x63, 0, 0, 0])];
        assert_eq!(last_level(0x0083_0f10, &caches), CacheId::Shift(3));
        let caches = [(0x8000_001d, 0, [15 << 14 | 0x63, 0, 0, 0])];
        assert_eq!(last_level(0x00a2_0f10, &caches), CacheId::Shift(4));
    }
}
