#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check that every source reaches the headers of what it uses: check_standard_headers.py SOURCE_FOLDER

Rooms and tests precompile headers, so the compiler does not see that an include is missing. Names of std::, fmt:: and
nlohmann:: need one of their headers in the file or in a header of this repository that it includes, at any depth. Names
that the table does not know are not checked.
"""
import re
import sys
from pathlib import Path

# A header, or several that have the same names, and the names.
HEADERS = """
algorithm: adjacent_find all_of any_of binary_search clamp copy copy_backward copy_if copy_n count count_if equal
algorithm: equal_range fill fill_n find find_if find_if_not for_each generate is_sorted lower_bound max max_element merge
algorithm: min min_element minmax minmax_element mismatch next_permutation none_of nth_element partial_sort partition
algorithm: replace replace_if reverse rotate search set_difference shuffle sort stable_partition stable_sort transform
algorithm: unique upper_bound
array: array to_array
array tuple utility: get
atomic: atomic atomic_ref memory_order_acquire memory_order_relaxed memory_order_release
bit: bit_cast bit_ceil bit_width countl_zero countr_zero endian has_single_bit popcount
charconv: from_chars to_chars
chrono: chrono
cmath: acos asin atan atan2 cbrt ceil copysign erf erfc expm1 fabs floor fma fmod frexp hypot isfinite isinf isnan ldexp
cmath: legendre lgamma llround log10 log1p log2 lround nan nearbyint nextafter remainder rint round signbit trunc
cmath complex: cos exp log pow sin sqrt tan
cmath complex cstdlib: abs
complex: arg complex conj norm polar
csignal: raise sig_atomic_t signal
cstdint: int16_t int32_t int64_t int8_t intptr_t uint16_t uint32_t uint64_t uint8_t uintptr_t
cstdio: FILE fclose fflush fopen fprintf fread fwrite printf puts rename snprintf
cstdio algorithm: remove
cstdlib: _Exit abort aligned_alloc atof atoi exit free getenv malloc strtod strtol
cstring: memcmp memcpy memmove memset strcmp strerror strlen
deque: deque
exception: current_exception exception_ptr make_exception_ptr rethrow_exception uncaught_exceptions
exception stdexcept new: exception
filesystem: filesystem
fstream: fstream ifstream ofstream
functional: cref function greater hash invoke less minus multiplies plus ref
future: async future packaged_task promise
initializer_list: initializer_list
iostream: cerr cin cout
limits: numeric_limits
map: map multimap
memory: addressof make_shared make_unique make_unique_for_overwrite shared_ptr unique_ptr weak_ptr
mutex: lock_guard mutex once_flag scoped_lock unique_lock
new: align_val_t bad_alloc nothrow
numbers: numbers
numeric: accumulate exclusive_scan gcd inner_product iota lcm midpoint partial_sum reduce
optional: make_optional nullopt optional
random: gamma_distribution mt19937 mt19937_64 normal_distribution random_device uniform_int_distribution
random: uniform_real_distribution
ranges: ranges views
regex: cmatch regex regex_match regex_replace regex_search smatch
set: multiset set
span: as_bytes as_writable_bytes span
sstream: istringstream ostringstream stringstream
string: stod stoi stoll string to_string
string_view: string_view
system_error charconv: errc
system_error filesystem: error_code
system_error: generic_category system_category system_error
stdexcept: invalid_argument logic_error out_of_range runtime_error
thread: this_thread thread
tuple: make_tuple tie tuple
type_traits: conditional_t decay_t enable_if_t invoke_result_t is_base_of_v is_const_v is_convertible_v is_floating_point_v
type_traits: is_integral_v is_invocable_v is_same_v is_trivially_copyable_v remove_const_t remove_cv_t remove_cvref_t
type_traits: remove_reference_t type_identity_t underlying_type_t
unordered_map: unordered_map
unordered_set: unordered_set
utility: as_const declval exchange forward in_range index_sequence make_pair pair
utility algorithm: move swap
variant: get_if holds_alternative monostate variant visit
vector: vector
"""
# The headers of other libraries that are precompiled.
LIBRARIES = {"fmt": re.compile(r"fmt/\w+\.h"), "nlohmann": re.compile(r"nlohmann/json(_fwd)?\.hpp")}

SOURCES = {".cpp", ".hpp", ".cu", ".cuh"}
ROOTS = ("include", "src", "", "tests")
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)
IGNORED = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
NAME = re.compile(rf"(?<!::)\b(std|{'|'.join(LIBRARIES)})::(\w+)")


def headers_of_names():
    """Returns the headers that have a name, for each name of the table."""
    table = {}
    for line in HEADERS.split("\n"):
        headers, _, names = line.partition(":")
        for name in names.split():
            table[name] = headers.split()
    return table


class Includes:
    """What the files of a repository include."""

    def __init__(self, root):
        self.root = root
        self.direct = {}

    def of_file(self, path):
        if path not in self.direct:
            self.direct[path] = INCLUDE.findall(path.read_text(encoding="utf-8"))
        return self.direct[path]

    def reached(self, path):
        """Returns all headers that a file includes, and those that headers of the repository do."""
        found, left = set(), list(self.of_file(path))
        while left:
            header = left.pop()
            if header not in found:
                found.add(header)
                here = [self.root / top / header for top in ROOTS if (self.root / top / header).is_file()]
                left += self.of_file(here[0]) if here else []
        return found


def file_offences(includes, path, table):
    text = IGNORED.sub(lambda gone: re.sub(r"[^\n]", " ", gone.group()), path.read_text(encoding="utf-8"))
    reached = includes.reached(path)
    seen = set()
    for found in NAME.finditer(text):
        if found.group() in seen:
            continue
        seen.add(found.group())
        space, name = found.groups()
        if space in LIBRARIES:
            missing = "" if any(map(LIBRARIES[space].fullmatch, reached)) else f"a header of {space}"
        else:
            headers = table.get(name, [])
            missing = "" if not headers or reached.intersection(headers) else f"<{'> or <'.join(headers)}>"
        if missing:
            line = text.count("\n", 0, found.start()) + 1
            yield f"{path.relative_to(includes.root)}:{line}: {found.group()} needs {missing}"


def offences(root):
    """Returns all offences below `root`, in order."""
    table, includes = headers_of_names(), Includes(root)
    return [offence for top in ("include", "src", "perf_models", "tests", "bench", "examples")
            for path in sorted((root / top).rglob("*")) if path.suffix in SOURCES
            for offence in file_offences(includes, path, table)]


def main():
    found = offences(Path(sys.argv[1]))
    print("\n".join(found) if found else "every source reaches the headers of what it uses")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
