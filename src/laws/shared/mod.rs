//! Functions shared by several laws, written in the language of laws, one module each. A law lists the
//! modules it calls in `#[pair(..., uses(NAME))]`. They are printed as CUDA C++, as laws are.

pub mod force_switch;
pub mod lorentz_berthelot;
pub mod plummer;
pub mod twelve_six;

/// Name and CUDA C++ text of each module, as committed under `kernels/shared/`.
pub const PRINTED: &[(&str, &str)] = &[
    ("force_switch", force_switch::CUDA),
    ("lorentz_berthelot", lorentz_berthelot::CUDA),
    ("plummer", plummer::CUDA),
    ("twelve_six", twelve_six::CUDA),
];
