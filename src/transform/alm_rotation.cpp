// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>
#include <omp.h>

#include <bit>
#include <cmath>
#include <numbers>
#include <vector>

#include "base/checked_cast.hpp"
#include "distribute/exchange/degree_exchange.hpp"
#include "distribute/mpi/agree.hpp"
#include "legendre/degree_rotation.hpp"
#include "ringweave/error.hpp"
#include "ringweave/rotation.hpp"

namespace ringweave {

using namespace detail;

namespace {

/// Rotations that leave every order where it is.
enum class Turn {
  about_z,    ///< theta = 0, or whole turns
  half_turn,  ///< theta = pi
  general,
};

Turn kind_of(double theta) {
  const double turn = std::remainder(theta, 2 * std::numbers::pi);
  if (turn == 0) return Turn::about_z;
  return std::abs(turn) == std::numbers::pi ? Turn::half_turn : Turn::general;
}

void require_angles(const EulerAngles& angles) {
  for (const double angle : {angles.psi, angles.theta, angles.phi}) {
    if (std::isfinite(angle)) continue;
    throw UsageError(fmt::format(
        "a_lm cannot be rotated by psi = {}, theta = {}, phi = {}; expected finite angles in "
        "radians",
        angles.psi, angles.theta, angles.phi));
  }
}

template <class T>
void require_shape(const AlmLayout& layout, AlmView<T> alm) {
  if (alm.size() == layout.size()) return;
  throw UsageError(
      fmt::format("{} a_lm to be rotated; their layout has {}", alm.size(), layout.size()));
}

std::int64_t digest_of(const AlmLayout& layout, std::int64_t n_components,
                       const EulerAngles& angles, const RotationOptions& options,
                       std::size_t number_bytes) {
  Digest digest;
  digest.add(layout.lmax());
  digest.add(layout.mmax());
  digest.add(n_components);
  digest.add(number_bytes);
  digest.add(options.exchange_bytes);
  for (const double angle : {angles.psi, angles.theta, angles.phi})
    digest.add(std::bit_cast<std::uint64_t>(angle));
  return digest.value();
}

/// Calls turn(a_lm, m, l) for every coefficient. OpenMP over orders.
template <class T, class PhaseOf, class Apply>
void turn_orders(const AlmLayout& layout, AlmView<T> alm, const PhaseOf& phase_of,
                 const Apply& apply) {
#pragma omp parallel for schedule(dynamic, 8)
  for (std::int64_t row = 0; row < layout.n_orders(); ++row) {
    const int m = layout.order(row);
    const std::complex<double> phase = phase_of(m);
    for (std::int64_t c = 0; c < alm.n_components(); ++c) {
      const auto a = alm.component(c);
      for (int l = m; l <= layout.lmax(); ++l) {
        std::complex<T>& x = a[layout.index(row, l)];
        const std::complex<double> old(x.real(), m == 0 ? 0 : x.imag());
        x = std::complex<T>(apply(phase, l, old));
      }
    }
  }
}

/// a'_lm = exp(-i m (psi + phi)) a_lm.
template <class T>
void turn_about_z(const AlmLayout& layout, AlmView<T> alm, const EulerAngles& angles) {
  const long double angle = static_cast<long double>(angles.psi) + angles.phi;
  if (angle == 0) return;
  turn_orders<T>(
      layout, alm, [&](int m) { return turn_phase(m, angle); },
      [](std::complex<double> phase, int, std::complex<double> x) { return phase * x; });
}

/// a'_lm = (-1)^l exp(-i m (phi - psi)) conj(a_lm), since d^l_mn(pi) = (-1)^(l-n) where m = -n and
/// 0 elsewhere.
template <class T>
void turn_over(const AlmLayout& layout, AlmView<T> alm, const EulerAngles& angles) {
  const long double angle = static_cast<long double>(angles.phi) - angles.psi;
  turn_orders<T>(
      layout, alm, [&](int m) { return turn_phase(m, angle); },
      [](std::complex<double> phase, int l, std::complex<double> x) {
        return (l % 2 == 0 ? phase : -phase) * std::conj(x);
      });
}

/// Returns the bytes of a block of degrees on one rank; there are two buffers, but on one rank.
std::int64_t block_bytes(const Communicator& comm, const AlmLayout& layout,
                         std::int64_t element_bytes, const RotationOptions& options) {
  const int n_buffers = comm.size() == 1 ? 1 : 2;
  const std::int64_t all =
      options.exchange_bytes >= 0
          ? options.exchange_bytes
          : AlmLayout::full_size(layout.lmax(), layout.lmax()) / comm.size() * element_bytes / 8;
  return all / n_buffers;
}

template <class T>
void rotate_degrees(const Communicator& comm, const AlmLayout& layout, AlmView<T> alm,
                    const EulerAngles& angles, const RotationOptions& options) {
  const std::int64_t n_components = alm.n_components();
  const std::int64_t n_threads = comm.max(std::int64_t{omp_get_max_threads()});
  const std::int64_t element_bytes = n_components * std::int64_t{sizeof(std::complex<T>)};
  DegreeExchange<T> exchange(comm, layout, gather_order_owners(comm, layout), n_components,
                             block_bytes(comm, layout, element_bytes, options),
                             comm.size() * n_threads);
  const DegreeRotation rotation = agreed(
      comm, [&] { return DegreeRotation(layout.lmax(), angles.psi, angles.theta, angles.phi); });
  std::vector<DegreeRotation::Scratch> scratch = agreed(comm, [&] {
    std::vector<DegreeRotation::Scratch> made;
    for (int thread = 0; thread < omp_get_max_threads(); ++thread)
      made.emplace_back(layout.lmax(), n_components);
    return made;
  });

  for (std::int64_t block = 0; block < exchange.n_blocks(); ++block) {
    exchange.to_degrees(block, alm);
    const std::int64_t n_degrees = ssize64(exchange.degrees());
#pragma omp parallel for schedule(dynamic, 1)
    for (std::int64_t i = 0; i < n_degrees; ++i) {
      DegreeRotation::Scratch& mine = scratch[to_size(omp_get_thread_num())];
      for (std::int64_t c = 0; c < n_components; ++c) exchange.read(i, c, mine.alm(c));
      rotation.rotate(exchange.degrees()[to_size(i)], mine);
      for (std::int64_t c = 0; c < n_components; ++c) exchange.write(i, c, mine.alm(c));
    }
    exchange.to_orders(alm);
  }
}

}  // namespace

template <class T>
void rotate(const Communicator& comm, const AlmLayout& layout, AlmView<T> alm,
            const EulerAngles& angles, const RotationOptions& options) {
  agree(comm, [&] {
    require_angles(angles);
    require_shape<T>(layout, alm);
  });
  agree_same(comm, "the rotation, lmax, mmax or the components of the a_lm",
             digest_of(layout, alm.n_components(), angles, options, sizeof(T)));
  switch (kind_of(angles.theta)) {
    case Turn::about_z: return turn_about_z<T>(layout, alm, angles);
    case Turn::half_turn: return turn_over<T>(layout, alm, angles);
    case Turn::general: break;
  }
  if (layout.mmax() < layout.lmax()) {
    throw UsageError(
        fmt::format("a rotation mixes all orders m of a degree: a_lm with mmax = {} below lmax = "
                    "{} can only be "
                    "turned about the z axis; use a_lm with mmax = lmax",
                    layout.mmax(), layout.lmax()));
  }
  rotate_degrees<T>(comm, layout, alm, angles, options);
}

template void rotate<float>(const Communicator&, const AlmLayout&, AlmView<float>,
                            const EulerAngles&, const RotationOptions&);
template void rotate<double>(const Communicator&, const AlmLayout&, AlmView<double>,
                             const EulerAngles&, const RotationOptions&);

}  // namespace ringweave
