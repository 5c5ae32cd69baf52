# SPDX-License-Identifier: GPL-3.0-or-later
# Shortcuts for the CMake presets: `make demo`, `make test`, `make faults`, `make fuzz`, `make pictures`,
# `make cuda-check`.
.PHONY: build demo test faults fuzz pictures cuda-check format clean

build:
	scripts/install_dependencies.sh build
	cmake --preset release -DRINGWEAVE_TESTS=OFF -DRINGWEAVE_BENCH=OFF -DCMAKE_COMPILE_WARNING_AS_ERROR=OFF
	cmake --build --preset release

demo: build
	jobs/demo.sh build/release/src/app/ringweave demo

test:
	scripts/install_dependencies.sh test
	scripts/test.sh

# Every call of every command fails in a run of its own, which takes hours (tests/faults/README.md). FAULTS: options of
# inject.py, for example make faults FAULTS="--most 3"
faults:
	scripts/install_dependencies.sh test
	cmake --preset release
	cmake --build --preset release --target ringweave ringweave_faults ringweave_idle_ranks_sleep
	LD_PRELOAD=$(CURDIR)/build/release/tests/support/libringweave_idle_ranks_sleep.so \
	  tests/faults/inject.py build/release/src/app/ringweave build/release/tests/faults/libringweave_faults.so \
	  scripts/mpirun.sh --jobs 4 --folder build/faults --results build/faults/results.jsonl $(FAULTS)

# The pictures of README.md and docs/tutorial.md, as their commands draw them.
pictures: build
	scripts/draw_pictures.sh build/release/src/app/ringweave

# Needs nvcc and a GPU.
cuda-check:
	scripts/install_dependencies.sh test
	cmake --preset cuda
	cmake --build --preset cuda
	scripts/cuda_check.sh build/cuda cuda-check

# Damaged files for the readers, FUZZ_SECONDS for each kind (tests/fuzz/README.md).
fuzz:
	scripts/install_dependencies.sh test
	scripts/fuzz.sh

format:
	git ls-files '*.cpp' '*.hpp' '*.cu' '*.cuh' | xargs clang-format -i

clean:
	rm -rf build demo cuda-check
