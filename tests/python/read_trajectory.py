"""Open a trajectory as its users do.

usage: read_trajectory.py h5md FILE LONGEST SCALE
       read_trajectory.py xyz|xtc|dcd|lammps-dump FILE SAME_AS_H5MD SCALE

The first opens H5MD in MDAnalysis, checks it against h5py, and prints g(r) in 50 bins up to LONGEST (the file's unit of
length, of which MDAnalysis has SCALE), averaged over the frames. The second opens extended XYZ in ASE and MDAnalysis and
compares it with a trajectory of the same run in H5MD. XTC and DCD are opened in MDAnalysis with the topology beside
them, LAMMPS dumps in MDAnalysis and ASE. Fails with an assertion.
"""

import sys
import warnings

import h5py
import MDAnalysis
import numpy as np
from MDAnalysis.analysis.rdf import InterRDF

warnings.filterwarnings("ignore")


def open_h5md(path, scale):
    with h5py.File(path) as file:
        everything = file["particles/all"]
        count = everything["position/value"].shape[1]
        universe = MDAnalysis.Universe.empty(count, trajectory=False)
        universe.load_new(path, format="H5MD", convert_units=scale != 1.0)
        assert universe.trajectory.n_frames == everything["position/value"].shape[0]
        for k, frame in enumerate(universe.trajectory):
            exact = everything["position/value"][k] * scale
            assert np.abs(frame.positions - exact).max() < 1e-5 * np.abs(exact).max()
            edges = everything["box/edges/value"][k] * scale
            assert np.allclose(frame.dimensions, [*edges, 90, 90, 90], rtol=1e-6)
            assert abs(frame.time - everything["position/time"][k]) < 1e-9
            velocities = everything["velocity/value"][k] * scale
            assert np.abs(frame.velocities - velocities).max() < 1e-5 * np.abs(velocities).max()
        assert (np.diff(everything["id"][:]) > 0).all()
    return universe


def h5md(path, longest, scale):
    universe = open_h5md(path, scale)
    rdf = InterRDF(universe.atoms, universe.atoms, nbins=50, range=(0.0, longest * scale), exclusion_block=(1, 1))
    rdf.run()
    count, frames = len(universe.atoms), universe.trajectory.n_frames
    volume = universe.dimensions[:3].prod()
    shells = 4 / 3 * np.pi * np.diff(rdf.results.edges**3)
    print(f"MDAnalysis: {frames} frames of {count} particles")
    print(*(rdf.results.count / frames * volume / (count * (count - 1) * shells)))


def xyz(path, other, scale):
    import ase.io

    frames = ase.io.read(path, index=":")
    universe = MDAnalysis.Universe(path, format="XYZ")
    assert universe.trajectory.n_frames == len(frames)
    with h5py.File(other) as file:
        everything = file["particles/all"]
        assert len(frames) == everything["position/value"].shape[0]
        for k, atoms in enumerate(frames):
            exact = everything["position/value"][k] * scale
            assert np.abs(atoms.positions - exact).max() < 2e-6 * np.abs(exact).max()
            universe.trajectory[k]
            assert np.abs(universe.atoms.positions - exact).max() < 1e-5 * np.abs(exact).max()
            assert (atoms.arrays["id"] == everything["id"][:]).all()
            assert np.allclose(atoms.cell.lengths(), everything["box/edges/value"][k] * scale, rtol=1e-12)
            assert atoms.pbc.all() and set(atoms.symbols) == {"Ar"}
            # kinetic energies agree in electronvolt
            velocities = atoms.arrays["velo"]
            kinetic = 0.5 * (atoms.get_masses()[:, None] * velocities**2).sum()
            masses = everything["mass"][:]
            ours = 0.5 * (masses[:, None] * everything["velocity/value"][k] ** 2).sum() / 96.48533212331
            assert abs(kinetic / ours - 1) < 1e-3, (kinetic, ours)
            assert atoms.info["Step"] == everything["position/step"][k]
    print(f"ASE and MDAnalysis: {len(frames)} frames of {len(frames[0])} atoms")


