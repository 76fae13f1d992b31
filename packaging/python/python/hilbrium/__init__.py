"""Molecular dynamics and smoothed particle hydrodynamics along a Hilbert curve.

Start and step simulations (`Simulation`), read what runs have written (`read_snapshot`, `read_trajectory`,
`read_observables`, `read_table`), and use the program's interactions in ASE (`hilbrium.ase.Calculator`).
Particles are numpy arrays of doubles, a row each. Numbers are in the units of the deck or the file, whose
names the objects state. What goes wrong raises `Error`, which says what to do.
"""

from ._error import Error
from ._hilbrium import __version__, hdf5_version
from ._box import Box
from ._deck import check_deck, to_toml
from ._simulation import Particles, Simulation
from ._snapshot import Snapshot, read_snapshot
from ._table import Table, read_observables, read_table
from ._trajectory import Frame, Trajectory, read_trajectory

__all__ = [
    "Box",
    "Error",
    "Frame",
    "Particles",
    "Simulation",
    "Snapshot",
    "Table",
    "Trajectory",
    "__version__",
    "check_deck",
    "hdf5_version",
    "read_observables",
    "read_snapshot",
    "read_table",
    "read_trajectory",
    "to_toml",
]
