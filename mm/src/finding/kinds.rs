//! The kinds of findings: a closed list. Each has a fixed name, a severity and a text.

use core::fmt;

use super::Severity;
use crate::firmware::Signature;
use crate::ids::{CpuId, NodeId, ProximityDomain};
use crate::units::PhysRange;

/// What becomes of usable memory that is in no range.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Uncovered {
    /// Little enough: nobody uses it.
    OnNoNode,
    /// Too much.
    Refused,
}

impl fmt::Display for Uncovered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Uncovered::OnNoNode => "they are on no node and not used",
            Uncovered::Refused => "the table is refused",
        })
    }
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident $({ $($field:ident: $type:ty),+ })? =
        $severity:ident $name:literal $text:literal;)+) => {
        /// What was found, with the figures that its text has. Addresses and lengths are in bytes.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[allow(missing_docs, reason = "the texts below say what each figure is")]
        pub enum Kind {
            $($(#[$doc])* $kind $({ $($field: $type),+ })?,)+
        }

        impl Kind {
            /// All names with their severities, in the order of the list.
            pub const NAMES: &[(&str, Severity)] = &[$(($name, Severity::$severity)),+];

            /// The fixed name, as `map` and the facts have it.
            pub const fn name(&self) -> &'static str {
                match self {
                    $(Kind::$kind { .. } => $name,)+
                }
            }

            /// Whether it is a fault or a fact.
            pub const fn severity(&self) -> Severity {
                match self {
                    $(Kind::$kind { .. } => Severity::$severity,)+
                }
            }
        }

        /// What is wrong and what is done instead, without the place.
        impl fmt::Display for Kind {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match *self {
                    $(Kind::$kind $({ $($field),+ })? => write!(f, $text),)+
                }
            }
        }
    };
}

