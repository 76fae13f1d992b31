//! Cost model that selects the skins from measured times of build, prune and sweep.

use super::Skins;
use crate::neighbors::{CLUSTER, TILE};

/// Resolution of the skin search, in units of the cutoff. Coarse, so that repeated runs on one machine mostly
/// select the same skins.
const SKIN_STEP: f64 = 0.02;

/// Upper bound of the search: wider skins save less than the memory of their lists is worth.
const MAX_SKIN: f64 = 0.6;

/// Fraction of a sweep's time that is proportional to the length of a cluster list: shifts and bounding-box
/// tests of the listed clusters. The rest is for clusters within the cutoff, whatever the skin.
const LIST_SHARE_OF_SWEEP: f64 = 0.25;

/// Fraction of a prune's time that is proportional to the length of the outer list: bounding boxes out of
/// range cost little compared with the particles of the others.
const LIST_SHARE_OF_PRUNE: f64 = 0.3;

/// Ratio of strides above which new skins may pay.
const STRIDE_TOLERANCE: f64 = 1.2;

/// Fraction of a step's time that new skins have to save.
const MIN_GAIN: f64 = 0.02;

/// How the time of a sweep grows with the skin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SweptPairs {
    /// Clusters: those out of range cost little.
    Clusters,
    /// Particles against four rows: as the list.
    Tiles,
    /// Particles against particles, or cells as wide as range and skin: as the volume within the radius.
    Particles,
    /// Cells of the present positions: not at all.
    InRange,
}

impl SweptPairs {
    const ALL: [Self; 4] = [Self::Clusters, Self::Tiles, Self::Particles, Self::InRange];
}

/// Measured costs of lists, and the speed that limits their lifetime.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Costs {
    /// Seconds per build: domain and outer list.
    pub build: f64,
    /// Seconds per prune of the inner list.
    pub prune: f64,
    /// Seconds per sweep.
    pub sweep: f64,
    /// Seconds per step that depend on no skin: on GPUs packing of rows, forces from sums.
    pub fixed: f64,
    /// Skins of the measurement.
    pub measured: Skins,
    /// What sweeps are over.
    pub swept: SweptPairs,
    /// Cutoff.
    pub cutoff: f64,
    /// Number density.
    pub number_density: f64,
    /// Displacement of the fastest particle in a step.
    pub stride: f64,
    /// Widest skin that fits the box.
    pub widest: f64,
}

