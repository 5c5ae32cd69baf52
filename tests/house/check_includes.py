#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check which module includes and links which others: check_includes.py SOURCE_FOLDER

Prints one line per offence and exits with 1 when there is one. The rules are the data below; docs/architecture.md
explains them.
"""
import re
import sys
from pathlib import Path

# From top to bottom. A module may use itself and the modules listed beside it.
MAY_USE = {
    "base": [],
    "sphere": ["base"],
    "perf_models": ["base", "sphere"],
    "distribute": ["base", "sphere"],
    "legendre": ["base", "sphere"],
    "fft": ["base", "sphere"],
    "transform": ["base", "sphere", "perf_models", "distribute", "legendre", "fft"],
    "convolve": ["base", "sphere", "perf_models", "distribute", "legendre", "fft", "transform"],
    "nonuniform": ["base", "sphere", "perf_models", "distribute", "legendre", "fft", "transform"],
    "gyro": ["base", "distribute", "fft"],
    "io": ["base", "sphere", "distribute"],
    "app": ["base", "sphere", "perf_models", "distribute", "legendre", "fft", "transform", "convolve", "nonuniform",
            "gyro", "io"],
}
# The submodules of a module, and the other submodules of it that each may include. Files in the module itself may
# include all of them and may be included by all of them.
SUBMODULES = {
    "sphere": {"kernel": []},
    "distribute": {"mpi": [], "exchange": ["mpi"], "halo": ["mpi"], "points": ["mpi"]},
    "legendre": {"shared": [], "host": ["shared"], "cuda": ["shared"]},
    "convolve": {"ring": [], "split": ["ring"]},
    "io": {"fits": [], "hdf5": []},
    "app": {"plot": [], "cli": [], "predict": [], "jobs": ["predict"], "report": ["predict"],
            "maps": ["cli", "predict"], "smooth": ["cli", "predict", "report", "maps"],
            "lens": ["cli", "predict", "report", "maps"], "gyro": ["cli", "predict", "report"],
            "commands": ["plot", "cli", "jobs", "predict", "report", "maps", "smooth", "lens", "gyro"]},
}
# The module that each public header belongs to. Public headers include nothing but each other.
PUBLIC = {
    "version": "base", "error": "base", "views": "base", "execution": "base",
    "grid": "sphere", "alm": "sphere", "spectra": "sphere", "kernel": "sphere",
    "communicator": "distribute", "mpi": "distribute", "transform": "transform", "analysis": "transform",
    "rotation": "transform", "points": "nonuniform", "lensing": "nonuniform",
    "convolution": "convolve", "smoothing": "convolve", "gyroaverage": "gyro",
    "files": "io", "ringweave": "app",
}
# A CMake target that is part of a module.
TARGET_MODULE = {"plot": "app"}

# The folders with sources, and how their names end.
TOPS = ("include", "src", "perf_models", "python", "tests", "bench", "examples")
SOURCES = {".cpp", ".hpp", ".cu", ".cuh", ".inc"}
MPI_PLACES = re.compile(r"src/(distribute|io)/|src/app/main\.cpp$|tests/|bench/|include/ringweave/mpi\.hpp$")
MPI_HEADER = re.compile(r"mpi(-ext|io)?\.h$")
CUDA_HEADER = re.compile(r"(cuda|cufft|cublas|curand|nccl|nvtx3?/|thrust/|cub/|cooperative_groups|device_launch)")
CUDA_PLACES = re.compile(r"/cuda/|\.cuh?$|^tests/softdevice/")
# The headers that the device code of every module may include: an including file, an included header.
BASE_CUDA = re.compile(r"src/\w+/(\w+/)?cuda/\S+ base/cuda/")
# The one header with the host-device macro.
CONDITIONAL_PLACES = {"src/base/host_device.hpp"}
# How Highway compiles one file for several instruction sets.
HIGHWAY_CONDITIONAL = re.compile(r"\bHWY_(ONCE|TARGET_TOGGLE)\b|\bRINGWEAVE_\w+_INL\b")

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')
CONDITIONAL = re.compile(r"^\s*#\s*(if|ifdef|ifndef|elif)\b")
MODULE_CALL = re.compile(r"^ringweave_module\(\s*(\w+)([^)]*)\)", re.MULTILINE)


def module_of(path):
    """Returns the module a file of the source tree belongs to, None for tests, benchmarks and the like."""
    parts = path.parts
    if parts[0] == "include":
        return PUBLIC.get(path.stem)
    name = parts[1] if parts[0] == "src" else parts[0]
    return name if name in MAY_USE else None


def may_use(module, other):
    return other == module or other in MAY_USE[module]


def submodule_of(module, path):
    """Returns the submodule of `module` that a path below it belongs to, or None. `path` begins with the module."""
    parts = path.split("/")
    return parts[1] if len(parts) > 2 and parts[1] in SUBMODULES.get(module, {}) else None


def include_offence(path, module, header):
    """Says why the file `path` of `module` (None: outside the modules) must not include `header`; None if it may."""
    place = path.as_posix()
    if MPI_HEADER.match(header) and not MPI_PLACES.match(place):
        return "<mpi.h> belongs in distribute/, io/ and the program's main; use ringweave/communicator.hpp"
    if CUDA_HEADER.match(header) and not CUDA_PLACES.search(place):
        return f"CUDA header <{header}> outside a cuda/ folder"
    parts = header.split("/")
    if place.startswith("include/"):
        if module is None:
            return "not in the table PUBLIC of check_includes.py"
        if len(parts) > 1 and parts[0] in MAY_USE:
            return f"a public header may not include {header}, which is not installed"
    if place.startswith("python/") and len(parts) > 1 and parts[0] in MAY_USE:
        return f"the Python package may not include {header}, which is not installed"
    if parts[0] == "ringweave":
        other = PUBLIC.get(parts[-1].removesuffix(".hpp"))
    else:
        other = parts[0] if len(parts) > 1 and parts[0] in MAY_USE else None
    if module is None or other is None:
        return None
    if not may_use(module, other):
        return f"module {module} may not include module {other} ({header}); it may use: {', '.join(MAY_USE[module]) or 'none'}"
    submodule, other_submodule = submodule_of(module, place.removeprefix("src/")), submodule_of(module, header)
    if other == module and submodule and other_submodule not in (None, submodule, *SUBMODULES[module][submodule]):
        return (f"{module}/{submodule} may not include {module}/{other_submodule} ({header}); of its module it may use: "
                f"{', '.join(SUBMODULES[module][submodule]) or 'what lies in no submodule'}")
    if other != module and ("host" in parts or "cuda" in parts) and not BASE_CUDA.match(f"{place} {header}"):
        return f"{header} is private to module {other}; include its public header"
    return None


def source_offences(root, path):
    module = module_of(path)
    for number, line in enumerate((root / path).read_text(encoding="utf-8").splitlines(), 1):
        include = INCLUDE.match(line)
        offence = include_offence(path, module, include.group(1)) if include else None
        if offence:
            yield f"{path}:{number}: {offence}"
        if CONDITIONAL.match(line) and path.as_posix() not in CONDITIONAL_PLACES \
                and not HIGHWAY_CONDITIONAL.search(line):
            yield f"{path}:{number}: conditional compilation; put the variants in files the build chooses from"


def link_offences(root, path):
    """Checks that MODULES of ringweave_module() stay within the table."""
    for call in MODULE_CALL.finditer((root / path).read_text(encoding="utf-8")):
        target, words = call.group(1), call.group(2).split()
        module = TARGET_MODULE.get(target, target)
        if module not in MAY_USE:
            yield f"{path}: module {target} is not in the table of check_includes.py"
            continue
        if "MODULES" not in words:
            continue
        for word in words[words.index("MODULES") + 1:]:
            if word in ("LINKS", "SOURCES"):
                break
            other = TARGET_MODULE.get(word, word)
            if other not in MAY_USE or not may_use(module, other):
                yield f"{path}: module {module} may not link module {word}"


def offences(root):
    """Returns all offences below `root`, in order."""
    found = []
    for top in TOPS:
        for absolute in sorted((root / top).rglob("*")):
            path = absolute.relative_to(root)
            if absolute.suffix in SOURCES:
                found += source_offences(root, path)
            elif absolute.name == "CMakeLists.txt" and top in ("src", "perf_models"):
                found += link_offences(root, path)
    return found


def main():
    found = offences(Path(sys.argv[1]))
    print("\n".join(found) if found else "every include and link stays within its module's bounds")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
