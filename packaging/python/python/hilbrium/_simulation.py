"""Simulations that Python starts and advances."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from . import _hilbrium
from ._arrays import all_flat, flat
from ._box import Box
from ._deck import Deck, text_of
from ._error import Error, refusal
from ._names import FIELDS, MEANINGS, PLURALS, field_of

Start = Mapping[str, Any]
"""Values of particles by name: "positions", and any of "velocities", "masses", "species", "ids", ..."""


class Simulation:
    """A simulation of this process, without MPI.

    Args:
        deck: the settings, as a dictionary or the path of a TOML file: the same keys, checks and messages as
            of `hilbrium run`. Without `steps` and `end_time` in "run", a dictionary gets `steps = 0`: such a
            deck too must have what steps need, such as `fixed` in "time_step" for molecules.
        start: where the particles come from, if the deck has no start. A dictionary of arrays with N rows:
            "positions" (N, 3) and optionally "velocities" (N, 3), "masses" (N,), "charges" (N,), "species" (N
            names of the deck's species), "internal_energies" (N,), "smoothing_lengths" (N,), "ids" (N,); in
            the deck's units. `notes` name arrays that the deck does not use. Or the path of a file, as `path` in
            [start.file]. The box is that of [space].
        overrides: options "section.key=value" that take precedence over the deck.

    The constructor does all that precedes the first step of a run, the first forces included. Sums depend on
    the number of threads (`run.threads` of the deck), as in a run.

    Example:
        >>> simulation = hilbrium.Simulation("inputs/lj-fluid.toml")
        >>> simulation.step(100)
        >>> simulation.particles.positions.shape
        (4000, 3)

    Raises:
        Error: for mistakes in the deck, files or values that cannot be used, a device that cannot be used.
    """

    def __init__(
        self,
        deck: Deck | str | os.PathLike,
        start: Start | str | os.PathLike | None = None,
        overrides: Sequence[str] = (),
    ) -> None:
        overrides = [str(option) for option in overrides]
        if start is None and not isinstance(deck, Mapping):
            self._session = _hilbrium.Session.of_file(os.fspath(deck), overrides)
        elif start is None or isinstance(start, Mapping):
            text, name = text_of(deck, overrides)
            if start is None:
                self._session = _hilbrium.Session.of_text(text, name, overrides)
            else:
                species, ids, values = _given(start)
                self._session = _hilbrium.Session.of_particles(text, name, overrides, species, ids, values)
        else:
            text, name = text_of(deck, overrides)
            overrides.append(f"start.file.path={os.fspath(start)}")
            self._session = _hilbrium.Session.of_text(text, name, overrides)
        self.particles = Particles(self._session)

    def step(self, n: int = 1) -> int:
        """Performs `n` time steps and writes nothing; returns the number of steps done since the start.

        Steps go on beyond the end that the deck states. They are the steps of a run: they end at the times of
        the deck's outputs, and reach the same bits (not with outputs by wall time, nor with a skin that the
        program tunes by timing: give `skin` in "neighbors"). Other threads of Python run meanwhile. An
        interrupt (Ctrl-C) ends the call after the step in progress.

        Raises:
            Error: if a step fails; the particles are then those before it.
            KeyboardInterrupt: after an interrupt.
        """
        if n < 0:
            raise refusal(f"there is no way back: {n} steps", "give a number of steps that is not negative")
        self._session.advance(n)
        return self.step_number

    def run(self) -> None:
        """Runs to the end of the deck, and writes its outputs as `hilbrium run` does.

        All files go to `output.directory` of the deck; the first outputs are those of the present state.
        Nothing is printed: `hilbrium watch` shows the run.

        Raises:
            Error: if the directory has files of another run and `output.overwrite` is not set; if a file
                cannot be written or a step fails.
            KeyboardInterrupt: after an interrupt, which stops the run after its step and a checkpoint.
        """
        self._session.run()

    @property
    def time(self) -> float:
        """Time, in the deck's unit."""
        return self._session.time

    @property
    def step_number(self) -> int:
        """Number of steps done."""
        return self._session.step

    @property
    def next_time_step(self) -> float:
        """Length of the next step as its criteria limit it; an output or the end may shorten it."""
        return self._session.next_step

    @property
    def is_done(self) -> bool:
        """Whether the end that the deck states is reached."""
        return self._session.is_done

    @property
    def energies(self) -> dict[str, float]:
        """Energies of all particles, in the deck's unit.

        Keys: "kinetic"; "thermal" (sum of m u); "potential", of which "pair" (the interaction, without the
        tail correction) and "gravity" are parts; "external"; "total"; "heat" of a thermostat and "conserved"
        (the total without it); of molecules also "temperature" and "pressure" (NaN unless all faces are
        periodic). Those that the deck does not have are missing.
        """
        return self._session.energies()

    @property
    def forces(self) -> np.ndarray:
        """Forces (N, 3): those of the pairs if there are no others, else mass times acceleration."""
        energies = self._session.energies()
        if "pair" in energies and "gravity" not in energies and "external" not in energies:
            return self.particles.pair_forces
        return self.particles.masses[:, None] * self.accelerations

    @property
    def accelerations(self) -> np.ndarray:
        """Accelerations by all forces (N, 3)."""
        return self.particles.accelerations

    @property
    def box(self) -> Box:
        """The box; the faces of open dimensions follow the particles."""
        return Box.of(self._session.box)

    @property
    def species(self) -> list[str]:
        """Names of the species, indexed by `particles.species`; empty without species."""
        return self._session.species

    @property
    def device(self) -> str | None:
        """Name of the GPU on which the particles live; None on processors."""
        return self._session.device

    @property
    def notes(self) -> list[str]:
        """What the program notes at the start of a run."""
        return self._session.notes

    @property
    def deck(self) -> str:
        """The deck as TOML, with all defaults."""
        return self._session.deck

    def unit(self, mass: int = 0, length: int = 0, time: int = 0) -> str:
        """Returns the name of the unit with these exponents: `unit(1, 2, -2)` of energies is "kJ mol^-1"."""
        return self._session.unit([mass, length, time])

    def __repr__(self) -> str:
        count, step, time = len(self.particles), self.step_number, self.time
        return f"<hilbrium.Simulation of {count} particles, step {step}, t = {time:g}>"


