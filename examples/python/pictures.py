# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures of the examples, by the program `ringweave plot`, in the folder RINGWEAVE_PICTURES (default: here)."""
import os
import subprocess
import sys
from pathlib import Path

FOLDER = Path(os.environ.get("RINGWEAVE_PICTURES", "."))


def draw(comm, source, name, *options):
    """Draws a file on rank 0. Without the program there is no picture."""
    if comm.rank == 0:
        # The program starts MPI itself, and must not take this process for its launcher.
        variables = {key: value for key, value in os.environ.items()
                     if not key.startswith(("OMPI_", "PMIX_", "PMI_", "PRTE_"))}
        command = [sys.executable, "-m", "ringweave", "plot", str(source), str(FOLDER / name), "--overwrite", *options]
        drawn = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
        print(f"{FOLDER / name}" if drawn.returncode == 0 else f"no picture: {drawn.stderr.strip()}")
    comm.barrier()
