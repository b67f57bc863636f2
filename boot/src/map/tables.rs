//! The tables that a map is made of, as they were read.

use nearmem::firmware::{cedt, hmat, madt, slit, srat};

/// A kind of table that a node map can use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Which {
    /// Affinity of CPUs and memory.
    Srat,
    /// Distances.
    Slit,
    /// Latency and bandwidth.
    Hmat,
    /// CPUs.
    Madt,
    /// Windows of CXL memory.
    Cedt,
}

impl Which {
    /// All of them.
    pub const ALL: [Which; 5] = [Which::Srat, Which::Slit, Which::Hmat, Which::Madt, Which::Cedt];

    /// Its signature.
    pub const fn signature(self) -> &'static str {
        match self {
            Which::Srat => srat::SIGNATURE,
            Which::Slit => slit::SIGNATURE,
            Which::Hmat => hmat::SIGNATURE,
            Which::Madt => madt::SIGNATURE,
            Which::Cedt => cedt::SIGNATURE,
        }
    }

    /// The kind with this signature, in capitals or not.
    pub fn of(signature: &str) -> Option<Which> {
        Which::ALL.into_iter().find(|which| which.signature().eq_ignore_ascii_case(signature))
    }
}

/// A table as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawTable {
    /// All bytes that there are, header included.
    pub bytes: Vec<u8>,
    /// The file that it comes from, or how it came about.
    pub from: String,
    /// Where it lay in memory, as a dump says; `None` where nothing does.
    pub address: Option<u64>,
}

/// At most one table of each kind.
#[derive(Clone, Debug, Default)]
pub struct Tables([Option<RawTable>; Which::ALL.len()]);

impl Tables {
    /// The table of a kind.
    pub fn get(&self, which: Which) -> Option<&RawTable> {
        self.0[which as usize].as_ref()
    }

    /// The bytes of a table.
    pub fn bytes(&self, which: Which) -> Option<&[u8]> {
        self.get(which).map(|table| &table.bytes[..])
    }

    /// Sets a table, whatever was there.
    pub fn set(&mut self, which: Which, table: RawTable) {
        self.0[which as usize] = Some(table);
    }

    /// Sets a table if there is none of its kind yet; says whether it did.
    pub fn offer(&mut self, which: Which, table: RawTable) -> bool {
        let free = self.get(which).is_none();
        if free {
            self.set(which, table);
        }
        free
    }
}
