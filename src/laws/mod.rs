//! Laws: one file each. They know no device, rank or file.

use crate::pair::{PairLaw, together};
use crate::sections::Section;
use interaction::{ExampleVisitor, LawVisitor, Laws, Potential, SectionReader, interactions, printed_law};

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
pub mod shared;
pub mod viscosity_switch;
pub mod volume_elements;

// The interactions of molecules, [interaction.NAME] of the deck, in the order in which a deck is printed. The
// list declares the modules, so that `cargo fmt` does not find them: rustfmt --edition 2024 src/laws/*.rs
interactions! {
    lennard_jones,
    mie,
    yukawa,
    buckingham,
}

/// Name and print as CUDA C++ of the laws that no deck names: those of charges, of the gas, and forms of
/// Lennard-Jones.
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
    printed_law!(volume_elements),
];

/// A law as CUDA C++.
#[derive(Clone, Copy, Debug)]
pub struct Printed {
    /// The law's name, that of its file and namespace.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
    /// The modules of [`shared`] that it calls.
    pub uses: &'static [&'static str],
}

/// Every law as CUDA C++, as committed under `kernels/laws/`.
pub fn printed() -> impl Iterator<Item = Printed> {
    Interaction::PRINTED.iter().chain(OTHERS).copied()
}

/// Name and print as CUDA C++ of the laws that go together with Coulomb's, as committed under `kernels/laws/`
/// too.
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

/// The text of a printed law's file, which includes `parts`: files below the folder of kernels, by the names
/// that the run-time compiler knows them by.
pub fn printed_file(parts: &[String], text: &str) -> String {
    let include = |part: &String| format!("#include \"../{part}.cuh\"\n");
    format!(
        "// Printed from the law's Rust source by #[pair]: change it there, then run\n\
         // HILBRIUM_PRINT=1 cargo test --test device pair_cuda\n\
         #pragma once\n\n{}\nnamespace hilbrium {{\n\n{text}\n}} // namespace hilbrium\n",
        parts.iter().map(include).collect::<String>()
    )
}
