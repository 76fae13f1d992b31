"""Files that runs have written."""

import h5py
import numpy as np
import pytest
from decks import argon, gas

import hilbrium


@pytest.fixture(scope="module")
def argon_run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("argon") / "out"
    frames = {"every_steps": 5, "velocities": True, "precision": "single"}
    output = {"directory": folder, "trajectory": frames, "observables": {"every_steps": 5}}
    hilbrium.Simulation(argon(output=output)).run()
    return folder


@pytest.fixture(scope="module")
def gas_run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gas") / "out"
    simulation = hilbrium.Simulation(gas(output={"directory": folder}))
    simulation.run()
    return folder, simulation


def test_snapshots_equal_what_h5py_reads(gas_run):
    folder, simulation = gas_run
    path = max(folder.glob("snapshot-*.hdf5"))
    snapshot = hilbrium.read_snapshot(path)
    with h5py.File(path) as file:
        gas = file["PartType0"]
        assert np.array_equal(gas["ParticleIDs"][:], snapshot.ids)
        assert np.array_equal(gas["Velocities"][:], snapshot.velocities)
        assert np.array_equal(gas["Masses"][:], snapshot.masses)
        assert np.array_equal(gas["Coordinates"][:] + file["Header"].attrs["BoxLower"], snapshot.positions)
    assert (snapshot.step, snapshot.time) == (simulation.step_number, simulation.time)
    assert snapshot.title == "Evrard collapse" and len(snapshot) == len(simulation.particles)
    assert snapshot.box.periodic == (False,) * 3 and snapshot.adiabatic_index == pytest.approx(5 / 3)
    assert snapshot.unit("densities") == "U_M U_L^-3" and snapshot.units_cgs == (1.0, 1.0, 1.0)
    assert "densities" in snapshot and "evrard" in snapshot.deck
    with pytest.raises(hilbrium.Error, match="no charges"):
        snapshot["charges"]
    with pytest.raises(AttributeError, match="no charges"):
        snapshot.charges
    assert not hasattr(snapshot, "charges") and hasattr(snapshot, "densities")
    with pytest.raises(AttributeError):
        snapshot.colors


def test_snapshots_of_molecules_state_units_and_species(argon_run):
    snapshot = hilbrium.read_snapshot(argon_run / "snapshot-0000.hdf5")
    assert snapshot.unit("positions") == "nm" and snapshot.species == ["Ar"]
    assert snapshot.box.volume > 0.0 and snapshot.box.periodic == (True,) * 3


def test_trajectories_equal_what_h5py_reads(argon_run):
    trajectory = hilbrium.read_trajectory(argon_run)
    assert list(trajectory.steps) == [0, 5, 10, 15, 20] and len(trajectory) == 5
    assert trajectory.unit("velocities") == "nm ps-1" and trajectory.species == []
    assert "positions" in trajectory.names() and "masses" in trajectory.constants()
    with h5py.File(argon_run / "trajectory.h5md") as file:
        positions = file["particles/all/position/value"][:]
        assert np.array_equal(trajectory.series("positions"), positions)
        assert np.array_equal(trajectory[-1].positions, positions[-1])
        assert np.array_equal(trajectory.box_lengths, file["particles/all/box/edges/value"][:])
    assert np.allclose(trajectory.constant("masses"), 39.948)
    assert [frame.step for frame in trajectory] == [0, 5, 10, 15, 20]
    assert trajectory.box(0).volume == pytest.approx(np.prod(trajectory.box_lengths[0]))
    for wrong in (5, -6):
        with pytest.raises(IndexError):
            trajectory[wrong]
    with pytest.raises(hilbrium.Error, match="no such charges"):
        trajectory.constant("charges")


@pytest.mark.parametrize("ending", ["xtc", "dcd", "xyz", "lammpstrj"])
def test_other_formats_are_refused_with_a_reader(tmp_path, ending):
    path = tmp_path / f"trajectory.{ending}"
    path.write_bytes(b"")
    for place in (path, tmp_path):
        with pytest.raises(hilbrium.Error, match="MDAnalysis|ase.io.read"):
            hilbrium.read_trajectory(place)


def test_observables_are_columns_with_units(argon_run):
    record = hilbrium.read_observables(argon_run)
    assert list(record["step"]) == [0, 5, 10, 15, 20, 20][: len(record["step"])]
    assert record.units["potential_energy"] == "kJ mol^-1" and record.units["temperature"] == "K"
    rows = record.structured()
    assert rows["time"][1] == record["time"][1]
    with pytest.raises(hilbrium.Error, match="no column 'color'"):
        record["color"]


def test_damaged_files_are_errors(argon_run, tmp_path):
    bytes_of_file = bytearray((argon_run / "snapshot-0000.hdf5").read_bytes())
    bytes_of_file[len(bytes_of_file) // 2] ^= 0xFF
    path = tmp_path / "snapshot.hdf5"
    path.write_bytes(bytes_of_file)
    with pytest.raises(hilbrium.Error) as caught:
        hilbrium.read_snapshot(path)
    assert caught.value.kind == "damaged" and caught.value.remedy
    for read in (hilbrium.read_snapshot, hilbrium.read_trajectory, hilbrium.read_table):
        with pytest.raises(hilbrium.Error) as caught:
            read(tmp_path / "none")
        assert caught.value.kind == "file"
    (tmp_path / "text.csv").write_text("a,b\n1,two\n")
    with pytest.raises(hilbrium.Error, match="line 2"):
        hilbrium.read_table(tmp_path / "text.csv")
    with pytest.raises(hilbrium.Error, match="no H5MD"):
        hilbrium.read_trajectory(argon_run / "snapshot-0000.hdf5")


def test_a_simulation_starts_from_a_snapshot(argon_run):
    deck = argon()
    del deck["start"]
    path = max(argon_run.glob("snapshot-*.hdf5"))
    simulation = hilbrium.Simulation(deck, start=path)
    record = hilbrium.read_observables(argon_run)
    assert simulation.energies["potential"] == pytest.approx(record["potential_energy"][-1], rel=1e-10)
