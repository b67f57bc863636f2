//! Which tests there are: a table that the linker puts together.

use nearmem_kernel::Kernel;

/// The longest name, in bytes.
const NAME_BYTES: usize = 56;

/// One registered test. The host reads the table from the ELF, too, without booting it: 64 bytes
/// each, the name from byte 8 on, filled up with zeros.
#[repr(C)]
pub struct Test {
    run: fn(&Kernel),
    name: [u8; NAME_BYTES],
}

const _: () = assert!(size_of::<Test>() == 64);

impl Test {
    /// A test by its path in the crate, `crate::suite::name`; its name is `suite::name`.
    ///
    /// # Panics
    /// While compiling: when the name has more than 56 bytes.
    pub const fn new(path: &str, run: fn(&Kernel)) -> Test {
        let path = path.as_bytes();
        let mut start = 0;
        while path[start] != b':' {
            start += 1;
        }
        start += 2;
        assert!(path.len() - start <= NAME_BYTES, "the name of a test has at most 56 bytes");
        let mut name = [0; NAME_BYTES];
        let mut at = start;
        while at < path.len() {
            name[at - start] = path[at];
            at += 1;
        }
        Test { run, name }
    }

    /// `suite::name`.
    pub fn name(&self) -> &str {
        let end = self.name.iter().position(|&byte| byte == 0).unwrap_or(NAME_BYTES);
        // It was text when it was registered.
        core::str::from_utf8(&self.name[..end]).unwrap_or_default()
    }

    /// Runs it. Panics when it fails.
    pub fn run(&self, kernel: &Kernel) {
        (self.run)(kernel)
    }
}

/// Registers functions `fn(&Kernel)` as tests, under their module's and their own name: each
/// leaves a [`Test`] in the section that the linker script keeps for such lists.
#[macro_export]
macro_rules! kernel_tests {
    ($($test:ident),+ $(,)?) => {$(
        const _: () = {
            #[used]
            #[unsafe(link_section = ".nearmem_list")]
            static TEST: $crate::Test =
                $crate::Test::new(concat!(module_path!(), "::", stringify!($test)), $test);
        };
    )+};
}

/// All registered tests, in the order of the linker.
pub(crate) fn tests() -> &'static [Test] {
    unsafe extern "C" {
        #[link_name = "nearmem_list_start"]
        static START: u8;
        #[link_name = "nearmem_list_end"]
        static END: u8;
    }
    let (start, end) = (&raw const START, &raw const END);
    let count = (end.addr() - start.addr()) / size_of::<Test>();
    // SAFETY: the linker script sets the two symbols around the section, aligned to 64 bytes and
    // never written. It holds nothing but values of `Test`: `kernel_tests!` alone writes there.
    unsafe { core::slice::from_raw_parts(start.cast(), count) }
}
