//! Every unit of kernels compiles for the GPUs that this program is for, in every variant that a run can ask for.
//!
//! CUDA's run-time compiler does it, which needs no GPU; `scripts/nvrtc` installs it. Without it the tests are
//! skipped, unless HILBRIUM_NVRTC is "required".

use crate::common::skip;
use hilbrium::device::driver::SourceUnit;
use hilbrium::device::pack::Shape;
use hilbrium::device::{Unit, mesh, nvrtc, particle_sweep, program};
use hilbrium::far::mesh::Window;
use hilbrium::far::mesh::window::ORDERS;
use hilbrium::laws::interaction::ExampleVisitor;
use hilbrium::laws::*;
use hilbrium::pair::language::{Cutoff, Kernel, PairLaw, Parity, Table};
use hilbrium::pair::{Energies, Forces, Precision, Together};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The GPU whose every variant is compiled: the one that figures are reported for.
const MAIN: &str = "sm_90";

/// Older and newer ones: what differs between architectures differs in all laws alike.
const OTHERS: [&str; 2] = ["sm_80", "sm_100"];

/// A unit, and whether it is compiled for all architectures.
type Variant = (Unit, bool);

/// Whether all combinations of laws, precisions, orders and lists are compiled (`make validate`): their parts
/// are compiled in any case.
fn all_combinations() -> bool {
    std::env::var("HILBRIUM_COMBINATIONS").is_ok_and(|value| value == "all")
}

const BOTH: [Precision; 2] = [Precision::Mixed, Precision::Double];

/// The units of a pass, as a sweep asks for them: packing, sweep and finish.
fn pass<L: PairLaw>(law: &L, precisions: &[Precision], everywhere: bool) -> Vec<Variant> {
    let mirrored = L::SUMS.iter().all(|sum| sum.parity != Parity::Neither);
    let mut variants = Vec::new();
    for &precision in precisions {
        let everywhere = everywhere && precision == Precision::Mixed;
        for symmetric in [false, true] {
            if symmetric && (!mirrored || L::CUTOFF == Cutoff::Own) {
                continue;
            }
            let shape = Shape::of::<L>(precision, symmetric);
            let number = shape.number();
            let sweep = shape.unit(law, "pair/sweep.cu", number);
            variants.push((sweep.clone().with("HILBRIUM_WARPS", 1), everywhere));
            if !symmetric {
                // as many warps as may share a super-cluster: their sums must fit into shared memory
                let warps = if precision == Precision::Mixed { 4 } else { 2 };
                variants.push((sweep.with("HILBRIUM_WARPS", warps), false));
                variants.push((shape.unit(law, "pair/pack.cu", number), everywhere));
                let of_particles = shape.unit(law, "pair/particle_sweep.cu", number);
                variants.push((of_particles.clone().with("HILBRIUM_ENTRIES", 96), everywhere));
                if everywhere || all_combinations() {
                    // as in runs: the kernel checks its shared memory
                    let sharers = particle_sweep::most_sharers(&shape);
                    let staged = particle_sweep::most_staged(&shape, 227 * 1024);
                    let shared = particle_sweep::shared_bytes(&shape, staged, sharers);
                    let most =
                        of_particles.with("HILBRIUM_ENTRIES", staged).with("HILBRIUM_SHARERS", sharers);
                    variants.push((most.with("HILBRIUM_SHARED", shared), false));
                }
                let finish = shape.unit(law, "pair/finish.cu", "double");
                variants.push((finish.with("HILBRIUM_SUM_REAL", number), everywhere));
            }
        }
    }
    variants
}

/// Forces, which every step needs, in both precisions; energies, in double precision only.
fn molecular<L: PairLaw>(law: L, everywhere: bool) -> Vec<Variant> {
    let mut variants = pass(&Forces(law), &BOTH, everywhere);
    variants.extend(pass(&Energies(law), &[Precision::Double], false));
    if everywhere || all_combinations() {
        variants
            .extend(BOTH.into_iter().flat_map(|precision| fused(&law, precision)).map(|unit| (unit, false)));
    }
    variants
}

