//! The skins that cost least, from what building, pruning and sweeping were seen to cost.

use super::{CLUSTER, Skins, TILE};

/// Steps between the skins that are tried, in units of the cutoff: coarse, so that one machine mostly finds the same.
const GRAIN: f64 = 0.02;

/// The widest skin tried: wider ones save less than what their lists take of memory is worth.
const WIDEST: f64 = 0.6;

/// The part of a sweep's time that grows with a list of clusters: finding where the listed clusters are and which rows they meet.
/// The rest is for rows and clusters that come within the cutoff, however many are listed.
const LISTED: f64 = 0.25;

/// The part of the time to find an inner list that grows with the outer one: boxes out of reach cost little beside the particles of
/// the others.
const LOOKED_AT: f64 = 0.3;

/// Time of a sweep over clusters in units of one over tiles of the same skin, about.
const OVER_CLUSTERS: f64 = 1.5;

/// Particles slower or faster than others by this may be worth other skins.
const PACE: f64 = 1.2;

/// The part of a step's time that other skins have to save.
const WORTH: f64 = 0.02;

/// What lists cost, and how fast they age.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Costs {
    /// Seconds for the domain and the outer list.
    pub build: f64,
    /// Seconds to prune the inner list.
    pub prune: f64,
    /// Seconds to sweep the list.
    pub sweep: f64,
    /// The skins that these were measured with.
    pub measured: Skins,
    /// Whether the inner list is of tiles, not of clusters.
    pub tiled: bool,
    /// The cutoff.
    pub cutoff: f64,
    /// Particles per volume.
    pub number_density: f64,
    /// How far the fastest particle comes in a step.
    pub stride: f64,
    /// The widest skin that the box has room for.
    pub widest: f64,
}

