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
    "direct-sum": direct_sum,
    "energies": energies,
    "liquid": liquid,
    "thermostat": thermostat,
    "ranks-gas": ranks("gas", 1e-9),
    "ranks-liquid": ranks("liquid", 1e-9, "start.lattice.cells=6", "run.steps=40"),
    "restart": restart,
}
