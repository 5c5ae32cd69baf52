// SPDX-License-Identifier: GPL-3.0-or-later
// Everything of Ringweave but mpi.hpp, which needs <mpi.h>, and files.hpp, which needs the
// component io.
#pragma once

#include <ringweave/alm.hpp>
#include <ringweave/analysis.hpp>
#include <ringweave/communicator.hpp>
#include <ringweave/convolution.hpp>
#include <ringweave/error.hpp>
#include <ringweave/execution.hpp>
#include <ringweave/grid.hpp>
#include <ringweave/gyroaverage.hpp>
#include <ringweave/kernel.hpp>
#include <ringweave/lensing.hpp>
#include <ringweave/points.hpp>
#include <ringweave/rotation.hpp>
#include <ringweave/smoothing.hpp>
#include <ringweave/spectra.hpp>
#include <ringweave/transform.hpp>
#include <ringweave/version.hpp>
#include <ringweave/views.hpp>
