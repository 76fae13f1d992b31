//! The printed CUDA laws are up to date, and as host C++ give what the Rust ones give.

use crate::common::skip;
use hilbrium::laws::interaction::ExampleVisitor;
use hilbrium::laws::*;
use hilbrium::pair::Together;
use hilbrium::pair::language::{Columns, Field, Kernel, PairLaw, Table, Vec3};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

fn kernels() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels")
}

/// The printed files, by their names below the folder of kernels.
fn files() -> Vec<(String, String)> {
    let shared = shared::PRINTED.iter();
    let shared =
        shared.map(|(name, text)| (format!("shared/{name}"), printed_file(&["pair/real".into()], text)));
    let alone = printed().chain(printed_for_benchmarks()).map(|law| {
        let parts = law.uses.iter().map(|name| format!("shared/{name}"));
        let parts: Vec<String> = std::iter::once("pair/real".into()).chain(parts).collect();
        (format!("laws/{}", law.name), printed_file(&parts, law.text))
    });
    let combined = printed_with_coulomb().into_iter().map(|(name, text)| {
        let first = name.strip_suffix("_and_coulomb").unwrap();
        let parts = [format!("laws/{first}"), "laws/coulomb".into()];
        (format!("laws/{name}"), printed_file(&parts, &text))
    });
    shared.chain(alone).chain(combined).collect()
}

#[test]
fn printed_laws_are_up_to_date() {
    let files = files();
    for (name, wanted) in &files {
        let path = kernels().join(format!("{name}.cuh"));
        if std::env::var_os("HILBRIUM_PRINT").is_some() {
            std::fs::write(&path, wanted).unwrap();
        }
        let committed = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            committed == *wanted,
            "{} is stale: run HILBRIUM_PRINT=1 cargo test --test device pair_cuda",
            path.display()
        );
    }
    let committed = |folder: &str| std::fs::read_dir(kernels().join(folder)).unwrap().count();
    assert_eq!(
        committed("laws") + committed("shared"),
        files.len(),
        "a file without a law in kernels/laws or kernels/shared"
    );
}

const KERNELS: [&str; 5] = ["cubic-spline", "wendland-c2", "wendland-c4", "wendland-c6", "sinc-7"];

/// A reproducible positive number about 1.
fn number(k: usize) -> f64 {
    0.6 + 0.8 * ((k as f64 * 0.618_033_988_75).fract())
}

/// One trial: separation, then what both languages give for it.
struct Trial {
    /// C++ that the law's constants need.
    definitions: String,
    source: String,
    truth: Vec<f64>,
}

/// Numbers as C++.
fn reals(values: &[f64]) -> String {
    values.iter().map(|x| format!("Real({x:?})")).collect::<Vec<_>>().join(", ")
}