/// The units of forces that contain the motion.
fn fused<L: PairLaw>(law: &L, precision: Precision) -> [Unit; 3] {
    let law = Forces(*law);
    let shape = |symmetric| Shape::of::<Forces<L>>(precision, symmetric);
    let finish = |symmetric| {
        let unit = shape(symmetric).unit(&law, "motion/finish_and_accelerate.cu", "double");
        unit.with("HILBRIUM_SUM_REAL", shape(symmetric).number())
    };
    let drift = shape(false).unit(&law, "motion/drift_and_pack.cu", shape(false).number());
    [drift, finish(false), finish(true)]
}

/// A law of molecules alone and with that of charges.
fn with_charges<L: PairLaw>(law: L) -> Vec<Variant> {
    let charges = coulomb::Law::reaction_field(138.9, 78.0, 2.5);
    let together = Together::new(law, charges, [2.5, 1.6]);
    if !all_combinations() {
        let mut variants = pass(&Forces(law), &[Precision::Mixed], false);
        variants.extend(pass(&Forces(together), &[Precision::Mixed], false));
        return variants;
    }
    let mut variants = molecular(law, false);
    variants.extend(molecular(together, false));
    variants
}

/// The passes of registered interactions, of each law once.
struct Examples<'a> {
    variants: &'a mut Vec<Variant>,
    compiled: Vec<&'static str>,
}

impl ExampleVisitor for Examples<'_> {
    fn visit<L: PairLaw>(&mut self, law: &L, _: &[[f64; 2]]) {
        if !self.compiled.contains(&L::NAME) {
            self.compiled.push(L::NAME);
            self.variants.extend(molecular(*law, true));
        } else if !law.device_definitions().is_empty() {
            // the same law with another formula, or with a table
            self.variants.extend(with_charges(*law));
        }
    }
}

fn passes() -> Vec<Variant> {
    let charges = coulomb::Law::reaction_field(138.9, 78.0, 2.5);
    let plain = lennard_jones::Law::shifted(1.3, 0.9, 2.5);
    let depth = Table::new(3, |a, b| 1.0 + (a * b) as f64).unwrap();
    let sigma6 = Table::new(3, |a, b| 0.5 + 0.1 * (a + b) as f64).unwrap();
    let mut variants = molecular(plain, true);
    variants.extend(molecular(charges, true));
    variants.extend(molecular(lennard_jones_coulomb::Law::new(plain, charges), false));
    variants.extend(molecular(lennard_jones_switched::Law::new(1.3, 0.9, 1.2, 2.5), false));
    variants.extend(with_charges(lennard_jones_mixed::Law::shifted(2.5)));
    variants.extend(with_charges(lennard_jones_mixed_switched::Law::new(1.2, 2.5)));
    variants.extend(with_charges(lennard_jones_table::Law::switched(depth, sigma6, 1.2, 2.5)));
    visit_examples(&mut Examples {
        variants: &mut variants,
        compiled: vec!["lennard_jones", "lennard_jones_switched"],
    });
    // of another kernel only the polynomial differs
    let other = Kernel::named("wendland-c6").unwrap();
    variants.extend(pass(&density::Law { kernel: other }, &BOTH, false));
    let kernel = Kernel::named("sinc-6").unwrap();
    variants.extend(pass(&density::Law { kernel }, &BOTH, true));
    variants.extend(pass(&number_density::Law { kernel }, &BOTH, false));
    variants.extend(pass(&volume_elements::Law { kernel }, &BOTH, true));
    let law = volume_estimate::Law {
        kernel,
        ideal: 1.0,
        sound_squared: 1.1,
        contrast_start: 0.1,
        contrast_slope: 10.0,
        offset_start: 0.1,
        offset_slope: 10.0,
        compression_start: 0.0,
        compression_slope: 0.5,
    };
    variants.extend(pass(&law, &BOTH, true));
    variants.extend(pass(&gradients::Law::new(kernel), &BOTH, true));
    variants.extend(pass(&divergence_gradient::Law { kernel }, &BOTH, true));
    let law =
        momentum_energy_standard::Law { kernel, beta: 2.0, conductivity: 0.5, switched_conductivity: 0.4 };
    variants.extend(pass(&law, &BOTH, false));
    let law = momentum_energy_volume::Law {
        kernel,
        beta: 2.0,
        conductivity: 0.5,
        switched_conductivity: 0.4,
        crossing_start: 0.1,
        crossing_slope: 10.0,
    };
    variants.extend(pass(&law, &BOTH, true));
    variants
}

