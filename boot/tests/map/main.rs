//! `map` as a person or a program uses it.

mod forms;
mod run;
mod tables;
