"""Tables of runs as arrays."""

from __future__ import annotations

import os

import numpy as np

from . import _hilbrium
from ._error import refusal


class Table(dict):
    """Columns of a table by name, each an array (rows,).

    Attributes:
        units: name of the unit of each column, "1" for numbers.
    """

    def __init__(self, columns: dict[str, np.ndarray], units: dict[str, str]) -> None:
        super().__init__(columns)
        self.units = units

    def __missing__(self, name: str) -> np.ndarray:
        raise refusal(f"the table has no column {name!r}", f"take one of {', '.join(self)}", "content")

    def structured(self) -> np.ndarray:
        """Returns the table as a structured array (rows,) with a field for each column."""
        rows = len(next(iter(self.values()), ()))
        array = np.empty(rows, dtype=[(name, np.float64) for name in self])
        for name, column in self.items():
            array[name] = column
        return array


def read_table(path: str | os.PathLike) -> Table:
    """Reads a table that a run has written: observables.csv, radial-distribution.csv, ...

    An incomplete last line, as of a run that goes on, is left out.

    Raises:
        Error: if the file cannot be read or is no such table.
    """
    names, units, columns = _hilbrium.read_table(os.fspath(path))
    return Table(dict(zip(names, columns)), dict(zip(names, units)))


def read_observables(path: str | os.PathLike) -> Table:
    """Reads the observables of a run: energies, momenta, temperature and more, a row for each output.

    Args:
        path: the output directory of the run, or its observables.csv.

    Raises:
        Error: if the file cannot be read or is no such table.
    """
    path = os.fspath(path)
    return read_table(os.path.join(path, "observables.csv") if os.path.isdir(path) else path)
