// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>

// Parts of a recurrence that vectorize over degrees. Names as in RecurrenceByTwo.
namespace ringweave::detail::inline legendre::sweep {

/// Computes e_j = sqrt(((m + j)^2 - m^2) / (4 (m + j)^2 - 1)) for j < count.
void degree_factors(int m, std::int64_t count, double* e);

/// Computes products[k] = e_{2k+2} e_{2k+3} for k < n and ratios[k] = products[k] / products[k + 1]
/// for k < n - 1.
void ratios_by_two(const double* e, std::int64_t n, double* products, double* ratios);

/// Computes the coefficients of all steps from e, alpha [n + 1] and the products.
/// coefficients  [n][a, g from the equator, g from the pole]
void coefficients_by_two(const double* e, const double* alpha, const double* products,
                         std::int64_t n, double* coefficients);

/// Factors between a_lm and columns: e_j, alpha_k, and the number of steps.
struct FactorsByTwo {
  const double* e;
  const double* alpha;
  std::int64_t n_steps;
};

/// Transforms alm [n_degrees] into the four columns of one map, `stride` apart per step; missing
/// degrees count as zero.
template <class T>
void precondition_by_two(const FactorsByTwo& factors, const std::complex<T>* alm,
                         std::int64_t n_degrees, double* columns, std::int64_t stride);
/// Applies the transpose; overwrites alm.
void restore_by_two(const FactorsByTwo& factors, const double* columns, std::int64_t stride,
                    std::complex<double>* alm, std::int64_t n_degrees);

/// Computes results[i] = numerators[i] / denominators[i]; results may be either operand.
void quotients(const double* numerators, const double* denominators, double* results,
               std::int64_t count);
/// Computes roots[i] = sqrt(numerators[i] / denominators[i]).
void square_roots(const double* numerators, const double* denominators, double* roots,
                  std::int64_t count);

}  // namespace ringweave::detail::inline legendre::sweep
