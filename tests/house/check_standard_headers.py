#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check that every source reaches the headers of what it uses: check_standard_headers.py SOURCE_FOLDER

Modules and tests precompile headers, so the compiler does not see that an include is missing. What is used of the standard
library and of other libraries whose headers are precompiled needs one of its headers in the file, or in a header of this
repository that it includes, at any depth.
"""
import re
import sys
from pathlib import Path

from check_includes import SOURCES, TOPS

# A header, or several that have the same names, and the names.
HEADERS = """
algorithm: adjacent_find all_of any_of binary_search clamp copy copy_backward copy_if copy_n count count_if equal
algorithm: equal_range fill fill_n find find_if find_if_not for_each generate is_sorted lower_bound max max_element
algorithm: merge min min_element minmax minmax_element mismatch next_permutation none_of nth_element partial_sort
algorithm: partition partition_point remove_if replace replace_if reverse rotate rotate_copy search set_difference shuffle sort
algorithm: stable_partition stable_sort transform unique upper_bound
array: array to_array
array tuple utility: get
atomic: atomic atomic_ref memory_order_acquire memory_order_relaxed memory_order_release
bit: bit_cast bit_ceil bit_width countl_zero countr_zero endian has_single_bit popcount
cctype: isalnum isalpha iscntrl isdigit islower isspace toupper
charconv: from_chars to_chars
chrono: chrono
cmath: acos asin asinh atan atan2 cbrt ceil copysign erf erfc exp2 expm1 fabs floor fma fmax fmin fmod frexp hypot isfinite isinf
cmath: isnan ldexp legendre lerp lgamma llround log10 log1p log2 lround nan nearbyint nextafter remainder rint round signbit
cmath: sph_legendre tgamma trunc
cmath complex: cos exp log pow sin sqrt tan
cmath complex cstdlib: abs
complex: arg complex conj norm polar
concepts: integral signed_integral
condition_variable: condition_variable
csignal: raise sig_atomic_t signal
cstddef algorithm array complex cstdio cstdlib cstring functional map memory span string string_view vector: byte
cstddef algorithm array complex cstdio cstdlib cstring functional map memory span string string_view vector: ptrdiff_t
cstddef algorithm array complex cstdio cstdlib cstring functional map memory span string string_view vector: size_t
cstdint: int16_t int32_t int64_t int8_t intptr_t uint16_t uint32_t uint64_t uint8_t uintptr_t
cstdio: FILE fclose ferror fflush fgetc fopen fprintf fputs fread fwrite printf puts rename rewind snprintf tmpfile
cstdio algorithm: remove
cstdlib: _Exit abort aligned_alloc atexit atof atoi atoll exit free getenv malloc strtod strtol
cstring: memcmp memcpy memmove memset strcmp strerror strlen
ctime: clock time
deque: deque
exception: current_exception exception_ptr make_exception_ptr rethrow_exception uncaught_exceptions
exception stdexcept new: exception
filesystem: filesystem
fstream: fstream ifstream ofstream
functional: cref function greater hash invoke less minus multiplies plus ref
future: async future packaged_task promise
initializer_list: initializer_list
iosfwd sstream fstream iostream: istream
iostream: cerr cin cout
iterator: istreambuf_iterator
iterator array map span string vector: back_inserter begin distance end prev size ssize
limits: numeric_limits
map: map multimap
memory: addressof make_shared make_unique make_unique_for_overwrite shared_ptr unique_ptr weak_ptr
mutex: lock_guard mutex once_flag recursive_mutex scoped_lock unique_lock
new: align_val_t bad_alloc nothrow nothrow_t
numbers: numbers
numeric: accumulate exclusive_scan gcd inner_product iota lcm midpoint partial_sum reduce
optional: make_optional nullopt optional
optional variant utility: in_place
queue: priority_queue
random: gamma_distribution mt19937 mt19937_64 normal_distribution random_device uniform_int_distribution
random: uniform_real_distribution
ranges: ranges views
regex: cmatch regex regex_match regex_replace regex_search smatch
set: multiset set
span: as_bytes as_writable_bytes span
sstream: istringstream ostringstream stringstream
sstream fstream iostream: endl ios
stdexcept: invalid_argument logic_error out_of_range runtime_error
string: stod stoi stol stoll stoull string to_string
string sstream fstream iostream: getline
string_view: string_view
system_error: generic_category make_error_code system_category system_error
system_error charconv: errc
system_error filesystem: error_code
thread: this_thread thread
tuple: make_tuple tie tuple
type_traits: integral_constant type_identity conditional_t decay_t enable_if_t invoke_result_t is_base_of_v is_const_v is_convertible_v
type_traits: is_floating_point_v is_integral_v is_invocable_v is_same_v is_trivially_copyable_v make_unsigned_t
type_traits: remove_const_t remove_cv_t remove_cvref_t remove_reference_t type_identity_t underlying_type_t
unordered_map: unordered_map
unordered_set: unordered_set
utility: as_const declval exchange forward in_range index_sequence index_sequence_for make_pair pair
utility algorithm: move swap
variant: get_if holds_alternative monostate variant visit
vector: vector
deque forward_list list map set string unordered_map unordered_set vector: erase_if
"""
# Other libraries whose headers are precompiled: how a name of theirs looks, and a header that has it.
LIBRARIES = {
    "fmt": (re.compile(r"\bfmt::\w+"), re.compile(r"fmt/\w+\.h")),
    "nlohmann": (re.compile(r"\bnlohmann::\w+"), re.compile(r"nlohmann/json(_fwd)?\.hpp")),
    "FFTW": (re.compile(r"\bfftwf?_(?!plan_s)\w+"), re.compile(r"fftw3\.h")),
    "GoogleTest": (re.compile(r"\b(?:TEST(?:_[FP])?|(?:EXPECT|ASSERT)_[A-Z]+)\b(?=\()"), re.compile(r"g(test|mock)/g\w+\.h")),
}

ROOTS = ("include", "src", "", "tests")
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)
IGNORED = re.compile(r'//[^\n]*|/\*.*?\*/|^\s*#[^\n]*|"(?:\\.|[^"\\\n])*"', re.DOTALL | re.MULTILINE)
STANDARD = re.compile(r"(?<!::)\bstd::(\w+)")


def headers_of_names():
    """Returns the headers that have a name, for each name of the table."""
    table = {}
    for line in HEADERS.split("\n"):
        headers, _, names = line.partition(":")
        for name in names.split():
            table[name] = headers.split()
    return table


class Includes:
    """The includes of the files of a repository."""

    def __init__(self, root):
        self.root = root
        self.direct = {}

    def of_file(self, path):
        if path not in self.direct:
            self.direct[path] = INCLUDE.findall(path.read_text(encoding="utf-8"))
        return self.direct[path]

    def places(self, path, header):
        """Returns where a header that a file includes may lie in the repository."""
        return [path.parent / header, *(self.root / top / header for top in ROOTS)]

    def reached(self, path):
        """Returns all headers that a file includes, and those that headers of the repository do."""
        found, left = set(), [(path, header) for header in self.of_file(path)]
        while left:
            source, header = left.pop()
            if header not in found:
                found.add(header)
                here = [place for place in self.places(source, header) if place.is_file()]
                left += [(here[0], other) for other in self.of_file(here[0])] if here else []
        return found


def needs(text, reached, table):
    """Yields (place, name, what it lacks) for all that a text uses, several times where it is used several times."""
    for found in STANDARD.finditer(text):
        headers = table.get(found.group(1))
        if headers is None:
            yield found.start(), found.group(), "is not in the table HEADERS of check_standard_headers.py"
        elif not reached.intersection(headers):
            yield found.start(), found.group(), f"needs <{'> or <'.join(headers)}>"
    for library, (names, header) in LIBRARIES.items():
        if not any(map(header.fullmatch, reached)):
            for found in names.finditer(text):
                yield found.start(), found.group(), f"needs a header of {library}"


def file_offences(includes, path, table):
    text = IGNORED.sub(lambda gone: re.sub(r"[^\n]", " ", gone.group()), path.read_text(encoding="utf-8"))
    seen = set()
    for place, name, lack in sorted(needs(text, includes.reached(path), table)):
        if name not in seen:
            seen.add(name)
            line = text.count("\n", 0, place) + 1
            yield f"{path.relative_to(includes.root)}:{line}: {name} {lack}"


def offences(root):
    """Returns all offences below `root`, in order."""
    table, includes = headers_of_names(), Includes(root)
    return [offence for top in TOPS
            for path in sorted((root / top).rglob("*")) if path.suffix in SOURCES - {".inc"}
            for offence in file_offences(includes, path, table)]


def main():
    found = offences(Path(sys.argv[1]))
    print("\n".join(found) if found else "every source reaches the headers of what it uses")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