/// The units of neighbor searches for a law.
fn search<L: PairLaw>(law: &L, everywhere: bool) -> Vec<Variant> {
    let mut variants = Vec::new();
    for precision in BOTH {
        let shape = Shape::of::<L>(precision, false);
        let everywhere = everywhere && precision == Precision::Mixed;
        for threads in [128, 384] {
            let unit = shape.unit(law, "search/two_level.cu", shape.number());
            variants.push((unit.with("HILBRIUM_SEARCH_THREADS", threads), everywhere));
        }
        for file in ["search/counting_grid.cu", "search/sorted_grid.cu"] {
            variants.push((shape.unit(law, file, shape.number()), everywhere));
        }
    }
    variants
}

/// Searches for laws of each cutoff, and for most and fewest inputs and sums.
fn searches() -> Vec<Variant> {
    let charges = coulomb::Law::reaction_field(138.9, 78.0, 2.5);
    let plain = lennard_jones::Law::shifted(1.3, 0.9, 2.5);
    let kernel = Kernel::named("sinc-6").unwrap();
    let momentum = momentum_energy_volume::Law {
        kernel,
        beta: 2.0,
        conductivity: 0.5,
        switched_conductivity: 0.4,
        crossing_start: 0.1,
        crossing_slope: 10.0,
    };
    let mut variants = search(&Forces(plain), true);
    variants.extend(search(&Energies(lennard_jones_coulomb::Law::new(plain, charges)), false));
    variants.extend(search(&density::Law { kernel }, false));
    variants.extend(search(&gradients::Law::new(kernel), false));
    variants.extend(search(&momentum, false));
    variants
}

fn gravity() -> Vec<Variant> {
    let mut variants = Vec::new();
    for (real, order) in ["float", "double"].into_iter().flat_map(|real| [2, 3].map(|order| (real, order))) {
        let unit = |file| Unit::new(file).with("HILBRIUM_REAL", real).with("HILBRIUM_ORDER", order);
        variants.push((unit("far/moments.cu"), true));
        for criterion in [0, 1] {
            variants.push((unit("far/cut.cu").with("HILBRIUM_CRITERION", criterion), criterion == 0));
        }
        for (softening, criterion) in [0, 1, 2].into_iter().flat_map(|s| [0, 1].map(|c| (s, c))) {
            let walk = unit("far/walk.cu")
                .with("HILBRIUM_SOFTENING", softening)
                .with("HILBRIUM_CRITERION", criterion);
            variants.push((walk.clone(), softening == 1 && criterion == 0));
            if softening == 1 || all_combinations() {
                let groups = unit("far/groups.cu")
                    .with("HILBRIUM_SOFTENING", softening)
                    .with("HILBRIUM_CRITERION", criterion);
                variants.push((groups, false));
            }
            if softening == 1 || all_combinations() {
                variants.push((walk.with("HILBRIUM_WARPS", 4), false));
            }
        }
    }
    variants
}

