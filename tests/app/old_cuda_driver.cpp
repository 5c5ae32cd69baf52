// SPDX-License-Identifier: GPL-3.0-or-later
// Stands for libcuda.so.1 of a driver that is too old for the CUDA runtime: what that asks first,
// and the answer.
extern "C" {

int cuInit(unsigned) { return 0; }

int cuDriverGetVersion(int* version) {
  *version = 10000;
  return 0;
}
}
