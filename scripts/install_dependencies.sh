#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Installs the dependencies of Ringweave on Debian 12; without root, prints the command for your administrator.
#   scripts/install_dependencies.sh [build|test]      build: compile and run; test: also the test suite's tools
set -euo pipefail

goal=${1:-build}
packages=(
  cmake g++ make ninja-build pkg-config git
  openmpi-bin libopenmpi-dev
  libfftw3-dev libhdf5-openmpi-dev libcfitsio-dev libhealpix-cxx-dev
  libhwy-dev librandom123-dev
  libcli11-dev libfmt-dev nlohmann-json3-dev
  libcairo2-dev zlib1g-dev fonts-dejavu-core
)
if [ "$goal" = test ]; then
  packages+=(
    mpich libmpich-dev libhdf5-mpich-dev
    libgtest-dev libgmock-dev libbenchmark-dev libboost-dev libzstd-dev
    python3 python3-dev python3-venv
    python3-numpy python3-scipy python3-h5py python3-astropy python3-healpy python3-xarray python3-h5netcdf
    python3-matplotlib python3-mpmath
    clang lld libclang-rt-14-dev libomp-14-dev clang-format clang-tidy
    file gdb shellcheck doxygen
    munge slurm-client slurmctld slurmd
  )
fi

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q '^install ok installed' || missing+=("$package")
done
# What the Python package is built and tested with and Debian does not have, in a virtual environment of its own.
python_packages=(nanobind scikit-build-core numpy h5py mpi4py healpy ducc0 pytest jax xarray)
install_python_packages() {
  local folder
  folder=$(dirname "$0")/../build/python
  [ "$goal" = test ] || return 0
  "$folder/bin/python3" -c 'import nanobind, h5py, mpi4py, healpy, ducc0, pytest, jax, xarray' 2>/dev/null && return 0
  /usr/bin/python3 -m venv "$folder" && "$folder/bin/pip" install -q --upgrade "${python_packages[@]}" && return 0
  echo "The Python package will be neither built nor tested: ${python_packages[*]} could not be installed" >&2
  [ -z "${CI:-}" ]
}

if [ ${#missing[@]} -eq 0 ]; then
  install_python_packages
  exit 0
fi

if [ "$(id -u)" -ne 0 ]; then
  echo "Ringweave needs these packages; as root, run:" >&2
  echo "  apt-get update && apt-get install -y --no-install-recommends ${missing[*]}" >&2
  exit 1
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -q
apt-get install -y -q --no-install-recommends "${missing[@]}"
install_python_packages
