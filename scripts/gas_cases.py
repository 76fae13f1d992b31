"""Test cases of the gas for scripts/gas-table: starts, end times and norms. Needs numpy and h5py.

Every case has `decks(program, folder)`, which returns the decks to run in order of their names, and
`norms(folder)`, which returns a dict of numbers from their results. Lengths, times and masses are in the
units of the cases."""
import csv
import json
import math
import subprocess

import h5py
import numpy

GAMMA = 5 / 3


def quiet(command):
    """Run a command and return its output. Status 1 is not an error: the table shows failed gates."""
    done = subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stdout[-1500:]}")
    return done.stdout


def glass(program, folder, particles, lengths):
    """Positions of the program's glass in a periodic box, in [0, lengths)."""
    results = folder / f"glass-{particles}"
    snapshot = results / "snapshot-0000.hdf5"
    if not snapshot.exists():
        deck = folder / f"glass-{particles}.toml"
        deck.write_text(f"""[run]
steps = 0
device = "cpu"
[start.uniform-box]
particles = {particles}
lengths = {list(map(float, lengths))}
internal_energy = 1.0
arrangement = "glass"
[space]
boundary = "periodic"
[sph]
[output]
directory = "{results}"
""")
        quiet([program, "run", deck])
    with h5py.File(snapshot) as file:
        positions = file["PartType0/Coordinates"][:]
    return numpy.mod(positions, lengths)


def tiled(tile, count):
    """`count` copies of a unit cube along x and along y."""
    shifts = numpy.stack(numpy.meshgrid(range(count), range(count), [0], indexing="ij"), -1)
    return (tile + shifts.reshape(-1, 1, 3)).reshape(-1, 3)


def face_centered(cells):
    """Positions of an fcc lattice of (x, y, z) cells, in units of the cell edge."""
    corners = numpy.stack(numpy.meshgrid(*map(numpy.arange, cells), indexing="ij"), -1).reshape(-1, 1, 3)
    basis = numpy.array([[0, 0, 0], [0, 0.5, 0.5], [0.5, 0, 0.5], [0.5, 0.5, 0]]) + 0.25
    return (corners + basis).reshape(-1, 3)


def write_start(path, lengths, positions, velocities, masses, energies):
    """Write a periodic start file in SWIFT's layout."""
    count = len(positions)
    with h5py.File(path, "w") as file:
        header = file.create_group("Header")
        header.attrs["BoxSize"] = list(map(float, lengths))
        header.attrs["NumPart_ThisFile"] = [count, 0, 0, 0, 0, 0]
        file.create_group("Parameters").attrs["InitialConditions:periodic"] = 1
        gas = file.create_group("PartType0")
        gas["Coordinates"] = numpy.mod(positions, lengths)
        gas["Velocities"] = velocities
        gas["Masses"] = numpy.broadcast_to(masses, count).astype(float)
        gas["InternalEnergies"] = numpy.broadcast_to(energies, count).astype(float)
        gas["ParticleIDs"] = numpy.arange(1, count + 1)


def deck(folder, name, start, end, gamma=GAMMA, boundary="periodic"):
    """Write a deck with two outputs: the first and the last snapshot, and the observables."""
    results = folder / name
    text = f"""title = "{name}"
[run]
end_time = {end}
{start}
[space]
boundary = "{boundary}"
[sph]
gamma = {gamma}
[output]
directory = "{results}"
snapshots = {{ every_time = {end} }}
"""
    path = folder / f"{name}.toml"
    path.write_text(text)
    return path


