//! Reports: progress, log, phase table.
