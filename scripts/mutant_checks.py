"""Checks that find planted faults (scripts/mutants): small runs of the cases, judged by `hilbrium validate`,
and named checks for what no case sees: forces, energies of other programs, ranks, restarts, time steps.

A check gets a Program and an empty folder and returns figures. All figures are deviations with a gate."""
import csv
import json
import math
import os
import pathlib
import subprocess
import tomllib
from dataclasses import dataclass

import h5py
import numpy

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOREIGN = ROOT / "tests/data/foreign"
STATES = ROOT / "tests/data/states"


@dataclass
class Figure:
    """A deviation and its gate."""

    name: str
    measured: float
    gate: float

    @property
    def passed(self):
        return self.measured is not None and math.isfinite(self.measured) and self.measured <= self.gate


class RunFailed(Exception):
    """A run that ended with an error."""


class Program:
    """The program, with a planted fault or none."""

    def __init__(self, path, fault=""):
        self.path, self.fault = pathlib.Path(path).resolve(), fault

    def call(self, arguments, allowed=(0,), fault=None):
        """Run a command and return what it printed."""
        command = [self.path, *arguments]
        environment = {**os.environ, "HILBRIUM_FAULT": self.fault if fault is None else fault, "RAYON_NUM_THREADS": "1"}
        done = subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env=environment, timeout=1800, check=False)
        if done.returncode not in allowed:
            lines = [line for line in done.stdout.splitlines() if line.startswith("error")] or done.stdout.splitlines()
            raise RunFailed(f"status {done.returncode}: {lines[-1] if lines else ''}")
        return done.stdout

    def run(self, deck, folder, *options, ranks=1, restart=None):
        """Run a deck with options KEY=VALUE into a folder."""
        settings = [f"--set={option}" for option in (f"output.directory={json.dumps(str(folder))}", "output.overwrite=true", *options)]
        more = [*(["--restart", restart] if restart else []), *(["--ranks", ranks] if ranks > 1 else [])]
        self.call(["run", deck, *settings, *more])
        return Results(folder)


class Results:
    """The files of a run."""

    def __init__(self, folder):
        self.folder = folder

    def record(self):
        """The columns of observables.csv by name, without units."""
        with open(self.folder / "observables.csv", newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))
        names = [name.split(" [")[0] for name in rows[0]]
        values = numpy.array([[float(value) for value in row] for row in rows[1:]])
        return {name: values[:, k] for k, name in enumerate(names)}

    def snapshot(self, number=-1):
        """The columns of a snapshot, particles in the order of their ids."""
        path = sorted(self.folder.glob("snapshot-*.hdf5"))[number]
        with h5py.File(path) as file:
            columns = {name: column[...] for name, column in file["PartType0"].items()}
        order = numpy.argsort(columns["ParticleIDs"])
        return {name: column[order] for name, column in columns.items()}

    def lower(self):
        """The lower corner of the box in the last snapshot, to which coordinates are relative."""
        with h5py.File(max(self.folder.glob("snapshot-*.hdf5"))) as file:
            return file["Header"].attrs["BoxLower"]

    def state(self):
        """The state columns of the last checkpoint, particles in the order of their ids."""
        with h5py.File(max(self.folder.glob("checkpoint-*.h5"))) as file:
            ids = file["State/id"][...]
            order = numpy.argsort(ids)
            columns = {name: column[...] for name, column in file["State"].items() if column.shape == ids.shape}
        return {name: column[order] for name, column in columns.items() if "work" not in name}


def case(name, *options):
    """A case at a small size: the gates of `validate`, and the time of its last snapshot."""

    def check(program, folder):
        deck = ROOT / f"inputs/{name}.toml"
        results = program.run(deck, folder, *options)
        end = tomllib.loads(deck.read_text())["run"]["end_time"]
        end = next((float(option.split("=")[1]) for option in options if option.startswith("run.end_time")), end)
        snapshot = max(folder.glob("snapshot-*.hdf5"))
        program.call(["validate", snapshot, "--against", name, "--json", folder / "verdict.json"], (0, 1), fault="")
        verdict = json.loads((folder / "verdict.json").read_text())
        gated = [found for found in verdict["checks"] if found["gate"] is not None]
        figures = [Figure(found["name"], found["measured"], found["gate"]) for found in gated]
        return [*figures, Figure("end time", abs(verdict["time"] - end) / max(end, 1), 1e-9)]

    check.__doc__ = f"case `{name}`" + (f" with {', '.join(options)}" if options else "")
    return check