impl Costs {
    /// The costs by name, as checkpoints keep them.
    pub fn to_numbers(self) -> [(&'static str, f64); 9] {
        [
            ("list_build_seconds", self.build),
            ("list_prune_seconds", self.prune),
            ("list_sweep_seconds", self.sweep),
            ("list_measured_skin", self.measured.outer),
            ("list_measured_inner_skin", self.measured.inner.unwrap_or(0.0)),
            ("list_tiled", f64::from(self.tiled)),
            ("list_cutoff", self.cutoff),
            ("list_number_density", self.number_density),
            ("list_stride", self.stride),
        ]
    }

    /// The costs that numbers have, if they have all of them and can be such, where skins may be so wide.
    pub fn from_numbers(number: impl Fn(&str) -> Option<f64>, widest: f64) -> Option<Self> {
        let positive = |name: &str| number(name).filter(|number| *number > 0.0 && number.is_finite());
        let skin = |name: &str| number(name).filter(|skin| (0.0..=1.0).contains(skin));
        Some(Costs {
            build: positive("list_build_seconds")?,
            prune: positive("list_prune_seconds")?,
            sweep: positive("list_sweep_seconds")?,
            measured: Skins {
                outer: skin("list_measured_skin")?,
                inner: Some(skin("list_measured_inner_skin")?).filter(|inner| *inner > 0.0),
            },
            tiled: number("list_tiled")? > 0.0,
            cutoff: positive("list_cutoff")?,
            number_density: positive("list_number_density")?,
            stride: positive("list_stride")?,
            widest,
        })
    }

    /// Whether skins save enough beside others to be worth new lists.
    pub fn worth(&self, skins: Skins, present: Skins) -> bool {
        self.seconds(skins) < (1.0 - WORTH) * self.seconds(present)
    }

    /// Whether particles that come so far in a step are as fast as those of these costs, about.
    pub fn as_fast_as(&self, stride: f64) -> bool {
        (self.stride / PACE..=self.stride * PACE).contains(&stride)
    }

    /// What a list of this skin holds for as many rows together, in units of one without skin: what is within the radius of
    /// their box, so that it grows with the cube of the radius and the edge of the box.
    fn size(&self, skin: f64, rows: usize) -> f64 {
        let edge = (rows as f64 / self.number_density).cbrt();
        ((self.cutoff * (1.0 + skin) + edge) / (self.cutoff + edge)).powi(3)
    }

    /// Steps for which a skin lasts: until two of the fastest could have met across it.
    pub fn steps(&self, skin: f64) -> f64 {
        (0.5 * skin * self.cutoff / self.stride).floor().max(1.0)
    }

    /// Steps for which the outer list of these skins lasts. With an inner one it is looked at when that is used up, and serves once more
    /// while it holds what the next inner one is to hold.
    pub fn life(&self, skins: Skins) -> f64 {
        match skins.inner {
            Some(inner) => {
                let (own, left) =
                    (self.steps(inner), 0.5 * (skins.outer - inner) * self.cutoff / self.stride);
                ((left.floor() / own).floor() + 1.0) * own
            }
            None => self.steps(skins.outer),
        }
    }

    /// A sweep with these skins, in units of one over clusters without skin.
    fn swept(&self, skins: Skins) -> f64 {
        match skins.inner {
            Some(inner) if self.tiled => self.size(inner, TILE) / OVER_CLUSTERS,
            inner => 1.0 + LISTED * (self.size(inner.unwrap_or(skins.outer), CLUSTER) - 1.0),
        }
    }

    /// Seconds to sweep the lists of these skins.
    fn sweep(&self, skins: Skins) -> f64 {
        self.sweep * self.swept(skins) / self.swept(self.measured)
    }

    /// Seconds per step with these skins.
    fn seconds(&self, skins: Skins) -> f64 {
        let outer = self.size(skins.outer, CLUSTER) / self.size(self.measured.outer, CLUSTER);
        // every build prunes too
        let looked_at = 1.0 + LOOKED_AT * (outer - 1.0);
        let prune = skins.inner.map_or(0.0, |inner| self.prune * looked_at / self.steps(inner));
        self.sweep(skins) + prune + self.build * outer / self.life(skins)
    }

    /// The skins that cost least, with an inner one that may be `given`; 0 is none.
    pub fn best(&self, given: Option<f64>) -> Skins {
        let tried = |most: f64| (1..).map(|k| f64::from(k) * GRAIN).take_while(move |skin| *skin <= most);
        let mut best = Skins { outer: 0.0, inner: None };
        let mut least = f64::INFINITY;
        for outer in tried(self.widest.min(WIDEST)) {
            let inner = tried(outer - 0.5 * GRAIN).map(Some);
            let chosen = match given {
                Some(given) => vec![Some(given).filter(|given| (0.0..outer).contains(given) && *given > 0.0)],
                None => std::iter::once(None).chain(inner).collect(),
            };
            for inner in chosen {
                let skins = Skins { outer, inner };
                let seconds = self.seconds(skins);
                if seconds < least {
                    (best, least) = (skins, seconds);
                }
            }
        }
        best
    }
}

/// The speed that the fastest of so many particles has, in units of sqrt(k_B T / m): where Maxwell's distribution leaves
/// one of them beyond.
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
        measured: Skins { outer: 0.2, inner: Some(0.06) },
        tiled: false,
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
        let useless = Costs { prune: 1e3, ..COSTS }.best(None);
        assert_eq!(useless.inner, None);
        assert_eq!(Costs { widest: 0.0, ..COSTS }.best(None), Skins { outer: 0.0, inner: None });
        assert!(Costs { widest: 0.1, ..COSTS }.best(None).outer <= 0.1);
    }

    #[test]
    fn numbers_keep_costs() {
        for measured in [COSTS.measured, Skins { outer: 0.3, inner: None }] {
            let costs = Costs { measured, tiled: true, ..COSTS };
            let numbers = costs.to_numbers();
            let number = |name: &str| numbers.iter().find(|(own, _)| *own == name).map(|(_, number)| *number);
            assert_eq!(Costs::from_numbers(number, costs.widest), Some(costs));
            // whatever a file says: costs or none
            for wrong in [None, Some(f64::NAN), Some(f64::INFINITY), Some(-1.0)] {
                let spoiled = |name: &str| if name == "list_stride" { wrong } else { number(name) };
                assert_eq!(Costs::from_numbers(spoiled, costs.widest), None, "{wrong:?}");
            }
        }
        assert!(COSTS.as_fast_as(1.1 * COSTS.stride) && COSTS.as_fast_as(0.9 * COSTS.stride));
        assert!(!COSTS.as_fast_as(1.3 * COSTS.stride) && !COSTS.as_fast_as(0.7 * COSTS.stride));
        assert!(COSTS.worth(COSTS.best(None), Skins { outer: 0.04, inner: None }));
        assert!(!COSTS.worth(COSTS.best(None), COSTS.best(None)));
    }

    #[test]
    fn an_outer_list_lasts_for_whole_inner_ones() {
        // a skin of 0.16 lasts for 12 steps; what it leaves of the outer one must last as long
        for (outer, life) in [(0.22, 12.0), (0.3, 12.0), (0.32, 24.0), (0.5, 36.0)] {
            assert_eq!(COSTS.life(Skins { outer, inner: Some(0.16) }), life, "{outer}");
        }
        assert_eq!(COSTS.life(Skins { outer: 0.32, inner: None }), COSTS.steps(0.32));
    }

    #[test]
    fn sweeps_cost_what_was_measured_and_more_over_wider_lists() {
        for tiled in [false, true] {
            let costs = Costs { tiled, ..COSTS };
            assert_eq!(costs.sweep(costs.measured), 4.0);
            let wide = costs.sweep(Skins { outer: 0.5, inner: Some(0.4) }) / 4.0;
            let [first, last] = [0.06, 0.4].map(|skin| costs.size(skin, TILE));
            assert!(wide > 1.0 && wide < 1.01 * last / first, "{wide}");
        }
        let single = Skins { outer: 0.2, inner: None };
        assert_eq!(Costs { measured: single, ..COSTS }.sweep(single), 4.0);
        // tiles are worth what it costs to find them now and then
        let tiles = Costs { tiled: true, ..COSTS };
        assert!(tiles.best(None).inner.is_some(), "{:?}", tiles.best(None));
        assert!(tiles.sweep(single) > tiles.sweep(tiles.measured));
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
            let chosen = COSTS.seconds(seen.best(None));
            assert!(chosen < 1.02 * best, "{chosen} {best}");
        }
    }

    #[test]
    fn the_fastest_is_rarely_overtaken() {
        // one in n beyond: erfc by the tail of Maxwell's distribution, in closed form
        for count in [100u64, 32_000, 10_000_000] {
            let speed = fastest(count);
            let beyond =
                count as f64 * (2.0 / std::f64::consts::PI).sqrt() * speed * (-0.5 * speed * speed).exp();
            assert!((beyond - 1.0).abs() < 1e-6, "{count}: {beyond}");
        }
    }
}
