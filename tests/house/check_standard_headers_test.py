#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The check of standard headers finds every missing include and nothing else."""
import tempfile
import unittest
from pathlib import Path

import check_standard_headers


class StandardHeaders(unittest.TestCase):
    def offences(self, **files):
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder) / "src/io"
            place.mkdir(parents=True)
            for name, text in files.items():
                (place / name.replace("_", ".")).write_text(text, encoding="utf-8")
            return check_standard_headers.offences(Path(folder))

    def test_a_missing_header_is_named_where_it_is_needed_first(self):
        found = self.offences(a_cpp="#include <string>\nstd::string s;\nstd::vector<int> v;\nstd::vector<int> w;\n")
        self.assertEqual(found, ["src/io/a.cpp:3: std::vector needs <vector>"])

    def test_one_of_several_headers_is_enough(self):
        self.assertEqual(self.offences(a_cpp="#include <complex>\ndouble x = std::exp(1.0);\n"), [])
        self.assertEqual(self.offences(a_cpp="double x = std::exp(1.0);\n"),
                         ["src/io/a.cpp:1: std::exp needs <cmath> or <complex>"])

    def test_headers_of_the_repository_are_followed(self):
        self.assertEqual(self.offences(a_cpp='#include "io/b.hpp"\nstd::vector<int> v;\n', b_hpp='#include "io/c.hpp"\n',
                                       c_hpp="#include <vector>\n"), [])
        self.assertEqual(self.offences(a_cpp='#include "b.hpp"\nstd::vector<int> v;\n', b_hpp="#include <vector>\n"), [])
        self.assertEqual(len(self.offences(a_cpp='#include "io/b.hpp"\nstd::vector<int> v;\n', b_hpp="")), 1)

    def test_a_name_that_the_table_does_not_know_is_an_offence(self):
        found = self.offences(a_cpp="#include <vector>\nint i = std::quux(1);\n")
        self.assertEqual(found, ["src/io/a.cpp:2: std::quux is not in the table HEADERS of check_standard_headers.py"])

    def test_other_libraries(self):
        self.assertEqual(self.offences(a_cpp='auto s = fmt::format("x");\n'),
                         ["src/io/a.cpp:1: fmt::format needs a header of fmt"])
        self.assertEqual(self.offences(a_cpp='#include <fmt/format.h>\nauto s = fmt::format("x");\n'), [])
        self.assertEqual(self.offences(a_cpp="TEST(A, B) {}\nfftw_plan plan;\n"),
                         ["src/io/a.cpp:1: TEST needs a header of GoogleTest",
                          "src/io/a.cpp:2: fftw_plan needs a header of FFTW"])
        self.assertEqual(self.offences(a_hpp="#include <nlohmann/json_fwd.hpp>\nvoid f(nlohmann::json&);\n"), [])

    def test_comments_and_texts_do_not_count(self):
        self.assertEqual(self.offences(a_cpp='// std::vector\n/* std::map */ auto s = "std::set";\n'), [])


if __name__ == "__main__":
    unittest.main()