def time_step(program, folder):
    """Steps of a gas at rest: the longest is that of the Courant criterion, h / (2 c) times its factor; growth at most 1.1."""
    results = program.run(ROOT / "inputs/gas-at-rest.toml", folder, "start.gas-at-rest.particles=864", "run.end_time=2.0")
    record = results.record()
    steps, length = record["time_step"][1:], record["minimum_smoothing_length"][1:]
    steps, length = steps[steps > 0], length[steps > 0]
    courant = (steps / (0.4 * length / 2)).max()
    return [Figure("longest step / Courant − 1", abs(courant - 1), 0.05),
            Figure("largest growth − 1", (steps[1:] / steps[:-1]).max() - 1, 0.1 + 1e-9)]


def isothermal(program, folder):
    """Pressure of an isothermal gas: the square of the speed of sound times the density."""
    deck = ROOT / "inputs/isothermal-collapse.toml"
    columns = program.run(deck, folder, "start.isothermal-collapse.particles=1000", "run.steps=0").snapshot()
    return [Figure("largest P / (c^2 rho) - 1", numpy.abs(columns["Pressures"] / columns["Densities"] - 1).max(), 1e-6)]


def start_energy(program, folder):
    """Internal energies of starts against P / ((gamma - 1) rho) of their cases."""
    # P, rho and gamma of Sod's two gases, and of the gas at rest; Evrard's sphere has u = 0.05
    expected = {
        "sod": (("start.sod.side=24", "start.sod.depth=16"), lambda x: numpy.where(x < 0, 1 / (0.4 * 1), 0.1 / (0.4 * 0.125))),
        "gas-at-rest": (("start.gas-at-rest.particles=864",), lambda x: 1 / (5 / 3 * (5 / 3 - 1)) + 0 * x),
        "evrard": (("start.evrard.particles=1000",), lambda x: 0.05 + 0 * x),
    }
    figures = []
    for name, (options, energy) in expected.items():
        found = program.run(ROOT / f"inputs/{name}.toml", folder / name, *options, "run.steps=0")
        columns = found.snapshot()
        x = columns["Coordinates"][:, 0] + found.lower()[0]
        figures.append(Figure(f"{name}: largest u / expected - 1", numpy.abs(columns["InternalEnergies"] / energy(x) - 1).max(), 1e-12))
    return figures


def ideal_gas(program, folder):
    """Pressure of an ideal gas, (gamma - 1) rho u, in Sod's tube and in Evrard's sphere."""
    decks = {"sod": (1.4, "start.sod.side=24", "start.sod.depth=16"), "evrard": (5 / 3, "start.evrard.particles=1000")}
    figures = []
    for name, (gamma, *options) in decks.items():
        columns = program.run(ROOT / f"inputs/{name}.toml", folder / name, *options, "run.steps=0").snapshot()
        ratio = columns["Pressures"] / ((gamma - 1) * columns["Densities"] * columns["InternalEnergies"])
        figures.append(Figure(f"{name}: largest P / ((gamma - 1) rho u) - 1", numpy.abs(ratio - 1).max(), 1e-12))
    return figures


def uneven_gas(folder, side=10):
    """Write a start and its deck: a periodic cube of gas on a jittered lattice, with waves of spacing, mass, energy and velocity."""
    folder.mkdir(parents=True, exist_ok=True)
    noise = numpy.random.default_rng(7)
    grid = (numpy.indices((side,) * 3).reshape(3, -1).T + 0.5) / side
    x, y, z = (2 * math.pi * grid).T
    position = grid + 0.03 * numpy.stack([numpy.sin(x + y), numpy.sin(y - z), numpy.sin(z + x)], axis=1)
    position = (position + noise.normal(0, 0.04 / side, position.shape)) % 1
    velocity = 0.4 * numpy.stack([numpy.sin(x) + numpy.sin(z), numpy.cos(y) - numpy.sin(x), numpy.sin(z + y)], axis=1)
    with h5py.File(folder / "start.hdf5", "w") as file:
        header, gas = file.create_group("Header"), file.create_group("PartType0")
        header.attrs["BoxSize"], header.attrs["Periodic"] = numpy.ones(3), numpy.ones(3, dtype=numpy.int32)
        header.attrs["NumPart_ThisFile"] = [len(grid), 0, 0, 0, 0, 0]
        gas["Coordinates"], gas["Velocities"] = position, velocity
        gas["Masses"] = (1 + 0.2 * numpy.sin(z)) / len(grid)
        gas["InternalEnergies"] = 1 + 0.15 * numpy.cos(x - y)
        gas["ParticleIDs"] = numpy.arange(1, len(grid) + 1)
    deck = folder / "deck.toml"
    deck.write_text(f'[run]\nsteps = 6\nprecision = "double"\n[start.file]\npath = {json.dumps(str(folder / "start.hdf5"))}\n'
                    "[sph]\nneighbors = 60\nneighbor_tolerance = 1e-12\n[time_step]\nfixed = 1e-10\n")
    return deck


