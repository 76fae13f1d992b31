//! Checks `[start.*]` and `[space]`, and the rules that join several sections.

use super::check::Deck;
use super::keys::{MAX_PARTICLES, section_at};
use super::mistake::Place;
use crate::cases::CaseReader;
use crate::neighborhood::SUPPORT_MARGIN;
use crate::plan::*;
use crate::space::Boundary;
use crate::units::Dimension;

/// Sections of the starts that are no [`AnyCase`].
const GENERAL: [&str; 5] =
    ["start.uniform-box", "start.lattice", "start.random", "start.radial-table", "start.file"];

/// Sections of all starts, in the order of messages: the case of the tutorial, boxes and files, other cases.
fn starts() -> impl Iterator<Item = &'static str> {
    let cases = || AnyCase::SECTIONS.iter().map(|section| section.path);
    cases().take(1).chain(GENERAL).chain(cases().skip(1))
}

/// Section of a case in a deck.
struct CaseSection<'d, 'r> {
    deck: &'d mut Deck<'r>,
    path: &'static str,
}

impl CaseReader for CaseSection<'_, '_> {
    fn integer(&mut self, key: &str) -> u64 {
        self.deck.integer(self.path, key)
    }

    fn number(&mut self, key: &str) -> f64 {
        self.deck.number(self.path, key)
    }

    fn numbers(&mut self, key: &str) -> [f64; 3] {
        self.deck.numbers(self.path, key)
    }

    fn choice(&mut self, key: &str) -> &'static str {
        self.deck.choice(self.path, key)
    }

    fn report(&mut self, keys: &[&str], message: String, help: String) {
        let place = keys.iter().find_map(|key| {
            let (section, key) = key.rsplit_once('.').unwrap_or((self.path, key));
            self.deck.place(section, key)
        });
        let place = place.or_else(|| self.deck.section(self.path));
        self.deck.report(place, message, help);
    }

    fn without_effect(&mut self, key: &str, why: &str) {
        self.deck.without_effect(self.path, key, why);
    }

    fn format_quantity(&self, value: f64, dimension: Dimension) -> String {
        self.deck.format_quantity(value, dimension)
    }
}

