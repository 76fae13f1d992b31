"""The program that the package is compared with."""

import os
import subprocess
from pathlib import Path

import pytest

import hilbrium

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def program():
    """Path of the program: HILBRIUM, or that of a release build."""
    path = Path(os.environ.get("HILBRIUM", ROOT / "target/release/hilbrium")).resolve()
    if not path.is_file():
        pytest.skip(f"SKIPPED: {path} is not built, and HILBRIUM names no other program")
    return path


@pytest.fixture
def run(program, tmp_path):
    """Runs a deck by the program and returns its output directory."""

    def run(deck):
        folder = tmp_path / "run"
        path = tmp_path / "deck.toml"
        path.write_text(hilbrium.to_toml({**deck, "output": {**deck.get("output", {}), "directory": folder}}))
        subprocess.run([program, "run", path], check=True, stdout=subprocess.DEVNULL, timeout=600)
        return folder

    return run