def kernel(distance, length):
    """Wendland's C6 kernel W, and dW / d ln h."""
    q = numpy.minimum(distance / length, 2)
    factor = 1365 / (512 * math.pi) * (1 - q / 2) ** 7 / length**3
    value = factor * (1 - q / 2) * (1 + 4 * q + 25 / 4 * q**2 + 4 * q**3)
    slope = factor * ((1 - q / 2) * (4 + 25 / 2 * q + 12 * q**2) - 4 * (1 + 4 * q + 25 / 4 * q**2 + 4 * q**3))
    return value, -3 * value - q * slope


def ramp(value, start, end):
    """Linear from 0 at `start` to 1 at `end`."""
    return numpy.clip((value - start) / (end - start), 0, 1)


def equations(formulation, estimate="density"):
    """The equations of docs/src/methods.md as sums over all pairs, against steps so short that nothing moves."""

    def check(program, folder):
        deck = uneven_gas(folder)
        options = [f"sph.formulation=\"{formulation}\"", *([f"sph.volume_estimate=\"{estimate}\""] if formulation != "standard" else [])]
        state = program.run(deck, folder / "out", *options).state()
        position, velocity, acceleration = (
            numpy.stack([state[f"{name}.{axis}"] for axis in range(3)], axis=1) for name in ("position", "velocity", "acceleration"))
        mass, h, u, alpha = (state[f"{name}.0"] for name in ("mass", "smoothing_length", "internal_energy", "viscosity"))
        gamma = 5 / 3
        # row i, column j: from particle j to particle i
        apart = position[:, None] - position[None]
        apart -= numpy.rint(apart)
        relative = velocity[:, None] - velocity[None]
        distance = numpy.linalg.norm(apart, axis=2)
        w, w_slope = kernel(distance, h[:, None])
        count = w.sum(axis=1)
        if formulation == "standard":
            density, grad_h = w @ mass, 1 + w_slope @ mass / (3 * (w @ mass))
        else:
            if estimate == "density":
                element = mass / (w @ mass)
            else:
                energy = mass * u
                contrast = ((energy[:, None] - energy) / (energy[:, None] + energy)) ** 2
                center = numpy.linalg.norm(numpy.einsum("ij,ijk->ik", w * energy, apart), axis=1) / (w @ energy) / h
                compression = -h * state["velocity_divergence.0"] / numpy.sqrt(gamma * (gamma - 1) * u)
                share = ramp((w * contrast).sum(axis=1) / count, 0.0003, 0.00125)
                share *= (1 - ramp(center, 0.04, 0.08)) * (1 - ramp(compression, 0.05, 0.1))
                element = count ** (share - 1) * (energy / (w @ energy)) ** share
            total = w @ element
            density, grad_h = mass * total / element, 1 + w_slope @ element / (3 * total)
        pressure, sound = (gamma - 1) * density * u, numpy.sqrt(gamma * (gamma - 1) * u)
        volume = mass / density
        matrix = numpy.linalg.inv(numpy.einsum("ij,ijk,ijl->ikl", w * volume, apart, apart))
        # A_i and A_j
        own = -numpy.einsum("ikl,ijl,ij->ijk", matrix, apart, w)
        other = -own.transpose(1, 0, 2)
        divergence = -(volume * (relative * own).sum(axis=2)).sum(axis=1)
        if formulation == "standard":
            term = numpy.outer(mass * pressure / (grad_h * density**2), mass)
        else:
            atwood = numpy.abs(density[:, None] - density) / (density[:, None] + density)
            term = (volume**2 * pressure / grad_h)[:, None] * (element / element[:, None]) ** ramp(atwood, 0.1, 0.2)
        pair_mass, mean_alpha = numpy.outer(mass, mass), (alpha[:, None] + alpha) / 2
        speed = (relative * apart).sum(axis=2) / numpy.maximum(distance, 1e-300)
        closing = numpy.minimum(speed, 0)
        viscosity = -mean_alpha * ((sound[:, None] + sound) / 2 - 2 * closing) * closing * pair_mass
        mean = own / density[:, None, None] + other / density[None, :, None]
        force = -(term[..., None] * own + term.T[..., None] * other + viscosity[..., None] / 2 * mean).sum(axis=1)
        work = ((term[..., None] * own + viscosity[..., None] / 4 * mean) * relative).sum(axis=2)
        conduction = mean_alpha * pair_mass * numpy.abs(speed) * (u[:, None] - u) / numpy.maximum(distance, 1e-300)
        rate = (work + conduction * (apart * mean).sum(axis=2) / 2).sum(axis=1)
        expected = {"density": density, "velocity divergence": divergence,
                    "acceleration": force / mass[:, None], "heating rate": rate / mass}
        found = {"density": state["density.0"], "velocity divergence": state["velocity_divergence.0"],
                 "acceleration": acceleration, "heating rate": state["internal_energy_rate.0"]}
        figures = [Figure(f"largest error of the {name} / largest", numpy.abs(found[name] - values).max() / numpy.abs(values).max(), 1e-8)
                   for name, values in expected.items()]
        filled = 4 * math.pi / 3 * (2 * h) ** 3 * count
        return [*figures, Figure("neighbors / 60 - 1", numpy.abs(filled / 60 - 1).max(), 1e-8)]

    check.__doc__ = f"equations of the formulation `{formulation}` as sums over all pairs"
    return check


