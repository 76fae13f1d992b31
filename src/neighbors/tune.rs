//! The skins that cost least, from what building, pruning and sweeping were seen to cost.

use super::{CLUSTER, Skins};

/// Steps between the skins that are tried, in units of the cutoff: coarse, so that one machine mostly finds the same.
const GRAIN: f64 = 0.02;

/// The widest skin tried.
const WIDEST: f64 = 0.8;

/// The part of a sweep's time that grows with its list: finding where the listed clusters are and which rows they meet. The
/// rest is for rows and clusters that come within the cutoff, however many are listed.
const LISTED: f64 = 0.25;

/// What lists cost, and how fast they age.
#[derive(Clone, Copy, Debug)]
pub struct Costs {
    /// Seconds for the domain and the outer list.
    pub build: f64,
    /// Seconds to prune the inner list.
    pub prune: f64,
    /// Seconds to sweep the list.
    pub sweep: f64,
    /// The skins that these were measured with.
    pub measured: Skins,
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
    /// What a list of this skin holds in units of one without: clusters whose boxes are within the radius, so that their
    /// number grows with the cube of the radius and the edge of a cluster.
    fn size(&self, skin: f64) -> f64 {
        let edge = (CLUSTER as f64 / self.number_density).cbrt();
        ((self.cutoff * (1.0 + skin) + edge) / (self.cutoff + edge)).powi(3)
    }

    /// Steps for which a skin lasts: until two of the fastest could have met across it.
    pub fn steps(&self, skin: f64) -> f64 {
        (0.5 * skin * self.cutoff / self.stride).floor().max(1.0)
    }

    /// Seconds to sweep a list of this skin.
    fn sweep(&self, skin: f64) -> f64 {
        let measured = self.size(self.measured.inner.unwrap_or(self.measured.outer));
        self.sweep * (1.0 + LISTED * (self.size(skin) / measured - 1.0))
    }

    /// Seconds per step with these skins.
    fn seconds(&self, skins: Skins) -> f64 {
        let outer = self.size(skins.outer) / self.size(self.measured.outer);
        let sweep = self.sweep(skins.inner.unwrap_or(skins.outer));
        // every build prunes too; while the inner list lasts, the outer one need not
        let prune = skins.inner.map_or(0.0, |inner| self.prune * outer / self.steps(inner));
        sweep + prune + self.build * outer / self.steps(skins.outer)
    }

    /// The skins that cost least.
    pub fn best(&self) -> Skins {
        let tried = |most: f64| (1..).map(|k| f64::from(k) * GRAIN).take_while(move |skin| *skin <= most);
        let mut best = Skins { outer: 0.0, inner: None };
        let mut least = f64::INFINITY;
        for outer in tried(self.widest.min(WIDEST)) {
            let inner = tried(outer - 0.5 * GRAIN).map(Some);
            for inner in std::iter::once(None).chain(inner) {
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
        cutoff: 2.5,
        number_density: 0.8442,
        stride: 0.016,
        widest: 1.0,
    };

    #[test]
    fn the_best_skins_cost_least_and_follow_the_costs() {
        let best = COSTS.best();
        for (outer, inner) in [(0.04, None), (0.2, None), (0.2, Some(0.06)), (0.4, Some(0.2))] {
            assert!(
                COSTS.seconds(best) <= COSTS.seconds(Skins { outer, inner }),
                "{best:?} {outer} {inner:?}"
            );
        }
        let dear = Costs { build: 100.0, ..COSTS }.best();
        assert!(dear.outer > best.outer, "{dear:?} {best:?}");
        let slow = Costs { stride: 0.001, ..COSTS }.best();
        assert!(slow.outer < best.outer, "{slow:?} {best:?}");
        let useless = Costs { prune: 1e3, ..COSTS }.best();
        assert_eq!(useless.inner, None);
        assert_eq!(Costs { widest: 0.0, ..COSTS }.best(), Skins { outer: 0.0, inner: None });
        assert!(Costs { widest: 0.1, ..COSTS }.best().outer <= 0.1);
    }

    #[test]
    fn sweeps_cost_what_was_measured_and_more_over_wider_lists() {
        assert_eq!(COSTS.sweep(0.06), 4.0);
        let wide = COSTS.sweep(0.4) / 4.0;
        assert!(wide > 1.0 && wide < COSTS.size(0.4) / COSTS.size(0.06), "{wide}");
        let single = Costs { measured: Skins { outer: 0.2, inner: None }, ..COSTS };
        assert_eq!(single.sweep(0.2), 4.0);
    }

    #[test]
    fn a_bad_clock_does_little_harm() {
        let best = COSTS.seconds(COSTS.best());
        for [build, prune, sweep] in [[1.3, 1.0, 1.0], [0.7, 1.3, 1.0], [1.0, 0.7, 1.3], [1.3, 1.3, 0.7]] {
            let seen = Costs {
                build: build * COSTS.build,
                prune: prune * COSTS.prune,
                sweep: sweep * COSTS.sweep,
                ..COSTS
            };
            let chosen = COSTS.seconds(seen.best());
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
