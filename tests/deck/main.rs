//! Decks: reading and refusing them, options over a deck, random text, and the pages that describe decks.
//!
//! Nothing here starts a process.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)]

mod decks;
mod dependencies;
mod docs;
mod faults;
mod fuzz;
mod options;
mod packaging;
mod third_party;
