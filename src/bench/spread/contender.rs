//! What `bench spread` compares: processors, methods on a device, variants of their kernels; and the
//! comparisons of the figures of Guo et al. 2015.

use crate::device::mesh::{Method, Variant, Weights};

/// What has a row of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contender {
    /// The spreading and interpolation of runs on processors.
    Processors,
    /// A method on a device, and the variant of its kernels if it is not the usual one.
    Device(Method, Option<Variant>),
}

impl Contender {
    /// The name in tables.
    pub fn name(self) -> String {
        match self {
            Contender::Processors => "processors".into(),
            Contender::Device(method, None) => method.name().into(),
            Contender::Device(method, Some(variant)) => format!("{}, {}", method.name(), variant.name()),
        }
    }

    /// The name on the command line.
    fn option(self) -> String {
        self.name().replace(',', "").replace(' ', "-")
    }
}

/// Processors, and all methods without variants.
pub fn all() -> Vec<Contender> {
    let methods = Method::ALL.into_iter().map(|method| Contender::Device(method, None));
    std::iter::once(Contender::Processors).chain(methods).collect()
}

/// The contender of a name on the command line.
pub fn named(text: &str) -> Result<Contender, String> {
    let found = all().into_iter().find(|contender| contender.option() == text);
    let names = || all().into_iter().map(Contender::option).collect::<Vec<_>>();
    found.ok_or_else(|| format!("one of {}", names().join(", ")))
}

/// A figure of Guo et al. 2015.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Figure {
    /// Rows of stored matrices reduced by warp shuffles and through shared memory, 128 points
    #[value(name = "5")]
    Reduction,
    /// A thread per particle with atomic additions and, with wrong sums, without them, 64 points
    #[value(name = "6")]
    Atomics,
    /// A thread per particle and gathering, 64 points
    #[value(name = "7")]
    Gather,
    /// Spreading by all methods, and by processors, 128 points
    #[value(name = "8")]
    Spreading,
    /// Construction by the methods that have one, 128 points
    #[value(name = "9")]
    Construction,
}

impl Figure {
    /// The number in the paper.
    pub fn number(self) -> u64 {
        match self {
            Figure::Reduction => 5,
            Figure::Atomics => 6,
            Figure::Gather => 7,
            Figure::Spreading => 8,
            Figure::Construction => 9,
        }
    }

    /// Mesh points per dimension.
    pub fn points(self) -> u64 {
        match self {
            Figure::Atomics | Figure::Gather => 64,
            Figure::Reduction | Figure::Spreading | Figure::Construction => 128,
        }
    }

    /// What is compared.
    pub fn contenders(self) -> Vec<Contender> {
        let usual = |method| Contender::Device(method, None);
        match self {
            Figure::Reduction => {
                let matrices = [Method::SingleMesh, Method::GroupMesh, Method::HybridMesh];
                let both = |matrix: fn(Weights) -> Method| {
                    [Variant::Shuffles, Variant::SharedMemory]
                        .map(|variant| Contender::Device(matrix(Weights::Stored), Some(variant)))
                };
                matrices.into_iter().flat_map(both).collect()
            }
            Figure::Atomics => {
                vec![usual(Method::Particles), Contender::Device(Method::Particles, Some(Variant::NotAtomic))]
            }
            Figure::Gather => vec![usual(Method::Particles), usual(Method::Gather)],
            Figure::Spreading => all(),
            Figure::Construction => {
                let constructs = |method: &Method| *method != Method::Particles;
                Method::ALL.into_iter().filter(constructs).map(usual).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum as _;

    #[test]
    fn contenders_have_names_on_the_command_line() {
        for each in all() {
            assert_eq!(named(&each.option()), Ok(each));
        }
        assert_eq!(Contender::Device(Method::OrderedTiles, None).option(), "ordered-tiles");
        assert!(named("tile").unwrap_err().contains("processors, particles, gather, single-mesh,"));
    }

    #[test]
    fn figures_have_the_numbers_of_the_paper_and_rows_of_different_names() {
        for figure in Figure::value_variants() {
            let value = figure.to_possible_value().unwrap();
            assert_eq!(value.get_name(), figure.number().to_string());
            let names: Vec<String> = figure.contenders().into_iter().map(Contender::name).collect();
            let mut different = names.clone();
            different.sort();
            different.dedup();
            assert_eq!(different.len(), names.len(), "{names:?}");
            assert!(names.len() >= 2, "{names:?}");
        }
        let wrong = Figure::Atomics.contenders()[1].name();
        assert_eq!(wrong, "particles, not atomic: sums are wrong");
    }
}
