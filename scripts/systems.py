"""What hilbrium's steps are measured with, beside other programs and on several cores."""
import json


class System:
    """Particles of one of `hilbrium bench step`'s cases: liquid, ions (other programs run these, too), evrard or sedov."""

    def __init__(self, name, case, particles, steps):
        self.name, self.case, self.particles, self.steps = name, case, particles, steps
        # over the case's deck; the lattice is disturbed, so that energies and forces say something
        self.settings = ["time_step.fixed=0.005", "start.lattice.jitter=0.02"] if case == "liquid" else []
        self.with_peers = case in ("liquid", "ions")


SYSTEMS = [
    System("liquid-32k", "liquid", 32_000, 1000),
    System("liquid-256k", "liquid", 256_000, 120),
    System("ions-500k", "ions", 500_000, 60),
    System("evrard", "evrard", 65_465, 20),
    System("sedov", "sedov", 64_000, 40),
]


def bench_step(program, system, steps, threads, settings):
    """The command that measures so many steps of a system on the processor, as many threads a rank."""
    settings = ["run.device=cpu", *system.settings, *settings]
    return [str(program), "bench", "step", "--json", "--case", system.case, "--particles", str(system.particles),
            "--repeats", str(steps), "--threads", str(threads), *(word for each in settings for word in ("--set", each))]


def figures(printed):
    """What a benchmark has found, from all that it and what started it have printed."""
    return json.loads(printed[printed.index("\n{") if "\n{" in printed else printed.index("{"):])
