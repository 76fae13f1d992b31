//! Functions that several laws call, in the language of laws: one module each. A law names those that it
//! calls in `#[pair(..., uses(NAME))]`; like laws they are printed as CUDA C++.

pub mod force_switch;
pub mod lorentz_berthelot;
pub mod twelve_six;

/// Every module's name and print as CUDA C++, as committed under `kernels/shared/`.
pub const PRINTED: &[(&str, &str)] = &[
    ("force_switch", force_switch::CUDA),
    ("lorentz_berthelot", lorentz_berthelot::CUDA),
    ("twelve_six", twelve_six::CUDA),
];
