// SPDX-License-Identifier: GPL-3.0-or-later
// Stands in for libcuda.so.1 of a driver that is too old for the CUDA runtime: answers the
// runtime's first query.
extern "C" {

int cuInit(unsigned) { return 0; }

int cuDriverGetVersion(int* version) {
  *version = 10000;
  return 0;
}
}