def coordinates(what, path, other, scale):
    universe = MDAnalysis.Universe(path[:-3] + "psf", path, convert_units=scale != 1.0)
    with h5py.File(other) as file:
        everything = file["particles/all"]
        count, steps = everything["id"].shape[0], everything["position/step"][:]
        assert (len(universe.atoms), universe.trajectory.n_frames) == (count, len(steps))
        for k, frame in enumerate(universe.trajectory):
            exact = everything["position/value"][k] * scale
            # half the resolution of XTC, 0.001, and the rounding of single precision
            tolerance = 0.0005 * scale if what == "xtc" else 0.0
            assert np.abs(frame.positions - exact).max() < tolerance + 1e-6 * np.abs(exact).max()
            edges = everything["box/edges/value"][k] * scale
            assert np.allclose(frame.dimensions, [*edges, 90, 90, 90], rtol=1e-6)
            # MDAnalysis takes the time step of DCD for one in CHARMM's unit whatever it is told
            unit = 4.888821e-2 if what == "dcd" and scale == 1.0 else 1.0
            assert abs(frame.time - everything["position/time"][k] * unit) < 1e-6
            assert what == "dcd" or frame.data["step"] == steps[k]
        assert np.allclose(universe.atoms.masses, everything["mass"][:], rtol=1e-6)
        assert (universe.atoms.resids == everything["id"][:]).all()
    assert set(universe.atoms.names) == {"Ar" if scale != 1.0 else "X"}
    assert (universe.atoms.charges == 0.0).all()
    print(f"MDAnalysis: {universe.trajectory.n_frames} frames of {count} atoms in {what}")


def dump(path, other, scale):
    import ase.io

    frames = ase.io.read(path, index=":", format="lammps-dump-text")
    universe = MDAnalysis.Universe(
        path, format="LAMMPSDUMP", topology_format="LAMMPSDUMP", additional_columns=["ix", "iy", "iz"]
    )
    with h5py.File(other) as file:
        everything = file["particles/all"]
        steps = everything["position/step"][:]
        assert len(frames) == universe.trajectory.n_frames == len(steps)
        for k, (atoms, frame) in enumerate(zip(frames, universe.trajectory)):
            exact, edges = everything["position/value"][k] * scale, everything["box/edges/value"][k] * scale
            velocities, forces = everything["velocity/value"][k], everything["force/value"][k] / 964.8533212331
            for found in [atoms.positions, frame.positions]:
                assert np.abs(found - exact).max() < 2e-6 * np.abs(exact).max()
            for found in [atoms.get_forces(), frame.forces]:
                assert np.abs(found - forces).max() < 2e-6 * np.abs(forces).max()
            assert np.abs(frame.velocities - velocities * scale).max() < 2e-6 * np.abs(velocities * scale).max()
            kinetic = 0.5 * (everything["mass"][:][:, None] * velocities**2).sum() / 96.48533212331
            assert abs(atoms.get_kinetic_energy() / kinetic - 1) < 1e-3
            assert np.allclose(atoms.cell.lengths(), edges, rtol=1e-12) and atoms.pbc.all()
            assert np.allclose(frame.dimensions, [*edges, 90, 90, 90], rtol=1e-6)
            assert set(atoms.symbols) == {"Ar"} and frame.data["step"] == steps[k]
            images = np.stack([frame.data[name] for name in ["ix", "iy", "iz"]], axis=1)
            assert (images == everything["image/value"][k]).all()
        assert set(universe.atoms.elements) == {"Ar"}
    print(f"ASE and MDAnalysis: {len(frames)} frames of {len(frames[0])} atoms in a LAMMPS dump")


if __name__ == "__main__":
    what, path, other, scale = sys.argv[1:]
    if what == "h5md":
        h5md(path, float(other), float(scale))
    elif what == "xyz":
        xyz(path, other, float(scale))
    elif what == "lammps-dump":
        dump(path, other, float(scale))
    else:
        coordinates(what, path, other, float(scale))
