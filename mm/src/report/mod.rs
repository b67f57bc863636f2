//! Reports in Linux's formats (reference: formats), and facts.
#![forbid(unsafe_code)]