def convergence(program, folder):
    """Order of the leapfrog of a gas without viscosity, from steps of three lengths: positions, velocities, energies."""
    deck, time = uneven_gas(folder), 0.04
    options = ("sph.viscosity.switch=false", "sph.viscosity.alpha_max=0.0", "sph.volume_estimate=\"density\"")
    states = []
    for count in (8, 16, 32):
        results = program.run(deck, folder / str(count), *options, f"run.steps={count}", f"time_step.fixed={time / count!r}")
        states.append(results.state())
    figures = []
    for name, axes in (("position", 3), ("velocity", 3), ("internal_energy", 1)):
        coarse, middle, fine = (numpy.stack([state[f"{name}.{axis}"] for axis in range(axes)]) for state in states)
        change, smaller = coarse - middle, middle - fine
        if name == "position":
            change, smaller = change - numpy.rint(change), smaller - numpy.rint(smaller)
        order = math.log2(math.sqrt((change**2).sum() / (smaller**2).sum()))
        figures.append(Figure(f"order of {name} - 2", abs(order - 2), 0.2))
    return figures


def direct_sum(program, folder):
    """Gravity of a Plummer sphere against the sum over all pairs: accelerations, potentials, net force."""
    softening = 0.01
    columns = program.run(ROOT / "inputs/plummer.toml", folder, "start.plummer.particles=3000", "run.steps=0").snapshot()
    position, mass = columns["Coordinates"], columns["Masses"]
    force, potential = numpy.zeros_like(position), numpy.zeros_like(mass)
    for row, place in enumerate(position):
        apart = position - place
        inverse = 1 / numpy.sqrt((apart**2).sum(axis=1) + softening**2)
        inverse[row] = 0
        force[row] = (apart * (mass * inverse**3)[:, None]).sum(axis=0)
        potential[row] = -(mass * inverse).sum()
    error = numpy.linalg.norm(columns["Accelerations"] - force, axis=1) / numpy.linalg.norm(force, axis=1)
    net = numpy.linalg.norm((mass[:, None] * columns["Accelerations"]).sum(axis=0))
    return [Figure("rms error of accelerations", math.sqrt((error**2).mean()), 5e-4),
            Figure("rms error of potentials", math.sqrt(((columns["Potentials"] / potential - 1) ** 2).mean()), 3e-5),
            Figure("net force / sum of forces", net / numpy.linalg.norm(mass[:, None] * force, axis=1).sum(), 1e-9)]


MIXTURE = """[species.1]
mass = 1
{one}epsilon = 1
sigma = 1
[species.2]
mass = 2
{two}epsilon = 0.6
sigma = 1.15
[interaction.lennard-jones]
cutoff = 3
{more}"""
ARGON = """[units]
system = "molecular"
[species.Ar]
mass = 39.948
[interaction.lennard-jones]
epsilon = 0.99607262165
sigma = 0.3405
cutoff = 0.85
tail = true
"""
LIQUID = "[interaction.lennard-jones]\ncutoff = 2.5\n"


