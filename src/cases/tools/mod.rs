//! Tools that cases share: keys, checks and verdicts, profiles and norms, pictures.

pub mod history;
pub mod kepler;
pub mod keys;
pub mod lagrange;
pub mod lane_emden;
pub mod larson_penston;
pub mod ode;
pub mod pictures;
pub mod plane_wave;
pub mod profile;
pub mod radial;
pub mod riemann;
pub mod sedov;
pub mod subject;
#[cfg(test)]
pub mod testing;
pub mod verdict;
