//! What can be chosen at the hand-over.
#![forbid(unsafe_code)]

/// Where the pagesets live (`pageset=`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PagesetPlacement {
    /// On the CPU's node (2005 and after).
    #[default]
    Local,
    /// On the zone's node (before).
    Zone,
}

/// What can be chosen at the hand-over.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// Where the pagesets live.
    pub pagesets: PagesetPlacement,
    /// `min_free_kbytes=`, in kB; `None`: by the formula. Never more than half of memory, so that
    /// something is left to boot with.
    pub min_free_kbytes: Option<u64>,
    /// `watermark_scale_factor=`, in 1/10000 of a zone's managed frames; `None`: 10.
    pub watermark_scale_factor: Option<u32>,
}
