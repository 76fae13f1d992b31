"""Write HDF5 files of gas as many programs might, and what h5py makes of them, for tests/files/hdf5_starts.rs.

make_hdf5_starts.py FOLDER COUNT: FOLDER/K.hdf5 for K below COUNT, and FOLDER/expected.json: a list of objects with either
"refused", a part of the reason, or the box, and the values in physical units that the file has (nested lists are flat).
"""

import json
import sys

import h5py
import numpy as np


def one(path, random):
    rows = int(random.integers(1, 200))
    pick = lambda *choices: choices[int(random.integers(len(choices)))]
    kind = pick(np.float32, np.float64, ">f4", ">f8")
    layout = pick({}, {"chunks": True}, {"compression": "gzip"}, {"compression": "gzip", "shuffle": True},
                  {"fletcher32": True}, {"compression": "lzf"}, {"scaleoffset": 3})
    refused = "lacks: lzf" if layout.get("compression") == "lzf" else None
    if "scaleoffset" in layout:
        kind = pick(np.float32, np.float64)
    cosmology = pick(None, None, "gadget2", "gadget4", "swift", "gizmo")
    a, h = 0.25, 0.6875
    with h5py.File(path, "w") as file:
        head, gas = file.create_group("Header"), file.create_group("PartType0")
        head.attrs["NumPart_ThisFile"] = np.array([rows] + 5 * [0], dtype=pick("u4", "i4", "i8"))
        box = pick(np.float64(10.0), np.array([10.0]), [10.0, 12.0, 8.0], 0.0, None, np.float32(10.0), 10, [10.0, 10.0], -1.0)
        if box is not None:
            head.attrs["BoxSize"] = box
        if cosmology:
            head.attrs["Time"], head.attrs["Redshift"] = a, 1 / a - 1
        if cosmology in ("gadget2", "gizmo"):
            head.attrs["HubbleParam"] = h
        if cosmology == "gadget2":
            head.attrs["Omega0"] = 0.3
        if cosmology == "gizmo":
            head.attrs["ComovingIntegrationOn"] = 1
        if cosmology == "gadget4":
            file.create_group("Parameters").attrs.update({"ComovingIntegrationOn": 1, "HubbleParam": h, "Omega0": 0.3})
        if cosmology == "swift":
            file.create_group("Cosmology").attrs.update({"Cosmological run": np.array([1]), "h": np.array([h])})
            head.attrs["Scale-factor"] = np.array([a])
        exponents = {"Coordinates": (1, -1), "Velocities": (0.5, 0), "Masses": (0, -1), "InternalEnergy": (0, 0)}
        if cosmology == "swift":
            exponents = {"Coordinates": (1, 0), "Velocities": (0, 0), "Masses": (0, 0), "InternalEnergy": (-2, 0)}
        values = {
            "Coordinates": random.random((rows, 3)) * 8,
            "Velocities": random.normal(size=(rows, 3)),
            "Masses": 1 + random.random(rows),
            "InternalEnergy": random.random(rows),
        }
        if random.random() < 0.3:
            del values["Velocities"]
        table = random.random() < 0.3
        if table:
            del values["Masses"]
            head.attrs["MassTable"] = [1.5, 0, 0, 0, 0, 0]
        for name, data in values.items():
            shape = (rows, 1) if data.ndim == 1 and random.random() < 0.5 else data.shape
            gas.create_dataset(name, data=data.reshape(shape).astype(kind), **layout)
            if cosmology == "gadget4":
                gas[name].attrs["a_scaling"], gas[name].attrs["h_scaling"] = map(float, exponents[name])
            if cosmology == "swift":
                gas[name].attrs["a-scale exponent"] = np.array([exponents[name][0]], dtype=float)
                gas[name].attrs["h-scale exponent"] = np.array([exponents[name][1]], dtype=float)
        ids = None
        if random.random() < 0.7:
            ids = random.permutation(rows) + 1
            gas.create_dataset("ParticleIDs", data=ids.astype(pick("u4", "u8", "i8", "f8")))
    # what h5py reads
    with h5py.File(path, "r") as file:
        gas = file["PartType0"]
        factor = {name: a**e[0] * h**e[1] if cosmology else 1.0 for name, e in exponents.items()}
        # a scaled offset may round down to what is refused
        found = {name: gas[name][...].astype(float) * factor[name] for name in values if name != "ids"}
        if table:
            found["Masses"] = np.full(rows, 1.5 * (1 / h if cosmology in ("gadget2", "gadget4", "gizmo") else 1.0))
    if box is not None and np.size(box) == 2:
        refused = "not three-dimensional"
    elif box is not None and np.any(np.asarray(box) < 0):
        refused = "an edge is not positive"
    if refused:
        return {"refused": refused}
    edges = None if box is None or np.all(np.asarray(box) == 0) else list(np.ones(3) * np.asarray(box, float) * factor["Coordinates"])
    ids = list(range(rows)) if ids is None else ids.tolist()
    return {"box": edges, "ids": ids, **{name: data.ravel().tolist() for name, data in found.items()}}


folder, count = sys.argv[1], int(sys.argv[2])
expected = [one(f"{folder}/{k}.hdf5", np.random.default_rng([20, k])) for k in range(count)]
with open(f"{folder}/expected.json", "w") as file:
    json.dump(expected, file)