kinds! {
    // Whole tables.

    /// The bytes are another table.
    TableSignature { found: Signature } = Warning "table-signature"
        "the signature is {found}: the table is taken as absent";
    /// Fewer bytes than a table's fixed part.
    TableTooShort { bytes: u32, least: u32 } = Warning "table-too-short"
        "{bytes} bytes are no table, which has at least {least}: it is taken as absent";
    /// The header's length is more than there is.
    TableLength { length: u32, bytes: u32 } = Warning "table-length"
        "the header says {length} bytes and {bytes} are there: these are read";
    /// The bytes do not add up to 0.
    TableChecksum { sum: u8 } = Warning "table-checksum"
        "the bytes add up to {sum:#04x} instead of 0; the table is used all the same";

    // SRAT, faults.

    /// No SRAT.
    SratAbsent = Warning "srat-absent"
        "there is no SRAT: one node has all memory and all CPUs";
    /// The SRAT is refused as a whole.
    SratRejected = Warning "srat-rejected"
        "the table is not used: one node has all memory and all CPUs";
    /// A length that the record's type cannot have.
    SratBadEntryLength { kind: u8, length: u8 } = Warning "srat-bad-entry-length"
        "a record of type {kind} cannot have length {length}: the table is refused";
    /// A record runs past the end of the table.
    SratTruncated { present: u32 } = Warning "srat-truncated"
        "the record runs past the table's end, {present} bytes of it are there: it is not read";
    /// Domain bits above the low 8 in a table of revision 0 or 1.
    SratRev1HighBits { pxm: ProximityDomain } = Warning "srat-rev1-high-bits"
        "domain bits above the low 8 in a table of revision 1 or less: taken as domain {pxm}";
    /// One APIC id in two domains.
    SratCpuConflict { apic: u32, old: NodeId, new: NodeId } = Warning "srat-cpu-conflict"
        "APIC {apic:#04x} is on node {old} by another record: node {new} by the last one counts";
    /// A range whose end does not fit in 64 bits.
    SratMemoryWraps { base: u64, length: u64 } = Warning "srat-memory-wraps"
        "base {base:#x} plus length {length:#x} is beyond 64 bits: the range is ignored";
    /// A range without any usable memory.
    SratMemoryBeyondMap { range: PhysRange } = Warning "srat-memory-beyond-map"
        "{range} has no usable memory: the range is ignored";
    /// Ranges of two nodes share memory.
    SratOverlap { node: NodeId, range: PhysRange, other: NodeId, others: PhysRange } =
        Warning "srat-overlap"
        "{range} of node {node} overlaps {others} of node {other}: the table is refused";
    /// Ranges of one node share memory.
    SratOverlapSameNode { node: NodeId, range: PhysRange, other: PhysRange } =
        Warning "srat-overlap-same-node"
        "{range} and {other}, both of node {node}, overlap: they are joined";
    /// Usable memory in no range, enough to refuse the table or not.
    SratUncoveredRam { bytes: u64, first: u64, outcome: Uncovered } =
        Warning "srat-uncovered-ram"
        "{bytes} bytes of usable memory, from {first:#x} on, are in no range: {outcome}";
    /// An x2APIC id that no CPU can have in this mode.
    SratCpuIdTooHigh { apic: u32, max: u32 } = Warning "srat-cpu-id-too-high"
        "APIC {apic:#x} is above {max:#x}, the highest that a CPU here can have: ignored";
    /// A generic initiator without its flags.
    SratInitiatorShort { length: u8 } = Warning "srat-initiator-short"
        "a generic initiator of length {length} has no flags: ignored";
    /// More domains than node ids.
    SratTooManyDomains { pxm: ProximityDomain, limit: u32 } = Warning "srat-too-many-domains"
        "domain {pxm} gets no node, all {limit} are taken: the record is ignored";
    /// More CPU records than there is room for.
    SratTooManyCpus { limit: u32 } = Warning "srat-too-many-cpus"
        "there is room for {limit} CPU records: this one and the next are ignored";
    /// More memory records than there is room for.
    SratTooManyRanges { limit: u32 } = Warning "srat-too-many-ranges"
        "there is room for {limit} memory ranges: this one and the next are ignored";

    // SRAT, facts.

    /// A hot-pluggable range without memory, or with none at its end.
    SratHotplugWindow { range: PhysRange } = Note "srat-hotplug-window"
        "{range} is hot-pluggable and not all there: what is not is ignored";
    /// A non-volatile range that is no usable memory.
    SratNonvolatileRange { range: PhysRange } = Note "srat-nonvolatile-range"
        "{range} is non-volatile and no usable memory: ignored";
    /// A range of length 0.
    SratZeroLengthMemory { pxm: ProximityDomain } = Note "srat-zero-length-memory"
        "a memory range of length 0: domain {pxm} has a node number and no memory by it";
    /// One CPU in two records of one domain.
    SratCpuListedTwice { apic: u32, node: NodeId } = Note "srat-cpu-listed-twice"
        "APIC {apic:#04x} is on node {node} by another record, too: it counts once";
    /// A disabled generic initiator.
    SratDisabledGenericInitiator { pxm: ProximityDomain } =
        Note "srat-disabled-generic-initiator"
        "the generic initiator of domain {pxm} is disabled: skipped";
    /// A record of another type.
    SratUnknownType { kind: u8, length: u8 } = Note "srat-unknown-type"
        "a record of type {kind} says nothing about memory or CPUs here: {length} bytes skipped";
    /// A record with more bytes than its type is known to have.
    SratEntryOversize { bytes: u8 } = Note "srat-entry-oversize"
        "the record has {bytes} bytes more than its type is known to have: these are ignored";
    /// Domains of which every record is disabled.
    SratDisabledDomains { pxm: ProximityDomain, records: u32 } = Note "srat-disabled-domains"
        "{records} disabled records are of domains without an enabled one, domain {pxm} the first: \
         these have no node";
    /// Memory between two ranges of one node.
    SratHoleWithRam { node: NodeId, hole: PhysRange } = Note "srat-hole-with-ram"
        "there is memory in {hole}, which is in no range: node {node} has it, as what is around it";
    /// Frames on the border of two nodes.
    SratSplitFrames { frames: u64 } = Note "srat-split-frames"
        "{frames} frames are not whole on one node, since ranges end inside them: left out";

    // SLIT.

    /// A distance to itself that is not 10.
    SlitBadDiagonal { row: u32, distance: u8 } = Warning "slit-bad-diagonal"
        "the distance of domain {row} to itself is {distance} instead of 10";
    /// A remote distance of 10 or less.
    SlitBadRemote { row: u32, column: u32, distance: u8 } = Warning "slit-bad-remote"
        "the distance from domain {row} to {column} is {distance}, and not above 10";
    /// All distances are one number, those on the diagonal included.
    SlitAllEqual { distance: u8 } = Note "slit-all-equal"
        "all distances are {distance}: they say nothing";
    /// The SLIT is refused as a whole.
    SlitRejected = Warning "slit-rejected"
        "the table is not used: distances are 10 and 20";
    /// A domain without a row.
    SlitSmallerThanPxm { pxm: ProximityDomain, rows: u32 } = Warning "slit-smaller-than-pxm"
        "domain {pxm} has no row among {rows}: its distances are 10 and 20";
    /// The matrix does not fit in the table.
    SlitTruncated { count: u64, bytes: u32 } = Warning "slit-truncated"
        "{count} times {count} distances are not there, only {bytes} bytes: distances are 10 and 20";
    /// No SLIT.
    SlitAbsent = Note "slit-absent"
        "there is no SLIT: distances are 10 and 20";
    /// A row for a domain that does not exist.
    SlitRowWithoutDomain { row: u32 } = Note "slit-row-without-domain"
        "the row of domain {row}, which has no node, is ignored";
    /// Another distance back than there.
    SlitAsymmetric { row: u32, column: u32, there: u8, back: u8 } = Note "slit-asymmetric"
        "from domain {row} to {column} it is {there} and {back} back: both are kept";
    /// A pair that cannot reach each other.
    SlitUnreachable255 { row: u32, column: u32 } = Note "slit-unreachable-255"
        "domain {column} cannot be reached from {row}: 255 is kept";
    /// Bytes behind the matrix.
    SlitLongerThanCount { bytes: u32 } = Note "slit-longer-than-count"
        "{bytes} bytes behind the matrix are ignored";

    // HMAT.

    /// A revision whose units are not known.
    HmatRevision { revision: u8 } = Warning "hmat-revision"
        "the revision is {revision} and neither 1 nor 2: its units are not known";
    /// The HMAT is refused as a whole.
    HmatRejected = Warning "hmat-rejected"
        "the table is not used: nothing is known about latencies, bandwidths and caches";
    /// A length that the structure's type cannot have.
    HmatBadLength { kind: u16, length: u32 } = Warning "hmat-bad-length"
        "a structure of type {kind} cannot have length {length}: the table is refused";
    /// Counts that ask for more than the structure has.
    HmatBadCounts { initiators: u32, targets: u32, length: u32 } = Warning "hmat-bad-counts"
        "figures for {initiators} initiators and {targets} targets do not fit in {length} bytes: \
         the table is refused";
    /// A structure runs past the end of the table.
    HmatTruncated { present: u32 } = Warning "hmat-truncated"
        "the structure runs past the table's end, {present} bytes of it are there: it is not read";
    /// A figure that does not fit in 32 bits.
    HmatValueTooLarge { initiator: ProximityDomain, target: ProximityDomain } =
        Warning "hmat-value-too-large"
        "the figure from domain {initiator} to {target}, and perhaps more, is beyond 32 bits: not \
         known";
    /// A structure of another type.
    HmatUnknownType { kind: u16, length: u32 } = Note "hmat-unknown-type"
        "a structure of type {kind} is not known: {length} bytes skipped";
    /// Figures of a reserved sort.
    HmatReservedDataType { data_type: u8 } = Note "hmat-reserved-data-type"
        "data type {data_type} is reserved: its figures are not used";
    /// Figures of a reserved level of memory.
    HmatReservedHierarchy { hierarchy: u8 } = Note "hmat-reserved-hierarchy"
        "memory hierarchy {hierarchy} is reserved: its figures are not used";
    /// Bytes behind the figures.
    HmatLongerThanCounts { bytes: u32 } = Note "hmat-longer-than-counts"
        "{bytes} bytes behind the figures are ignored";
    /// An HMAT, and no SRAT that its domains are of.
    HmatWithoutSrat = Note "hmat-without-srat"
        "there is no SRAT in use whose domains the table could speak of: it is not used";
    /// More nodes than there is room for.
    HmatTooManyNodes { limit: u32 } = Warning "hmat-too-many-nodes"
        "there is room for {limit} nodes: nothing is known of the others";
    /// A domain that has no node.
    HmatDomainWithoutNode { pxm: ProximityDomain } = Note "hmat-domain-without-node"
        "domain {pxm}, and perhaps others that the structure names, has no node: passed over";
    /// A domain twice in a list.
    HmatDomainTwice { pxm: ProximityDomain } = Warning "hmat-domain-twice"
        "domain {pxm}, and perhaps others, stands twice in a list: the first counts";
    /// Figures of a sort that an earlier structure has, too.
    HmatGivenTwice { data_type: u8 } = Note "hmat-given-twice"
        "figures of data type {data_type} were given before: those of this structure count alone";
    /// Ordinary memory that is not alike.
    HmatDramDiffers { node: NodeId, reference: NodeId } = Note "hmat-dram-differs"
        "the memory of node {node} differs from that of node {reference} by more than a tenth, \
         and both have CPUs: all memory is in one tier";
    /// A node with memory whose bandwidth is not known.
    HmatNoBandwidth { node: NodeId } = Note "hmat-no-bandwidth"
        "the bandwidth of node {node} is not known, that of others is: all interleave weights are 1";

    // The node map.

    /// A node without memory.
    NodeMemoryless { node: NodeId } = Note "node-memoryless"
        "node {node} has no memory";
    /// A node without CPUs.
    NodeCpuless { node: NodeId } = Note "node-cpuless"
        "node {node} has no CPUs";
    /// A node whose memory has another node's inside.
    NodeInterleaved { node: NodeId } = Note "node-interleaved"
        "other memory lies between the lowest and the highest byte of node {node}";
    /// A domain whose number is not its node's.
    PxmDiffersFromNode { pxm: ProximityDomain, node: NodeId } = Note "pxm-differs-from-node"
        "domain {pxm} is node {node}";
    /// More ranges than there is room for.
    NodeRangesFull { limit: u32, lost: u64 } = Warning "node-ranges-full"
        "there is room for {limit} ranges of memory: {lost} frames are left out";
    /// More nodes than there is room for distances.
    NodeDistancesFull { nodes: u32 } = Warning "node-distances-full"
        "there is no room for the distances of {nodes} nodes: they are 10 and 20";

    // Fake nodes.

    /// Not even the least size for each fake node.
    FakeTooSmall { nodes: u32 } = Warning "fake-too-small"
        "there is not enough memory for {nodes} fake nodes of 32 MiB: no node is split";
    /// A node that gives fewer parts than were asked for.
    FakeTooFewParts { node: NodeId, parts: u32, wanted: u32 } = Warning "fake-too-few-parts"
        "node {node} gives only {parts} of {wanted} fake nodes: no node is split";
    /// More parts than there is room for.
    FakeTooManyParts { limit: u32 } = Warning "fake-too-many-parts"
        "there is room for {limit} parts of nodes and more would be needed: no node is split";
    /// More fake nodes than node ids.
    FakeTooManyNodes { wanted: u32, limit: u32 } = Warning "fake-too-many-nodes"
        "{wanted} fake nodes are wanted: there are {limit} node numbers, so many it is";
    /// A size below the least.
    FakeSizeRaised { bytes: u64, least: u64 } = Warning "fake-size-raised"
        "fake nodes of {bytes} bytes are wanted: they get {least}, the least that is possible";
    /// A distance of a fake node to itself.
    FakeBadDiagonal { node: NodeId, distance: u8 } = Warning "fake-bad-diagonal"
        "the distance of fake node {node} to itself is given as {distance}: it is 10";
    /// More distances than pairs of fake nodes.
    FakeDistancesLeftOver { given: u32, used: u32 } = Warning "fake-distances-left-over"
        "{given} distances are given for fake nodes: the first {used} are used";

    /// A zone that found no room for its own metadata.
    ZoneMetadataElsewhere { node: NodeId, on: NodeId } = Note "zone-metadata-elsewhere"
        "a zone of node {node} has no room for its metadata: it lies on node {on}";
    /// Free frames that a zone keeps no count of.
    ZoneFramesRefused { frames: u64 } = Warning "zone-frames-refused"
        "{frames} free frames lie between more reserved ranges than a zone counts: left out";

    // CPUs.

    /// More CPUs than there is room for.
    CpuTooMany { found: u32, limit: u32 } = Warning "cpu-too-many"
        "{found} CPUs are present and there is room for {limit}: the others are left out";
    /// A present CPU that no record names.
    CpuWithoutRecord { cpu: CpuId, apic: u32, node: NodeId } = Note "cpu-without-record"
        "CPU {cpu} (APIC {apic:#04x}) is in no SRAT record: it goes to node {node}";

    /// CPUs with ids that xAPIC mode has not.
    CpuNeedsX2apic { cpu: CpuId, apic: u32, count: u32 } = Note "cpu-needs-x2apic"
        "CPUs with ids above 254: {count}, the first is CPU {cpu} (APIC {apic:#x}). They are listed; \
         to start them takes x2APIC mode, which is untested here";

    /// A present CPU that was started and is not there.
    CpuDidNotCome { cpu: CpuId, apic: u32, node: NodeId } = Warning "cpu-did-not-come"
        "CPU {cpu} (APIC {apic:#04x}, node {node}) was started and did not come in time: it is not used";

    // Where the tables are found.

    /// No RSDP.
    RsdpAbsent = Warning "rsdp-absent"
        "there is no RSDP: no firmware table is read";
    /// An RSDP with a wrong signature, checksum or length.
    RsdpInvalid { address: u64 } = Warning "rsdp-invalid"
        "the bytes at {address:#x} are no RSDP: the BIOS areas are searched";
    /// A root table that cannot be used.
    RootTableInvalid { address: u64 } = Warning "root-table-invalid"
        "what the RSDP points to at {address:#x} is no root table: no firmware table is read";
    /// A pointer to where no table can be.
    TableOutOfReach { address: u64 } = Warning "table-out-of-reach"
        "the pointer to {address:#x} leads to no readable memory: ignored";
    /// Two tables with one signature.
    TableDuplicate { address: u64 } = Note "table-duplicate"
        "a second table of this kind at {address:#x}: the first counts";
    /// No MADT.
    MadtAbsent = Warning "madt-absent"
        "there is no MADT: only the boot CPU is known";
    /// A record of the MADT runs past the table's end.
    MadtTruncated { present: u32 } = Warning "madt-truncated"
        "the record runs past the table's end, {present} bytes of it are there: what stands before \
         it counts";
    /// A length in the MADT that the record's type cannot have.
    MadtBadEntryLength { kind: u8, length: u8 } = Warning "madt-bad-entry-length"
        "a record of type {kind} cannot have length {length}: what stands before it counts";
    /// One CPU in two records of the MADT.
    MadtCpuListedTwice { apic: u32 } = Note "madt-cpu-listed-twice"
        "APIC {apic:#04x} is in another record, too: it counts once";
    /// The CPU that we run on is not in the MADT.
    MadtWithoutBootCpu { apic: u32 } = Warning "madt-without-boot-cpu"
        "APIC {apic:#04x}, on which we run, is in no record: it is CPU 0 all the same";

    // CEDT.

    /// A record of the CEDT runs past the table's end.
    CedtTruncated { present: u32 } = Warning "cedt-truncated"
        "the record runs past the table's end, {present} bytes of it are there: what stands before \
         it counts";
    /// A length in the CEDT that the record's type cannot have.
    CedtBadEntryLength { kind: u8, length: u16 } = Warning "cedt-bad-entry-length"
        "a record of type {kind} cannot have length {length}: what stands before it counts";
    /// A window without length, or whose end does not fit in 64 bits.
    CedtBadWindow { base: u64, length: u64 } = Warning "cedt-bad-window"
        "a CXL window of length {length:#x} at {base:#x} has no addresses: its node gets none";
    /// A window that becomes a possible node.
    CedtWindow { range: PhysRange, pxm: ProximityDomain, node: NodeId } = Note "cedt-window"
        "{range} is a CXL window in no SRAT range: domain {pxm} and node {node} are kept for it";
    /// A window that an SRAT range has.
    CedtWindowInSrat { range: PhysRange, node: NodeId } = Note "cedt-window-in-srat"
        "{range} is a CXL window and has node {node} by the SRAT";
    /// A window for which there is no node id or no domain left.
    CedtTooManyWindows { range: PhysRange, limit: u32 } = Warning "cedt-too-many-windows"
        "{range} is a CXL window and gets no node, all {limit} are taken: ignored";

    // The memory map.

    /// There is no memory map.
    MemoryMapAssumed = Note "memory-map-assumed"
        "there is no memory map: every enabled memory range of the SRAT counts as usable memory";
    /// No usable memory at all.
    MemoryMapEmpty = Warning "memory-map-empty"
        "the memory map has no usable frame";
    /// A region that ends before it starts.
    MemoryMapBadRegion { start: u64, end: u64 } = Warning "memory-map-bad-region"
        "the memory map's region from {start:#x} to {end:#x} ends before it starts: ignored";
    /// Usable and not usable at once.
    MemoryMapOverlap { range: PhysRange } = Warning "memory-map-overlap"
        "the memory map calls {range} usable and not usable: not used";
    /// Memory above what the direct map reaches.
    MemoryAboveLimit { frames: u64, limit: u64 } = Warning "memory-above-limit"
        "{frames} frames from {limit:#x} on are out of reach: left out";
    /// More regions than there is room for.
    MemoryMapDropped { regions: u64 } = Warning "memory-map-dropped"
        "{regions} regions of the memory map found no room: they count as not usable";
    /// More usable ranges than there is room for.
    MemoryMapFull { limit: u32, lost: u64 } = Warning "memory-map-full"
        "there is room for {limit} usable ranges: {lost} frames are left out";

    // The memory map by the user.

    /// `memmap=` calls memory what the firmware does not.
    MemmapNotMemory { frames: u64 } = Warning "memmap-not-memory"
        "{frames} frames that the command line calls usable are no usable memory to the firmware: \
         left out";
    /// More regions on the command line than there is room for.
    MemmapFull { regions: u64 } = Warning "memmap-full"
        "{regions} regions of the command line's memory map found no room: ignored";
    /// Too little memory is left to boot with.
    MemmapTooLittle { frames: u64, least: u64 } = Warning "memmap-too-little"
        "the command line leaves {frames} frames below 4 GiB where {least} are needed: the \
         firmware's memory map is used as it is";
}
