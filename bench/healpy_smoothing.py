#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run healpy's side of the `smooth` case; prints one JSON line.

  healpy_smoothing.py smooth IN OUT FWHM_ARCMIN ITER    read, smooth, write: seconds of each
  healpy_smoothing.py compare A B                       rms and largest difference over the rms of B
"""
import json
import sys
import time

import healpy
import numpy as np


def smooth(source, target, fwhm_arcmin, iterations):
    start = time.perf_counter()
    map_ = healpy.read_map(source)
    read = time.perf_counter()
    smoothed = healpy.smoothing(map_, fwhm=np.radians(float(fwhm_arcmin) / 60), iter=int(iterations))
    done = time.perf_counter()
    healpy.write_map(target, smoothed, overwrite=True, dtype=map_.dtype)
    return {"version": healpy.__version__, "precision": str(map_.dtype), "read": read - start, "smoothing": done - read,
            "write": time.perf_counter() - done}


def compare(a, b):
    ours, theirs = (healpy.read_map(path).astype(np.float64) for path in (a, b))
    rms = np.sqrt(np.mean(theirs ** 2))
    return {"rms": float(np.sqrt(np.mean((ours - theirs) ** 2)) / rms), "max": float(np.abs(ours - theirs).max() / rms)}


if __name__ == "__main__":
    print(json.dumps({"smooth": smooth, "compare": compare}[sys.argv[1]](*sys.argv[2:])))
