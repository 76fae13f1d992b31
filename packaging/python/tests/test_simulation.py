"""Simulations: decks, steps, particles, errors, interrupts."""

import os
import pickle
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from decks import argon, gas

import hilbrium


def test_a_deck_becomes_toml_and_back():
    tomllib = pytest.importorskip("tomllib")
    deck = {
        "title": 'a "quoted" \\ text\nof two lines, Å',
        "run": {
            "steps": np.int64(3),
            "threads": 2,
            "flag": True,
            "small": 1e-300,
            "large": 1e16,
            "third": 1 / 3,
        },
        "space": {"boundary": ["periodic", "open", "open"], "lower": np.zeros(3)},
        "species": {"Na+": {"mass": 22.99}, "empty": {}},
        "rows": [[1, 2], [3, 4]],
        "path": Path("a/b"),
    }
    back = tomllib.loads(hilbrium.to_toml(deck))
    assert back["path"] == "a/b" and back["title"] == deck["title"] and back["run"] == deck["run"]
    assert back["species"] == deck["species"] and back["rows"] == deck["rows"]
    assert back["space"]["lower"] == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("value", [np.nan, float("inf"), None, 2**63, object(), {1, 2}])
def test_what_toml_lacks_is_refused_with_its_place(value):
    with pytest.raises(hilbrium.Error, match="run.values\\[1\\].*\n  help: ") as caught:
        hilbrium.to_toml({"run": {"values": [1, value]}})
    assert caught.value.kind == "deck" and caught.value.remedy


def test_mistakes_of_a_deck_are_those_of_a_file(tmp_path):
    deck = argon(interaction={"lennard-jones": {"cutof": 1.0, "cutoff": -1.0}})
    with pytest.raises(hilbrium.Error) as caught:
        hilbrium.Simulation(deck)
    path = tmp_path / "deck"
    path.write_text(hilbrium.to_toml(deck))
    with pytest.raises(hilbrium.Error) as of_file:
        hilbrium.Simulation(path)
    assert caught.value.kind == "deck" and "cutof" in str(caught.value) and "help" in str(caught.value)
    assert str(of_file.value) == str(caught.value).replace("deck:", f"{path}:")
    with pytest.raises(hilbrium.Error, match="cannot read the deck"):
        hilbrium.Simulation(tmp_path / "none.toml")
    assert "cutoff" in hilbrium.check_deck(argon())
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (str(copy), copy.kind) == (str(caught.value), "deck")


def test_a_simulation_is_stepped_and_looked_at():
    simulation = hilbrium.Simulation(argon(), overrides=["run.threads=1"])
    particles = simulation.particles
    assert (simulation.time, simulation.step_number, len(particles)) == (0.0, 0, 256)
    before = simulation.energies
    assert simulation.step(10) == 10 and simulation.time == pytest.approx(0.05)
    after = simulation.energies
    assert after["total"] == pytest.approx(before["total"], abs=1e-2 * before["kinetic"])
    assert after["kinetic"] != before["kinetic"]
    assert np.abs(simulation.forces.sum(axis=0)).max() < 1e-8
    assert np.allclose(simulation.accelerations * particles.masses[:, None], simulation.forces)
    kinetic = 0.5 * (particles.masses[:, None] * particles.velocities**2).sum()
    assert kinetic == pytest.approx(after["kinetic"])
    box = simulation.box
    assert box.periodic == (True, True, True) and np.all(particles.positions < box.upper)
    assert simulation.unit(1, 2, -2) == "kJ mol^-1" and particles.unit("velocities") == "nm ps^-1"
    assert simulation.species == ["Ar"] and simulation.device is None and "cutoff" in simulation.deck
    assert any("box" in note for note in simulation.notes)
    assert "256 particles" in repr(simulation)


def test_the_tail_is_what_the_pairs_lack():
    energies = hilbrium.Simulation(argon()).energies
    assert energies["potential"] < energies["pair"] < 0.0
    assert set(energies) >= {"kinetic", "thermal", "total", "temperature", "pressure", "conserved"}


def test_particles_are_set():
    simulation = hilbrium.Simulation(argon())
    particles = simulation.particles
    positions, forces = particles.positions, simulation.forces
    particles.velocities = np.zeros((256, 3))
    assert simulation.energies["kinetic"] == 0.0 and np.array_equal(simulation.forces, forces)
    shifted = positions + simulation.box.lengths * [1, 0, -2]
    particles.set(positions=shifted, masses=20.0)
    assert np.allclose(simulation.box.nearest_images(particles.positions - positions), 0.0, atol=1e-12)
    assert np.allclose(simulation.forces, forces, rtol=0, atol=1e-8 * np.abs(forces).max())
    assert np.allclose(simulation.accelerations * 20.0, simulation.forces)
    simulation.step(5)
    copy = particles.positions
    copy[:] = 0.0
    assert particles.positions.any()


