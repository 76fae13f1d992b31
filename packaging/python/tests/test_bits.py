"""A simulation in Python has the bits of the program's run."""

import h5py
import numpy as np
import pytest
from decks import argon, gas

import hilbrium

FRAMES = {"every_steps": 10, "velocities": True, "forces": True, "precision": "double"}

SALT = {
    "species": {
        "Ar": {"mass": 40.0, "charge": 0.3, "epsilon": 1.0, "sigma": 0.3},
        "Kr": {"mass": 80.0, "charge": -0.3, "epsilon": 1.2, "sigma": 0.32},
    },
    "interaction": {"lennard-jones": {"tail": False}, "coulomb": {"method": "pme"}},
}


def assert_frame(simulation, folder, frame):
    """Positions, velocities and forces equal those of a frame, bit by bit."""
    with h5py.File(folder / "trajectory.h5md") as file:
        everything = file["particles/all"]
        assert everything["position/step"][frame] == simulation.step_number
        assert np.array_equal(everything["id"][:], simulation.particles.ids)
        for name, values in [
            ("position", simulation.particles.positions),
            ("velocity", simulation.particles.velocities),
            ("force", simulation.forces),
        ]:
            stored = everything[f"{name}/value"][frame]
            assert stored.dtype == np.float64
            assert np.array_equal(stored, values), f"{name}: {np.abs(stored - values).max()}"


def assert_energies(simulation, folder, row):
    """Energies equal those of a line of the record, bit by bit."""
    record = hilbrium.read_observables(folder)
    energies = simulation.energies
    assert record["time"][row] == simulation.time
    for name in ["kinetic", "thermal", "potential", "total"]:
        assert record[f"{name}_energy"][row] == energies[name], name
    for name in {"temperature", "pressure"} & set(record):
        assert record[name][row] == energies[name], name


@pytest.mark.parametrize("precision", ["double", "mixed"])
def test_forces_and_energies_of_a_configuration(run, precision):
    deck = argon(run={"steps": 0, "precision": precision}, output={"trajectory": FRAMES})
    folder = run(deck)
    simulation = hilbrium.Simulation(deck)
    assert_frame(simulation, folder, 0)
    assert_energies(simulation, folder, 0)


@pytest.mark.parametrize(
    "sections",
    [
        {},
        {"output": {"checkpoint": {"every_steps": 7}}},
        {"thermostat": {"langevin": {"temperature": "120 K", "friction": "1 1/ps"}}},
        SALT,
    ],
    ids=["verlet", "checkpoints", "langevin", "salt"],
)
def test_steps_of_molecules(run, sections):
    deck = argon(**sections)
    deck["output"] = {"observables": {"every_steps": 5}, "trajectory": FRAMES, **deck.get("output", {})}
    folder = run(deck)
    simulation = hilbrium.Simulation(deck)
    simulation.step(10)
    # looking between outputs changes nothing
    assert simulation.particles.velocities.shape == (256, 3)
    assert_frame(simulation, folder, 1)
    assert_energies(simulation, folder, 2)
    for _ in range(10):
        simulation.step()
        simulation.energies, simulation.particles.velocities
    assert_frame(simulation, folder, 2)
    assert_energies(simulation, folder, 4)


def test_steps_of_a_gas(run):
    deck = gas(output={"observables": {"every_steps": 1}, "snapshots": {"every_time": 0.004}})
    folder = run(deck)
    simulation = hilbrium.Simulation(deck)
    assert_energies(simulation, folder, 0)
    for row in range(1, 5):
        simulation.step()
        assert_energies(simulation, folder, row)
    last = hilbrium.read_snapshot(max(folder.glob("snapshot-*.hdf5")))
    order = np.argsort(last.ids)
    assert last.step == simulation.step_number == 4
    for name in ["velocities", "internal_energies", "densities", "smoothing_lengths"]:
        assert np.array_equal(last[name][order], simulation.particles[name]), name
    # snapshots have positions relative to the box
    assert np.allclose(last.positions[order], simulation.particles.positions, rtol=0, atol=1e-14)


def test_given_particles_have_the_forces_of_the_run(run):
    deck = argon(run={"steps": 0}, output={"trajectory": FRAMES})
    folder = run(deck)
    frame = hilbrium.read_trajectory(folder)[0]
    corners = {"lower": [0.0] * 3, "upper": frame.box_lengths}
    deck = argon(space=corners)
    del deck["start"]
    simulation = hilbrium.Simulation(deck, start={"positions": frame.positions, "species": "Ar"})
    assert simulation.energies["potential"] == hilbrium.read_observables(folder)["potential_energy"][0]
    assert np.array_equal(simulation.forces, frame.pair_forces)
    # set from elsewhere, to the same positions
    simulation.particles.positions = np.roll(frame.positions, 1, axis=0)
    assert not np.array_equal(simulation.forces, frame.pair_forces)
    simulation.particles.positions = frame.positions
    assert np.array_equal(simulation.forces, frame.pair_forces)


def test_run_writes_what_the_program_writes(run, tmp_path):
    deck = argon(output={"observables": {"every_steps": 5}, "trajectory": FRAMES})
    folder = run(deck)
    own = tmp_path / "own"
    deck["output"]["directory"] = own
    simulation = hilbrium.Simulation(deck)
    simulation.run()
    assert simulation.is_done and simulation.step_number == 20
    one, other = ({path.name for path in files.iterdir()} - {"lock"} for files in (folder, own))
    assert one == other
    assert (folder / "observables.csv").read_text() == (own / "observables.csv").read_text()
    for frame in range(3):
        ours, theirs = (hilbrium.read_trajectory(files)[frame] for files in (own, folder))
        assert np.array_equal(ours.positions, theirs.positions)
        assert np.array_equal(ours.velocities, theirs.velocities)
