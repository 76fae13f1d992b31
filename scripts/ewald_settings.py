"""Settings of the Ewald sums of `scripts/peers`, and the measured rms errors of their forces.

The system is salt-pme: Lennard-Jones and Coulomb, 100 ions per nm^3, charges of 0.1 e. An error is the rms
deviation of the forces from a converged sum, over the rms of the Coulomb forces. The converged sum is that of
GROMACS in double precision (`gmx_d`): cutoff 1.3 nm, splines of order 10, mesh spacing 0.042 nm; it agrees
with a direct Ewald sum to 3e-8, which is the difference of the Coulomb constants."""
import array
import math
import struct

# Tolerance of hilbrium: the other programs' settings with the next smaller measured error are compared with it.
TOLERANCES = ["1e-3", "5e-4", "1e-4"]
# GROMACS: rcoulomb, ewald-rtol, pme-order, mesh points per nm. The Lennard-Jones cutoff is always 0.71 nm.
GROMACS = {
    "as it comes": (0.71, 1e-5, 4, 1 / 0.12),   # measured 3.7e-3
    "1e-3": (0.71, 3.551e-4, 5, 8.0),           # measured 8.4e-4
    "5e-4": (0.71, 1.677e-4, 5, 9.6),           # measured 4.3e-4
    "1e-4": (0.71, 2.964e-5, 5, 14.4),          # measured 8.9e-5
}
# LAMMPS: accuracy of pppm, relative to the force of two elementary charges at 1 angstrom; cutoff 0.71 nm.
# Measured 6.5e-4, 4.1e-4, 1.17e-4: the last does not improve with a finer mesh.
LAMMPS = {"1e-3": 4.1e-6, "5e-4": 1.9e-6, "1e-4": 2.2e-7}
# Maximum relative difference of the energy of hilbrium at tolerance 1e-6 in double precision from gmx_d, whose log has six digits.
ENERGY = 1e-5
REFERENCE = (1.3, 1e-12, 10, 24.0)
# Mesh sizes that the FFTs of all programs divide well.
SIZES = sorted(2**a * 3**b * 5**c * 7**d for a in range(2, 10) for b in range(4) for c in range(3) for d in range(2))


def mesh(edge, density):
    """Number of mesh points along an edge in nm, at least `density` points per nm."""
    return next(size for size in SIZES if size >= edge * density - 1e-6)


def gromacs_parameters(setting, box):
    """Lines of a GROMACS run's parameters for an Ewald sum."""
    cutoff, share, order, density = setting
    points = "".join(f"fourier-n{axis} = {mesh(edge, density)}\n" for axis, edge in zip("xyz", box))
    return f"coulombtype = PME\nrcoulomb = {cutoff}\newald-rtol = {share}\npme-order = {order}\n{points}"


def trr_forces(path):
    """Forces of the only frame of a GROMACS TRR file, 3 N numbers in kJ/mol/nm (big-endian XDR)."""
    data = path.read_bytes()
    magic, _, length = struct.unpack_from(">3i", data)
    if magic != 1993:
        raise ValueError(f"{path} is no TRR file")
    at = 12 + (length + 3) // 4 * 4
    _, _, box, virial, pressure, _, _, positions, velocities, forces, count, _, _ = struct.unpack_from(">13i", data, at)
    width = forces // (3 * count)
    at += 52 + 2 * width + box + virial + pressure + positions + velocities
    numbers = array.array("d" if width == 8 else "f", data[at:at + forces])
    numbers.byteswap()
    return numbers


def rms(numbers):
    """Root mean square of the lengths of vectors, given as 3 N numbers."""
    return math.sqrt(sum(x * x for x in numbers) / (len(numbers) // 3))


def deviation(forces, reference):
    """rms deviation of forces from those of the reference."""
    if len(forces) != len(reference):
        raise ValueError(f"{len(forces) // 3} forces, but {len(reference) // 3} of the reference")
    return rms([a - b for a, b in zip(forces, reference)])
