"""Open a snapshot as its users do, and compare total mass and center of mass with those given.

usage: read_snapshot.py SNAPSHOT MASS X Y Z COUNT

X Y Z are in the simulation's coordinates; the file counts from Header/BoxLower. Exits with 1 if any reader fails.
"""

import sys
import traceback
import warnings

import h5py
import numpy as np

warnings.filterwarnings("ignore")
TOLERANCE = 1e-10


def with_yt(path):
    import yt

    yt.set_log_level("error")
    data_set = yt.load(path)
    assert type(data_set).__name__ == "SwiftDataset", type(data_set)
    everything = data_set.all_data()
    masses = everything["gas", "mass"].to("code_mass")
    center = everything.quantities.center_of_mass(use_gas=True, use_particles=False).to("code_length")
    # Selections go through yt's index, which drops what lies outside the box.
    middle, radius = 0.5 * data_set.domain_width, data_set.domain_width.max()
    assert data_set.sphere(middle, radius)["gas", "mass"].size == masses.size
    # a slice through the middle, interpolated by yt with the smoothing lengths
    pixels = data_set.slice(2, middle[2]).to_frb(data_set.domain_width[0], 16)["gas", "density"]
    assert pixels.shape == (16, 16) and (np.asarray(pixels) > 0).any(), pixels
    return masses.size, float(masses.sum()), np.asarray(center), float(data_set.current_time)


def with_swiftsimio(path):
    import swiftsimio

    data = swiftsimio.load(path)
    # swiftsimio picks named units near those of the file: back to the file's.
    with h5py.File(path) as file:
        units = file["Units"].attrs
        gram, centimeter = units["Unit mass in cgs (U_M)"][0], units["Unit length in cgs (U_L)"][0]
        second = units["Unit time in cgs (U_t)"][0]
    masses = data.gas.masses.to("g").value / gram
    positions = data.gas.coordinates.to("cm").value / centimeter
    center = (masses[:, None] * positions).sum(0) / masses.sum()
    data.gas.densities, data.gas.velocities, data.gas.smoothing_lengths, data.gas.particle_ids
    return masses.size, masses.sum(), center, float(data.metadata.time.to("s").value) / second


def with_pynbody(path):
    import pynbody

    data = pynbody.load(path)
    assert type(data).__name__ == "SwiftSnap", type(data)
    masses, positions = np.asarray(data.gas["mass"]), np.asarray(data.gas["pos"])
    time = float(data.properties["time"].in_units(data.infer_original_units("s")))
    return masses.size, masses.sum(), (masses[:, None] * positions).sum(0) / masses.sum(), time


def with_vtk(path):
    """The XDMF sidecar, as ParaView opens it: every attribute has the values of the dataset of its name."""
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkCommonDataModel import vtkDataObject
    from vtkmodules.vtkIOXdmf2 import vtkXdmfReader

    reader = vtkXdmfReader()
    reader.SetFileName(path.removesuffix(".hdf5") + ".xdmf")
    reader.Update()
    data = reader.GetOutputDataObject(0)
    positions, attributes = vtk_to_numpy(data.GetPoints().GetData()), data.GetPointData()
    with h5py.File(path) as file:
        group = file["PartType0"]
        assert (positions == group["Coordinates"][:]).all()
        names = {attributes.GetArrayName(k) for k in range(attributes.GetNumberOfArrays())}
        assert names == set(group) - {"Coordinates"}, names
        for name in names:
            values = group[name][:]
            if values.shape[1:] == (6,):
                # VTK has all nine elements of a symmetric matrix
                values = values[:, [0, 1, 2, 1, 3, 4, 2, 4, 5]]
            assert (vtk_to_numpy(attributes.GetArray(name)) == values).all(), name
    masses = vtk_to_numpy(attributes.GetArray("Masses"))
    time = data.GetInformation().Get(vtkDataObject.DATA_TIME_STEP())
    return masses.size, masses.sum(), (masses[:, None] * positions).sum(0) / masses.sum(), time


def with_h5py(path):
    """Every dataset has a row for each particle, finite numbers and its units."""
    with h5py.File(path) as file:
        group = file["PartType0"]
        count = file["Header"].attrs["NumPart_ThisFile"][0]
        for name, dataset in group.items():
            assert dataset.shape[0] == count and np.isfinite(dataset[:]).all(), name
            assert "Conversion factor to CGS (not including cosmological corrections)" in dataset.attrs, name
        masses, positions = group["Masses"][:], group["Coordinates"][:]
        center = (masses[:, None] * positions).sum(0) / masses.sum()
        return masses.size, masses.sum(), center, file["Header"].attrs["Time"][0]


def main():
    path = sys.argv[1]
    mass, x, y, z, count = map(float, sys.argv[2:])
    with h5py.File(path) as file:
        header = file["Header"].attrs
        lower, edge, time = header["BoxLower"], header["BoxSize"], header["Time"][0]
    failures = 0
    for reader in (with_yt, with_swiftsimio, with_pynbody, with_vtk, with_h5py):
        name = reader.__name__.removeprefix("with_")
        try:
            found_count, found_mass, found_center, found_time = reader(path)
            off = (found_center + lower - np.array([x, y, z])) / edge
            assert found_count == count, f"{found_count} particles"
            assert abs(found_mass / mass - 1) < TOLERANCE, f"mass {found_mass}"
            assert np.abs(off).max() < TOLERANCE, f"center of mass {found_center + lower}"
            assert abs(found_time - time) <= TOLERANCE * abs(time), f"time {found_time}"
            print(f"{name}: {found_count} particles, mass {found_mass:.15g}, center {found_center + lower}")
        except Exception:
            failures += 1
            print(f"{name} FAILED", file=sys.stderr)
            traceback.print_exc()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