@pytest.mark.parametrize(
    ("name", "values", "words"),
    [
        ("positions", np.zeros((255, 3)), "shape"),
        ("positions", np.zeros(768), "shape"),
        ("positions", np.full((256, 3), np.nan), "finite"),
        ("masses", -1.0, "positive"),
        ("masses", "heavy", "not numbers"),
        ("accelerations", np.zeros((256, 3)), "cannot be set"),
        ("internal_energies", 1.0, "cannot be set"),
        ("colors", 1.0, "no quantity"),
        ("velocity", np.zeros((256, 3)), "write 'velocities'"),
    ],
)
def test_what_cannot_be_set_changes_nothing(name, values, words):
    simulation = hilbrium.Simulation(argon())
    before = simulation.particles.positions
    with pytest.raises(hilbrium.Error, match=words):
        simulation.particles[name] = values
    assert np.array_equal(simulation.particles.positions, before)
    assert simulation.step() == 1


def test_a_gas_is_set():
    simulation = hilbrium.Simulation(gas())
    particles = simulation.particles
    assert {"internal_energies", "smoothing_lengths", "viscosities"} <= set(particles.settable())
    thermal = simulation.energies["thermal"]
    particles.internal_energies = 2.0 * particles.internal_energies
    assert simulation.energies["thermal"] == pytest.approx(2.0 * thermal)
    assert simulation.energies["gravity"] == pytest.approx(simulation.energies["potential"])
    simulation.step(2)
    assert np.all(particles.densities > 0.0)


def test_a_gas_starts_from_arrays():
    deck = gas()
    whole = hilbrium.Simulation(deck)
    del deck["start"]
    names = ["positions", "velocities", "masses", "internal_energies"]
    start = {name: whole.particles[name] for name in names}
    simulation = hilbrium.Simulation(deck, start={**start, "ids": 7 + whole.particles.ids})
    assert np.array_equal(simulation.particles.ids, 7 + whole.particles.ids)
    for name in ["thermal", "gravity", "total"]:
        assert simulation.energies[name] == pytest.approx(whole.energies[name], rel=1e-3)
    with pytest.raises(hilbrium.Error, match="internal_energy"):
        hilbrium.Simulation(deck, start={name: start[name] for name in names[:3]})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"positions": np.zeros((4, 2))}, "shape"),
        ({"positions": np.full((4, 3), np.inf)}, "finite"),
        ({"masses": np.ones(5)}, "shape"),
        ({"ids": [1, 2, 2, 3]}, "more than once"),
        ({"ids": [1, 2]}, "ids have the shape"),
        ({"ids": [[1, 2, 3, 4]]}, "ids have the shape"),
        ({"ids": [1.0, 2.0, 3.0, 4.0]}, "ids are of type float64"),
        ({"ids": [1, 2, 3, -4]}, "the id -4 is negative"),
        ({"densities": np.ones(4)}, "density, which no start takes"),
        ({"species": ["Xe"] * 4}, "Xe"),
    ],
)
def test_given_particles_are_checked(change, words):
    deck = argon(space={"lower": [0.0] * 3, "upper": [4.0] * 3})
    del deck["start"]
    start = {"positions": np.arange(12.0).reshape(4, 3) / 3.0, "species": ["Ar"] * 4, **change}
    with pytest.raises(hilbrium.Error, match=words):
        hilbrium.Simulation(deck, start=start)


def test_given_arrays_that_are_not_used_are_noted():
    deck = argon()
    whole = hilbrium.Simulation(deck)
    del deck["start"]
    deck["space"] = {"boundary": "periodic", "lower": whole.box.lower, "upper": whole.box.upper}
    start = {"positions": whole.particles.positions, "masses": np.ones(256), "charges": np.ones(256)}
    simulation = hilbrium.Simulation(deck, start=start)
    assert any("mass, charge are not used" in note for note in simulation.notes)
    assert np.array_equal(simulation.particles.masses, whole.particles.masses)


def test_a_deck_without_an_end_must_have_what_steps_need():
    deck = argon()
    del deck["time_step"], deck["run"]["steps"]
    for check in (hilbrium.Simulation, hilbrium.check_deck):
        with pytest.raises(hilbrium.Error, match="needs a fixed time step"):
            check(deck)