def energies(program, folder):
    """Energies, pressures and forces of configurations as LAMMPS and GROMACS print them (tests/data/foreign)."""
    charged = MIXTURE.format(one="charge = 0.7\n", two="charge = -0.9\n", more='[interaction.coulomb]\ntruncation = "plain"\n')
    decks = {
        "lj-liquid-plain": LIQUID,
        "lj-liquid-shifted": LIQUID + 'truncation = "shifted"\n',
        "mixture-lorentz-berthelot": MIXTURE.format(one="", two="", more=""),
        "mixture-charged": charged,
        "argon-tail": ARGON,
    }
    printed = json.loads((FOREIGN / "energies.json").read_text())
    figures = []
    for name, more in decks.items():
        facts, results = printed[name], folder / name
        results.mkdir(parents=True)
        deck = results / "deck.toml"
        start = f"[run]\nsteps = 0\nprecision = \"double\"\n[start.file]\npath = {json.dumps(str(FOREIGN / facts['file']))}\n"
        deck.write_text(start + more + "[time_step]\nfixed = 0.001\n[output]\ndirectory = \"out\"\n")
        found = program.run(deck, results / "out")
        record = {name: column[0] for name, column in found.record().items()}
        expected = facts["potential"]
        if name == "argon-tail":
            # GROMACS corrects for the attraction alone
            columns = found.snapshot()
            volume = (columns["Masses"].sum() / 39.948) / density_of(found)
            count, epsilon, sigma, cutoff = len(columns["Masses"]), 0.99607262165, 0.3405, 0.85
            expected += 8 / 9 * math.pi * count * (count / volume) * epsilon * sigma**12 / cutoff**9
        figures.append(Figure(f"{name}: energy", abs(record["potential_energy"] / expected - 1), 1e-9))
        if name.startswith("lj-liquid"):
            figures.append(Figure(f"{name}: pressure", abs(record["pressure"] - facts["pressure"]), 1e-8))
        if "squared_forces" in facts:
            columns = found.snapshot()
            squared = ((columns["Accelerations"] * columns["Masses"][:, None]) ** 2).sum()
            figures.append(Figure(f"{name}: squared forces", abs(squared / facts["squared_forces"] - 1), 1e-9))
    return figures


def density_of(results):
    """Particles per volume of a snapshot's box."""
    with h5py.File(max(results.folder.glob("snapshot-*.hdf5"))) as file:
        header = file["Header"].attrs
        return header["NumPart_ThisFile"][0] / numpy.prod(header["BoxSize"])


SWITCHED = ['interaction.lennard-jones.truncation="switched"', "interaction.lennard-jones.switch_start=2.0"]


def liquid(program, folder):
    """Energy of a Lennard-Jones liquid, 864 atoms over 400 steps: the record, and the kinetic energy of a snapshot."""
    results = program.run(STATES / "liquid.toml", folder, "start.lattice.cells=6", "run.steps=400", *SWITCHED)
    record, columns = results.record(), results.snapshot()
    kinetic, total = record["kinetic_energy"], record["total_energy"]
    own = 0.5 * (columns["Masses"] * (columns["Velocities"] ** 2).sum(axis=1)).sum()
    return [Figure("rms change of the energy / kinetic energy", math.sqrt(((total - total[0]) ** 2).mean()) / kinetic.mean(), 1e-3),
            Figure("drift of the energy / kinetic energy", abs(total[-50:].mean() - total[:50].mean()) / kinetic.mean(), 1e-3),
            Figure("kinetic energy of the snapshot − 1", abs(own / kinetic[-1] - 1), 1e-9)]


def all_pairs(program, folder):
    """Forces and energy of a hot liquid after 100 steps with a thin skin of the lists, against the sum over all pairs."""
    options = ("start.lattice.cells=6", "start.lattice.temperature=3.0", "run.steps=100", "run.precision=\"double\"",
               "neighbors.skin=0.12", "neighbors.inner_skin=0.04")
    results = program.run(STATES / "liquid.toml", folder, *options)
    columns, period = results.snapshot(), 6 * 1.6796
    position, cutoff = columns["Coordinates"], 2.5
    force, energy = numpy.zeros_like(position), 0.0
    for row, place in enumerate(position):
        apart = place - position
        apart -= period * numpy.rint(apart / period)
        square = (apart**2).sum(axis=1)
        square[row] = math.inf
        power = numpy.where(square < cutoff**2, 1 / square**3, 0)
        force[row] = ((24 * (2 * power**2 - power) / square)[:, None] * apart).sum(axis=0)
        energy += 2 * (power**2 - power).sum()
    found = columns["Accelerations"] * columns["Masses"][:, None]
    return [Figure("largest error of a force / rms force", numpy.abs(found - force).max() / math.sqrt((force**2).mean()), 1e-9),
            Figure("potential energy - 1", abs(results.record()["potential_energy"][-1] / energy - 1), 1e-9)]


