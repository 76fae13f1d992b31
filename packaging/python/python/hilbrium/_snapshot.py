"""Snapshots as arrays."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from . import _hilbrium
from ._box import Box
from ._error import Error, refusal
from ._names import PLURALS, field_of


@dataclass(frozen=True)
class Snapshot:
    """The particles of a snapshot in the order of the file, and what its header states.

    Quantities are attributes and items: `snapshot.positions`, `snapshot["densities"]`; see `names`. One that
    the file does not have raises AttributeError as an attribute, and `Error` as an item.

    Attributes:
        time: time, in the run's unit.
        step: number of steps; 0 in files of other programs.
        title: title of the run.
        box: the box. It is the one that the file states, or fitted around the particles (`box_stated`).
        ids: ids of the particles (N,), or row numbers.
        species: names of the species, indexed by `snapshot.species_numbers`.
        adiabatic_index: ratio of specific heats, or None.
        units_cgs: the units of mass, length and time in g, cm and s; 1 without physical units.
        deck: text of the deck, or "".
        left_out: particles of other types that are not read: (group, number) for each.
        notes: what reading has converted or left out, a sentence each.
    """

    time: float
    step: int
    title: str
    box: Box
    box_stated: bool
    ids: np.ndarray = field(repr=False)
    species: list[str]
    adiabatic_index: float | None
    units_cgs: tuple[float, float, float]
    deck: str = field(repr=False)
    left_out: list[tuple[str, int]]
    notes: list[str]
    _fields: dict[str, np.ndarray] = field(repr=False)
    _units: dict[str, str] = field(repr=False)

    def names(self) -> list[str]:
        """Returns the names of the quantities in the file."""
        return [PLURALS[name] for name in self._fields if name in PLURALS]

    def unit(self, name: str) -> str:
        """Returns the name of the unit of a quantity: "nm", "U_L^2 U_t^-2", "1" for numbers.

        U_M, U_L and U_t are the units of mass, length and time; `units_cgs` has their sizes.
        """
        self[name]
        return self._units[field_of(name)]

    @property
    def species_numbers(self) -> np.ndarray:
        """Numbers of the species of the particles (N,)."""
        return self["species"].astype(int)

    def __getitem__(self, name: str) -> np.ndarray:
        values = self._fields.get(field_of(name))
        if values is None:
            raise self._missing(name)
        return values

    def _missing(self, name: str) -> Error:
        return refusal(f"the snapshot has no {name}", f"take one of {', '.join(self.names())}", "content")

    def __getattr__(self, name: str) -> np.ndarray:
        if name.startswith("_") or name not in PLURALS.values():
            raise AttributeError(f"a snapshot has no attribute {name!r}")
        if (values := self._fields.get(field_of(name))) is None:
            raise AttributeError(str(self._missing(name)))
        return values

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.names()]

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def __contains__(self, name: object) -> bool:
        return name in self.names()


def read_snapshot(path: str | os.PathLike) -> Snapshot:
    """Reads a snapshot: of this program all quantities, of SWIFT, Gadget, GIZMO and Arepo the gas.

    Positions are those of the simulation (the file's are relative to the lower corner of the box). Numbers of
    other programs are converted to physical ones without factors of h; `notes` say so.

    Raises:
        Error: if the file cannot be read, is damaged, or is of another kind.
    """
    read = _hilbrium.read_snapshot(os.fspath(path))
    return Snapshot(
        time=read["time"],
        step=read["step"],
        title=read["title"],
        box=Box.of(read["box"]),
        box_stated=read["box_stated"],
        ids=read["ids"],
        species=read["species"],
        adiabatic_index=read["adiabatic_index"],
        units_cgs=tuple(read["units_cgs"]),
        deck=read["deck"],
        left_out=read["left_out"],
        notes=read["notes"],
        _fields=read["fields"],
        _units=read["units"],
    )
