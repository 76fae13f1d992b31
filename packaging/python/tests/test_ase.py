"""The calculator, compared with ASE's own and with differences of energies."""

import numpy as np
import pytest
from ase import Atoms
from ase import units
from ase.build import bulk
from ase.calculators.lj import LennardJones
from ase.optimize import BFGS
from decks import argon

import hilbrium
from hilbrium.ase import Calculator

# the Boltzmann constant of the SI of 2019; that of ase.units is older and 3e-7 less
EPSILON, SIGMA, CUTOFF = 119.8 * 8.617333262145e-5, 3.405, 8.0
ARGON = {"lennard-jones": {"epsilon": "119.8 K", "sigma": "3.405 angstrom", "cutoff": "8 angstrom"}}


def crystal(pbc=True):
    atoms = bulk("Ar", "fcc", a=5.4, cubic=True).repeat(4)
    atoms.rattle(0.1, seed=1)
    atoms.pbc = pbc
    return atoms


@pytest.mark.parametrize("pbc", [True, False, (True, True, False)], ids=["periodic", "open", "mixed"])
def test_energies_and_forces_are_those_of_ase(pbc):
    atoms = crystal(pbc)
    atoms.calc = Calculator(ARGON)
    other = atoms.copy()
    # both without a shift at the cutoff
    other.calc = LennardJones(epsilon=EPSILON, sigma=SIGMA, rc=CUTOFF, ro=CUTOFF, smooth=False)
    count = len(atoms)
    shift = atoms.get_potential_energy() - other.get_potential_energy()
    forces, expected = atoms.get_forces(), other.get_forces()
    assert np.allclose(forces, expected, rtol=0, atol=1e-7 * np.abs(expected).max())
    moved = crystal(pbc)
    moved.rattle(0.02, seed=2)
    atoms.positions, other.positions = moved.positions, moved.positions
    assert np.allclose(atoms.get_forces(), other.get_forces(), rtol=0, atol=1e-7 * np.abs(expected).max())
    # ASE shifts the energy by its value at the cutoff, which the number of pairs within it multiplies
    assert abs(shift) < 0.1 * count and atoms.get_potential_energies().shape == (count,)


def test_forces_are_the_slope_of_the_energy():
    atoms = crystal()
    atoms.calc = Calculator({"lennard-jones": {**ARGON["lennard-jones"], "truncation": "shifted"}})
    force, step = atoms.get_forces()[7, 1], 1e-4
    energies = []
    for sign in (1, -1):
        moved = atoms.copy()
        moved.calc = atoms.calc
        moved.positions[7, 1] += sign * step
        energies.append(moved.get_potential_energy())
    assert force == pytest.approx(-(energies[0] - energies[1]) / (2 * step), rel=1e-4)


def test_bits_are_those_of_a_simulation():
    atoms = crystal()
    atoms.calc = Calculator(ARGON, species={"Ar": {"mass": 39.948}}, deck={"run": {"threads": 2}})
    deck = argon(
        species={"Ar": {"mass": 39.948}},
        interaction={"lennard-jones": {**ARGON["lennard-jones"], "tail": False}},
        space={"lower": [0.0] * 3, "upper": atoms.cell.lengths() / 10.0},
        neighbors={"skin": 0.0},
    )
    del deck["species"]["Ar"]["epsilon"], deck["species"]["Ar"]["sigma"], deck["start"]
    simulation = hilbrium.Simulation(deck, start={"positions": atoms.positions / 10.0, "species": "Ar"})
    factor = units.eV / 96.48533212331002
    assert atoms.get_potential_energy() == simulation.energies["potential"] * factor
    assert np.array_equal(atoms.get_forces(), simulation.forces * (factor / 10.0))


def test_reduced_units_are_those_of_ase():
    atoms = crystal()
    atoms.calc = Calculator(
        {"lennard-jones": {"epsilon": EPSILON, "sigma": SIGMA, "cutoff": CUTOFF}}, units="reduced"
    )
    forces = atoms.get_forces()
    atoms.calc = Calculator(ARGON)
    assert np.allclose(forces, atoms.get_forces(), rtol=0, atol=1e-9)


def test_a_cluster_relaxes():
    atoms = Atoms("Ar3", [[0, 0, 0], [4.0, 0, 0], [1.8, 3.5, 0]])
    atoms.calc = Calculator({"lennard-jones": {**ARGON["lennard-jones"], "cutoff": "30 angstrom"}})
    assert BFGS(atoms, logfile=None).run(fmax=1e-5, steps=200)
    distances = atoms.get_all_distances()[np.triu_indices(3, 1)]
    assert np.allclose(distances, SIGMA * 2 ** (1 / 6), atol=1e-3)
    assert atoms.get_potential_energy() == pytest.approx(-3 * EPSILON, rel=1e-4)


def test_two_kinds_with_charges():
    atoms = bulk("NaCl", "rocksalt", a=5.64, cubic=True).repeat(2)
    species = {
        "Na": {"charge": "1 e", "epsilon": "0.4 kJ/mol", "sigma": "2.2 angstrom"},
        "Cl": {"charge": "-1 e", "epsilon": "0.4 kJ/mol", "sigma": "4.4 angstrom"},
    }
    interaction = {"lennard-jones": {"cutoff": "5 angstrom"}, "coulomb": {"method": "pme", "tolerance": 1e-5}}
    atoms.calc = Calculator(interaction, species)
    assert np.abs(atoms.get_forces()).max() < 1e-3
    # Madelung energy per pair: -1.74756 e^2 / (4 pi epsilon_0 a/2), less the repulsion
    madelung = -1.747565 * 14.399645 / 2.82 * len(atoms) / 2
    assert madelung < atoms.get_potential_energy() < 0.75 * madelung


def test_what_the_program_does_not_have_is_refused():
    atoms = bulk("Ar", "fcc", a=5.4)
    atoms.calc = Calculator(ARGON)
    with pytest.raises(hilbrium.Error, match="orthogonal"):
        atoms.get_potential_energy()
    atoms = Atoms("Ar2", [[0, 0, 0], [4, 0, 0]], pbc=True)
    atoms.calc = Calculator(ARGON)
    with pytest.raises(hilbrium.Error, match="no cell"):
        atoms.get_potential_energy()
    with pytest.raises(hilbrium.Error, match="units"):
        Calculator(ARGON, units="imperial")
