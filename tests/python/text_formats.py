"""Text formats of other programs as ASE writes and reads them.

usage: text_formats.py write FOLDER
       text_formats.py read < LINES

The first writes one state in every format into FOLDER, and prints the state as JSON in the units of the formats. The
second reads files, one a line of the input as "format path", and prints for each a line of JSON: what ASE finds, in the
units of the file, or why it finds nothing.
"""

import json
import sys
import warnings

import ase.io
import numpy as np
from ase import Atoms, units
from ase.calculators.lammps import convert

warnings.filterwarnings("ignore")
NM_PER_PS = units.nm / (1000 * units.fs)
METAL = convert(1.0, "velocity", "metal", "ASE")


def state():
    random = np.random.default_rng(7)
    atoms = Atoms("NaClArNaClKr", cell=[21.5, 32.25, 43.125], pbc=[True, False, True])
    atoms.positions = random.uniform(-5, 40, (6, 3))
    atoms.set_velocities(random.normal(0, 0.01, (6, 3)))
    atoms.set_initial_charges([1, -1, 0, 0.5, -0.5, 0])
    return atoms


def write(folder):
    atoms = state()
    ase.io.write(f"{folder}/state.xyz", atoms, format="extxyz")
    ase.io.write(f"{folder}/numbers.xyz", atoms, format="extxyz", columns=["symbols", "positions", "numbers", "momenta"])
    ase.io.write(f"{folder}/state.gro", atoms, format="gromacs")
    for style in ["atomic", "charge", "full"]:
        more = {"masses": True, "velocities": True, "units": "metal", "atom_style": style}
        ase.io.write(f"{folder}/{style}.data", atoms, format="lammps-data", **more)
    labeled = {"atom_type_labels": True, "write_image_flags": True}
    ase.io.write(f"{folder}/labels.data", atoms, format="lammps-data", **more, **labeled)
    found = told(atoms)
    found["wrapped"] = (atoms.positions - np.floor(atoms.get_scaled_positions(wrap=False)) * atoms.cell.lengths()).tolist()
    found["images"] = np.floor(atoms.get_scaled_positions(wrap=False)).astype(int).tolist()
    found["velocities"] = atoms.get_velocities().tolist()
    found["metal"], found["gromacs"] = 1 / METAL, 1 / NM_PER_PS
    print(json.dumps(found))


def told(atoms):
    found = {
        "names": atoms.get_chemical_symbols(),
        "positions": atoms.positions.tolist(),
        "cell": atoms.cell.tolist(),
        "pbc": atoms.pbc.tolist(),
        "masses": atoms.get_masses().tolist(),
    }
    if atoms.has("momenta"):
        found["momenta"] = atoms.get_momenta().tolist()
        found["velocities"] = atoms.get_velocities().tolist()
    if atoms.has("initial_charges"):
        found["charges"] = atoms.get_initial_charges().tolist()
    return found


def read(format, path):
    if format == "lammps-data":
        atoms = ase.io.read(path, format=format, sort_by_id=False, read_image_flags=False, units="metal")
        found = told(atoms)
        found["names"] = [str(kind) for kind in atoms.arrays["type"]]
        scale = 1 / METAL
    elif format == "gromacs":
        atoms = ase.io.read(path, format=format)
        atoms.positions /= 10
        atoms.cell /= 10
        found = told(atoms)
        found["names"] = atoms.arrays["atomtypes"].tolist()
        scale = 1 / NM_PER_PS
    else:
        found, scale = told(ase.io.read(path, format=format)), 1.0
    if "velocities" in found:
        found["velocities"] = (scale * np.array(found["velocities"])).tolist()
    return found


if sys.argv[1] == "write":
    write(sys.argv[2])
else:
    for line in sys.stdin:
        format, path = line.rstrip("\n").split(" ", 1)
        try:
            print(json.dumps(read(format, path)))
        except Exception as error:
            print(json.dumps({"error": repr(error)}))