def thermostat(program, folder):
    """A liquid with the Langevin thermostat, 2,000 steps: mean temperature, conserved energy."""
    results = program.run(STATES / "thermostat.toml", folder, "run.steps=2000", "thermostat.langevin.friction=5.0", *SWITCHED)
    record = results.record()
    half = len(record["time"]) // 2
    energy = record["conserved_energy"]
    drift = abs(energy[-100:].mean() - energy[:100].mean()) / record["kinetic_energy"].mean()
    return [Figure("mean temperature − 1", abs(record["temperature"][half:].mean() / 1.5 - 1), 0.03),
            Figure("drift of the conserved energy / kinetic energy", drift, 3e-3)]


def difference(one, other):
    """Largest deviation of a state column, relative to the largest magnitude in it."""
    if set(one) != set(other) or len(one["id"]) != len(other["id"]):
        return math.inf
    return max(float(numpy.abs(one[name] - other[name]).max() / max(numpy.abs(one[name]).max(), 1e-300)) for name in one)


def ranks(deck, gate, *options):
    """Two ranks against one."""

    def check(program, folder):
        options_ = ('run.precision="double"', *options)
        one = program.run(STATES / f"{deck}.toml", folder / "1", *options_)
        two = program.run(STATES / f"{deck}.toml", folder / "2", *options_, ranks=2)
        count = two.record()["particles"] - one.record()["particles"][0]
        return [Figure("particles, change", numpy.abs(count).max(), 0), Figure("state of 2 ranks − of 1", difference(one.state(), two.state()), gate)]

    check.__doc__ = f"`tests/data/states/{deck}.toml` on 2 ranks against 1 rank"
    return check


def restart(program, folder):
    """A liquid that is continued from a checkpoint against one that ran through."""
    options = ("run.steps=40", "output.checkpoint.every_steps=20")
    through = program.run(STATES / "liquid.toml", folder / "through", *options)
    program.run(STATES / "liquid.toml", folder / "parts", "run.steps=20", *options[1:])
    parts = program.run(STATES / "liquid.toml", folder / "parts", *options, restart=folder / "parts")
    return [Figure("state after a restart − without", difference(through.state(), parts.state()), 0)]


CHECKS = {
    "gas-at-rest": case("gas-at-rest", "start.gas-at-rest.particles=864", "run.end_time=1.5"),
    "sound-wave": case("sound-wave", "start.sound-wave.side=16"),
    "sod": case("sod", "start.sod.side=24", "start.sod.depth=16"),
    "gresho": case("gresho", "start.gresho.side=32", "start.gresho.depth=12"),
    "noh": case("noh", "start.noh.particles=4000"),
    "sedov": case("sedov", "start.sedov.particles=8000"),
    "plummer": case("plummer", "start.plummer.particles=2000", "run.end_time=0.5"),
    "evrard": case("evrard", "start.evrard.particles=4000", "run.end_time=0.77"),
    "yee": case("yee", "start.yee.side=20", "start.yee.depth=10"),
    "isobaric-cube": case("isobaric-cube", "start.isobaric-cube.side=12", "run.end_time=0.0"),
    "two-body": case("two-body", f"run.end_time={4 * math.pi!r}"),
    "polytrope": case("polytrope", "start.polytrope.particles=2000", "run.end_time=3.0"),
    "keplerian-ring": case("keplerian-ring", "start.keplerian-ring.side=8", "run.end_time=3.141592653589793"),
    "isothermal-collapse": case("isothermal-collapse", "start.isothermal-collapse.particles=4000"),
    "time-step": time_step,
    "isothermal": isothermal,
    "start-energy": start_energy,
    "ideal-gas": ideal_gas,
    "equations-standard": equations("standard"),
    "equations-density": equations("volume-elements", "density"),
    "equations-energy": equations("volume-elements", "energy"),
    "convergence": convergence,
    "direct-sum": direct_sum,
    "energies": energies,
    "liquid": liquid,
    "all-pairs": all_pairs,
    "thermostat": thermostat,
    "ranks-gas": ranks("gas", 1e-9),
    "ranks-liquid": ranks("liquid", 1e-9, "start.lattice.cells=6", "run.steps=40"),
    "restart": restart,
}