impl Costs {
    /// The costs as name and value, for checkpoints.
    pub fn to_numbers(self) -> [(&'static str, f64); 10] {
        [
            ("list_build_seconds", self.build),
            ("list_prune_seconds", self.prune),
            ("list_sweep_seconds", self.sweep),
            ("list_fixed_seconds", self.fixed),
            ("list_measured_skin", self.measured.outer),
            ("list_measured_inner_skin", self.measured.inner.unwrap_or(0.0)),
            ("list_swept", self.swept as usize as f64),
            ("list_cutoff", self.cutoff),
            ("list_number_density", self.number_density),
            ("list_stride", self.stride),
        ]
    }

    /// Reads costs from named numbers. `None` if a number is missing or out of range. `widest` is the widest
    /// skin that fits the box.
    pub fn from_numbers(number: impl Fn(&str) -> Option<f64>, widest: f64) -> Option<Self> {
        let positive = |name: &str| number(name).filter(|number| *number > 0.0 && number.is_finite());
        let skin = |name: &str| number(name).filter(|skin| (0.0..=1.0).contains(skin));
        Some(Costs {
            build: positive("list_build_seconds")?,
            // without an inner list there is nothing to prune
            prune: number("list_prune_seconds").filter(|number| *number >= 0.0 && number.is_finite())?,
            sweep: positive("list_sweep_seconds")?,
            // checkpoints of earlier versions have none
            fixed: number("list_fixed_seconds").filter(|number| number.is_finite()).unwrap_or(0.0).max(0.0),
            measured: Skins {
                outer: skin("list_measured_skin")?,
                inner: Some(skin("list_measured_inner_skin")?).filter(|inner| *inner > 0.0),
            },
            swept: number("list_swept").and_then(|number| {
                SweptPairs::ALL.into_iter().find(|swept| *swept as usize as f64 == number)
            })?,
            cutoff: positive("list_cutoff")?,
            number_density: positive("list_number_density")?,
            stride: positive("list_stride")?,
            widest,
        })
    }

    /// Whether `skins` save enough compared with `present` to pay for new lists.
    pub fn pays_off(&self, skins: Skins, present: Skins) -> bool {
        self.seconds(skins) < (1.0 - MIN_GAIN) * self.seconds(present)
    }

    /// Whether `stride` is close to the measured one.
    pub fn same_speed(&self, stride: f64) -> bool {
        (self.stride / STRIDE_TOLERANCE..=self.stride * STRIDE_TOLERANCE).contains(&stride)
    }

    /// Relative length of a list for `rows` rows together, 1 without skin: the volume within the radius of
    /// their bounding cube, which grows with the cube of radius plus edge.
    fn size(&self, skin: f64, rows: usize) -> f64 {
        let edge = (rows as f64 / self.number_density).cbrt();
        ((self.cutoff * (1.0 + skin) + edge) / (self.cutoff + edge)).powi(3)
    }

    /// Lifetime of a skin in steps: until two of the fastest particles could have crossed it.
    pub fn steps(&self, skin: f64) -> f64 {
        (0.5 * skin * self.cutoff / self.stride).floor().max(1.0)
    }

    /// Lifetime of the outer list in steps. With an inner list it is checked whenever the inner skin is used
    /// up, and is pruned again while it covers the next inner list.
    pub fn rebuild_interval(&self, skins: Skins) -> f64 {
        match skins.inner {
            Some(inner) => {
                let (own, left) =
                    (self.steps(inner), 0.5 * (skins.outer - inner) * self.cutoff / self.stride);
                ((left.floor() / own).floor() + 1.0) * own
            }
            None => self.steps(skins.outer),
        }
    }

    /// Sweep time relative to one without skin.
    fn relative_sweep_cost(&self, skins: Skins) -> f64 {
        let swept = skins.inner.unwrap_or(skins.outer);
        match self.swept {
            SweptPairs::Clusters => 1.0 + LIST_SHARE_OF_SWEEP * (self.size(swept, CLUSTER) - 1.0),
            SweptPairs::Tiles => self.size(swept, TILE),
            SweptPairs::Particles => (1.0 + swept).powi(3),
            SweptPairs::InRange => 1.0,
        }
    }

    /// Time of a build relative to one without skin.
    fn build_growth(&self, skin: f64) -> f64 {
        match self.swept {
            SweptPairs::Clusters | SweptPairs::Tiles => self.size(skin, CLUSTER),
            SweptPairs::Particles => (1.0 + skin).powi(3),
            SweptPairs::InRange => 1.0,
        }
    }

    /// Predicted seconds per sweep.
    pub fn sweep_seconds(&self, skins: Skins) -> f64 {
        self.sweep * self.relative_sweep_cost(skins) / self.relative_sweep_cost(self.measured)
    }

    /// Predicted seconds per step: builds, prunes and sweeps of lists, and what depends on no skin.
    pub fn seconds(&self, skins: Skins) -> f64 {
        let outer = self.build_growth(skins.outer) / self.build_growth(self.measured.outer);
        // Every build prunes too.
        let prune_growth = 1.0 + LIST_SHARE_OF_PRUNE * (outer - 1.0);
        let prune = skins.inner.map_or(0.0, |inner| self.prune * prune_growth / self.steps(inner));
        self.fixed + self.sweep_seconds(skins) + prune + self.build * outer / self.rebuild_interval(skins)
    }

    /// Share of the builds in the predicted seconds.
    pub fn build_share(&self, skins: Skins) -> f64 {
        1.0 - ((self.fixed + self.sweep_seconds(skins)) / self.seconds(skins)).min(1.0)
    }

    /// The skins of the lowest predicted cost. `given` fixes the inner skin; 0 means none.
    pub fn best(&self, given: Option<f64>) -> Skins {
        let candidates =
            |most: f64| (1..).map(|k| f64::from(k) * SKIN_STEP).take_while(move |skin| *skin <= most);
        let mut best = Skins { outer: 0.0, inner: None };
        let mut least_seconds = f64::INFINITY;
        for outer in candidates(self.widest.min(MAX_SKIN)) {
            let inner = candidates(outer - 0.5 * SKIN_STEP).map(Some);
            let inner_skins = match given {
                Some(given) => vec![Some(given).filter(|given| (0.0..outer).contains(given) && *given > 0.0)],
                None => std::iter::once(None).chain(inner).collect(),
            };
            for inner in inner_skins {
                let skins = Skins { outer, inner };
                let seconds = self.seconds(skins);
                if seconds < least_seconds {
                    (best, least_seconds) = (skins, seconds);
                }
            }
        }
        best
    }
}

/// Expected maximum speed of `particles` particles in units of sqrt(k_B T / m): Maxwell's distribution has
/// one of them above it.
pub fn fastest(particles: u64) -> f64 {
    let count = particles.max(2) as f64;
    (0..20).fold(3.0f64, |speed, _| {
        let beyond = count * (2.0 / std::f64::consts::PI).sqrt() * speed;
        (2.0 * beyond.ln()).max(1.0).sqrt()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const COSTS: Costs = Costs {
        build: 10.0,
        prune: 1.0,
        sweep: 4.0,
        fixed: 0.0,
        measured: Skins { outer: 0.2, inner: Some(0.06) },
        swept: SweptPairs::Clusters,
        cutoff: 2.5,
        number_density: 0.8442,
        stride: 0.016,
        widest: 1.0,
    };

    #[test]
    fn the_best_skins_cost_least_and_follow_the_costs() {
        let best = COSTS.best(None);
        for (outer, inner) in [(0.04, None), (0.2, None), (0.2, Some(0.06)), (0.4, Some(0.2))] {
            assert!(
                COSTS.seconds(best) <= COSTS.seconds(Skins { outer, inner }),
                "{best:?} {outer} {inner:?}"
            );
        }
        let [cheap, dear] = [1.0, 100.0].map(|build| Costs { build, ..COSTS }.best(None));
        assert!(dear.outer > cheap.outer, "{dear:?} {cheap:?}");
        let slow = Costs { stride: 0.001, ..COSTS }.best(None);
        assert!(slow.outer < best.outer, "{slow:?} {best:?}");
        assert_eq!(COSTS.best(Some(0.0)).inner, None);
        assert_eq!(COSTS.best(Some(0.05)).inner, Some(0.05));
        let fixed = Costs { fixed: 100.0, ..COSTS };
        assert_eq!(fixed.best(None), best, "what depends on no skin chooses none");
        assert!((fixed.seconds(best) - COSTS.seconds(best) - 100.0).abs() < 1e-12);
        assert!(fixed.build_share(best) < COSTS.build_share(best));
        let useless = Costs { prune: 1e3, ..COSTS }.best(None);
        assert_eq!(useless.inner, None);
        assert_eq!(Costs { widest: 0.0, ..COSTS }.best(None), Skins { outer: 0.0, inner: None });
        assert!(Costs { widest: 0.1, ..COSTS }.best(None).outer <= 0.1);
    }

    #[test]
    fn numbers_keep_costs() {
        let lists = [
            (COSTS.measured, 1.0, SweptPairs::Tiles),
            (Skins { outer: 0.3, inner: None }, 0.0, SweptPairs::InRange),
        ];
        for (measured, prune, swept) in lists {
            let costs = Costs { measured, prune, swept, fixed: 2.5, ..COSTS };
            let numbers = costs.to_numbers();
            let number = |name: &str| numbers.iter().find(|(own, _)| *own == name).map(|(_, number)| *number);
            assert_eq!(Costs::from_numbers(number, costs.widest), Some(costs));
            // Any file content gives costs or none.
            for wrong in [None, Some(f64::NAN), Some(f64::INFINITY), Some(-1.0)] {
                let spoiled = |name: &str| if name == "list_stride" { wrong } else { number(name) };
                assert_eq!(Costs::from_numbers(spoiled, costs.widest), None, "{wrong:?}");
            }
        }
        assert!(COSTS.same_speed(1.1 * COSTS.stride) && COSTS.same_speed(0.9 * COSTS.stride));
        assert!(!COSTS.same_speed(1.3 * COSTS.stride) && !COSTS.same_speed(0.7 * COSTS.stride));
        assert!(COSTS.pays_off(COSTS.best(None), Skins { outer: 0.04, inner: None }));
        assert!(!COSTS.pays_off(COSTS.best(None), COSTS.best(None)));
    }

    #[test]
    fn an_outer_list_lasts_for_whole_inner_ones() {
        // A skin of 0.16 lasts 12 steps; the rest of the outer skin must last as long.
        for (outer, life) in [(0.22, 12.0), (0.3, 12.0), (0.32, 24.0), (0.5, 36.0)] {
            assert_eq!(COSTS.rebuild_interval(Skins { outer, inner: Some(0.16) }), life, "{outer}");
        }
        assert_eq!(COSTS.rebuild_interval(Skins { outer: 0.32, inner: None }), COSTS.steps(0.32));
    }

    #[test]
    fn sweeps_cost_what_was_measured_and_more_over_wider_lists() {
        for swept in [SweptPairs::Clusters, SweptPairs::Tiles] {
            let costs = Costs { swept, ..COSTS };
            assert_eq!(costs.sweep_seconds(costs.measured), 4.0);
            let wide = costs.sweep_seconds(Skins { outer: 0.5, inner: Some(0.4) }) / 4.0;
            let [first, last] = [0.06, 0.4].map(|skin| costs.size(skin, TILE));
            assert!(wide > 1.0 && wide < 1.01 * last / first, "{wide}");
        }
        let single = Skins { outer: 0.2, inner: None };
        assert_eq!(Costs { measured: single, ..COSTS }.sweep_seconds(single), 4.0);
        // Tiles pay for their occasional search.
        let tiles = Costs { swept: SweptPairs::Tiles, ..COSTS };
        assert!(tiles.best(None).inner.is_some(), "{:?}", tiles.best(None));
        assert!(tiles.sweep_seconds(single) > tiles.sweep_seconds(tiles.measured));
        // Lists of particles sweep what they list, cells of the present positions what is in range.
        let wide = Skins { outer: 0.5, inner: None };
        let [particles, cells] = [SweptPairs::Particles, SweptPairs::InRange].map(|swept| Costs {
            swept,
            measured: single,
            ..COSTS
        });
        assert!(
            (particles.sweep_seconds(wide) / particles.sweep_seconds(single) - (1.5f64 / 1.2).powi(3)).abs()
                < 1e-12
        );
        assert_eq!(cells.sweep_seconds(wide), 4.0);
        assert!(cells.build_share(wide) < cells.build_share(single));
    }

    #[test]
    fn a_bad_clock_does_little_harm() {
        let best = COSTS.seconds(COSTS.best(None));
        for [build, prune, sweep] in [[1.3, 1.0, 1.0], [0.7, 1.3, 1.0], [1.0, 0.7, 1.3], [1.3, 1.3, 0.7]] {
            let seen = Costs {
                build: build * COSTS.build,
                prune: prune * COSTS.prune,
                sweep: sweep * COSTS.sweep,
                ..COSTS
            };
            let cost = COSTS.seconds(seen.best(None));
            assert!(cost < 1.02 * best, "{cost} {best}");
        }
    }

    #[test]
    fn the_fastest_is_rarely_overtaken() {
        // One in n is above: tail of Maxwell's distribution in closed form.
        for count in [100u64, 32_000, 10_000_000] {
            let speed = fastest(count);
            let beyond =
                count as f64 * (2.0 / std::f64::consts::PI).sqrt() * speed * (-0.5 * speed * speed).exp();
            assert!((beyond - 1.0).abs() < 1e-6, "{count}: {beyond}");
        }
    }
}