def record(folder):
    """Columns of a run's observables, keyed by name without unit."""
    with open(folder / "observables.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    return {name.split()[0]: numpy.array([float(row[name] or "nan") for row in rows]) for name in rows[0]}


def state(snapshot):
    """Fields of a snapshot, and its time."""
    names = {"x": "Coordinates", "v": "Velocities", "m": "Masses", "rho": "Densities", "u": "InternalEnergies"}
    with h5py.File(snapshot) as file:
        fields = {name: file["PartType0"][dataset][:].astype(float) for name, dataset in names.items()}
        fields["time"] = float(numpy.ravel(file["Header"].attrs["Time"])[0])
    return fields


def snapshots(folder):
    """Snapshots of a run, in time order."""
    return sorted(folder.glob("snapshot-*.hdf5"))


def last(folder):
    """Fields of a run's last snapshot."""
    return state(snapshots(folder)[-1])


def entropy_change(first, final, gamma=GAMMA):
    """Change of the mean of ln(P / rho^gamma)."""
    return float(numpy.mean(numpy.log(final["u"] / final["rho"] ** (gamma - 1)))
                 - numpy.mean(numpy.log(first["u"] / first["rho"] ** (gamma - 1))))


class Rest:
    """A gas at rest, sound speed 1 and edge 1, for 20 sound crossings: a lattice with displacements of 0.001
    spacings, or a glass."""

    CELLS = {"fcc": (10, 10, 10), "bcc": (10, 10, 10), "hcp": (12, 7, 8), "sc": (12, 12, 12)}

    def __init__(self, layout, cells=None):
        self.name = f"rest-{layout}" + (f"-{cells}" if cells else "")
        self.layout = layout
        self.cells = self.CELLS.get(layout)
        if cells:  # nearly cubic
            self.cells = (cells, round(cells / 3**0.5), round(cells / (8 / 3) ** 0.5)) if layout == "hcp" else (cells,) * 3

    def decks(self, program, folder):
        energy = 1 / (GAMMA * (GAMMA - 1))
        if self.layout == "glass":
            start = f"""[start.uniform-box]
particles = 2000
lengths = [1.0, 1.0, 1.0]
internal_energy = {energy}
arrangement = "glass" """
        else:
            start = f"""[start.lattice]
kind = "{self.layout}"
cells = {list(self.cells)}
spacing = {1 / self.cells[0]}
jitter = 0.001
internal_energy = {energy}"""
        return [deck(folder, self.name, start, 20.0)]

    def norms(self, folder):
        found = record(folder / self.name)
        mass = last(folder / self.name)["m"].sum()
        kinetic = found["kinetic_energy"]
        noise = numpy.sqrt(2 * kinetic / mass)
        time = found["time"]
        first, *_, final = snapshots(folder / self.name)
        after = noise[time >= 1.0]
        return {
            "noise_at_1": float(noise[numpy.searchsorted(time, 1.0)]),
            "largest_noise": float(after.max()),
            "noise_at_20": float(noise[-1]),
            "entropy": entropy_change(state(first), state(final)),
        }


def riemann(left, right, gamma, speeds):
    """Exact solution of a Riemann problem of an ideal gas at x / t = speeds: density, velocity, pressure
    (Toro, chapter 4)."""
    (rl, vl, pl), (rr, vr, pr) = left, right
    cl, cr = math.sqrt(gamma * pl / rl), math.sqrt(gamma * pr / rr)

    def side(p, rho, pressure, c):
        if p > pressure:
            a, b = 2 / ((gamma + 1) * rho), (gamma - 1) / (gamma + 1) * pressure
            return (p - pressure) * math.sqrt(a / (p + b))
        return 2 * c / (gamma - 1) * ((p / pressure) ** ((gamma - 1) / (2 * gamma)) - 1)

    low, high = 1e-12 * min(pl, pr), 1e3 * max(pl, pr)
    for _ in range(200):
        p = 0.5 * (low + high)
        low, high = (p, high) if side(p, rl, pl, cl) + side(p, rr, pr, cr) + vr - vl < 0 else (low, p)
    v = 0.5 * (vl + vr) + 0.5 * (side(p, rr, pr, cr) - side(p, rl, pl, cl))
    ratio = (gamma - 1) / (gamma + 1)

    def of(s):
        sign, (rho, speed, pressure), c = (1, left, cl) if s < v else (-1, right, cr)
        s, speed, middle = sign * s, sign * speed, sign * v
        if p > pressure:
            front = speed - c * math.sqrt((gamma + 1) / (2 * gamma) * p / pressure + (gamma - 1) / (2 * gamma))
            if s < front:
                return rho, sign * speed, pressure
            return rho * (p / pressure + ratio) / (ratio * p / pressure + 1), sign * middle, p
        if s < speed - c:
            return rho, sign * speed, pressure
        inner = c * (p / pressure) ** ((gamma - 1) / (2 * gamma))
        if s > middle - inner:
            return rho * (p / pressure) ** (1 / gamma), sign * middle, p
        fan = 2 / (gamma + 1) * (c + (gamma - 1) / 2 * speed + s)
        factor = 2 / (gamma + 1) + ratio / c * (speed - s)
        return rho * factor ** (2 / (gamma - 1)), sign * fan, pressure * factor ** (2 * gamma / (gamma - 1))

    return numpy.array([of(s) for s in speeds]).T


class Sod:
    """Sod shock tube to t = 0.2, gamma 1.4: density 1 and 1/8, pressure 1 and 0.1, particles of equal masses
    (46,080 and 5,760 in the glass, 51,200 and 6,400 on the fcc lattice).

    The box is periodic, so a second problem runs at the seam. Norms are over |x| < 0.5, which it does not
    reach."""

    END = 0.2

    def __init__(self, layout):
        self.name = f"sod-{layout}"
        self.layout = layout
        self.width = 0.3 if layout == "glass" else 0.32

    def decks(self, program, folder):
        path = folder / f"{self.name}.hdf5"
        if not path.exists():
            dense = self.points(program, folder, 46080, 80)
            thin = self.points(program, folder, 5760, 40)
            positions = numpy.concatenate([dense, thin + [1.0, 0, 0]])
            energies = numpy.concatenate([numpy.full(len(dense), 1 / 0.4), numpy.full(len(thin), 0.1 / 0.125 / 0.4)])
            mass = self.width**2 / len(dense)
            write_start(path, [2.0, self.width, self.width], positions, numpy.zeros_like(positions), mass, energies)
        return [deck(folder, self.name, f'[start.file]\npath = "{path}"', self.END, gamma=1.4)]

    def points(self, program, folder, count, per_edge):
        if self.layout == "glass":
            return glass(program, folder, count, (1.0, 0.3, 0.3))
        cells = per_edge * 5 // 8
        return face_centered((cells, *(2 * [round(self.width * cells)]))) / cells

    def norms(self, folder):
        final = last(folder / self.name)
        x = final["x"][:, 0] - 1.0
        inside = numpy.abs(x) < 0.5
        exact = riemann((1.0, 0.0, 1.0), (0.125, 0.0, 0.1), 1.4, x[inside] / final["time"])
        pressure = 0.4 * final["rho"] * final["u"]
        found = [final["rho"][inside], final["v"][inside, 0], pressure[inside]]
        volume = (final["m"] / final["rho"])[inside]
        errors = [numpy.average(numpy.abs(a - b), weights=volume) for a, b in zip(found, exact)]
        return dict(zip(("rho", "velocity", "pressure"), map(float, errors)))


class Gresho:
    """Gresho vortex in a periodic slab of glass, `side` particles per edge and 16 deep, density 1, to t =
    1."""

    def __init__(self, side):
        self.name = f"gresho-{side}"
        self.side = side

    def decks(self, program, folder):
        path = folder / f"{self.name}.hdf5"
        lengths = numpy.array([1.0, 1.0, 16 / self.side])
        if not path.exists():
            positions = tiled(glass(program, folder, 4096, (1.0, 1.0, 1.0)), self.side // 16) * (16 / self.side)
            r, unit = self.polar(positions)
            velocities = self.speed(r)[:, None] * unit
            pressure = numpy.where(r < 0.2, 5 + 12.5 * r**2, 9 + 12.5 * r**2 - 20 * r + 4 * numpy.log(numpy.maximum(r, 0.2) / 0.2))
            pressure = numpy.where(r < 0.4, pressure, 3 + 4 * math.log(2))
            write_start(path, lengths, positions, velocities, lengths.prod() / len(positions), pressure / (GAMMA - 1))
        return [deck(folder, self.name, f'[start.file]\npath = "{path}"', 1.0)]

    @staticmethod
    def polar(positions):
        x, y = positions[:, 0] - 0.5, positions[:, 1] - 0.5
        r = numpy.hypot(x, y)
        return r, numpy.stack([-y, x, 0 * x], -1) / numpy.maximum(r, 1e-12)[:, None]

    @staticmethod
    def speed(r):
        return numpy.where(r < 0.2, 5 * r, numpy.where(r < 0.4, 2 - 5 * r, 0.0))

    def norms(self, folder):
        final = last(folder / self.name)
        r, unit = self.polar(final["x"])
        speed = (final["v"] * unit).sum(-1)
        inside = r < 0.5
        each = numpy.abs(speed - self.speed(r))[inside].mean()
        bins = numpy.minimum((r[inside] / 0.02).astype(int), 24)
        counts = numpy.bincount(bins, minlength=25)
        mean = numpy.bincount(bins, speed[inside], 25) / numpy.maximum(counts, 1)
        exact = numpy.bincount(bins, self.speed(r)[inside], 25) / numpy.maximum(counts, 1)
        kinetic = record(folder / self.name)["kinetic_energy"]
        return {"particle": float(each), "binned": float(numpy.abs(mean - exact).mean()), "kinetic": float(kinetic[-1] / kinetic[0] - 1)}


class KelvinHelmholtz:
    """Kelvin-Helmholtz problem with ramps (McNally, Lyra & Passy 2012) to t = 1, in a slab of `cells` fcc
    cells per edge, or of glass with 48 particles per edge and 16 deep. Masses follow the density. REFERENCE
    is the amplitude at t = 1 on a grid of 512 cells per edge (scripts/kelvin-helmholtz-reference)."""

    LENGTH = 0.025
    REFERENCE = 0.0475

    def __init__(self, cells=None):
        self.cells = None if cells is None else numpy.array([cells, cells, 3 * cells // 16])
        self.name = f"kelvin-helmholtz-{'glass' if cells is None else 4 * self.cells.prod()}"

    @classmethod
    def ramp(cls, y, first, second):
        """Ramp profile: `first` outside and `second` inside."""
        middle = (first - second) / 2
        pieces = [first - middle * numpy.exp((y - 0.25) / cls.LENGTH), second + middle * numpy.exp((0.25 - y) / cls.LENGTH),
                  second + middle * numpy.exp((y - 0.75) / cls.LENGTH), first - middle * numpy.exp((0.75 - y) / cls.LENGTH)]
        return numpy.select([y < 0.25, y < 0.5, y < 0.75], pieces[:3], pieces[3])

    def decks(self, program, folder):
        path = folder / f"{self.name}.hdf5"
        if not path.exists():
            if self.cells is None:
                lengths = numpy.array([1, 1, 1 / 3])
                positions = tiled(glass(program, folder, 4096, (1.0, 1.0, 1.0)), 3) / 3
            else:
                lengths = self.cells / self.cells[0]
                positions = face_centered(self.cells) / self.cells[0]
            y = positions[:, 1]
            density = self.ramp(y, 1.0, 2.0)
            velocities = numpy.stack([self.ramp(y, 0.5, -0.5), 0.01 * numpy.sin(4 * math.pi * positions[:, 0]), 0 * y], -1)
            masses = density * lengths.prod() / len(positions)
            write_start(path, lengths, positions, velocities, masses, 2.5 / (GAMMA - 1) / density)
        return [deck(folder, self.name, f'[start.file]\npath = "{path}"', 1.0)]

    @staticmethod
    def amplitude(x, y, vy, volume):
        """Amplitude of the mode, equations 10 to 13 of the paper."""
        weight = volume * numpy.exp(-4 * math.pi * numpy.abs(numpy.where(y < 0.5, y, 1 - y) - 0.25))
        sine, cosine = ((weight * vy * of(4 * math.pi * x)).sum() for of in (numpy.sin, numpy.cos))
        return 2 * math.hypot(sine, cosine) / weight.sum()

    def norms(self, folder):
        final = last(folder / self.name)
        x, v = final["x"], final["v"]
        return {"amplitude": float(self.amplitude(x[:, 0], x[:, 1], v[:, 1], final["m"] / final["rho"])),
                "v_z": float(numpy.sqrt((v[:, 2] ** 2).mean()))}


class Evrard:
    """Evrard collapse at t = 0.8, judged by `hilbrium validate`: norms relative to its gates."""

    def __init__(self, particles):
        self.name = f"evrard-{particles}"
        self.particles = particles

    def decks(self, program, folder):
        start = f"[start.evrard]\nparticles = {self.particles}\n[gravity]\nsoftening = 0.005\nopening_angle = 0.5"
        path = deck(folder, self.name, start, 0.8, boundary="open")
        path.write_text(path.read_text() + "[sph.viscosity]\nalpha_max = 0.8\n")
        self.program = program
        return [path]

    def norms(self, folder):
        results = folder / self.name
        snapshot = snapshots(results)[-1]
        quiet([self.program, "validate", snapshot, "--against", "evrard", "--json", results / "verdict.json"])
        verdict = json.loads((results / "verdict.json").read_text())
        return {"verdict": verdict, "drift": drift(record(results))}


class Sedov:
    """Sedov explosion with 64,000 particles to t = 0.06: energy drift, and density in shells to compare
    runs."""

    name = "sedov"

    def decks(self, program, folder):
        return [deck(folder, self.name, "[start.sedov]\nparticles = 64000", 0.06)]

    def norms(self, folder):
        final, found = last(folder / self.name), record(folder / self.name)
        r = numpy.sqrt(((final["x"] - 0.5) ** 2).sum(-1))
        shells = numpy.minimum((r / 0.01).astype(int), 49)
        counts = numpy.bincount(shells, minlength=50)
        profile = numpy.bincount(shells, final["rho"], 50) / numpy.maximum(counts, 1)
        return {"drift": drift(found), "steps": float(found["step"][-1]), "profile": profile.tolist(),
                "front": float(r[final["rho"].argsort()[-200:]].mean()), "peak": float(profile.max())}


class Turbulence:
    """Decaying turbulence of rms Mach number 0.5 on 15^3 fcc cells to t = 3; sound speed 1, edge 1."""

    name = "turbulence"

    def decks(self, program, folder):
        path = folder / f"{self.name}.hdf5"
        if not path.exists():
            positions = face_centered((15, 15, 15)) / 15
            random = numpy.random.default_rng(5)
            velocities = numpy.zeros_like(positions)
            for wave in numpy.ndindex(4, 4, 4):
                wave = numpy.array(wave)
                if 0 < (wave**2).sum() <= 9:
                    direction = numpy.cross(wave, random.normal(size=3)) / (wave**2).sum()
                    velocities += direction * numpy.cos(2 * math.pi * (positions @ wave + random.uniform()))[:, None]
            velocities -= velocities.mean(0)
            velocities *= 0.5 / math.sqrt((velocities**2).sum(-1).mean())
            write_start(path, [1.0, 1.0, 1.0], positions, velocities, 1 / len(positions), 1 / (GAMMA * (GAMMA - 1)))
        return [deck(folder, self.name, f'[start.file]\npath = "{path}"', 3.0)]

    def norms(self, folder):
        found = record(folder / self.name)
        kinetic = found["kinetic_energy"]
        at = [float(numpy.interp(time, found["time"], kinetic) / kinetic[0]) for time in (1.0, 2.0, 3.0)]
        return {"drift": drift(found), "steps": float(found["step"][-1]), "kinetic": at}


class ColdCollapse:
    """Plummer sphere of 20,000 particles, initially at rest, to t = 4: energy drift."""

    name = "cold-collapse"

    def decks(self, program, folder):
        path = folder / f"{self.name}.toml"
        path.write_text(f"""[run]
end_time = 4.0
[start.plummer]
particles = 20000
velocities = "rest"
[gravity]
[output]
directory = "{folder / self.name}"
""")
        return [path]

    def norms(self, folder):
        found = record(folder / self.name)
        return {"drift": drift(found), "steps": float(found["step"][-1])}


def drift(found):
    """Largest relative change of the total energy."""
    energy = found["total_energy"]
    return float(numpy.abs(energy / energy[0] - 1).max())


def cases():
    """All cases by name."""
    every = [Rest(layout) for layout in ("fcc", "bcc", "hcp", "sc", "glass")]
    every += [Sod("glass"), Sod("fcc"), Gresho(32), Gresho(64), KelvinHelmholtz(32), KelvinHelmholtz(64), KelvinHelmholtz()]
    every += [Evrard(20000), Evrard(100000)]
    every += [Sedov(), Turbulence(), ColdCollapse()]
    every += [Rest(layout, cells) for layout in ("fcc", "bcc", "hcp") for cells in range(6, 15)]
    return {case.name: case for case in every}