impl Deck<'_> {
    /// Returns the start of the only case; reports an error and returns `None` if there is no case or
    /// several. Particles of a caller take the place of a file.
    pub(super) fn start(&mut self, species: &[SpeciesPlan]) -> Option<StartPlan> {
        let cases: Vec<(&str, Place)> =
            starts().filter_map(|case| Some((case, self.section(case)?))).collect();
        match cases.as_slice() {
            [] if self.gives_particles() => Some(StartPlan::File(FileStart::new(GIVEN_PARTICLES.into()))),
            [(case, place), ..] if self.gives_particles() => {
                let message = format!("particles are given, and the deck has the start [{case}]");
                let help = "remove the start from the deck, or give no particles";
                self.report(Some(place.clone()), message, help);
                None
            }
            [(case, _)] => Some(self.case(case, species)),
            [] => {
                let names = starts().map(|case| format!("[{case}]")).collect::<Vec<_>>().join(", ");
                self.report(
                    self.section("start"),
                    "the deck has no start".into(),
                    format!("add one of {names}"),
                );
                None
            }
            [(first, _), .., (_, place)] => {
                let message = "the deck has more than one start".into();
                self.report(Some(place.clone()), message, format!("keep one; the other is [{first}]"));
                None
            }
        }
    }

    fn case(&mut self, case: &'static str, species: &[SpeciesPlan]) -> StartPlan {
        if let Some(case) = AnyCase::read(case, &mut CaseSection { deck: self, path: case }) {
            return StartPlan::Case(case);
        }
        let arrangement =
            |deck: &mut Self| deck.named(case, "arrangement", Arrangement::named, Arrangement::Glass);
        match case {
            "start.uniform-box" => StartPlan::UniformBox(UniformBoxStart {
                particles: self.integer(case, "particles"),
                lengths: self.numbers(case, "lengths"),
                density: self.density_of_start(case, species),
                internal_energy: self.number(case, "internal_energy"),
                temperature: self.number(case, "temperature"),
                arrangement: arrangement(self),
                seed: self.integer(case, "seed"),
            }),
            "start.lattice" => StartPlan::Lattice(self.lattice(species)),
            "start.random" => {
                let particles = self.integer(case, "particles");
                let (lengths, density) =
                    match self.volume_of_density(case, "lengths", species, particles as f64) {
                        Some((volume, density)) => ([volume.cbrt(); 3], density),
                        None => (self.numbers(case, "lengths"), self.density_of_start(case, species)),
                    };
                StartPlan::Random(RandomStart {
                    particles,
                    lengths,
                    density,
                    internal_energy: self.number(case, "internal_energy"),
                    temperature: self.number(case, "temperature"),
                    seed: self.integer(case, "seed"),
                })
            }
            "start.radial-table" => StartPlan::RadialTable(RadialTableStart {
                path: self.path_of_start(case),
                particles: self.integer(case, "particles"),
                arrangement: arrangement(self),
                seed: self.integer(case, "seed"),
                internal_energy: self.number(case, "internal_energy"),
            }),
            _ => {
                let path = self.path_of_start(case);
                self.file_start(path)
            }
        }
    }

    /// The largest noise of the start's glass.
    pub(super) fn noise(&mut self) -> Option<f64> {
        let has_noise = |path: &&str| section_at(path).is_some_and(|section| section.key("noise").is_some());
        let case = starts().filter(has_noise).find(|case| self.section(case).is_some())?;
        let arrangement = self.choice(case, "arrangement");
        if arrangement != Arrangement::Glass.name() {
            self.without_effect(case, "noise", &format!("arrangement = \"{arrangement}\""));
            return None;
        }
        self.optional_number(case, "noise")
    }

    /// For species, which have masses: the volume of `particles` particles at the `density` set instead of
    /// the lengths (or the spacing) `name`, and that density. `None` without species or density, or if `name`
    /// is set.
    fn volume_of_density(
        &mut self,
        case: &str,
        name: &str,
        species: &[SpeciesPlan],
        particles: f64,
    ) -> Option<(f64, f64)> {
        if species.is_empty() || self.place(case, "density").is_none() || self.place(case, name).is_some() {
            return None;
        }
        let density = self.number(case, "density");
        Some((Self::mean_mass(species, particles) * particles / density, density))
    }

    /// Returns the density, which sets particle masses; reports it as without effect if species set the
    /// masses.
    fn density_of_start(&mut self, case: &str, species: &[SpeciesPlan]) -> f64 {
        let density = self.number(case, "density");
        if !species.is_empty() {
            self.without_effect(case, "density", "the species, whose masses fill the given volume");
        }
        density
    }

    fn lattice(&mut self, species: &[SpeciesPlan]) -> LatticeStart {
        let case = "start.lattice";
        let kind = self.named(case, "kind", LatticeKind::named, LatticeKind::SimpleCubic);
        let cells = self.integers(case, "cells");
        let count = cells.iter().map(|&cells| cells as f64).product::<f64>();
        let particles = count * kind.particles_per_cell() as f64;
        let (spacing, density) = match self.volume_of_density(case, "spacing", species, particles) {
            Some((volume, density)) => {
                ((volume / (count * kind.edges().iter().product::<f64>())).cbrt(), density)
            }
            None => (self.number(case, "spacing"), self.density_of_start(case, species)),
        };
        let plan = LatticeStart {
            kind,
            cells,
            spacing,
            density,
            internal_energy: self.number(case, "internal_energy"),
            temperature: self.number(case, "temperature"),
            jitter: self.number(case, "jitter"),
            seed: self.integer(case, "seed"),
        };
        if particles > MAX_PARTICLES {
            let message = format!("these cells hold {particles:.1e} particles");
            self.report(self.place(case, "cells"), message, format!("at most {MAX_PARTICLES:.0e} particles"));
        }
        plan
    }

    pub(super) fn space(&mut self, start: Option<&StartPlan>) -> SpacePlan {
        let boundary = self.boundary();
        let own = start.and_then(corners_of_start);
        if let Some([lower, _]) = own {
            let why = if lower == [0.0; 3] {
                "the start, whose box goes from 0 to its lengths"
            } else {
                "the start, whose box is a cube about the origin"
            };
            for name in ["lower", "upper"] {
                self.without_effect("space", name, why);
            }
        }
        if own.is_some() {
            self.require_boundary();
        }
        let corners = own.or_else(|| self.corners());
        let periodic = boundary.is_some_and(|boundary| boundary.contains(&Boundary::Periodic));
        let place = self.place("space", "boundary");
        let partly = boundary.is_some_and(|boundary| boundary.contains(&Boundary::Open));
        if periodic && partly && self.section("gravity").is_some() {
            let message =
                "gravity needs a box that is periodic in all dimensions or in none: Fourier transforms of \
                           its long-range part need all"
                    .into();
            let help = "write boundary = \"periodic\" or boundary = \"open\", or remove [gravity]";
            self.report(place.clone(), message, help);
        }
        let file = matches!(start, Some(StartPlan::File(_)) | None);
        if periodic && corners.is_none() && !file {
            let message = "a periodic boundary needs a box, and this start has none".into();
            self.report(place.clone(), message, "give lower = [x, y, z] and upper = [x, y, z] in [space]");
        }
        SpacePlan { corners, boundary }
    }

    /// Reports a missing `boundary` of a box filled with molecules. A periodic box holds a liquid, an open
    /// one a cluster that evaporates: the deck must choose.
    fn require_boundary(&mut self) {
        if self.section("interaction").is_some() && self.place("space", "boundary").is_none() {
            let place = self.section("space").or_else(|| starts().find_map(|case| self.section(case)));
            let message = "`boundary` is missing in [space]: the start fills a box with molecules, and nothing says what \
                           is beyond its faces"
                .into();
            let help = "write boundary = \"periodic\" in [space] for a liquid, or boundary = \"open\" for a cluster in \
                        free space";
            self.report(place, message, help);
        }
    }

    fn corners(&mut self) -> Option<[[f64; 3]; 2]> {
        let places = [self.place("space", "lower"), self.place("space", "upper")];
        match &places {
            [None, None] => None,
            [Some(_), Some(_)] => {
                let lower = self.optional_numbers("space", "lower")?;
                let upper = self.optional_numbers("space", "upper")?;
                if let Some(d) = (0..3).find(|&d| lower[d] >= upper[d]) {
                    let message = format!(
                        "the box has no extent in {}: lower {} is not below upper {}",
                        ["x", "y", "z"][d],
                        self.format_quantity(lower[d], Dimension::Length),
                        self.format_quantity(upper[d], Dimension::Length)
                    );
                    self.report(places[1].clone(), message, "give lower < upper in every dimension");
                    return None;
                }
                Some([lower, upper])
            }
            [lower, upper] => {
                let missing = if lower.is_none() { "lower" } else { "upper" };
                let place = lower.clone().or(upper.clone());
                self.report(place, format!("`{missing}` is missing in [space]"), "a box has both corners");
                None
            }
        }
    }

    /// Checks the rules that join several sections.
    pub(super) fn check_consistency(&mut self, plan: &Plan) {
        let forces = plan.gravity.is_some() || plan.external.is_some();
        if plan.sph.is_none() && !forces && self.section("interaction").is_none() {
            let help =
                "add [sph], [gravity] or both, or an [interaction.LAW], or [external] for test particles";
            self.report(None, "the deck has no physics".into(), help);
        }
        self.check_external(plan);
        self.check_interaction(plan);
        self.check_measure(plan);
        self.check_species(plan);
        self.check_motion(plan);
        if let StartPlan::Case(case) = &plan.start {
            case.check(&plan.surroundings(), &mut CaseSection { deck: self, path: case.section().path });
        }
        self.require_step_limit(plan);
        if let (Some(sph), Some(particles)) = (&plan.sph, plan.particle_count()) {
            self.require_enough_particles(plan, sph, particles as f64);
        }
    }

    /// Reports a run whose time step nothing limits: for point masses without gas and softening there is no
    /// length scale from which the acceleration gives a step.
    fn require_step_limit(&mut self, plan: &Plan) {
        let limited = ["fixed", "largest"].iter().any(|name| self.place("time_step", name).is_some());
        // the check of an interaction requires a fixed step
        let forces =
            plan.gravity.is_some() || plan.external.is_some() && self.section("interaction").is_none();
        let unlimited = plan.sph.is_none() && plan.softening_length() == 0.0 && !limited;
        if self.advances(plan) && forces && unlimited {
            let keys =
                [("gravity", "softening"), ("external.point_mass", "softening"), ("external", "uniform")];
            self.report(
                keys.iter().find_map(|(section, key)| self.place(section, key)),
                "nothing limits the time step: there is no gas, and no softening length above 0".into(),
                "give `fixed` or `largest` in [time_step], or a softening length",
            );
        }
    }

    fn require_enough_particles(&mut self, plan: &Plan, sph: &SphPlan, particles: f64) {
        let counted =
            starts().find_map(|case| self.place(case, "particles").or_else(|| self.place(case, "cells")));
        // a wrong value has a placeholder here, about which nothing can be said
        if self.is_wrong(counted.as_ref()) || self.is_wrong(self.place("sph", "neighbors").as_ref()) {
            return;
        }
        if particles <= sph.neighbors {
            let message = format!(
                "{particles} particles cannot have the {} neighbors each that [sph] asks for",
                sph.neighbors
            );
            return self.report(counted, message, "use more particles, or fewer `neighbors` in [sph]");
        }
        let Some([lower, upper]) = plan.space.corners else { return };
        if corners_of_start(&plan.start).is_none() {
            return;
        }
        let boundary = plan.space.boundary_or_open();
        let lengths: [f64; 3] = std::array::from_fn(|d| upper[d] - lower[d]);
        let volume: f64 = lengths.iter().product();
        let support = (3.0 * sph.neighbors * volume / (4.0 * std::f64::consts::PI * particles)).cbrt();
        // search radius of the neighbor list: a run rejects a box narrower than two of them
        let radius = SUPPORT_MARGIN * (1.0 + plan.neighbors.min_skin()) * support;
        let tight = (0..3).find(|&d| boundary[d] == Boundary::Periodic && 2.0 * radius >= lengths[d]);
        if let Some(d) = tight {
            let message = format!(
                "the box is too small in {}: kernels of radius {support:.3} need an edge of {:.3}, not {}",
                ["x", "y", "z"][d],
                2.0 * radius,
                self.format_quantity(lengths[d], Dimension::Length)
            );
            let mut help = "use more particles, a wider box, or fewer `neighbors` in [sph]".to_string();
            if plan.neighbors.min_skin() > 0.0 {
                help += ", or less `skin` in [neighbors]";
            }
            self.report(counted, message, help);
        }
    }
}

