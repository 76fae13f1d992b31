//! How pairs of particles are found, and the settings of it.

use super::{InteractionRange, Skins};
use crate::{Error, plan};

/// A method of finding the pairs within range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// Lists of clusters: super-clusters of 64 rows against clusters of 8.
    Clusters,
    /// Lists of the neighbors of each particle.
    Particles,
    /// Cells of a grid, at least as wide as the interaction range: pairs of neighboring cells.
    Cells,
    /// The two-level search without a list; on GPUs only.
    Search,
}

impl Method {
    /// All methods.
    pub const ALL: [Method; 4] = [Method::Clusters, Method::Particles, Method::Cells, Method::Search];

    /// The method of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.name() == name)
    }

    /// The method of a plan; `None` if the run chooses it.
    pub fn of(method: Option<plan::Method>) -> Option<Self> {
        Self::ALL.into_iter().find(|known| Some(known.of_plan()) == method)
    }

    /// The method of a plan, or the one that a run begins with.
    pub fn before_choice(method: Option<plan::Method>) -> Self {
        Self::of(method).unwrap_or(Method::Clusters)
    }

    /// The method as a plan has it.
    const fn of_plan(self) -> plan::Method {
        match self {
            Method::Clusters => plan::Method::Clusters,
            Method::Particles => plan::Method::Particles,
            Method::Cells => plan::Method::Cells,
            Method::Search => plan::Method::Search,
        }
    }

    /// Whether pairs are found once on processors, if a deck wants `symmetric`. By default with one cutoff:
    /// half lists pay where a pair costs less than finding it.
    pub fn usual_symmetry(self, symmetric: Option<bool>, reach: InteractionRange) -> bool {
        let by_default = matches!(reach, InteractionRange::Cutoff(_));
        self.is_list() && symmetric.unwrap_or(by_default)
    }

    /// Whether the method stores pairs.
    pub fn is_list(self) -> bool {
        matches!(self, Method::Clusters | Method::Particles)
    }

    /// Name in decks, tables and logs.
    pub fn name(self) -> &'static str {
        self.of_plan().name()
    }
}

/// How a run finds its pairs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NeighborSettings {
    /// The method.
    pub method: Method,
    /// Whether each pair is found once (half lists), not from both sides.
    pub symmetric: bool,
    /// Skins of lists; the outer one is that of halos in any case.
    pub skins: Skins,
}

impl NeighborSettings {
    /// How often a pair is found, for tables.
    pub fn pairs(&self) -> &'static str {
        if self.symmetric { "once" } else { "from both sides" }
    }
}

/// Settings that a run has chosen by measuring, and what they were chosen for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chosen {
    /// The settings.
    pub settings: NeighborSettings,
    /// Particles per volume of the box.
    pub number_density: f64,
    /// Displacement of the fastest particle in a step; 0 if unknown.
    pub stride: f64,
    /// Step that has built the list, unless the list before it was dropped.
    pub built_at_step: Option<u64>,
    /// Whether it was measured on a GPU.
    pub on_device: bool,
}

impl Chosen {
    /// The choice as name and value, for checkpoints.
    pub fn to_numbers(self) -> [(&'static str, f64); 7] {
        let NeighborSettings { method, symmetric, skins } = self.settings;
        [
            ("chosen_method", method as usize as f64),
            ("chosen_symmetric", f64::from(symmetric)),
            ("chosen_skin", skins.outer),
            ("chosen_inner_skin", skins.inner.unwrap_or(0.0)),
            ("chosen_number_density", self.number_density),
            ("chosen_stride", self.stride),
            ("chosen_on_device", f64::from(self.on_device)),
        ]
    }

    /// Reads a choice from named numbers. `None` if a number is missing or out of range.
    pub fn from_numbers(number: impl Fn(&str) -> Option<f64>) -> Option<Self> {
        let flag = |name: &str| number(name).filter(|flag| [0.0, 1.0].contains(flag)).map(|flag| flag > 0.0);
        let skin = |name: &str| number(name).filter(|skin| (0.0..=1.0).contains(skin));
        let finite = |name: &str| number(name).filter(|number| *number >= 0.0 && number.is_finite());
        let method = number("chosen_method")?;
        let method = Method::ALL.into_iter().find(|known| *known as usize as f64 == method)?;
        let symmetric = flag("chosen_symmetric").filter(|symmetric| !symmetric || method.is_list())?;
        let (outer, inner) = (skin("chosen_skin")?, skin("chosen_inner_skin")?);
        let skins = Skins { outer, inner: Some(inner).filter(|inner| *inner > 0.0) };
        Some(Chosen {
            settings: NeighborSettings { method, symmetric, skins },
            number_density: finite("chosen_number_density")?,
            stride: finite("chosen_stride")?,
            // a checkpoint drops the list
            built_at_step: None,
            on_device: flag("chosen_on_device")?,
        })
    }
}

/// The error for a search on processors.
pub(crate) fn search_needs_a_gpu() -> Error {
    Error::usage(
        "neighbors.method = \"search\" needs a GPU, and this run computes on processors",
        "write method = \"cells\" or \"clusters\", or run it where a GPU and its driver are",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_a_choice() {
        for (method, inner) in Method::ALL.into_iter().zip([None, Some(0.1), None, None]) {
            let settings =
                NeighborSettings { method, symmetric: inner.is_some(), skins: Skins { outer: 0.3, inner } };
            let chosen = Chosen {
                settings,
                number_density: 0.8,
                stride: 0.01,
                built_at_step: None,
                on_device: inner.is_none(),
            };
            // cells find each pair from both sides
            let halved = NeighborSettings { method: Method::Cells, symmetric: true, ..settings };
            let numbers = Chosen { settings: halved, ..chosen }.to_numbers();
            let number = |name: &str| numbers.iter().find(|(own, _)| *own == name).map(|(_, number)| *number);
            assert_eq!(Chosen::from_numbers(number), None);
            let numbers = chosen.to_numbers();
            let number = |name: &str| numbers.iter().find(|(own, _)| *own == name).map(|(_, number)| *number);
            assert_eq!(Chosen::from_numbers(number), Some(chosen));
            // Any file content gives a choice or none.
            for (spoiled, _) in numbers {
                for wrong in [None, Some(f64::NAN), Some(f64::INFINITY), Some(-1.0)] {
                    let number = |name: &str| if name == spoiled { wrong } else { number(name) };
                    assert_eq!(Chosen::from_numbers(number), None, "{spoiled} {wrong:?}");
                }
            }
        }
    }
}
