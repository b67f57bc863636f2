//! What every allocator has to do here.

/// An allocator of 2^20 frames, shared by all threads.
pub trait Peer: Sync {
    /// What it is called in tables.
    const NAME: &'static str;
    /// What it hands out.
    type Block: Send;
    /// What a thread needs in order to work with it, for as long as it stands for a CPU.
    type Local<'a>
    where
        Self: 'a;

    /// Whether it has blocks of 2^order frames.
    fn has(&self, order: u8) -> bool;

    /// Runs `work` with this thread as that CPU.
    fn on_cpu<R>(&self, cpu: usize, work: impl FnOnce(&Self::Local<'_>) -> R) -> R;

    /// Allocates 2^order frames; `None` when there are none.
    fn take(&self, local: &Self::Local<'_>, order: u8) -> Option<Self::Block>;

    /// Frees a block.
    fn give(&self, local: &Self::Local<'_>, block: Self::Block);

    /// Brings what is cached back to where larger blocks are made of it.
    fn settle(&self) {}
}
