//! Arguments of kernels/motion/finish_and_accelerate.cu.

use super::finish::FinishArguments;
use super::verlet::AccelerateArguments;

kernel_arguments! {
    unit "motion/finish_and_accelerate.cu";

    /// Forces from sums, accelerations and a half kick.
    pub struct FinishAndAccelerateArguments for finish_and_accelerate {
        /// Forces from sums.
        pub finish: FinishArguments,
        /// Accelerations and a half kick.
        pub accelerate: AccelerateArguments,
    }
}
