//! Laws: one file each. They know no device, rank or file.

use crate::pair::{PairLaw, together};

pub mod coulomb;
pub mod density;
pub mod divergence_gradient;
pub mod gradients;
pub mod lennard_jones;
pub mod lennard_jones_coulomb;
pub mod lennard_jones_mixed;
pub mod lennard_jones_mixed_switched;
pub mod lennard_jones_switched;
pub mod lennard_jones_table;
pub mod mie;
pub mod momentum_energy_standard;
pub mod momentum_energy_volume;
pub mod number_density;
pub mod viscosity_switch;
pub mod volume_elements;
pub mod yukawa;

/// Every law's name and print as CUDA C++, as committed under `kernels/laws/`.
pub const PRINTED: &[(&str, &str)] = &[
    ("coulomb", coulomb::CUDA),
    ("density", density::CUDA),
    ("divergence_gradient", divergence_gradient::CUDA),
    ("gradients", gradients::CUDA),
    ("lennard_jones", lennard_jones::CUDA),
    ("lennard_jones_coulomb", lennard_jones_coulomb::CUDA),
    ("lennard_jones_mixed", lennard_jones_mixed::CUDA),
    ("lennard_jones_mixed_switched", lennard_jones_mixed_switched::CUDA),
    ("lennard_jones_switched", lennard_jones_switched::CUDA),
    ("lennard_jones_table", lennard_jones_table::CUDA),
    ("mie", mie::CUDA),
    ("momentum_energy_standard", momentum_energy_standard::CUDA),
    ("momentum_energy_volume", momentum_energy_volume::CUDA),
    ("number_density", number_density::CUDA),
    ("volume_elements", volume_elements::CUDA),
    ("yukawa", yukawa::CUDA),
];

/// Name and print as CUDA C++ of the laws that go together with Coulomb's, as committed under `kernels/laws/` too.
pub fn printed_with_coulomb() -> Vec<(String, String)> {
    fn one<L: PairLaw>() -> (String, String) {
        (format!("{}_and_coulomb", L::NAME), together::printed::<L, coulomb::Law<f64>>())
    }
    vec![
        one::<lennard_jones_mixed::Law<f64>>(),
        one::<lennard_jones_mixed_switched::Law<f64>>(),
        one::<lennard_jones_table::Law<f64>>(),
    ]
}

/// The text of a printed law's file, which includes `parts`: files below the folder of kernels, by the names that the
/// run-time compiler knows them by.
pub fn printed_file(parts: &[&str], text: &str) -> String {
    let include = |part: &&str| format!("#include \"../{part}.cuh\"\n");
    format!(
        "// Printed from the law's Rust source by #[pair]: change it there, then run\n\
         // HILBRIUM_PRINT=1 cargo test --test device pair_cuda\n\
         #pragma once\n\n{}\nnamespace hilbrium {{\n\n{text}\n}} // namespace hilbrium\n",
        parts.iter().map(include).collect::<String>()
    )
}
