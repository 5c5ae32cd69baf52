// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The build reads the version from here.
#define RINGWEAVE_VERSION_MAJOR 0
#define RINGWEAVE_VERSION_MINOR 2
#define RINGWEAVE_VERSION_PATCH 0
#define RINGWEAVE_VERSION "0.2.0"
