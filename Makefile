# SPDX-License-Identifier: GPL-3.0-or-later
# Shortcuts for the CMake presets: `make demo`, `make test`, `make pictures`, `make cuda-check`.
.PHONY: build demo test pictures cuda-check format clean

build:
	scripts/install_dependencies.sh build
	cmake --preset release -DRINGWEAVE_TESTS=OFF -DRINGWEAVE_BENCH=OFF -DCMAKE_COMPILE_WARNING_AS_ERROR=OFF
	cmake --build --preset release

demo: build
	jobs/demo.sh build/release/src/app/ringweave demo

test:
	scripts/install_dependencies.sh test
	scripts/test.sh

# The pictures of README.md and docs/tutorial.md, as their commands draw them.
pictures: build
	scripts/draw_pictures.sh build/release/src/app/ringweave

# Needs nvcc and a GPU.
cuda-check:
	scripts/install_dependencies.sh test
	cmake --preset cuda
	cmake --build --preset cuda
	scripts/cuda_check.sh build/cuda cuda-check

format:
	git ls-files '*.cpp' '*.hpp' '*.cu' '*.cuh' | xargs clang-format -i

clean:
	rm -rf build demo cuda-check
