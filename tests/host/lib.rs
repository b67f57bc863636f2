//! Machine files, and the runner that boots the in-kernel suites on them.
