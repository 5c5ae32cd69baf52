#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests of check_names.py."""
import tempfile
import unittest
from pathlib import Path

import check_names


def names(text):
    return [name for name, _ in check_names.types_of(text)]


class TypesOfAFile(unittest.TestCase):
    def test_types_at_namespace_scope_are_found(self):
        text = "namespace a {\nnamespace b::c {\nstruct S {};\nenum class E : int { x };\n}\nclass D final : S {};\n}"
        self.assertEqual(names(text), ["a::b::c::S", "a::b::c::E", "a::D"])

    def test_attributes_and_alignment_do_not_hide_types(self):
        text = "namespace a {\nstruct [[nodiscard]] S {};\nclass alignas(64) [[maybe_unused]] T {};\n}"
        self.assertEqual(names(text), ["a::S", "a::T"])

    def test_nested_and_unnamed_ones_are_not(self):
        text = "namespace a {\nstruct S { struct T {}; };\nvoid f() { struct U {}; }\nnamespace {\nstruct V {};\n}\n}"
        self.assertEqual(names(text), ["a::S"])

    def test_declarations_templates_and_specializations_are_no_second_type(self):
        text = ("namespace a {\nclass S;\ntemplate <class T, class U = int>\nstruct V {};\ntemplate <>\nstruct V<int> {};\n"
                "struct S::Impl {};\n}")
        self.assertEqual(names(text), ["a::V"])

    def test_inline_namespaces_do_not_tell_names_apart(self):
        self.assertEqual(names("namespace a::inline b {\nstruct S {};\n}\nnamespace a::inline c::d {\nstruct T {};\n}"),
                         ["a::S", "a::d::T"])

    def test_comments_and_strings_do_not_count(self):
        text = 'namespace a {\n// struct S {\n/* struct T { */ const char* u = "struct U {";\nstruct V {};\n}'
        self.assertEqual(names(text), ["a::V"])


class TypesOfATree(unittest.TestCase):
    def test_equal_names_are_told_with_their_places(self):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / "src").mkdir()
            (root / "src/one.hpp").write_text("namespace a {\nstruct S {};\n}")
            (root / "src/two.hpp").write_text("namespace a {\n\nclass S {};\n}")
            self.assertEqual(check_names.offences(root),
                             ["a::S is defined 2 times; rename all but one: src/one.hpp:2, src/two.hpp:3"])


if __name__ == "__main__":
    unittest.main()
