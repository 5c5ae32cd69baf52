// SPDX-License-Identifier: GPL-3.0-or-later
#include "legendre/shared/recurrence_lanes.hpp"

#include <algorithm>

#include "base/simd/instruction_sets.hpp"
#include "legendre/shared/sweep_tables.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "legendre/shared/recurrence_lanes.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace ringweave::detail::inline legendre::sweep::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Lanes = hn::ScalableTag<double>;
using Vec = hn::Vec<Lanes>;
constexpr std::int64_t n_lanes = static_cast<std::int64_t>(hn::MaxLanes(Lanes()));

std::int64_t lanes() { return n_lanes; }

/// Calls part(tag, i) for whole vectors, then for single elements.
template <class Part>
HWY_INLINE void for_each_part(std::int64_t count, const Part& part) {
  std::int64_t i = 0;
  for (; i + n_lanes <= count; i += n_lanes) part(Lanes(), i);
  for (; i < count; ++i) part(hn::CappedTag<double, 1>(), i);
}

void quotients(const double* numerators, const double* denominators, double* results,
               std::int64_t count) {
  for_each_part(count, [&](auto d, std::int64_t i) HWY_ATTR {
    hn::StoreU(hn::Div(hn::LoadU(d, numerators + i), hn::LoadU(d, denominators + i)), d,
               results + i);
  });
}

void square_roots(const double* numerators, const double* denominators, double* roots,
                  std::int64_t count) {
  for_each_part(count, [&](auto d, std::int64_t i) HWY_ATTR {
    const auto square = hn::Div(hn::LoadU(d, numerators + i), hn::LoadU(d, denominators + i));
    hn::StoreU(hn::Sqrt(square), d, roots + i);
  });
}

void degree_factors(int m, std::int64_t count, double* e) {
  for_each_part(count, [&](auto d, std::int64_t i) HWY_ATTR {
    const auto j = hn::Iota(d, static_cast<double>(i));
    const auto order = hn::Set(d, static_cast<double>(m));
    const auto l = hn::Add(order, j);
    const auto above = hn::Mul(j, hn::Add(l, order));
    const auto below = hn::MulSub(hn::Mul(hn::Set(d, 4), l), l, hn::Set(d, 1));
    hn::StoreU(hn::Sqrt(hn::Div(above, below)), d, e + i);
  });
}

/// Loads the values with even and with odd offsets from `values`.
template <class D>
HWY_INLINE void load_pairs(D d, const double* values, hn::Vec<D>& first, hn::Vec<D>& second) {
  if constexpr (hn::MaxLanes(D()) == 1) {
    first = hn::LoadU(d, values);
    second = hn::LoadU(d, values + 1);
  } else {
    LoadInterleaved2(d, values, first, second);
  }
}

void ratios_by_two(const double* e, std::int64_t n, double* products, double* ratios) {
  for_each_part(n, [&](auto d, std::int64_t k) HWY_ATTR {
    hn::Vec<decltype(d)> even;
    hn::Vec<decltype(d)> odd;
    load_pairs(d, e + 2 * k + 2, even, odd);
    hn::StoreU(hn::Mul(even, odd), d, products + k);
  });
  quotients(products, products + 1, ratios, n - 1);
}

void coefficients_by_two(const double* e, const double* alpha, const double* products,
                         std::int64_t n, double* coefficients) {
  for_each_part(n, [&](auto d, std::int64_t k) HWY_ATTR {
    hn::Vec<decltype(d)> e1;
    hn::Vec<decltype(d)> e2;
    load_pairs(d, e + 2 * k + 1, e1, e2);
    const auto next = hn::Mul(hn::LoadU(d, products + k), hn::LoadU(d, alpha + k + 1));
    const auto a = hn::Div(hn::LoadU(d, alpha + k), next);
    const auto zero = hn::MulAdd(e1, e1, hn::Mul(e2, e2));
    const auto from_equator = hn::Neg(hn::Mul(a, zero));
    const auto from_pole = hn::Mul(a, hn::Sub(hn::Set(d, 1), zero));
    double* target = coefficients + 3 * k;
    if constexpr (hn::MaxLanes(d) == 1) {
      hn::StoreU(a, d, target);
      hn::StoreU(from_equator, d, target + 1);
      hn::StoreU(from_pole, d, target + 2);
    } else {
      StoreInterleaved3(a, from_equator, from_pole, d, target);
    }
  });
}

/// Four columns of consecutive steps of one map.
struct Columns {
  Vec c[4];
};

