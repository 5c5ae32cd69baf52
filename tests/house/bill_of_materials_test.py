#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The bill of materials is SPDX 2.3 and names what the program links: bill_of_materials_test.py FILE PROGRAM"""
import datetime
import json
import re
import subprocess
import sys
import unittest

FILE, PROGRAM = sys.argv[1:3]

# Which package a shared library belongs to, by the beginning of its name.
PACKAGES = {
    "libfftw3": "FFTW", "libhdf5": "HDF5", "libcfitsio": "CFITSIO", "libhealpix_cxx": "HEALPix C++", "libz": "zlib",
    "libmpich": "MPICH", "libmpi": "Open MPI", "libhwy": "Highway", "libfmt": "fmt", "libcairo": "cairo",
    "libcudart": "CUDA Runtime", "libomp": "LLVM OpenMP", "libgomp": "GCC runtime libraries",
    "libstdc++": "GCC runtime libraries", "libgcc_s": "GCC runtime libraries", "libatomic": "GCC runtime libraries",
    "libc": "GNU C Library", "libm": "GNU C Library", "libdl": "GNU C Library", "libpthread": "GNU C Library",
    "librt": "GNU C Library", "ld-linux": "GNU C Library",
}


def needed():
    listing = subprocess.run(["readelf", "-dW", PROGRAM], capture_output=True, text=True, check=True).stdout
    return re.findall(r"\(NEEDED\).*\[(.*)\]", listing)


def package_of(library):
    name = re.match(r"(.*?)(?:-x86|-aarch|[_-](?:openmpi|mpich)(?=[._]))?(?:_hl)?(?:-[0-9.]+)?\.so", library)[1]
    return PACKAGES.get(name, f"no known package ({library})")


class BillOfMaterials(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with open(FILE, encoding="utf-8") as file:
            cls.bill = json.load(file)
        cls.packages = {package["SPDXID"]: package for package in cls.bill["packages"]}

    def linked(self, *kinds):
        return {self.packages[relation["relatedSpdxElement"]]["name"] for relation in self.bill["relationships"]
                if relation["relationshipType"] in kinds}

    def test_the_document_has_what_spdx_requires(self):
        self.assertEqual(self.bill["spdxVersion"], "SPDX-2.3")
        self.assertEqual(self.bill["dataLicense"], "CC0-1.0")
        self.assertEqual(self.bill["SPDXID"], "SPDXRef-DOCUMENT")
        self.assertRegex(self.bill["name"], r"^ringweave-\d+\.\d+\.\d+$")
        self.assertRegex(self.bill["documentNamespace"], r"^[a-z]+:[^#]+$")
        created = self.bill["creationInfo"]
        datetime.datetime.strptime(created["created"], "%Y-%m-%dT%H:%M:%SZ")
        for creator in created["creators"]:
            self.assertRegex(creator, "^(Tool|Organization|Person): .")

    def test_packages_have_what_spdx_requires(self):
        own_licences = {licence["licenseId"] for licence in self.bill["hasExtractedLicensingInfos"]}
        self.assertEqual(len(self.packages), len(self.bill["packages"]), "SPDXIDs must differ")
        for name, package in self.packages.items():
            self.assertRegex(name, r"^SPDXRef-[A-Za-z0-9.-]+$")
            self.assertEqual(package["downloadLocation"], "NOASSERTION")
            self.assertIs(package["filesAnalyzed"], False)
            for key in ("name", "versionInfo", "licenseConcluded", "licenseDeclared", "copyrightText"):
                self.assertTrue(package[key], (name, key))
            for licence in re.findall(r"LicenseRef-[A-Za-z0-9.-]+", package["licenseDeclared"]):
                self.assertIn(licence, own_licences)

    def test_relations_are_of_what_is_in_the_document(self):
        known = {*self.packages, self.bill["SPDXID"]}
        for relation in self.bill["relationships"]:
            self.assertIn(relation["spdxElementId"], known)
            self.assertIn(relation["relatedSpdxElement"], known)
        related = {relation[end] for relation in self.bill["relationships"]
                   for end in ("spdxElementId", "relatedSpdxElement")}
        self.assertEqual(related, known, "every package has a relation")
        self.assertEqual(self.linked("DESCRIBES"), {"Ringweave"})

    def test_what_the_program_needs_is_listed_and_nothing_else(self):
        libraries = [library for library in needed() if not library.startswith("libringweave_")]
        found = {package_of(library) for library in libraries}
        listed = self.linked("DYNAMIC_LINK")
        self.assertLessEqual(found, listed)
        if len(libraries) == len(needed()):  # else libraries of ours need some of them
            self.assertEqual(found, listed)

    def test_versions_are_known_but_of_headers_without(self):
        versions = {package["name"]: package["versionInfo"] for package in self.packages.values()}
        for name in self.linked("DYNAMIC_LINK") - {"GCC runtime libraries"}:
            self.assertRegex(versions[name], r"^\d+(\.\d+)+$", name)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