/// Units of meshes: all orders in both precisions for the methods that are chosen, some for the others.
fn meshes() -> Vec<Variant> {
    let mut variants = Vec::new();
    for real in ["float", "double"] {
        let waves =
            ["mesh/influence.cu", "mesh/slabs.cu"].map(|file| Unit::new(file).with("HILBRIUM_REAL", real));
        variants.extend(waves.map(|unit| (unit, real == "float")));
    }
    for (order, precision) in ORDERS.flat_map(|order| BOTH.map(|precision| (order, precision))) {
        let window = Window::b_spline(order);
        let everywhere = order == 6 && precision == Precision::Mixed;
        let unit = |file| mesh::unit(file, &window, precision);
        for file in ["mesh/particles.cu", "mesh/bins.cu", "mesh/tiles.cu", "mesh/occupied.cu"] {
            variants.push((unit(file), everywhere));
        }
        for (force, potential) in [(1, 1), (1, 0), (0, 1)] {
            let unit = unit("mesh/interpolate.cu")
                .with("HILBRIUM_FORCE", force)
                .with("HILBRIUM_POTENTIAL", potential);
            variants.push((unit, everywhere));
        }
        if ![6, 8].contains(&order) {
            continue;
        }
        variants.extend(["mesh/padded.cu", "mesh/gather.cu"].map(|file| (unit(file), everywhere)));
        let (name, value) = mesh::Variant::NotAtomic.definition();
        variants.push((unit("mesh/particles.cu").with(name, value), everywhere));
        for variant in [mesh::Variant::Shuffles, mesh::Variant::SharedMemory] {
            let (name, value) = variant.definition();
            let unit = |file| unit(file).with("HILBRIUM_STORED", 1).with(name, value);
            variants.extend(["mesh/group.cu", "mesh/hybrid.cu"].map(|file| (unit(file), everywhere)));
            let single = |lanes| unit("mesh/single.cu").with("HILBRIUM_LANES", lanes);
            variants.extend([1, 2, 16].map(|lanes| (single(lanes), everywhere && lanes == 16)));
        }
        for stored in [0, 1] {
            let unit = |file| unit(file).with("HILBRIUM_STORED", stored);
            variants.extend(["mesh/group.cu", "mesh/hybrid.cu"].map(|file| (unit(file), everywhere)));
            for lanes in [1, 2, 4, 8, 16] {
                let unit = unit("mesh/single.cu").with("HILBRIUM_LANES", lanes);
                variants.push((unit, everywhere && lanes == 16));
            }
        }
    }
    variants
}

/// Units of sweeps over cells: laws of all kinds of cutoffs, with few and with many prepared values.
fn cells() -> Vec<Variant> {
    fn law<L: PairLaw>(law: L, variants: &mut Vec<Variant>) {
        for precision in BOTH {
            let shape = Shape::of::<L>(precision, false);
            let unit = |file| shape.unit(&law, file, shape.number());
            for file in ["cells/particles.cu", "cells/cell.cu", "cells/sub_box.cu", "cells/pencil.cu"] {
                variants.push((unit(file), precision == Precision::Mixed));
                variants.push((unit(file).with("HILBRIUM_ALL_PAIRS", 1), false));
            }
            variants.push((unit("cells/pencil.cu").with("HILBRIUM_FROM_REGISTERS", 1), true));
        }
    }
    let mut variants = Vec::new();
    for real in ["float", "double"] {
        variants.push((Unit::new("cells/sort.cu").with("HILBRIUM_REAL", real), true));
    }
    for counted in [0, 1] {
        variants.push((Unit::new("cells/prefix.cu").with("HILBRIUM_COUNTED", counted), true));
    }
    let kernel = Kernel::named("sinc-6").unwrap();
    let charges = coulomb::Law::reaction_field(138.9, 78.0, 2.5);
    let salt = lennard_jones_coulomb::Law::new(lennard_jones::Law::shifted(1.3, 0.9, 2.5), charges);
    law(Forces(salt), &mut variants);
    law(density::Law { kernel }, &mut variants);
    law(gradients::Law::new(kernel), &mut variants);
    let momentum =
        momentum_energy_standard::Law { kernel, beta: 2.0, conductivity: 0.5, switched_conductivity: 0.4 };
    law(momentum, &mut variants);
    law(separation_sum::Law::new(1.0), &mut variants);
    law(softened_lennard_jones::Law::new(1.0, 1.0, 0.1), &mut variants);
    law(prolonged_lennard_jones::Law::new(1.0, 1.0, 0.1), &mut variants);
    variants
}