/// C++ that evaluates the law for two particles, and the Rust values it must print.
fn trial<L: PairLaw>(law: &L, scale: f64) -> Trial {
    let count = L::Particle::<f64>::COUNT;
    // indices of species are whole
    let value = |field: &Field, x: f64| if *field == Field::Species { (3.0 * (x - 0.5)).floor() } else { x };
    let mut i: Vec<f64> = (0..count).map(number).collect();
    let mut j: Vec<f64> = (0..count).map(|k| number(k + 31)).collect();
    if L::INPUTS.contains(&Field::Species) {
        i.iter_mut().zip(L::INPUTS).for_each(|(x, field)| *x = value(field, *x));
        j.iter_mut().zip(L::INPUTS).for_each(|(x, field)| *x = value(field, *x));
    }
    let r = Vec3 { x: 0.5 * scale, y: -0.3 * scale, z: 0.7 * scale };
    let particle = |values: &[f64]| L::Particle::<f64>::from_columns(|c| values[c]);
    let parameters = law.parameters::<f64>(());
    let prepared = |values: &[f64]| L::prepare::<f64>((), parameters, particle(values));
    let sums = L::interact::<f64>((), parameters, prepared(&i), prepared(&j), r, r.dot(r));
    let mut truth = sums.to_columns().as_ref().to_vec();
    truth.extend_from_slice(law.finish(particle(&i), sums).to_columns().as_ref());

    let list = reals;
    let mut source = String::new();
    writeln!(source, "{{ using namespace {};", L::namespace()).unwrap();
    writeln!(source, "  Law law{{{}}};", law.constants()).unwrap();
    let (pair, own) = match (count, L::PREPARES) {
        (0, _) => ("", ""),
        (_, false) => ("i, j, ", "i, "),
        (_, true) => ("prepare(law, i), prepare(law, j), ", "i, "),
    };
    if count > 0 {
        writeln!(source, "  Particle i = from<Particle, INPUTS>({{{{{}}}}});", list(&i)).unwrap();
        writeln!(source, "  Particle j = from<Particle, INPUTS>({{{{{}}}}});", list(&j)).unwrap();
    }
    writeln!(source, "  Vec3 r{{{}}};", list(&[r.x, r.y, r.z])).unwrap();
    writeln!(source, "  Sums sums = interact(law, {pair}r, dot(r, r)); print<SUMS>(sums);").unwrap();
    writeln!(source, "  print<OUTPUTS>(finish(law, {own}sums)); }}").unwrap();
    Trial { definitions: law.device_definitions(), source, truth }
}

/// The trials of registered interactions.
struct Examples<'a> {
    trials: &'a mut Vec<Trial>,
    scale: f64,
}

impl ExampleVisitor for Examples<'_> {
    fn visit<L: PairLaw>(&mut self, law: &L, _: &[[f64; 2]]) {
        self.trials.push(trial(law, self.scale));
    }
}

fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for (name, scale) in KERNELS.iter().flat_map(|name| [0.3, 0.8, 1.6, 3.0].map(|scale| (*name, scale))) {
        let kernel = Kernel::named(name).unwrap();
        trials.push(trial(&density::Law { kernel }, scale));
        trials.push(trial(&number_density::Law { kernel }, scale));
        trials.push(trial(&volume_elements::Law { kernel }, scale));
        let law = volume_estimate::Law {
            kernel,
            ideal: 1.0,
            sound_squared: 1.1,
            contrast_start: 0.0,
            contrast_slope: 2.0,
            offset_start: 0.0,
            offset_slope: 2.0,
            compression_start: 0.0,
            compression_slope: 0.5,
        };
        trials.push(trial(&law, scale));
        trials.push(trial(&gradients::Law::new(kernel), scale));
        trials.push(trial(&divergence_gradient::Law { kernel }, scale));
        trials.push(trial(
            &momentum_energy_standard::Law {
                kernel,
                beta: 2.0,
                conductivity: 0.5,
                switched_conductivity: 0.4,
            },
            scale,
        ));
        let law = momentum_energy_volume::Law {
            kernel,
            beta: 2.0,
            conductivity: 0.5,
            switched_conductivity: 0.4,
            crossing_start: 0.1,
            crossing_slope: 10.0,
        };
        trials.push(trial(&law, scale));
    }
    for scale in [0.9, 1.1, 1.5, 2.4] {
        trials.extend(molecular_trials(scale));
        trials.push(trial(&separation_sum::Law::new(1.5), scale));
        trials.push(trial(&softened_lennard_jones::Law::new(1.3, 0.9, 0.2), scale));
        trials.push(trial(&prolonged_lennard_jones::Law::new(1.3, 0.9, 0.2), scale));
        trials.push(trial(&yukawa::Law { strength: 2.0, screening: 0.8, shift: 0.1 }, scale));
        visit_examples(&mut Examples { trials: &mut trials, scale });
    }
    trials
}

/// A law alone and together with charges, whose cutoffs are such that each of them is alone at some distances.
fn with_charges<L: PairLaw>(law: L, scale: f64) -> [Trial; 2] {
    let charges = coulomb::Law::reaction_field(138.9, 78.0, 2.5);
    let both = Together::new(law, charges, if scale < 1.2 { [0.9, 1.5] } else { [2.5, 1.6] });
    [trial(&law, scale), trial(&both, scale)]
}

