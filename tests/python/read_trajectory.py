"""Open a trajectory as its users do.

usage: read_trajectory.py h5md FILE LONGEST SCALE
       read_trajectory.py xyz FILE SAME_AS_H5MD SCALE

The first opens H5MD in MDAnalysis, checks it against h5py, and prints g(r) in 50 bins up to LONGEST (the file's unit of
length, of which MDAnalysis has SCALE), averaged over the frames. The second opens extended XYZ in ASE and MDAnalysis and
compares it with a trajectory of the same run in H5MD. Fails with an assertion.
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


if __name__ == "__main__":
    what, path, other, scale = sys.argv[1:]
    if what == "h5md":
        h5md(path, float(other), float(scale))
    else:
        xyz(path, other, float(scale))