def test_overrides_may_state_the_end():
    deck = argon()
    del deck["run"]["steps"]
    assert "steps = 0" in hilbrium.check_deck(deck)
    resolved = hilbrium.check_deck(deck, ["run.end_time=10"])
    assert "end_time = 10" in resolved and "steps" not in resolved.split("[units]")[0]
    simulation = hilbrium.Simulation(deck, overrides=["run.steps=3"])
    assert not simulation.is_done
    assert simulation.step(3) == 3 and simulation.is_done


def test_missing_quantities_are_no_attributes():
    particles = hilbrium.Simulation(argon()).particles
    assert hasattr(particles, "masses") and not hasattr(particles, "densities")
    with pytest.raises(AttributeError, match="no densities now"):
        particles.densities
    with pytest.raises(hilbrium.Error, match="no densities now"):
        particles["densities"]


def test_particles_and_a_start_are_refused():
    with pytest.raises(hilbrium.Error, match="particles are given"):
        hilbrium.Simulation(argon(), start={"positions": np.zeros((1, 3))})


def test_two_simulations_and_threads_do_not_mix():
    one, other = hilbrium.Simulation(argon()), hilbrium.Simulation(argon())
    threads = [threading.Thread(target=simulation.step, args=(20,)) for simulation in (one, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert np.array_equal(one.particles.positions, other.particles.positions)


def test_the_lock_of_the_interpreter_is_free_meanwhile():
    simulation = hilbrium.Simulation(argon(cells=8))
    thread = threading.Thread(target=simulation.step, args=(100,))
    thread.start()
    count = 0
    while thread.is_alive():
        count += 1
        time.sleep(1e-4)
    assert simulation.step_number == 100 and count > 10


def interrupt_after(seconds):
    """Sends SIGINT to this process after a time."""
    timer = threading.Timer(seconds, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    return timer


def test_steps_are_interrupted():
    simulation = hilbrium.Simulation(argon())
    interrupt_after(0.3)
    with pytest.raises(KeyboardInterrupt):
        simulation.step(10**9)
    done = simulation.step_number
    assert 0 < done < 10**9 and simulation.step(3) == done + 3


@pytest.mark.parametrize("way", ["step", "run"])
def test_a_signal_handler_cannot_use_a_simulation_that_computes(tmp_path, way):
    simulation = hilbrium.Simulation(argon(run={"steps": 10**9}, output={"directory": tmp_path / "out"}))
    errors = []

    def handle(number, frame):
        try:
            simulation.time
        except hilbrium.Error as error:
            errors.append(error)
        raise InterruptedError

    before = signal.signal(signal.SIGINT, handle)
    try:
        interrupt_after(0.3)
        with pytest.raises(InterruptedError):
            simulation.step(10**9) if way == "step" else simulation.run()
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(errors) == 1 and errors[0].kind == "usage" and "computes now" in str(errors[0])
    assert simulation.time > 0.0


def test_a_run_is_interrupted_after_a_checkpoint(tmp_path):
    folder = tmp_path / "out"
    simulation = hilbrium.Simulation(argon(run={"steps": 10**9}, output={"directory": folder}))
    interrupt_after(0.3)
    with pytest.raises(KeyboardInterrupt):
        simulation.run()
    assert list(folder.glob("checkpoint-*"))
    with pytest.raises(hilbrium.Error, match="earlier run"):
        simulation.run()


def test_a_failed_step_is_an_error_and_is_undone():
    deck = argon(time_step={"fixed": "5 ps"})
    simulation = hilbrium.Simulation(deck)
    before = simulation.particles.positions
    with pytest.raises(hilbrium.Error) as caught:
        simulation.step(100)
    assert caught.value.kind == "state" and caught.value.remedy
    if simulation.step_number == 0:
        assert np.allclose(simulation.particles.positions, before)


def test_particles_that_coincide_are_an_error_until_they_are_set_apart():
    simulation = hilbrium.Simulation(argon())
    positions = simulation.particles.positions
    with pytest.raises(hilbrium.Error) as caught:
        simulation.particles.positions = np.full((256, 3), 0.5)
    assert caught.value.kind == "state"
    with pytest.raises(hilbrium.Error):
        simulation.step()
    simulation.particles.positions = positions
    simulation.step()


def test_a_gpu_that_is_not_there_is_refused_by_the_program():
    try:
        simulation = hilbrium.Simulation(argon(run={"device": "cuda"}))
    except hilbrium.Error as error:
        assert error.kind in ("device", "usage") and error.remedy
    else:
        assert simulation.device
        simulation.step(10)
        before = simulation.particles.positions
        simulation.particles.positions = before
        assert np.array_equal(simulation.particles.positions, before)
