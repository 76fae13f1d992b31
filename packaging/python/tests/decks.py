"""Decks of the tests."""

import copy


def argon(cells=4, **sections):
    """A liquid of argon near its state of Rahman 1964, whose runs reach the same bits each time."""
    deck = {
        "title": "Argon",
        "run": {"steps": 20, "device": "cpu", "precision": "double", "threads": 2},
        "units": {"system": "molecular"},
        "species": {"Ar": {"mass": 39.948, "epsilon": "119.8 K", "sigma": "3.405 angstrom"}},
        "start": {
            "lattice": {
                "kind": "fcc",
                "cells": [cells] * 3,
                "density": "1374 kg/m3",
                "temperature": "184 K",
                "jitter": 0.02,
            }
        },
        "space": {"boundary": "periodic"},
        "interaction": {"lennard-jones": {"cutoff": "8 angstrom", "tail": True}},
        "neighbors": {"skin": 0.12},
        "time_step": {"fixed": "5 fs"},
    }
    return merged(deck, sections)


def gas(**sections):
    """A small Evrard collapse, with gravity."""
    deck = {
        "title": "Evrard collapse",
        "run": {"steps": 4, "end_time": 0.8, "device": "cpu", "threads": 2},
        "start": {"evrard": {"particles": 2000}},
        "sph": {"neighbors": 60},
        "gravity": {"constant": 1.0, "softening": 0.02},
    }
    return merged(deck, sections)


def merged(deck, sections):
    """The deck with sections replaced, key by key."""
    deck = copy.deepcopy(deck)
    for name, section in sections.items():
        if isinstance(section, dict) and isinstance(deck.get(name), dict):
            deck[name] = merged(deck[name], section)
        else:
            deck[name] = section
    return deck
