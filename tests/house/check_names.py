#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check that no two types of one namespace have the same name: check_names.py SOURCE_FOLDER

Two classes of one name are undefined behaviour: the linker silently keeps the functions of one of them. Types of unnamed
namespaces, nested types, specializations and declarations without a body do not count.
"""
import re
import sys
from collections import defaultdict
from pathlib import Path

SOURCES = {".cpp", ".hpp", ".cu", ".cuh"}
IGNORED = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|^[ \t]*#(?:[^\n\\]|\\\n|\\.)*', re.DOTALL | re.MULTILINE)
SCOPE = re.compile(r"""
    (?P<namespace>\bnamespace\s+(?P<space>[\w:]*(?:inline\s+\w+)?[\w:]*)\s*\{)
  | \b(?:enum\s+class|enum|struct|class|union)\s+(?:alignas\([^)]*\)\s*|\[\[[^\]]*\]\]\s*)*(?P<type>\w+)
      \s*(?:final\s*)?(?::(?!:)[^;{}]*)?\{
  | (?P<open>\{) | (?P<close>\})
""", re.VERBOSE)


def types_of(text):
    """Yields (name with namespace, line) of every type defined at namespace scope."""
    text = IGNORED.sub(lambda gone: re.sub(r"[^\n]", " ", gone.group()), text)
    scopes = []  # the name of a namespace, "" for an unnamed one, None for every other brace
    for found in SCOPE.finditer(text):
        if found["namespace"]:
            scopes.append(re.sub(r"(::)?inline\s+\w+", "", found["space"]))
        elif found["type"]:
            if all(scopes):
                yield "::".join([*scopes, found["type"]]), text.count("\n", 0, found.start("type")) + 1
            scopes.append(None)
        elif found["open"]:
            scopes.append(None)
        elif found["close"] and scopes:
            scopes.pop()


def offences(root):
    places = defaultdict(list)
    for top in ("include", "src", "perf_models"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix in SOURCES:
                for name, line in types_of(path.read_text(encoding="utf-8")):
                    places[name].append(f"{path.relative_to(root)}:{line}")
    return [f"{name} is defined {len(where)} times; rename all but one: {', '.join(where)}"
            for name, where in sorted(places.items()) if len(where) > 1]


def main():
    found = offences(Path(sys.argv[1]))
    print("\n".join(found) if found else "no two types share a name")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
