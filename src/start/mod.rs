//! Initial conditions: one file a case.
