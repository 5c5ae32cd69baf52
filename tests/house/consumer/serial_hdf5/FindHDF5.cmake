# SPDX-License-Identifier: GPL-3.0-or-later
# Stands for CMake's module on a system with a serial HDF5.
set(HDF5_FOUND TRUE)
set(HDF5_IS_PARALLEL FALSE)
set(HDF5_C_LIBRARIES libhdf5_serial.so)