/// The files of units, below the folder of kernels.
fn files() -> BTreeSet<String> {
    fn below(folder: &Path, prefix: &str, found: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap()) {
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            match entry.path().is_dir() {
                true => below(&entry.path(), &format!("{name}/"), found),
                false if name.ends_with(".cu") => drop(found.insert(name)),
                false => {}
            }
        }
    }
    let mut found = BTreeSet::new();
    below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels"), "", &mut found);
    found
}

/// All variants: units that are not mentioned have one, without macros.
fn variants() -> Vec<Variant> {
    let mut variants = passes();
    variants.extend(searches());
    variants.extend(gravity());
    variants.extend(meshes());
    variants.extend(cells());
    for periodic in [0, 1] {
        for file in ["neighbors/build.cu", "neighbors/particle_list.cu"] {
            variants.push((Unit::new(file).with("HILBRIUM_PERIODIC", periodic), periodic == 1));
        }
    }
    for periodic in [0, 1] {
        let shared = Unit::new("neighbors/build.cu").with("HILBRIUM_PERIODIC", periodic);
        variants.push((shared.with("HILBRIUM_WARPS_OF_RECORD", 4), false));
    }
    let mentioned: BTreeSet<String> = variants.iter().map(|(unit, _)| unit.file.to_string()).collect();
    let files = files();
    assert!(mentioned.is_subset(&files), "no such units: {:?}", mentioned.difference(&files));
    variants.extend(files.difference(&mentioned).map(|file| (Unit::new(file.clone().leak()), true)));
    variants
}

fn compile(unit: &Unit, headers: &[(String, String)], architecture: &str) -> Result<usize, String> {
    let text = program::source(unit.file).ok_or(format!("{} is not part of the program", unit.file))?;
    let headers = [headers, unit.headers.as_slice()].concat();
    let source = SourceUnit { file: unit.file, text, headers: &headers, definitions: &unit.definitions };
    let code =
        nvrtc::compile(&source, architecture).map_err(|error| format!("{:?}: {error}", unit.definitions))?;
    // machine code is an ELF file
    match code.starts_with(b"\x7fELF") {
        true => Ok(code.len()),
        false => Err(format!("{unit:?} for {architecture} is no machine code")),
    }
}

/// Whether the compiler is there.
fn compiler() -> bool {
    match nvrtc::version() {
        Ok(version) => {
            println!("CUDA's run-time compiler {version:?}");
            true
        }
        Err(error) => {
            let required = std::env::var("HILBRIUM_NVRTC").is_ok_and(|value| value == "required");
            assert!(!required, "{error}");
            skip::skip(&error.to_string());
            false
        }
    }
}

#[test]
fn every_unit_compiles_in_every_variant() {
    if !compiler() {
        return;
    }
    let headers = program::headers();
    let mut jobs: Vec<(Unit, &str)> = Vec::new();
    for (unit, everywhere) in variants() {
        if everywhere {
            jobs.extend(OTHERS.map(|architecture| (unit.clone(), architecture)));
        }
        jobs.push((unit, MAIN));
    }
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let bytes = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((unit, architecture)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    match compile(unit, &headers, architecture) {
                        Ok(length) => drop(bytes.fetch_add(length, Ordering::Relaxed)),
                        Err(failure) => failures.lock().unwrap().push(failure),
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    println!("{} compiled, {} bytes of machine code", jobs.len() - failures.len(), bytes.into_inner());
    assert!(failures.is_empty(), "{} of {} fail:\n{}", failures.len(), jobs.len(), failures.join("\n\n"));
}

/// The compiler's complaints arrive, with the line that they are about.
#[test]
fn a_mistake_is_named() {
    if !compiler() {
        return;
    }
    let text = "#include \"../device.cuh\"\nextern \"C\" __global__ void wrong(int* x) {\n    x = FULL;\n}\n";
    let source = SourceUnit { file: "motion/wrong.cu", text, headers: &program::headers(), definitions: &[] };
    let error = nvrtc::compile(&source, MAIN).unwrap_err().to_string();
    assert!(error.contains("motion/wrong.cu(3)") && error.contains(MAIN), "{error}");
}
