"""The program's interactions as a calculator of ASE, the Atomic Simulation Environment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from ase import Atoms
from ase import units as ase_units
from ase.calculators.calculator import Calculator as AseCalculator
from ase.calculators.calculator import all_changes

from ._error import refusal
from ._simulation import Simulation

NANOMETRE = 10.0
"""A nanometre in angstrom."""

KILOJOULE_PER_MOLE = 1.0 / 96.48533212331002
"""A kJ/mol in eV, exact by the SI of 2019, as the program converts them."""


class Calculator(AseCalculator):
    """Energies and forces of a pair interaction, evaluated by hilbrium.

    Args:
        interaction: the sections below `interaction` of a deck:
            {"lennard-jones": {"epsilon": "119.8 K", "sigma": "3.405 angstrom", "cutoff": "8.5 angstrom"}}.
        species: sections below `species` by chemical symbol, for charges and the parameters of several kinds:
            {"Na": {"charge": "1 e"}, ...}. Symbols that are missing get a section with the mass of the atoms.
        units: "molecular", in which quantities are strings with units, or "reduced", in which the numbers of
            the interaction are in ASE's units, eV and angstrom.
        precision: "double", or "mixed" as runs have by default.
        deck: further sections of the deck, such as {"run": {"threads": 1}}.

    Results are `energy` and `free_energy` (eV, with the tail correction if the interaction has one),
    `energies` of the atoms (without it) and `forces` (eV/angstrom). There is no stress: the program computes
    the trace of the virial only. Cells must be orthogonal with axes along x, y and z; each dimension is
    periodic or open as `pbc` says.

    Example:
        >>> atoms.calc = hilbrium.ase.Calculator({"lennard-jones": {...}})
        >>> atoms.get_potential_energy()
    """

    implemented_properties = ["energy", "free_energy", "energies", "forces"]

    def __init__(
        self,
        interaction: Mapping[str, Any],
        species: Mapping[str, Any] | None = None,
        units: str = "molecular",
        precision: str = "double",
        deck: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        if units not in ("molecular", "reduced"):
            raise refusal(f"there are no {units!r} units", 'write "molecular" or "reduced"')
        self.interaction = dict(interaction)
        self.species = dict(species or {})
        self.units = units
        self.precision = precision
        self.deck = dict(deck or {})
        self.simulation: Simulation | None = None
        molecular = units == "molecular"
        self._length = NANOMETRE if molecular else 1.0
        self._energy = KILOJOULE_PER_MOLE * ase_units.eV if molecular else 1.0

    def calculate(
        self,
        atoms: Atoms | None = None,
        properties: list[str] | None = None,
        system_changes: list[str] = all_changes,
    ) -> None:
        """Evaluates energies and forces of the atoms. A change of positions alone keeps the simulation."""
        super().calculate(atoms, properties or ["energy"], system_changes)
        if self.simulation is None or set(system_changes) - {"positions"}:
            self.simulation = self._simulation(self.atoms)
        else:
            self.simulation.particles.positions = self.atoms.positions / self._length
        energy = self.simulation.energies["potential"] * self._energy
        self.results = {
            "energy": energy,
            "free_energy": energy,
            "energies": self.simulation.particles.pair_energies * self._energy,
            "forces": self.simulation.forces * (self._energy / self._length),
        }

    def _simulation(self, atoms: Atoms) -> Simulation:
        """Starts the simulation of these atoms at rest."""
        deck = {
            "units": {"system": self.units},
            "interaction": self.interaction,
            "species": self._species(atoms),
            "space": self._space(atoms),
            **{name: section for name, section in self.deck.items() if name not in ("run", "neighbors")},
            "run": {"precision": self.precision, "device": "cpu", **self.deck.get("run", {})},
            # positions change far at once: a margin of the lists serves nothing
            "neighbors": {"skin": 0.0, **self.deck.get("neighbors", {})},
        }
        deck.setdefault("time_step", {"fixed": 1e-3})
        return Simulation(
            deck,
            start={
                "positions": atoms.positions / self._length,
                "species": atoms.get_chemical_symbols(),
            },
        )

    def _species(self, atoms: Atoms) -> dict[str, dict[str, Any]]:
        sections: dict[str, dict[str, Any]] = {}
        for symbol, mass in zip(atoms.get_chemical_symbols(), atoms.get_masses()):
            if symbol not in sections:
                sections[symbol] = {"mass": float(mass), **self.species.get(symbol, {})}
        return sections

    def _space(self, atoms: Atoms) -> dict[str, Any]:
        cell = atoms.cell.array
        if np.any(cell != np.diag(np.diag(cell))):
            raise refusal("the cell is not orthogonal along x, y and z", "take such a cell", "content")
        lengths = np.diag(cell)
        if np.any(atoms.pbc & (lengths <= 0.0)):
            raise refusal("a periodic dimension has no cell", "set the cell, or pbc = False", "content")
        boundary = ["periodic" if periodic else "open" for periodic in atoms.pbc]
        space: dict[str, Any] = {"boundary": boundary}
        if atoms.pbc.any():
            # an open dimension follows the atoms, from an edge of any length
            edges = np.where(lengths > 0.0, lengths, max(lengths.max(), 1.0))
            space["lower"] = [0.0] * 3
            space["upper"] = (edges / self._length).tolist()
        return space