/// Returns the lower and upper corner of the box that the start defines, if it defines one.
fn corners_of_start(start: &StartPlan) -> Option<[[f64; 3]; 2]> {
    match start {
        StartPlan::UniformBox(case) => Some([[0.0; 3], case.lengths]),
        StartPlan::Random(case) => Some([[0.0; 3], case.lengths]),
        StartPlan::Lattice(case) => {
            let edges = case.kind.edges();
            Some([[0.0; 3], std::array::from_fn(|d| case.cells[d] as f64 * edges[d] * case.spacing)])
        }
        StartPlan::Case(case) => case.corners(),
        StartPlan::RadialTable(_) | StartPlan::File(_) => None,
    }
}

impl Plan {
    /// Returns the number of particles that the start requests; `None` for a file.
    pub fn particle_count(&self) -> Option<u64> {
        match &self.start {
            StartPlan::UniformBox(case) => Some(case.particles),
            StartPlan::Random(case) => Some(case.particles),
            StartPlan::RadialTable(case) => Some(case.particles),
            StartPlan::Case(case) => Some(case.requested()),
            StartPlan::Lattice(case) => Some(
                case.cells
                    .iter()
                    .fold(case.kind.particles_per_cell(), |product, &cells| product.saturating_mul(cells)),
            ),
            StartPlan::File(_) => None,
        }
    }
}