HWY_INLINE Columns load_columns(const double* columns, std::int64_t stride) {
  Columns v;
  if constexpr (n_lanes > 1) {
    if (stride == 4) {
      LoadInterleaved4(Lanes(), columns, v.c[0], v.c[1], v.c[2], v.c[3]);
      return v;
    }
  }
  HWY_ALIGN double values[4][std::size_t{n_lanes}];
  for (std::int64_t i = 0; i < n_lanes; ++i) {
    for (int column = 0; column < 4; ++column) values[column][i] = columns[i * stride + column];
  }
  for (int column = 0; column < 4; ++column) v.c[column] = hn::Load(Lanes(), values[column]);
  return v;
}

HWY_INLINE void store_columns(const Columns& v, double* columns, std::int64_t stride) {
  if constexpr (n_lanes > 1) {
    if (stride == 4) {
      StoreInterleaved4(v.c[0], v.c[1], v.c[2], v.c[3], Lanes(), columns);
      return;
    }
  }
  HWY_ALIGN double values[4][std::size_t{n_lanes}];
  for (int column = 0; column < 4; ++column) hn::Store(v.c[column], Lanes(), values[column]);
  for (std::int64_t i = 0; i < n_lanes; ++i) {
    for (int column = 0; column < 4; ++column) columns[i * stride + column] = values[column][i];
  }
}

/// Loads real and imaginary parts of even and odd degrees from alm on.
template <class T>
HWY_INLINE Columns load_degrees(const std::complex<T>* alm) {
  Columns v;
  HWY_ALIGN double values[std::size_t{4 * n_lanes}];
  const T* parts = reinterpret_cast<const T*>(alm);
  for (std::int64_t i = 0; i < 4 * n_lanes; ++i) values[i] = static_cast<double>(parts[i]);
  if constexpr (n_lanes > 1) {
    LoadInterleaved4(Lanes(), values, v.c[0], v.c[1], v.c[2], v.c[3]);
  } else {
    for (int i = 0; i < 4; ++i) v.c[i] = hn::Load(Lanes(), values + i);
  }
  return v;
}
template <>
HWY_INLINE Columns load_degrees(const std::complex<double>* alm) {
  return load_columns(reinterpret_cast<const double*>(alm), 4);
}

template <class T>
HWY_INLINE void precondition(const FactorsByTwo& factors, const std::complex<T>* alm,
                             std::int64_t n_degrees, double* columns, std::int64_t stride) {
  std::int64_t k = 0;
  // A step reads two degrees and the next even one.
  for (; 2 * (k + n_lanes) + 1 < n_degrees && k + n_lanes <= factors.n_steps; k += n_lanes) {
    Vec e1;
    Vec e2;
    load_pairs(Lanes(), factors.e + 2 * k + 1, e1, e2);
    const Vec alpha = hn::LoadU(Lanes(), factors.alpha + k);
    const Vec here = hn::Mul(alpha, e1);
    const Vec next = hn::Mul(alpha, e2);
    const Columns degrees = load_degrees(alm + 2 * k);
    const Columns next_degrees = load_degrees(alm + 2 * k + 2);
    Columns v;
    for (int part = 0; part < 2; ++part) {
      v.c[part] = hn::MulAdd(next, next_degrees.c[part], hn::Mul(here, degrees.c[part]));
      v.c[part + 2] = hn::Mul(alpha, degrees.c[part + 2]);
    }
    store_columns(v, columns + k * stride, stride);
  }
  const auto degree = [&](std::int64_t j) {
    return j < n_degrees ? std::complex<double>(alm[j]) : std::complex<double>();
  };
  for (; k < factors.n_steps; ++k) {
    const double alpha = factors.alpha[k];
    const std::complex<double> even = alpha * factors.e[2 * k + 1] * degree(2 * k) +
                                      alpha * factors.e[2 * k + 2] * degree(2 * k + 2);
    const std::complex<double> odd = alpha * degree(2 * k + 1);
    double* column = columns + k * stride;
    column[0] = even.real();
    column[1] = even.imag();
    column[2] = odd.real();
    column[3] = odd.imag();
  }
}

void precondition_doubles(const FactorsByTwo& factors, const std::complex<double>* alm,
                          std::int64_t n_degrees, double* columns, std::int64_t stride) {
  precondition(factors, alm, n_degrees, columns, stride);
}
void precondition_floats(const FactorsByTwo& factors, const std::complex<float>* alm,
                         std::int64_t n_degrees, double* columns, std::int64_t stride) {
  precondition(factors, alm, n_degrees, columns, stride);
}

