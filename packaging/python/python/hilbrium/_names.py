"""Names of particle quantities: the plural that Python uses, and the program's."""

from __future__ import annotations

from ._error import refusal

FIELDS = {
    "positions": "position",
    "velocities": "velocity",
    "masses": "mass",
    "charges": "charge",
    "species": "species",
    "smoothing_lengths": "smoothing_length",
    "internal_energies": "internal_energy",
    "densities": "density",
    "pressures": "pressure",
    "sound_speeds": "sound_speed",
    "viscosities": "viscosity",
    "velocity_divergences": "velocity_divergence",
    "velocity_curls": "velocity_curl",
    "internal_energy_rates": "internal_energy_rate",
    "accelerations": "acceleration",
    "pair_forces": "force",
    "pair_energies": "pair_energy",
    "virials": "virial",
    "potentials": "potential",
    "images": "image",
}
"""Name in the program by name in Python."""

PLURALS = {field: name for name, field in FIELDS.items()}
"""Name in Python by name in the program."""

MEANINGS = {
    "positions": "Positions (N, 3), inside periodic faces of the box.",
    "velocities": "Velocities (N, 3), of the time of the positions.",
    "masses": "Masses (N,).",
    "charges": "Charges (N,), in units of the charge for which Coulomb's constant is stated.",
    "species": "Numbers of the species (N,), as doubles; with several species.",
    "smoothing_lengths": "Smoothing lengths h of a gas (N,); kernels reach to 2h.",
    "internal_energies": "Specific internal energies of a gas (N,).",
    "densities": "Mass densities of a gas (N,).",
    "pressures": "Pressures of a gas (N,).",
    "sound_speeds": "Speeds of sound of a gas (N,).",
    "viscosities": "Coefficients of the artificial viscosity of a gas (N,).",
    "velocity_divergences": "Divergences of the velocity of a gas (N,).",
    "velocity_curls": "Magnitudes of the curl of the velocity of a gas (N,).",
    "internal_energy_rates": "Rates of the specific internal energies of a gas (N,).",
    "accelerations": "Accelerations by all forces (N, 3).",
    "pair_forces": "Forces of the pair interactions (N, 3), as trajectories have them.",
    "pair_energies": "Half the sum of the energies of each particle's pairs (N,).",
    "virials": "Half the sum of r . F of each particle's pairs (N,).",
    "potentials": "Gravitational potentials (N,).",
    "images": "Numbers of periods that each particle has crossed (N, 3), if the deck asks for them.",
}


def field_of(name: str) -> str:
    """Returns the program's name of a quantity.

    Raises:
        Error: if there is no quantity of this name.
    """
    if name in FIELDS:
        return FIELDS[name]
    if name in PLURALS:
        raise refusal(f"no quantity of particles is called {name!r}", f"write {PLURALS[name]!r}")
    raise refusal(f"no quantity of particles is called {name!r}", f"name one of {', '.join(FIELDS)}")
