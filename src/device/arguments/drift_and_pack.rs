//! Arguments of kernels/motion/drift_and_pack.cu.

use super::pack::PackArguments;
use super::verlet::VerletKickAndDriftArguments;

kernel_arguments! {
    unit "motion/drift_and_pack.cu";

    /// Half kick, drift and packing of all rows.
    pub struct DriftAndPackArguments for drift_and_pack {
        /// Half kick and drift.
        pub drift: VerletKickAndDriftArguments,
        /// Packing.
        pub pack: PackArguments,
    }
}
