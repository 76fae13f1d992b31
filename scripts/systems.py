"""Systems for performance measurements of hilbrium's step, used by scripts/peers and scripts/cores."""
import json


class System:
    """A case of `hilbrium bench step` with a number of particles: liquid, ions or salt (also run by other
    programs), evrard or sedov."""

    def __init__(self, name, case, particles, steps):
        self.name, self.case, self.particles, self.steps = name, case, particles, steps
        # set on top of the case's deck; the lattice is perturbed, so that forces do not vanish by symmetry
        self.settings = ["time_step.fixed=0.005", "start.lattice.jitter=0.02"] if case == "liquid" else []
        self.with_peers = case in ("liquid", "ions", "salt")


SYSTEMS = [
    System("liquid-32k", "liquid", 32_000, 1000),
    System("liquid-256k", "liquid", 256_000, 120),
    System("ions-500k", "ions", 500_000, 60),
    System("salt-pme-108k", "salt", 108_000, 200),
    System("salt-pme-500k", "salt", 500_000, 40),
    System("evrard", "evrard", 65_465, 20),
    System("sedov", "sedov", 64_000, 40),
]


def bench_step(program, system, steps, threads, settings):
    """Command that measures `steps` steps of a system on the CPU, with `threads` threads per rank."""
    settings = ["run.device=cpu", *system.settings, *settings]
    return [str(program), "bench", "step", "--json", "--case", system.case, "--particles", str(system.particles),
            "--repeats", str(steps), "--threads", str(threads), *(word for each in settings for word in ("--set", each))]


def figures(printed):
    """Results of a benchmark, parsed from its output and that of its launcher."""
    return json.loads(printed[printed.index("\n{") if "\n{" in printed else printed.index("{"):])
