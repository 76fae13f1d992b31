"""Trajectories as arrays."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from . import _hilbrium
from ._box import Box
from ._error import refusal
from ._names import PLURALS, field_of

OTHER_READERS = {
    ".xtc": "MDAnalysis.Universe('trajectory.psf', 'trajectory.xtc')",
    ".dcd": "MDAnalysis.Universe('trajectory.psf', 'trajectory.dcd')",
    ".lammpstrj": "MDAnalysis.Universe(path, format='LAMMPSDUMP')",
    ".xyz": "ase.io.read(path, index=':')",
    ".extxyz": "ase.io.read(path, index=':')",
}
"""How other packages read the formats that this one does not, by the ending of the name."""


@dataclass(frozen=True)
class Frame:
    """A frame of a trajectory, particles in the order of ascending ids.

    Quantities are attributes and items: `frame.positions`, `frame["velocities"]`.

    Attributes:
        step: number of steps.
        time: time.
        box_lengths: edges of the box (3,).
    """

    step: int
    time: float
    box_lengths: np.ndarray
    _fields: dict[str, np.ndarray] = field(repr=False)

    def names(self) -> list[str]:
        """Returns the names of the quantities."""
        return list(self._fields)

    def __getitem__(self, name: str) -> np.ndarray:
        field_of(name)
        if name not in self._fields:
            raise refusal(f"the frame has no {name}", f"take one of {', '.join(self._fields)}", "content")
        return self._fields[name]

    def __getattr__(self, name: str) -> np.ndarray:
        if name.startswith("_") or name not in self._fields:
            raise AttributeError(f"the frame has no attribute {name!r}")
        return self._fields[name]


class Trajectory:
    """An H5MD trajectory: a sequence of frames, which are read when they are asked for.

    Attributes:
        title: title of the run.
        steps: step of each frame (T,).
        times: time of each frame (T,).
        box_lengths: edges of the box of each frame (T, 3).
        periodic: whether each dimension is periodic.
        ids: ids of the particles (N,), ascending: their order in all frames.
        species: names of the species, indexed by `constant("species")`; empty with one kind of particles.
    """

    def __init__(self, path: str | os.PathLike) -> None:
        self._file = _hilbrium.Trajectory(os.fspath(path))
        self.title: str = self._file.title
        self.steps: np.ndarray = self._file.steps
        self.times: np.ndarray = self._file.times
        self.box_lengths: np.ndarray = self._file.edges
        self.periodic: tuple[bool, bool, bool] = tuple(self._file.periodic)
        self.ids: np.ndarray = self._file.ids
        self.species: list[str] = self._file.species
        self._varying = [PLURALS[name] for name, varies, _ in self._file.fields if varies]
        self._constant = [PLURALS[name] for name, varies, _ in self._file.fields if not varies]
        self._units = {PLURALS[name]: unit for name, _, unit in self._file.fields}

    def names(self) -> list[str]:
        """Returns the names of the quantities of frames."""
        return list(self._varying)

    def constants(self) -> list[str]:
        """Returns the names of the quantities that all frames share."""
        return list(self._constant)

    def unit(self, name: str) -> str:
        """Returns the unit of a quantity as the file states it; "" in reduced units."""
        if name not in self._units:
            raise refusal(f"the trajectory has no {name}", f"take one of {', '.join(self._units)}", "content")
        return self._units[name]

    def constant(self, name: str) -> np.ndarray:
        """Returns a quantity that all frames share, such as "masses" (N,)."""
        return self._read(name, 0, self._constant)

    def series(self, name: str, frames: slice = slice(None)) -> np.ndarray:
        """Returns a quantity of several frames: `series("positions", slice(0, None, 10))` is (T, N, 3)."""
        numbers = range(*frames.indices(len(self)))
        if not numbers:
            raise refusal("no frame is selected", f"select some of the {len(self)} frames")
        return np.stack([self._read(name, number, self._varying) for number in numbers])

    def box(self, frame: int) -> Box:
        """Returns the box of a frame, with its lower corner at the origin: the file does not state it."""
        return Box(np.zeros(3), self.box_lengths[frame].copy(), self.periodic)

    def _read(self, name: str, frame: int, names: list[str]) -> np.ndarray:
        field = field_of(name)
        if name not in names:
            raise refusal(f"the trajectory has no such {name}", f"take one of {', '.join(names)}", "content")
        return self._file.read(field, frame)

    def __getitem__(self, frame: int) -> Frame:
        number = frame + len(self) if frame < 0 else frame
        if not 0 <= number < len(self):
            raise IndexError(f"frame {frame} of {len(self)}")
        fields = {name: self._read(name, number, self._varying) for name in self._varying}
        step, time = int(self.steps[number]), float(self.times[number])
        return Frame(step, time, self.box_lengths[number].copy(), fields)

    def __len__(self) -> int:
        return len(self.steps)

    def __iter__(self) -> Iterator[Frame]:
        return (self[frame] for frame in range(len(self)))

    def __repr__(self) -> str:
        return f"<hilbrium.Trajectory: {len(self)} frames of {len(self.ids)} particles>"


def read_trajectory(path: str | os.PathLike) -> Trajectory:
    """Opens an H5MD trajectory of this program.

    Args:
        path: the file, or the output directory of a run.

    Raises:
        Error: if it cannot be read, is of another format (the message names a reader), or damaged.
    """
    path = os.fspath(path)
    if os.path.isdir(path):
        endings = [".h5md", *OTHER_READERS]
        paths = [os.path.join(path, f"trajectory{ending}") for ending in endings]
        path = next(filter(os.path.exists, paths), paths[0])
    ending = os.path.splitext(path)[1].lower()
    if ending in OTHER_READERS:
        remedy = f'read it with {OTHER_READERS[ending]}, or write format = "h5md" in [output.trajectory]'
        raise refusal(f"{path} is no H5MD trajectory, the format that is read here", remedy, "content")
    return Trajectory(path)
