// SPDX-License-Identifier: GPL-3.0-or-later
#include "ringweave/analysis.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <memory>
#include <utility>

#include "base/checked_cast.hpp"
#include "base/component_update.hpp"
#include "distribute/mpi/agree.hpp"
#include "ringweave/error.hpp"

namespace ringweave {

using namespace detail;

namespace {

/// Sums term(i) over i < size in a fixed number of blocks, added in order: the result does not
/// depend on the number of threads. Allocates nothing.
template <class Term>
double ordered_sum(std::int64_t size, const Term& term) {
  constexpr std::int64_t n_blocks = 1024;
  const std::int64_t block = (size + n_blocks - 1) / n_blocks;
  std::array<double, std::size_t{n_blocks}> partial;
#pragma omp parallel for schedule(static)
  for (std::int64_t b = 0; b < n_blocks; ++b) {
    double sum = 0;
    for (std::int64_t i = b * block; i < std::min(size, (b + 1) * block); ++i) sum += term(i);
    partial[to_size(b)] = sum;
  }
  double total = 0;
  for (const double sum : partial) total += sum;
  return total;
}

template <class T>
void multiply_add(AlmView<T> y, double scale, AlmView<const T> x) {
  using Element = std::complex<T>;
  update(y, x, [factor = static_cast<T>(scale)](const Element& sum, const Element& more) {
    return sum + factor * more;
  });
}

/// p = r + scale p
template <class T>
void next_direction(AlmView<T> p, double scale, AlmView<const T> r) {
  using Element = std::complex<T>;
  update(p, r, [factor = static_cast<T>(scale)](const Element& old, const Element& residual) {
    return residual + factor * old;
  });
}

/// result = map - result
template <class T>
void subtract_from(MapView<const T> map, MapView<T> result) {
  update(result, map, [](T old, T pixel) { return pixel - old; });
}

/// Runs n_iter passes of jacobi(). pass() runs one and returns the squared norm of the residual it
/// started from.
template <class Pass>
void iterate(int n_iter, double squared_input, AnalysisReport& report,
             const AnalysisProgress& progress, const Pass& pass) {
  report.iterations = 0;
  report.transforms = 1 + 2 * n_iter;
  report.on_spectra = 0;
  report.residuals.clear();
  if (progress) progress(0, n_iter, -1);
  while (report.iterations < n_iter) {
    const double squared = pass();
    report.residuals.push_back(squared_input > 0 ? std::sqrt(squared / squared_input) : 0.0);
    ++report.iterations;
    if (progress) progress(report.iterations, n_iter, report.residuals.back());
  }
}

constexpr auto no_pass = [] { return 0.0; };

void require_iterations(int n_iter) {
  if (n_iter >= 0) return;
  throw UsageError("an analysis with " + std::to_string(n_iter) +
                   " iterations; expected 0 or more");
}

constexpr const char* in_inner_product = "inner product of a_lm";

}  // namespace

template <class T>
double inner_product(const Communicator& comm, const AlmLayout& layout, AlmView<const T> a,
                     AlmView<const T> b) {
  agree(comm, [&] {
    require_planned(in_inner_product, b.n_components(), a.n_components(), "components");
    for (const AlmView<const T>& alm : {a, b})
      require_planned(in_inner_product, alm.size(), layout.size(), "coefficients of a component");
  });
  double sum = 0;
  for (std::int64_t c = 0; c < a.n_components(); ++c) {
    const auto x = a.component(c);
    const auto y = b.component(c);
    const auto product = [&](std::int64_t i) {
      return double{x[i].real()} * double{y[i].real()} + double{x[i].imag()} * double{y[i].imag()};
    };
    // Order 0, if present, comes first and counts once; its imaginary part has no meaning.
    const std::int64_t n_zero = layout.row_of(0) == 0 ? layout.lmax() + 1 : 0;
    for (std::int64_t i = 0; i < n_zero; ++i) sum += double{x[i].real()} * double{y[i].real()};
    sum += 2 * ordered_sum(x.size() - n_zero, [&](std::int64_t i) { return product(n_zero + i); });
  }
  return comm.sum(sum);
}

template <class T>
double squared_norm(const Communicator& comm, MapView<const T> map) {
  double sum = 0;
  for (std::int64_t c = 0; c < map.n_components(); ++c) {
    const auto f = map.component(c);
    sum += ordered_sum(f.size(), [&](std::int64_t i) { return double{f[i]} * double{f[i]}; });
  }
  return comm.sum(sum);
}

Analysis::Analysis(SphericalHarmonicTransform& transform, AnalysisWeights weights)
    : Analysis(transform, std::make_shared<const AnalysisWeights>(std::move(weights))) {}

Analysis::Analysis(SphericalHarmonicTransform& transform,
                   std::shared_ptr<const AnalysisWeights> weights)
    : transform_(transform), weights_(std::move(weights)) {
  agree(transform_.comm(), [&] {
    if (weights_ == nullptr) throw UsageError("an analysis needs weights, and got none");
    const auto& rings = transform_.rings();
    require_planned("analysis", ssize64(weights_->ring), rings.n_rings(), "ring weights");
    if (weights_->pixel.empty()) return;
    require_planned("analysis", ssize64(weights_->pixel), rings.n_pixels(), "pixel weights");
  });
}

template <class T>
void Analysis::weigh_pixels(MapView<T> map) const {
  if (weights_->pixel.empty()) return;
  for (std::int64_t c = 0; c < map.n_components(); ++c) {
    const auto f = map.component(c);
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < f.size(); ++i)
      f[i] = static_cast<T>(f[i] * weights_->pixel[to_size(i)]);
  }
}

