//! The system that runs is the one that deck and file describe: box and boundary, species by name, units, and what a restart
//! takes over. Each case is small, and is run by the program as a user runs it.

mod boxes;
mod case;
mod check;
mod restart;
mod species;
mod units;
