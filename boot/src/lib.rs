//! The launcher, as a library: the test runner uses it, too.
