"""The tutorial runs, and is stored without outputs."""

from pathlib import Path

import nbclient
import nbformat

TUTORIAL = Path(__file__).resolve().parents[1] / "tutorial.ipynb"


def test_the_tutorial_runs(tmp_path):
    notebook = nbformat.read(TUTORIAL, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(not cell.outputs and cell.execution_count is None for cell in code), "strip its outputs"
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": tmp_path}}).execute()
    assert any("image/png" in output.get("data", {}) for cell in code for output in cell.outputs)
