//! Pair laws, one file each, independent of device, rank and file formats.

use crate::pair::{PairLaw, together};
use crate::sections::Section;
use interaction::{
    ExampleVisitor, LawVisitor, Laws, Potential, SectionReader, interactions, printed_law, registered_laws,
};

pub mod coulomb;
pub mod density;
pub mod divergence_gradient;
pub mod gradients;
pub mod interaction;
pub mod lennard_jones_coulomb;
pub mod lennard_jones_mixed;
pub mod lennard_jones_mixed_switched;
pub mod lennard_jones_switched;
pub mod lennard_jones_table;
pub mod mixing;
pub mod momentum_energy_standard;
pub mod momentum_energy_volume;
pub mod number_density;
mod potential_table;
pub mod prolonged_lennard_jones;
pub mod radial;
pub mod separation_sum;
pub mod shared;
pub mod softened_lennard_jones;
pub mod viscosity_switch;
pub mod volume_elements;
pub mod volume_estimate;

// The interactions of molecules ([interaction.NAME]), in the order of a printed deck. The macro declares
// their modules, so `cargo fmt` does not find them: format them with rustfmt --edition 2024 src/laws/*.rs
interactions! {
    lennard_jones,
    mie,
    yukawa,
    buckingham,
    formula as radial,
    table as radial,
}

/// The printed laws without a registered interaction: charges, gas, and the other forms of Lennard-Jones.
const OTHERS: &[Printed] = &[
    printed_law!(coulomb),
    printed_law!(density),
    printed_law!(divergence_gradient),
    printed_law!(gradients),
    printed_law!(lennard_jones_coulomb),
    printed_law!(lennard_jones_mixed),
    printed_law!(lennard_jones_mixed_switched),
    printed_law!(lennard_jones_switched),
    printed_law!(lennard_jones_table),
    printed_law!(momentum_energy_standard),
    printed_law!(momentum_energy_volume),
    printed_law!(number_density),
    printed_law!(radial),
    printed_law!(volume_elements),
    printed_law!(volume_estimate),
];

/// The laws of `bench cells`, which no run uses.
const OF_BENCHMARKS: &[Printed] = &[
    printed_law!(prolonged_lennard_jones),
    printed_law!(separation_sum),
    printed_law!(softened_lennard_jones),
];

/// A law as CUDA C++.
#[derive(Clone, Copy, Debug)]
pub struct Printed {
    /// Name of the law, its file and its namespace.
    pub name: &'static str,
    /// CUDA C++ text.
    pub text: &'static str,
    /// Modules of [`shared`] that the law calls.
    pub uses: &'static [&'static str],
}

/// The laws of `bench cells` as CUDA C++, as committed under `kernels/laws/`.
pub fn printed_for_benchmarks() -> impl Iterator<Item = Printed> {
    OF_BENCHMARKS.iter().copied()
}

/// The laws of runs as CUDA C++, as committed under `kernels/laws/`.
pub fn printed() -> impl Iterator<Item = Printed> {
    Interaction::PRINTED.iter().copied().flatten().chain(OTHERS).copied()
}

/// Name and CUDA C++ text of the combinations with Coulomb's law ([`crate::pair::Together`]), as committed
/// under `kernels/laws/`.
pub fn printed_with_coulomb() -> Vec<(String, String)> {
    fn one<L: PairLaw>() -> (String, String) {
        (format!("{}_and_coulomb", L::NAME), together::printed::<L, coulomb::Law<f64>>())
    }
    vec![
        one::<lennard_jones_mixed::Law<f64>>(),
        one::<lennard_jones_mixed_switched::Law<f64>>(),
        one::<lennard_jones_table::Law<f64>>(),
        one::<radial::Law<f64>>(),
    ]
}

/// Returns the contents of a printed law's file. It includes `parts`: paths below `kernels/` without
/// extension, as the run-time compiler resolves them.
pub fn printed_file(parts: &[String], text: &str) -> String {
    let include = |part: &String| format!("#include \"../{part}.cuh\"\n");
    format!(
        "// Printed from the law's Rust source by #[pair]: change it there, then run\n\
         // HILBRIUM_PRINT=1 cargo test --test device pair_cuda\n\
         #pragma once\n\n{}\nnamespace hilbrium {{\n\n{text}\n}} // namespace hilbrium\n",
        parts.iter().map(include).collect::<String>()
    )
}
