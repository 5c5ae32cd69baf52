# SPDX-License-Identifier: GPL-3.0-or-later
from pathlib import Path

from spack_repo.builtin.build_systems.cmake import CMakePackage
from spack_repo.builtin.build_systems.cuda import CudaPackage

from spack.package import *


class Ringweave(CMakePackage, CudaPackage):
    """Spherical harmonic transforms and smoothing of sky maps, distributed over MPI ranks."""

    # The checkout that this recipe is part of.
    git = Path(__file__).resolve().parents[5].as_uri()

    license("GPL-3.0-or-later")

    version("main", branch="main")

    variant("program", default=True, description="Build the program, not only the library")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")

    depends_on("mpi")
    depends_on("hdf5+mpi+hl")
    depends_on("fftw@3:")
    depends_on("cfitsio")
    depends_on("healpix-cxx")
    depends_on("highway@1:")
    depends_on("random123")
    depends_on("fmt@9:")
    depends_on("nlohmann-json@3.11:")
    depends_on("zlib-api")
    with when("+program"):
        depends_on("cli11@2.3:")
        depends_on("cairo")
        # Man pages and shell completion.
        depends_on("python@3.9:", type="build")

    conflicts("%gcc@:11", msg="needs C++20")
    conflicts("%clang@:13", msg="needs C++20")

    def cmake_args(self):
        args = [
            self.define_from_variant("RINGWEAVE_PROGRAM", "program"),
            self.define("RINGWEAVE_TESTS", False),
            self.define("RINGWEAVE_BENCH", False),
            self.define("RINGWEAVE_PLOT", "ON"),
            self.define("RINGWEAVE_CUDA", "ON" if self.spec.satisfies("+cuda") else "OFF"),
        ]
        if self.spec.satisfies("+cuda") and not self.spec.satisfies("cuda_arch=none"):
            args.append(self.define("CMAKE_CUDA_ARCHITECTURES", self.spec.variants["cuda_arch"].value))
        return args
