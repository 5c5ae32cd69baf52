#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The include check finds every offence and nothing else."""
import tempfile
import unittest
from pathlib import Path

import check_includes


class IncludeCheck(unittest.TestCase):
    def offences(self, files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            return check_includes.offences(Path(folder))

    def assert_one(self, name, text, words):
        found = self.offences({name: text})
        self.assertEqual(len(found), 1, found)
        self.assertIn(words, found[0])

    def assert_none(self, name, text):
        self.assertEqual(self.offences({name: text}), [])

    def test_a_module_may_include_modules_of_its_row(self):
        self.assert_none("src/transform/a.cpp", '#include "fft/ring_fft.hpp"\n#include <vector>\n')
        self.assert_none("src/fft/host/a.cpp", '#include "fft/host/ring_plan.hpp"\n')

    def test_a_module_may_not_include_a_module_below_it(self):
        self.assert_one("src/sphere/a.hpp", '#include "transform/analysis.hpp"\n', "may not include module transform")
        self.assert_one("src/legendre/a.cpp", '#include "fft/ring_fft.hpp"\n', "may not include module fft")
        self.assert_one("src/io/a.cpp", "# include <transform/analysis.hpp>\n", "may not include module transform")
        self.assert_one("perf_models/a.cpp", '#include "distribute/mpi/agree.hpp"\n', "may not include module distribute")

    def test_a_wing_may_include_wings_of_its_row(self):
        self.assert_none("src/convolve/split/a.cpp", '#include "convolve/ring/kernel.hpp"\n#include "convolve/a.hpp"\n')
        self.assert_none("src/convolve/a.cpp", '#include "convolve/split/b.hpp"\n')
        self.assert_one("src/convolve/ring/a.cpp", '#include "convolve/split/b.hpp"\n', "may not include convolve/split")
        self.assert_one("src/app/plot/a.cpp", '#include "app/cli/b.hpp"\n', "src/app/plot/a.cpp:1:")

    def test_the_line_is_named(self):
        self.assert_one("src/base/a.cpp", '\n#include "sphere/mode_layout.hpp"\n', "src/base/a.cpp:2:")

    def test_public_headers_belong_to_modules(self):
        self.assert_none("src/transform/a.cpp", '#include "ringweave/grid.hpp"\n')
        self.assert_one("src/fft/a.cpp", '#include "ringweave/transform.hpp"\n', "may not include module transform")
        self.assert_none("examples/a.cpp", "#include <ringweave/ringweave.hpp>\n")

    def test_public_headers_include_public_headers_only(self):
        self.assert_none("include/ringweave/transform.hpp", "#include <ringweave/grid.hpp>\n")
        self.assert_one("include/ringweave/grid.hpp", "#include <ringweave/transform.hpp>\n", "may not include module transform")
        self.assert_one("include/ringweave/grid.hpp", '#include "sphere/mode_layout.hpp"\n', "is not installed")
        self.assert_one("include/ringweave/attic.hpp", "#include <vector>\n", "not in the table PUBLIC")

    def test_the_python_package_includes_public_headers_only(self):
        self.assert_none("python/src/grids.cpp", '#include <ringweave/grid.hpp>\n#include "arrays.hpp"\n')
        self.assert_one("python/src/grids.cpp", '#include "sphere/mode_layout.hpp"\n', "is not installed")

    def test_host_and_cuda_folders_are_private(self):
        self.assert_one("src/transform/a.cpp", '#include "fft/host/ring_plan.hpp"\n', "private to module fft")

    def test_device_code_of_every_module_may_use_that_of_base(self):
        self.assert_none("src/fft/cuda/a.cu", '#include "base/cuda/thread_block.cuh"\n')
        self.assert_one("src/fft/a.cpp", '#include "base/cuda/block_types.hpp"\n', "private to module base")
        self.assert_one("src/fft/cuda/a.cu", '#include "legendre/cuda/plan/sweep_types.hpp"\n', "may not include module legendre")

    def test_mpi_stays_where_it_belongs(self):
        self.assert_one("src/transform/a.cpp", "#include <mpi.h>\n", "<mpi.h>")
        self.assert_one("src/app/run.cpp", '#include "mpi.h"\n', "<mpi.h>")
        for place in ("src/distribute/a.cpp", "src/io/a.cpp", "src/app/main.cpp", "tests/io/a.cpp"):
            self.assert_none(place, "#include <mpi.h>\n")

    def test_cuda_headers_stay_in_cuda_folders(self):
        self.assert_one("src/fft/host/a.cpp", "#include <cufft.h>\n", "CUDA header")
        self.assert_one("tests/fft/a.cpp", "#include <cuda_runtime.h>\n", "CUDA header")
        self.assert_none("src/fft/cuda/a.cu", "#include <cufft.h>\n")

    def test_conditional_compilation_is_found(self):
        self.assert_one("src/fft/a.cpp", "#ifdef RINGWEAVE_CUDA\n#endif\n", "conditional compilation")
        self.assert_one("src/fft/a.cpp", "#  if defined(__GNUC__)\n#endif\n", "conditional compilation")
        self.assert_none("src/base/host_device.hpp", "#ifdef __CUDACC__\n#endif\n")
        self.assert_none("src/legendre/host/a.cpp", "#if HWY_ONCE\n#endif\n")

    def test_links_follow_the_same_table(self):
        self.assert_one("src/io/CMakeLists.txt", "ringweave_module(io\n  SOURCES a.cpp\n  MODULES base transform\n  LINKS x)\n",
                        "may not link module transform")
        self.assert_none("src/app/CMakeLists.txt", "ringweave_module(app SOURCES a.cpp MODULES base plot io LINKS x)\n")
        self.assert_one("src/attic/CMakeLists.txt", "ringweave_module(attic SOURCES a.cpp)\n", "not in the table")


if __name__ == "__main__":
    unittest.main()
