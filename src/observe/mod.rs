//! Observables: energies, momentum, profiles.