template <class T>
AnalysisReport Analysis::jacobi(MapView<const T> map, int n_iter, AlmView<T> alm,
                                const AnalysisProgress& progress) {
  const bool needs_work = n_iter > 0 || !weights_->pixel.empty();
  MapBuffer<T> work;
  agree(transform_.comm(), [&] {
    require_iterations(n_iter);
    transform_.require_map(map.n_components(), map.size());
    if (needs_work) work = transform_.make_map<T>();
  });
  AnalysisReport report;
  if (needs_work) {
    jacobi_within<T>(map, n_iter, alm, work.view(), report, progress);
  } else {
    transform_.adjoint<T>(map, weights_->ring, alm);
    iterate(0, 0, report, progress, no_pass);
  }
  return report;
}

template <class T>
void Analysis::jacobi_within(MapView<const T> map, int n_iter, AlmView<T> alm, MapView<T> work,
                             AnalysisReport& report, const AnalysisProgress& progress) {
  agree(transform_.comm(), [&] {
    require_iterations(n_iter);
    transform_.require_map(map.n_components(), map.size());
    transform_.require_map(work.n_components(), work.size());
  });
  copy<T>(map, work);
  if (n_iter > 0 && !needs_residual_map()) {
    jacobi_on_spectra<T>(work, n_iter, alm, report, progress);
  } else {
    jacobi_on_pixels<T>(map, n_iter, alm, work, report, progress);
  }
}

template <class T>
AnalysisReport Analysis::jacobi_destroying(MapView<T> map, int n_iter, AlmView<T> alm,
                                           const AnalysisProgress& progress) {
  AnalysisReport report;
  if (n_iter == 0) {
    once_destroying<T>(map, alm);
    iterate(0, 0, report, progress, no_pass);
    return report;
  }
  MapBuffer<T> work;
  agree(transform_.comm(), [&] {
    require_iterations(n_iter);
    transform_.require_map(map.n_components(), map.size());
    if (needs_residual_map()) work = transform_.make_map<T>();
  });
  if (needs_residual_map()) {
    jacobi_within<T>(map, n_iter, alm, work.view(), report, progress);
  } else {
    jacobi_on_spectra<T>(map, n_iter, alm, report, progress);
  }
  return report;
}

template <class T>
void Analysis::jacobi_on_spectra(MapView<T> work, int n_iter, AlmView<T> alm,
                                 AnalysisReport& report, const AnalysisProgress& progress) {
  const double squared_input = squared_norm<T>(transform_.comm(), work);
  transform_.to_spectra<T>(work);
  transform_.adjoint_of_spectra<T>(work, weights_->ring, alm);
  iterate(n_iter, squared_input, report, progress, [&] {
    return transform_.adjoint_of_residual<T>(work, weights_->ring, alm, alm, Accumulate::add);
  });
  report.on_spectra = 2 * n_iter;
}

template <class T>
void Analysis::jacobi_on_pixels(MapView<const T> map, int n_iter, AlmView<T> alm, MapView<T> work,
                                AnalysisReport& report, const AnalysisProgress& progress) {
  const Communicator& comm = transform_.comm();
  once_destroying<T>(work, alm);
  const double squared_input = n_iter > 0 ? squared_norm<T>(comm, map) : 0;
  iterate(n_iter, squared_input, report, progress, [&] {
    transform_.synthesize<T>(AlmView<const T>(alm), work);
    subtract_from<T>(map, work);
    const double squared = squared_norm<T>(comm, work);
    weigh_pixels<T>(work);
    transform_.adjoint_destroying<T>(work, weights_->ring, alm, Accumulate::add);
    return squared;
  });
}

template <class T>
AlmBuffer<T> Analysis::once(MapBuffer<T>&& map) {
  agree(transform_.comm(), [&] { transform_.require_map(map.n_components(), map.size()); });
  weigh_pixels<T>(map.view());
  return transform_.adjoint<T>(std::move(map), weights_->ring);
}

