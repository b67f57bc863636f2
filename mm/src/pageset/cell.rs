//! Where a CPU finds a pageset, and where another is put in its place.

use crate::sync::{AtomicPtr, Ordering};

use super::Pageset;

/// Points to a pageset, at first to the boot pageset.
#[derive(Debug)]
pub struct PagesetCell<'m>(AtomicPtr<Pageset<'m>>);

impl<'m> PagesetCell<'m> {
    /// A cell with this pageset.
    pub fn new(pageset: &'m Pageset<'m>) -> PagesetCell<'m> {
        PagesetCell(AtomicPtr::new(core::ptr::from_ref(pageset).cast_mut()))
    }

    /// The pageset.
    #[inline]
    pub fn get(&self) -> &'m Pageset<'m> {
        // Acquire pairs with the Release in `install`: the pageset is seen initialised.
        let pageset = self.0.load(Ordering::Acquire);
        // SAFETY: from `new` or `install`, whose pagesets live for `'m` and are only ever shared.
        unsafe { &*pageset }
    }

    /// Puts a pageset in the place of the boot pageset; false when there is another one already.
    pub fn install(&self, pageset: &'m Pageset<'m>) -> bool {
        let boot = self.get();
        let new = core::ptr::from_ref(pageset).cast_mut();
        // Release pairs with the Acquire in `get`. On failure nothing is read.
        boot.is_boot()
            && self
                .0
                .compare_exchange(
                    core::ptr::from_ref(boot).cast_mut(),
                    new,
                    Ordering::Release,
                    Ordering::Relaxed,
                )
                .is_ok()
    }
}
