"""Conversion of what users give to arrays that the compiled part takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from . import _hilbrium
from ._error import refusal
from ._names import field_of


def flat(name: str, values: Any, count: int | None) -> tuple[str, np.ndarray]:
    """Returns the program's name of a quantity, and its values as one row of doubles.

    Args:
        name: name of the quantity, such as "positions".
        values: an array of shape (N,) or (N, 3); one number stands for all particles if `count` is known.
        count: number of particles N, if it is known.

    Raises:
        Error: for an unknown name, another shape, or values that are not numbers.
    """
    field = field_of(name)
    width = _hilbrium.components(field)
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as cause:
        raise refusal(f"{name} are not numbers: {cause}", "give an array of doubles", "content") from cause
    if width == 1 and array.ndim == 0 and count is not None:
        array = np.full(count, float(array))
    rows = len(array) if count is None and array.ndim > 0 else count
    shape = (rows,) if width == 1 else (rows, width)
    if array.shape != shape:
        wanted = "(N,)" if width == 1 else f"(N, {width})"
        of = "" if count is None else f" for N = {count} particles"
        raise refusal(f"{name} have the shape {array.shape}", f"give the shape {wanted}{of}", "content")
    return field, np.ascontiguousarray(array).reshape(-1)


def all_flat(values: Mapping[str, Any], count: int | None) -> list[tuple[str, np.ndarray]]:
    """Returns the pairs of `flat` for several quantities."""
    return [flat(name, array, count) for name, array in values.items()]
