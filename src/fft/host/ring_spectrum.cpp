// SPDX-License-Identifier: GPL-3.0-or-later
// The disabled sets have no additional double arithmetic.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fft/host/ring_spectrum.cpp"
#include "fft/host/ring_spectrum.hpp"

#include "base/unit_powers.hpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace ringweave::detail::HWY_NAMESPACE {

// Plain loops: the compiler vectorizes them for the target of this pass.

using Complex = std::complex<double>;

inline std::int64_t least(std::int64_t a, std::int64_t b) { return a < b ? a : b; }

/// Returns conj(a) b.
inline Complex conj_product(Complex a, Complex b) {
  return {a.real() * b.real() + a.imag() * b.imag(), a.real() * b.imag() - a.imag() * b.real()};
}

/// Mode m with its phase applied; instantiated with and without phases to keep the test out of the
/// loops.
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
  const std::int64_t n_direct = least(half + 1, n_modes);
  for (std::int64_t m = 0; m < n_direct; ++m) bins[m] = mode(m);
  for (std::int64_t k = n_direct; k <= half; ++k) bins[k] = 0;
  bins[0] = bins[0].real();
  // Go through the aliases by multiples of n, so that each bin receives them in ascending m.
  for (std::int64_t turn = n; turn - half - 1 < n_modes; turn += n) {
    const std::int64_t mirrored_end = least(turn, n_modes);
    for (std::int64_t m = turn - (n - 1) / 2; m < mirrored_end; ++m)
      bins[turn - m] += std::conj(mode(m));
    if (turn < n_modes) bins[0] += 2 * mode(turn).real();
    const std::int64_t direct_end = least(turn + half + 1, n_modes);
    for (std::int64_t m = turn + 1; m < direct_end; ++m) bins[m - turn] += mode(m);
  }
  if (n % 2 == 0) bins[half] = 2 * bins[half].real();
}

/// Target of mode m, with the phase removed.
struct PlainTarget {
  Complex* modes;
  void operator()(std::int64_t m, Complex value) const { modes[m] = value; }
};
struct ShiftedTarget {
  Complex* modes;
  const Complex* phases;
  void operator()(std::int64_t m, Complex value) const {
    modes[m] = conj_product(phases[m], value);
  }
};

template <class Target>
void unfold_modes(const Complex* bins, std::int64_t n, const Target& target, std::int64_t n_modes) {
  const std::int64_t half = n / 2;
  for (std::int64_t turn = 0; turn - half - 1 < n_modes; turn += n) {
    for (std::int64_t m = turn == 0 ? 0 : turn - (n - 1) / 2; m < least(turn, n_modes); ++m) {
      target(m, std::conj(bins[turn - m]));
    }
    const std::int64_t direct_end = least(turn + half + 1, n_modes);
    for (std::int64_t m = turn; m < direct_end; ++m) target(m, bins[m - turn]);
  }
}

/// Returns i a.
inline Complex times_i(Complex a) { return {-a.imag(), a.real()}; }

void fold(const Complex* modes, std::int64_t n_modes, const Complex* phases, std::int64_t n,
          Complex* bins) {
  if (phases == nullptr) {
    fold_modes(Plain{modes}, n_modes, n, bins);
  } else {
    fold_modes(Shifted{modes, phases}, n_modes, n, bins);
  }
}

void unfold(const Complex* bins, std::int64_t n, const Complex* phases, std::int64_t n_modes,
            Complex* modes) {
  if (phases == nullptr) {
    unfold_modes(bins, n, PlainTarget{modes}, n_modes);
  } else {
    unfold_modes(bins, n, ShiftedTarget{modes, phases}, n_modes);
  }
}

void pack_even(const Complex* bins, std::int64_t n, const Complex* roots, Complex* packed) {
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

void pack_odd(const Complex* bins, std::int64_t n, Complex* packed) {
  packed[0] = bins[0].real();
  for (std::int64_t k = 1; k <= n / 2; ++k) {
    packed[k] = bins[k];
    packed[n - k] = std::conj(bins[k]);
  }
}

void unpack_even(const Complex* transformed, std::int64_t n, const Complex* roots, double weight,
                 Complex* bins) {
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

void unpack_odd(const Complex* transformed, std::int64_t n, double weight, Complex* bins) {
  for (std::int64_t k = 0; k <= n / 2; ++k) bins[k] = weight * std::conj(transformed[k]);
}

}  // namespace ringweave::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ringweave::detail::inline fft {

using Complex = std::complex<double>;

HWY_EXPORT(fold);
HWY_EXPORT(unfold);
HWY_EXPORT(pack_even);
HWY_EXPORT(pack_odd);
HWY_EXPORT(unpack_even);
HWY_EXPORT(unpack_odd);

void fold(const Complex* modes, std::int64_t n_modes, const Complex* phases, std::int64_t n,
          Complex* bins) noexcept {
  HWY_DYNAMIC_DISPATCH(fold)(modes, n_modes, phases, n, bins);
}
void unfold(const Complex* bins, std::int64_t n, const Complex* phases, std::int64_t n_modes,
            Complex* modes) noexcept {
  HWY_DYNAMIC_DISPATCH(unfold)(bins, n, phases, n_modes, modes);
}
void pack_even(const Complex* bins, std::int64_t n, const Complex* roots,
               Complex* packed) noexcept {
  HWY_DYNAMIC_DISPATCH(pack_even)(bins, n, roots, packed);
}
void pack_odd(const Complex* bins, std::int64_t n, Complex* packed) noexcept {
  HWY_DYNAMIC_DISPATCH(pack_odd)(bins, n, packed);
}
void unpack_even(const Complex* transformed, std::int64_t n, const Complex* roots, double weight,
                 Complex* bins) noexcept {
  HWY_DYNAMIC_DISPATCH(unpack_even)(transformed, n, roots, weight, bins);
}
void unpack_odd(const Complex* transformed, std::int64_t n, double weight, Complex* bins) noexcept {
  HWY_DYNAMIC_DISPATCH(unpack_odd)(transformed, n, weight, bins);
}

}  // namespace ringweave::detail::inline fft
#endif  // HWY_ONCE