class Particles:
    """The particles of a simulation, in the order of ascending ids.

    Attributes are arrays of doubles with a row for each particle. Reading one copies it; changing the copy
    changes nothing. One that the particles do not have now raises AttributeError, as an item `Error`.
    Assigning an array sets the quantity and evaluates the forces; `set` does so for several at once.
    Positions, velocities, masses, charges, and internal energies, smoothing lengths and viscosities of a gas
    can be set, as far as the deck has them. Positions beyond periodic faces are wrapped.
    """

    def __init__(self, session: _hilbrium.Session) -> None:
        self._session = session

    @property
    def ids(self) -> np.ndarray:
        """Ids (N,), ascending."""
        return self._session.ids()

    def set(self, **values: Any) -> None:
        """Sets several quantities at once, and evaluates the forces: `set(positions=x, velocities=v)`.

        One number stands for all particles.

        Raises:
            Error: for a quantity that cannot be set, an array of another shape, or values that are not finite
                or out of range: nothing is set then. Also if the forces at the new positions fail.
        """
        self._session.set(all_flat(values, len(self)))

    def names(self) -> list[str]:
        """Returns the names of the quantities that the particles have now."""
        return [PLURALS[field] for field in self._session.fields() if field in PLURALS]

    def settable(self) -> list[str]:
        """Returns the names of the quantities that can be set."""
        return [PLURALS[field] for field in self._session.settable()]

    def unit(self, name: str) -> str:
        """Returns the name of the unit of a quantity, "1" for numbers: `unit("velocities")` is "nm ps^-1"."""
        return self._session.unit_of(field_of(name))

    def __getitem__(self, name: str) -> np.ndarray:
        values = self._session.values(field_of(name))
        if values is None:
            raise self._missing(name)
        return values

    def _missing(self, name: str) -> Error:
        return refusal(f"the particles have no {name} now", f"take one of {', '.join(self.names())}")

    def __setitem__(self, name: str, values: Any) -> None:
        self._session.set([flat(name, values, len(self))])

    def __len__(self) -> int:
        return len(self._session.ids())

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def __contains__(self, name: object) -> bool:
        return name in self.names()

    def __repr__(self) -> str:
        return f"<hilbrium.Particles: {len(self)} with {', '.join(self.names())}>"


def _quantity(name: str) -> property:
    def values(particles: Particles) -> np.ndarray:
        found = particles._session.values(FIELDS[name])
        if found is None:
            raise AttributeError(str(particles._missing(name)))
        return found

    def assign(particles: Particles, array: Any) -> None:
        particles[name] = array

    return property(values, assign, doc=MEANINGS[name])


for _name in FIELDS:
    setattr(Particles, _name, _quantity(_name))


def _given(start: Start) -> tuple[list[str], list[int] | None, list[tuple[str, np.ndarray]]]:
    """Returns names of the species, ids, and values of given particles."""
    if "positions" not in start:
        raise refusal("the start has no positions", 'give an array "positions" of shape (N, 3)', "content")
    _, positions = flat("positions", start["positions"], None)
    count = len(positions) // 3
    values = {name: array for name, array in start.items() if name not in ("ids", "species")}
    ids = None if (given := start.get("ids")) is None else _ids(given, count)
    names: list[str] = []
    if (species := start.get("species")) is not None:
        species = [species] * count if isinstance(species, str) else [str(name) for name in species]
        names, numbers = np.unique(species, return_inverse=True)
        names, values["species"] = [str(name) for name in names], numbers
    return names, ids, all_flat(values, count)


def _ids(given: Any, count: int) -> list[int]:
    """Returns given ids.

    Raises:
        Error: unless they are `count` integers that are not negative.
    """
    remedy = f"give {count} integers that are not negative"
    try:
        ids = np.asarray(given)
    except ValueError as cause:
        raise refusal(f"ids are no array: {cause}", remedy, "content") from cause
    if count == 0 and ids.size == 0:
        return []
    if not np.issubdtype(ids.dtype, np.integer):
        raise refusal(f"ids are of type {ids.dtype}", remedy, "content")
    if ids.shape != (count,):
        raise refusal(f"ids have the shape {ids.shape}", remedy, "content")
    if ids.min() < 0:
        raise refusal(f"the id {ids.min()} is negative", remedy, "content")
    return ids.tolist()
