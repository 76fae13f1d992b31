"""Open a trajectory in OVITO, and compare every frame with a trajectory of the same run in H5MD.

usage: read_ovito.py FILE SAME_AS_H5MD SCALE TOLERANCE

The box begins at 0. Lengths of FILE are SCALE times those of the H5MD file; positions agree within TOLERANCE
(FILE's unit of length). Fails with an assertion; status 77 without OVITO.
"""

import sys

import h5py
import numpy as np

try:
    from ovito.io import import_file
except ImportError as cause:
    print(f"OVITO: {cause}", file=sys.stderr)
    sys.exit(77)


def main(path, other, scale, tolerance):
    pipeline = import_file(path)
    with h5py.File(other) as file:
        everything = file["particles/all"]
        count = everything["position/value"].shape[0]
        assert pipeline.num_frames == count, (pipeline.num_frames, count)
        for k in range(count):
            data = pipeline.compute(k)
            exact = everything["position/value"][k] * scale
            # OVITO moves the cell of an XTC file, which has no origin, to the center
            found = np.asarray(data.particles.positions) - data.cell[:, 3]
            assert np.abs(found - exact).max() <= tolerance, (k, np.abs(found - exact).max())
            edges = everything["box/edges/value"][k] * scale
            assert np.allclose(np.diag(data.cell[:, :3]), edges, rtol=1e-5), (data.cell, edges)
    print(f"OVITO: {count} frames of {len(found)} atoms")


if __name__ == "__main__":
    path, other, scale, tolerance = sys.argv[1:]
    main(path, other, float(scale), float(tolerance))