void restore_by_two(const FactorsByTwo& factors, const double* columns, std::int64_t stride,
                    std::complex<double>* alm, std::int64_t n_degrees) {
  const auto restore_step = [&](std::int64_t k) {
    const double* column = columns + k * stride;
    const double here = factors.alpha[k] * factors.e[2 * k + 1];
    std::complex<double> even(here * column[0], here * column[1]);
    if (k > 0) {
      const double before = factors.alpha[k - 1] * factors.e[2 * k];
      even += std::complex<double>(before * column[-stride], before * column[1 - stride]);
    }
    alm[2 * k] = even;
    if (2 * k + 1 < n_degrees) {
      alm[2 * k + 1] = {factors.alpha[k] * column[2], factors.alpha[k] * column[3]};
    }
  };
  if (n_degrees > 0) restore_step(0);
  std::int64_t k = 1;
  for (; 2 * (k + n_lanes) <= n_degrees; k += n_lanes) {
    Vec e0;
    Vec e1;
    load_pairs(Lanes(), factors.e + 2 * k, e0, e1);
    const Vec alpha = hn::LoadU(Lanes(), factors.alpha + k);
    const Vec here = hn::Mul(alpha, e1);
    const Vec before = hn::Mul(hn::LoadU(Lanes(), factors.alpha + k - 1), e0);
    const Columns sums = load_columns(columns + k * stride, stride);
    const Columns sums_before = load_columns(columns + (k - 1) * stride, stride);
    Columns v;
    for (int part = 0; part < 2; ++part) {
      v.c[part] = hn::MulAdd(before, sums_before.c[part], hn::Mul(here, sums.c[part]));
      v.c[part + 2] = hn::Mul(alpha, sums.c[part + 2]);
    }
    store_columns(v, reinterpret_cast<double*>(alm + 2 * k), 4);
  }
  for (; 2 * k < n_degrees; ++k) restore_step(k);
}

}  // namespace ringweave::detail::inline legendre::sweep::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ringweave::detail::inline legendre::sweep {

HWY_EXPORT(lanes);
HWY_EXPORT(quotients);
HWY_EXPORT(square_roots);
HWY_EXPORT(degree_factors);
HWY_EXPORT(ratios_by_two);
HWY_EXPORT(coefficients_by_two);
HWY_EXPORT(precondition_doubles);
HWY_EXPORT(precondition_floats);
HWY_EXPORT(restore_by_two);

std::int64_t lanes() { return HWY_DYNAMIC_DISPATCH(lanes)(); }

void quotients(const double* numerators, const double* denominators, double* results,
               std::int64_t count) {
  HWY_DYNAMIC_DISPATCH(quotients)(numerators, denominators, results, count);
}

void square_roots(const double* numerators, const double* denominators, double* roots,
                  std::int64_t count) {
  HWY_DYNAMIC_DISPATCH(square_roots)(numerators, denominators, roots, count);
}

void degree_factors(int m, std::int64_t count, double* e) {
  HWY_DYNAMIC_DISPATCH(degree_factors)(m, count, e);
}

void ratios_by_two(const double* e, std::int64_t n, double* products, double* ratios) {
  HWY_DYNAMIC_DISPATCH(ratios_by_two)(e, n, products, ratios);
}

void coefficients_by_two(const double* e, const double* alpha, const double* products,
                         std::int64_t n, double* coefficients) {
  HWY_DYNAMIC_DISPATCH(coefficients_by_two)(e, alpha, products, n, coefficients);
}

template <>
void precondition_by_two(const FactorsByTwo& factors, const std::complex<double>* alm,
                         std::int64_t n_degrees, double* columns, std::int64_t stride) {
  HWY_DYNAMIC_DISPATCH(precondition_doubles)(factors, alm, n_degrees, columns, stride);
}
template <>
void precondition_by_two(const FactorsByTwo& factors, const std::complex<float>* alm,
                         std::int64_t n_degrees, double* columns, std::int64_t stride) {
  HWY_DYNAMIC_DISPATCH(precondition_floats)(factors, alm, n_degrees, columns, stride);
}

void restore_by_two(const FactorsByTwo& factors, const double* columns, std::int64_t stride,
                    std::complex<double>* alm, std::int64_t n_degrees) {
  HWY_DYNAMIC_DISPATCH(restore_by_two)(factors, columns, stride, alm, n_degrees);
}

}  // namespace ringweave::detail::inline legendre::sweep
#endif
