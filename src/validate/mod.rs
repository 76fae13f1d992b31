//! Validation: exact and reference solutions, norms, verdicts, pictures.
