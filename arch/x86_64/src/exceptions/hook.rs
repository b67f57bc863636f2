//! A function that sees exceptions first, for tests.

use spin::Mutex;

use super::ExceptionFrame;

/// Sees an exception; true when the interrupted code shall go on with the registers as they now
/// are.
pub type Hook = fn(&mut ExceptionFrame) -> bool;

static HOOK: Mutex<Option<Hook>> = Mutex::new(None);

/// Sets the hook, or takes it away; says which it was before.
///
/// # Safety
/// Whenever the hook returns true, the interrupted code can go on with the registers that it has
/// left in the frame.
pub unsafe fn set_hook(hook: Option<Hook>) -> Option<Hook> {
    core::mem::replace(&mut *HOOK.lock(), hook)
}

pub(super) fn resume(frame: &mut ExceptionFrame) -> bool {
    // An exception within `set_hook` finds the lock taken: then there is no hook.
    let hook = HOOK.try_lock().and_then(|hook| *hook);
    hook.is_some_and(|hook| hook(frame))
}