fn molecular_trials(scale: f64) -> Vec<Trial> {
    let charges = coulomb::Law::reaction_field(138.9, 78.0, 2.5);
    let plain = lennard_jones::Law::shifted(1.3, 0.9, 2.5);
    let mut trials = vec![
        trial(&charges, scale),
        trial(&plain, scale),
        trial(&lennard_jones_coulomb::Law::new(plain, charges), scale),
        trial(&lennard_jones_switched::Law::new(1.3, 0.9, 1.2, 2.5), scale),
    ];
    trials.extend(with_charges(lennard_jones_mixed::Law::shifted(2.5), scale));
    trials.extend(with_charges(lennard_jones_mixed_switched::Law::new(1.2, 2.5), scale));
    let depth = Table::new(3, |a, b| 1.0 + (a * b) as f64).unwrap();
    let sigma6 = Table::new(3, |a, b| 0.5 + 0.1 * (a + b) as f64).unwrap();
    trials.extend(with_charges(lennard_jones_table::Law::shifted(depth, sigma6, 2.5), scale));
    trials.extend(with_charges(lennard_jones_table::Law::switched(depth, sigma6, 1.2, 2.5), scale));
    trials
}

#[test]
fn host_compiler_agrees() {
    let found = ["c++", "g++", "clang++"].into_iter().find(|name| {
        Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success())
    });
    let Some(compiler) = found else {
        return skip::skip("no C++ compiler (c++, g++, clang++) to compile the printed laws with");
    };
    let trials = trials();
    let directory = tempfile::tempdir().unwrap();
    let mut source = String::from("#include <cstdio>\n#include <cstring>\n");
    for (name, _) in files() {
        writeln!(source, "#include \"{name}.cuh\"").unwrap();
    }
    let definitions: BTreeSet<&str> = trials.iter().map(|trial| trial.definitions.as_str()).collect();
    for text in definitions {
        writeln!(source, "namespace hilbrium {{\n{text}}}").unwrap();
    }
    source += "using namespace hilbrium;\n\
        template <class T, int N> struct Values { Real values[N]; };\n\
        template <class T, int N> T from(Values<T, N> from) {\n\
            static_assert(sizeof(T) == N * sizeof(Real)); T to; std::memcpy(&to, &from, sizeof to); return to; }\n\
        template <int N, class T> void print(T from) {\n\
            static_assert(sizeof(T) == N * sizeof(Real)); Real to[N]; std::memcpy(to, &from, sizeof to);\n\
            for (int k = 0; k < N; ++k) std::printf(\"%.17g\\n\", double(to[k])); }\n\
        int main() {\n";
    trials.iter().for_each(|trial| source += &trial.source);
    source += "}\n";
    let (file, program) = (directory.path().join("trial.cpp"), directory.path().join("trial"));
    std::fs::write(&file, source).unwrap();
    for (real, tolerance) in [("double", 1e-12), ("float", 2e-5)] {
        let compiled = Command::new(compiler)
            .args(["-std=c++17", "-Wall", "-Werror", "-Wno-unused", "-Wno-unknown-pragmas"])
            .arg(format!("-DHILBRIUM_REAL={real}"))
            .arg("-I")
            .arg(kernels())
            .arg(&file)
            .arg("-o")
            .arg(&program)
            .output()
            .unwrap();
        assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
        let output = Command::new(&program).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let given: Vec<f64> = text.lines().map(|line| line.parse().unwrap()).collect();
        let truth: Vec<f64> = trials.iter().flat_map(|trial| trial.truth.clone()).collect();
        assert_eq!(given.len(), truth.len());
        for (k, (x, y)) in given.iter().zip(&truth).enumerate() {
            assert!((x - y).abs() <= tolerance * (y.abs() + 1.0), "{real}, value {k}: {x} {y}");
        }
    }
}
