"""The box of the particles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Box:
    """A box and its boundaries.

    Attributes:
        lower: lower corner (3,).
        upper: upper corner (3,).
        periodic: whether each dimension is periodic; the faces of the others follow the particles.
    """

    lower: np.ndarray
    upper: np.ndarray
    periodic: tuple[bool, bool, bool]

    @classmethod
    def of(cls, corners) -> Box:
        """Makes a box of corners and boundaries as the compiled part returns them."""
        lower, upper, periodic = corners
        return cls(np.array(lower), np.array(upper), tuple(periodic))

    @property
    def lengths(self) -> np.ndarray:
        """Edge lengths (3,)."""
        return self.upper - self.lower

    @property
    def volume(self) -> float:
        """Volume."""
        return float(np.prod(self.lengths))

    def nearest_images(self, separations: np.ndarray) -> np.ndarray:
        """Returns separations (..., 3) to the nearest periodic images."""
        periods = np.where(self.periodic, self.lengths, np.inf)
        return separations - np.where(self.periodic, self.lengths, 0.0) * np.round(separations / periods)
