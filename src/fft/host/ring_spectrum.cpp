// SPDX-License-Identifier: GPL-3.0-or-later
#include "fft/host/ring_spectrum.hpp"

#include <algorithm>

#include "fft/host/complex_product.hpp"

namespace ringweave {
namespace {

using Complex = std::complex<double>;

/// Mode m with its phase applied; instantiated with and without phases to keep the test out of the loops.
struct Plain {
  const Complex* modes;
  Complex operator()(std::int64_t m) const { return modes[m]; }
};
struct Shifted {
  const Complex* modes;
  const Complex* phases;
  Complex operator()(std::int64_t m) const { return product(modes[m], phases[m]); }
};

template <class Mode>
void fold_modes(const Mode& mode, std::int64_t n_modes, std::int64_t n, Complex* bins) {
  const std::int64_t half = n / 2;
  const std::int64_t n_direct = std::min(half + 1, n_modes);
  for (std::int64_t m = 0; m < n_direct; ++m) bins[m] = mode(m);
  std::fill(bins + n_direct, bins + half + 1, Complex{});
  bins[0] = n_modes > 0 ? bins[0].real() : 0.0;
  // Turn by turn round the ring, so that each bin receives its aliases in ascending m.
  for (std::int64_t turn = n; turn - half - 1 < n_modes; turn += n) {
    const std::int64_t mirrored_end = std::min(turn, n_modes);
    for (std::int64_t m = turn - (n - 1) / 2; m < mirrored_end; ++m) bins[turn - m] += std::conj(mode(m));
    if (turn < n_modes) bins[0] += 2 * mode(turn).real();
    const std::int64_t direct_end = std::min(turn + half + 1, n_modes);
    for (std::int64_t m = turn + 1; m < direct_end; ++m) bins[m - turn] += mode(m);
  }
  if (n % 2 == 0) bins[half] = 2 * bins[half].real();
}

/// Where mode m goes, its phase undone.
struct PlainTarget {
  Complex* modes;
  void operator()(std::int64_t m, Complex value) const { modes[m] = value; }
};
struct ShiftedTarget {
  Complex* modes;
  const Complex* phases;
  void operator()(std::int64_t m, Complex value) const { modes[m] = conj_product(phases[m], value); }
};

template <class Target>
void unfold_modes(const Complex* bins, std::int64_t n, const Target& target, std::int64_t n_modes) {
  const std::int64_t half = n / 2;
  for (std::int64_t turn = 0; turn - half - 1 < n_modes; turn += n) {
    for (std::int64_t m = std::max<std::int64_t>(turn - (n - 1) / 2, 0); m < std::min(turn, n_modes); ++m) {
      target(m, std::conj(bins[turn - m]));
    }
    const std::int64_t direct_end = std::min(turn + half + 1, n_modes);
    for (std::int64_t m = turn; m < direct_end; ++m) target(m, bins[m - turn]);
  }
}

/// i a.
Complex times_i(Complex a) { return {-a.imag(), a.real()}; }

}  // namespace

void fold(const Complex* modes, std::int64_t n_modes, const Complex* phases, std::int64_t n, Complex* bins) noexcept {
  if (phases == nullptr) {
    fold_modes(Plain{modes}, n_modes, n, bins);
  } else {
    fold_modes(Shifted{modes, phases}, n_modes, n, bins);
  }
}

void unfold(const Complex* bins, std::int64_t n, const Complex* phases, std::int64_t n_modes, Complex* modes) noexcept {
  if (phases == nullptr) {
    unfold_modes(bins, n, PlainTarget{modes}, n_modes);
  } else {
    unfold_modes(bins, n, ShiftedTarget{modes, phases}, n_modes);
  }
}

void pack_even(const Complex* bins, std::int64_t n, const Complex* roots, Complex* packed) noexcept {
  const std::int64_t half = n / 2;
  packed[0] = {bins[0].real() + bins[half].real(), bins[0].real() - bins[half].real()};
  for (std::int64_t k = 1; k <= half / 2; ++k) {
    const Complex mirrored = std::conj(bins[half - k]);
    const Complex even = bins[k] + mirrored;
    const Complex odd = times_i(product(roots[k], bins[k] - mirrored));
    packed[k] = even + odd;
    packed[half - k] = std::conj(even - odd);
  }
}

void pack_odd(const Complex* bins, std::int64_t n, Complex* packed) noexcept {
  packed[0] = bins[0].real();
  for (std::int64_t k = 1; k <= n / 2; ++k) {
    packed[k] = bins[k];
    packed[n - k] = std::conj(bins[k]);
  }
}

void unpack_even(const Complex* transformed, std::int64_t n, const Complex* roots, double weight,
                 Complex* bins) noexcept {
  const std::int64_t half = n / 2;
  const Complex first = transformed[0];
  bins[0] = weight * (first.real() + first.imag());
  bins[half] = weight * (first.real() - first.imag());
  const double half_weight = 0.5 * weight;
  for (std::int64_t k = 1; k <= half / 2; ++k) {
    const Complex direct = transformed[half - k];
    const Complex mirrored = std::conj(transformed[k]);
    const Complex even = half_weight * (direct + mirrored);
    const Complex odd = times_i(conj_product(roots[k], half_weight * (mirrored - direct)));
    bins[k] = even + odd;
    bins[half - k] = std::conj(even - odd);
  }
}

void unpack_odd(const Complex* transformed, std::int64_t n, double weight, Complex* bins) noexcept {
  for (std::int64_t k = 0; k <= n / 2; ++k) bins[k] = weight * std::conj(transformed[k]);
}

}  // namespace ringweave
