"""Decks as dictionaries: the TOML text that the program checks."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from . import _hilbrium
from ._error import refusal

Deck = Mapping[str, Any]
"""Sections of a deck by name, sections and values in them; the same structure as the TOML file."""

LARGEST_INTEGER = 2**63 - 1
BARE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


def to_toml(deck: Deck) -> str:
    """Returns a deck as TOML text.

    Values are strings, paths, numbers, bools, lists or arrays of these, and dictionaries, which become
    sections. Numbers keep all their digits. Quantities with units are strings, as in files: "3.4 angstrom".

    Raises:
        Error: for a value that TOML or decks do not have (None, NaN, infinity, other types), with its place.
    """
    lines: list[str] = []
    _section(deck, [], lines)
    return "\n".join(lines).lstrip("\n") + "\n"


def check_deck(
    deck: Deck | str | os.PathLike, overrides: Sequence[str] = (), given_particles: bool = False
) -> str:
    """Checks a deck as `Simulation` does and returns it as TOML with all defaults.

    The checks are those of `hilbrium check` for a run that performs steps, also if the deck states none.

    Args:
        deck: a dictionary, or the path of a file.
        overrides: options "section.key=value" that take precedence.
        given_particles: whether particles will be given, so that the deck has no start.

    Raises:
        Error: with all mistakes.
    """
    text, name = text_of(deck, overrides)
    return _hilbrium.check_deck(text, name, list(overrides), given_particles)


def text_of(deck: Deck | str | os.PathLike, overrides: Sequence[str] = ()) -> tuple[str, str]:
    """Returns text and name of a deck that is a dictionary or a file, over which `overrides` hold."""
    if isinstance(deck, Mapping):
        return to_toml(with_end(deck, overrides)), "deck"
    path = os.fspath(deck)
    try:
        with open(path, encoding="utf-8") as file:
            return file.read(), path
    except (OSError, UnicodeDecodeError) as cause:
        raise refusal(f"cannot read the deck {path}: {cause}", "check the path", "file") from cause


def with_end(deck: Deck, overrides: Sequence[str] = ()) -> Deck:
    """Returns the deck, with `run.steps = 0` if neither it nor an override states an end of the run.

    The caller performs the steps: the program requires an end, but no session stops there.
    """
    run = deck.get("run", {})
    stated = {str(option).partition("=")[0].strip() for option in overrides}
    if not isinstance(run, Mapping) or stated & {"run.steps", "run.end_time"}:
        return deck
    if not {"steps", "end_time"} & set(run):
        return {**deck, "run": {**run, "steps": 0}}
    return deck


def _section(section: Deck, path: list[str], lines: list[str]) -> None:
    """Appends the lines of a section: its values, then its sections."""
    if not all(isinstance(key, str) for key in section):
        raise refusal(f"the names in [{'.'.join(path)}] are {list(section)}", "take strings as names", "deck")
    values = {key: value for key, value in section.items() if not isinstance(value, Mapping)}
    if path and (values or not section):
        lines += ["", f"[{'.'.join(map(_key, path))}]"]
    for key, value in values.items():
        lines.append(f"{_key(key)} = {_value(value, '.'.join([*path, key]))}")
    for key, value in section.items():
        if isinstance(value, Mapping):
            _section(value, [*path, key], lines)


def _key(key: str) -> str:
    return key if key and set(key) <= BARE else _string(key)


def _string(text: str) -> str:
    def escape(letter: str) -> str:
        if letter in ESCAPES:
            return ESCAPES[letter]
        control = ord(letter) < 0x20 or ord(letter) == 0x7F
        return f"\\u{ord(letter):04x}" if control else letter

    return '"' + "".join(map(escape, text)) + '"'


def _value(value: Any, place: str) -> str:
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        if abs(value) > LARGEST_INTEGER:
            raise refusal(f"{place} is {value}, more than 64 bits hold", "write it as a float", "deck")
        return str(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise refusal(f"{place} is {value}", "give a finite number, or leave the key out", "deck")
        return repr(value)
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, os.PathLike):
        return _string(os.fspath(value))
    if isinstance(value, Mapping):
        pairs = (f"{_key(key)} = {_value(of, f'{place}.{key}')}" for key, of in value.items())
        return "{ " + ", ".join(pairs) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_value(item, f"{place}[{k}]") for k, item in enumerate(value)) + "]"
    if value is None:
        raise refusal(f"{place} is None", "leave the key out: its default then holds", "deck")
    raise refusal(
        f"{place} is of type {type(value).__name__}",
        "give a string, a number, a bool, a list or a dictionary",
        "deck",
    )
