//! What is current between steps: velocities, energies, halos, and the copy of a device's particles.

use super::Resident;

/// Times of velocities and positions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Velocities {
    /// Both belong to the same time.
    #[default]
    Synchronized,
    /// The second half kick of the last step, of this length, is pending.
    HalfKickPending(f64),
}

impl Velocities {
    /// Takes the length of the step whose half kick is pending; the caller applies the kick.
    pub(super) fn take_pending(&mut self) -> Option<f64> {
        match std::mem::take(self) {
            Velocities::Synchronized => None,
            Velocities::HalfKickPending(dt) => Some(dt),
        }
    }
}

/// Whether values belong to the current positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Freshness {
    /// They do.
    Current,
    /// The particles have moved since.
    Outdated,
}

/// What [`super::Simulation::sync`] has left to the force evaluation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Synced {
    /// The positions of the halos. If outdated, the pair sweep exchanges them.
    pub(super) halos: Freshness,
    /// Whether the passes measure the work per particle.
    pub(super) measures_work: bool,
}

/// Where the particles are.
pub(super) enum Residence {
    /// In the memory of the host.
    Host,
    /// On a device.
    Device {
        /// The particles, with their integrator.
        resident: Resident,
        /// The copy of the particles on the host.
        copy: Freshness,
    },
}

impl Residence {
    /// The particles on the device, if they are there.
    pub(super) fn resident(&self) -> Option<&Resident> {
        match self {
            Residence::Host => None,
            Residence::Device { resident, .. } => Some(resident),
        }
    }

    /// The particles on the device, to be changed: the copy on the host is outdated from now on.
    pub(super) fn change(&mut self) -> Option<&mut Resident> {
        match self {
            Residence::Host => None,
            Residence::Device { resident, copy } => {
                *copy = Freshness::Outdated;
                Some(resident)
            }
        }
    }

    /// The particles on the device, if the host has no current copy. Only derived fields may be changed.
    pub(super) fn ahead_of_host(&mut self) -> Option<&mut Resident> {
        match self {
            Residence::Device { resident, copy: Freshness::Outdated } => Some(resident),
            _ => None,
        }
    }

    /// The host has a current copy.
    pub(super) fn copied(&mut self) {
        if let Residence::Device { copy, .. } = self {
            *copy = Freshness::Current;
        }
    }
}