template <class T>
void Analysis::once_destroying(MapView<T> map, AlmView<T> alm) {
  agree(transform_.comm(), [&] { transform_.require_map(map.n_components(), map.size()); });
  weigh_pixels<T>(map);
  transform_.adjoint_destroying<T>(map, weights_->ring, alm);
}

template <class T>
AnalysisReport Analysis::conjugate_gradients(MapView<const T> map, double tolerance, int max_iter,
                                             AlmView<T> alm, const AnalysisProgress& progress) {
  const Communicator& comm = transform_.comm();
  agree(comm, [&] {
    if (tolerance > 0 && tolerance < 1) return;
    throw UsageError("the tolerance of an analysis is " + std::to_string(tolerance) +
                     "; expected between 0 and 1");
  });
  const AlmLayout& layout = transform_.alm_layout();
  AnalysisReport report;
  MapBuffer<T> work;
  AlmBuffer<T> residual;
  AlmBuffer<T> direction;
  AlmBuffer<T> image;
  agree(comm, [&] {
    transform_.require_map(map.n_components(), map.size());
    work = transform_.make_map<T>();
    for (AlmBuffer<T>* buffer : {&residual, &direction, &image}) *buffer = transform_.make_alm<T>();
  });
  const bool on_spectra = !needs_residual_map();
  const auto apply_normal = [&](AlmView<const T> x, AlmView<T> y) {
    if (on_spectra) return transform_.adjoint_of_synthesis<T>(weights_->ring, x, y);
    transform_.synthesize<T>(x, work.view());
    weigh_pixels<T>(work.view());
    transform_.adjoint_destroying<T>(work.view(), weights_->ring, y);
  };
  // The start a = S^T W f is that of Jacobi, already close; r = S^T W (f - S a).
  copy<T>(map, work.view());
  if (on_spectra) {
    transform_.to_spectra<T>(work.view());
    transform_.adjoint_of_spectra<T>(work.view(), weights_->ring, alm);
    transform_.adjoint_of_residual<T>(work.view(), weights_->ring, alm, residual.view());
    // Pixels are no longer needed.
    work.release();
  } else {
    once_destroying<T>(work.view(), alm);
    transform_.synthesize<T>(AlmView<const T>(alm), work.view());
    subtract_from<T>(map, work.view());
    weigh_pixels<T>(work.view());
    transform_.adjoint_destroying<T>(work.view(), weights_->ring, residual.view());
  }
  const double first = std::sqrt(inner_product<T>(comm, layout, alm, alm));
  double rho = inner_product<T>(comm, layout, residual.view(), residual.view());
  copy<std::complex<T>>(residual.view(), direction.view());
  const auto relative = [&] { return first > 0 ? std::sqrt(rho) / first : 0.0; };
  report.residuals.push_back(relative());
  report.transforms = 3;
  if (progress) progress(0, max_iter, report.residuals.back());
  while (report.iterations < max_iter && report.residuals.back() > tolerance) {
    apply_normal(direction.view(), image.view());
    report.transforms += 2;
    const double curvature = inner_product<T>(comm, layout, direction.view(), image.view());
    if (!(curvature > 0)) break;
    const double step = rho / curvature;
    multiply_add<T>(alm, step, direction.view());
    multiply_add<T>(residual.view(), -step, image.view());
    const double before = rho;
    rho = inner_product<T>(comm, layout, residual.view(), residual.view());
    next_direction<T>(direction.view(), rho / before, residual.view());
    ++report.iterations;
    report.residuals.push_back(relative());
    if (progress) progress(report.iterations, max_iter, report.residuals.back());
  }
  if (on_spectra) report.on_spectra = report.transforms - 1;
  return report;
}

#define RINGWEAVE_INSTANTIATE(T)                                                                   \
  template AnalysisReport Analysis::jacobi(MapView<const T>, int, AlmView<T>,                      \
                                           const AnalysisProgress&);                               \
  template void Analysis::jacobi_within(MapView<const T>, int, AlmView<T>, MapView<T>,             \
                                        AnalysisReport&, const AnalysisProgress&);                 \
  template AnalysisReport Analysis::jacobi_destroying(MapView<T>, int, AlmView<T>,                 \
                                                      const AnalysisProgress&);                    \
  template AlmBuffer<T> Analysis::once(MapBuffer<T>&&);                                            \
  template void Analysis::once_destroying(MapView<T>, AlmView<T>);                                 \
  template AnalysisReport Analysis::conjugate_gradients(MapView<const T>, double, int, AlmView<T>, \
                                                        const AnalysisProgress&);                  \
  template double inner_product<T>(const Communicator&, const AlmLayout&, AlmView<const T>,        \
                                   AlmView<const T>);                                              \
  template double squared_norm<T>(const Communicator&, MapView<const T>);
RINGWEAVE_INSTANTIATE(float)
RINGWEAVE_INSTANTIATE(double)
#undef RINGWEAVE_INSTANTIATE

}  // namespace ringweave
