// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>

// The parts of a recurrence that vectorize over the degrees. Names as in RecurrenceByTwo.
namespace ringweave::sweep {

/// e_j = sqrt(((m + j)^2 - m^2) / (4 (m + j)^2 - 1)) for j < count.
void degree_factors(int m, std::int64_t count, double* e);

/// products[k] = e_{2k+2} e_{2k+3} for k < n; ratios[k] = products[k] / products[k + 1] for k < n -
/// 1.
void ratios_by_two(const double* e, std::int64_t n, double* products, double* ratios);

/// The coefficients of a step from e, alpha [n + 1] and the products.
/// coefficients  [n][a, g from the equator, g from the pole]
void coefficients_by_two(const double* e, const double* alpha, const double* products,
                         std::int64_t n, double* coefficients);

/// What turns a_lm into columns and back: e_j, alpha_k, and the number of steps.
struct FactorsByTwo {
  const double* e;
  const double* alpha;
  std::int64_t n_steps;
};

/// alm [n_degrees] -> the four columns of one map, `stride` apart per step; degrees that are
/// missing count as zero.
template <class T>
void precondition_by_two(const FactorsByTwo& factors, const std::complex<T>* alm,
                         std::int64_t n_degrees, double* columns, std::int64_t stride);
/// The transpose; overwrites alm.
void restore_by_two(const FactorsByTwo& factors, const double* columns, std::int64_t stride,
                    std::complex<double>* alm, std::int64_t n_degrees);

/// results[i] = numerators[i] / denominators[i]; may be one of them.
void quotients(const double* numerators, const double* denominators, double* results,
               std::int64_t count);
/// roots[i] = sqrt(numerators[i] / denominators[i]).
void square_roots(const double* numerators, const double* denominators, double* roots,
                  std::int64_t count);

}  // namespace ringweave::sweep
