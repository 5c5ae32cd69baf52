// SPDX-License-Identifier: GPL-3.0-or-later
// Memory and time of syntheses from C++, which those from Python are compared with:
//   python_reference NSIDE LMAX CALLS
#include <algorithm>
#include <chrono>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>

#include <ringweave/ringweave.hpp>

namespace {

using namespace ringweave;

/// Returns a number of bytes in /proc/self/status.
long long status(const std::string& name) {
  std::ifstream file("/proc/self/status");
  std::string word;
  long long kilobytes = 0;
  while (file >> word) {
    if (word == name + ":") file >> kilobytes;
  }
  return kilobytes * 1024;
}

int measure(int nside, int lmax, int calls) {
  const long long before = status("VmRSS");
  TransformSpec spec;
  spec.grid = std::make_shared<const RingGrid>(RingGrid::healpix(nside));
  spec.lmax = lmax;
  spec.fields = FieldSet({0});
  SphericalHarmonicTransform transform(Communicator::self(), spec);
  AlmBuffer<double> alm = transform.make_alm<double>();
  MapBuffer<double> map = transform.make_map<double>();
  std::fill_n(alm.view().data(), alm.size(), std::complex<double>(1));
  std::fill_n(map.view().data(), map.size(), 0.0);
  double best = 1e300;
  for (int i = 0; i < calls; ++i) {
    const auto start = std::chrono::steady_clock::now();
    transform.synthesize(alm, map);
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    best = std::min(best, passed.count());
  }
  std::printf("{\"seconds\": %.9f, \"bytes\": %lld}\n", best, status("VmHWM") - before);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  return run_program(Communicator::self(), "python_reference", [&] {
    return measure(std::atoi(argv[1]), std::atoi(argv[2]), std::atoi(argv[3]));
  });
}
