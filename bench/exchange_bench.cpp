// SPDX-License-Identifier: GPL-3.0-or-later
// Times the exchange of ring modes against a memory copy of the exchanged modes, a lower bound.
// One JSON line per measurement:
//   scripts/mpirun.sh RANKS exchange_bench [NSIDE [LMAX [COMPONENTS [REPEATS]]]]
// The planned volume for any number of ranks, without an exchange:
//   exchange_bench --volume NSIDE LMAX
// The same for the halo of a kernel whose support is given in degrees:
//   scripts/mpirun.sh RANKS exchange_bench --halo NSIDE SUPPORT [COMPONENTS [REPEATS]]
//   exchange_bench --halo-scaling NSIDE SUPPORT [COMPONENTS]
#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <cstring>
#include <memory>
#include <numbers>
#include <string>
#include <string_view>
#include <vector>

#include "app/predict/halo_scaling.hpp"
#include "base/checked_cast.hpp"
#include "base/mode_view.hpp"
#include "bench/slowest_rank.hpp"
#include "distribute/exchange/mode_exchange.hpp"
#include "distribute/halo/halo_exchange.hpp"
#include "distribute/halo/halo_mode_exchange.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/execution.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail {
namespace {

using Value = std::complex<double>;

struct Problem {
  std::shared_ptr<const RingGrid> grid;
  ModeLimits limits;
  FoldRule fold;

  Problem(std::int64_t nside, int lmax)
      : grid(std::make_shared<const RingGrid>(RingGrid::healpix(nside))),
        limits(*grid, lmax, lmax, 0),
        fold(FoldRule::for_grid(*grid, lmax)) {}
};

/// Largest Legendre work of a rank over the mean.
double order_imbalance(const OrderDistribution& orders, const ModeLimits& limits) {
  double largest = 0;
  double sum = 0;
  for (int rank = 0; rank < orders.n_ranks(); ++rank) {
    double load = 0;
    for (const int m : orders.orders(rank)) load += OrderDistribution::work(limits, m);
    largest = std::max(largest, load);
    sum += load;
  }
  return largest * orders.n_ranks() / sum;
}

/// Most pixels of a rank over the mean.
double pixel_imbalance(const RingDistribution& rings) {
  std::int64_t largest = 0;
  for (int rank = 0; rank < rings.n_ranks(); ++rank) {
    largest = std::max(largest, rings.rings(rank).n_pixels());
  }
  return static_cast<double>(largest) * rings.n_ranks() /
         static_cast<double>(rings.grid()->n_pixels());
}

void print_volumes(std::int64_t nside, int lmax) {
  const Problem problem(nside, lmax);
  for (const int n_ranks : {2, 4, 8, 16, 32, 64, 128, 512, 2048, 16384}) {
    const OrderDistribution orders(problem.limits, problem.fold, n_ranks);
    const RingDistribution rings(problem.grid, problem.limits, n_ranks);
    const auto volume = [&](Folding folding) {
      return exchange_volume(problem.limits, problem.fold, orders, rings, folding);
    };
    const ExchangeVolume ragged = volume(Folding::keep);
    const ExchangeVolume folded = volume(Folding::fold);
    const auto dense = static_cast<double>(ragged.dense_sent);
    fmt::print(
        R"({{"nside": {}, "lmax": {}, "ranks": {}, "dense_gb": {:.3f}, "ragged_share": {:.3f}, "folded_share": {:.3f}, "order_imbalance": {:.4f}, "pixel_imbalance": {:.4f}}})"
        "\n",
        nside, lmax, n_ranks, dense * sizeof(Value) / 1e9,
        static_cast<double>(ragged.total_sent()) / dense,
        static_cast<double>(folded.total_sent()) / dense, order_imbalance(orders, problem.limits),
        pixel_imbalance(rings));
  }
}

void measure(const Communicator& comm, std::int64_t nside, int lmax, std::int64_t n_components,
             int repeats) {
  const Problem problem(nside, lmax);
  const OrderDistribution orders(problem.limits, problem.fold, comm.size());
  const RingDistribution rings(problem.grid, problem.limits, comm.size());
  const ExchangePlan whole =
      plan_exchange(problem.limits, problem.fold, orders, rings, comm.rank());
  const OrderPasses plan =
      plan_order_passes(problem.limits, problem.fold, orders, rings, comm.rank(), whole, {});
  ModeExchange exchange(comm, plan, n_components, {},
                        make_host_transport(ModePrecision::double_, true));
  HostBuffer<Value> slots(plan.all_slots() * n_components);
  HostBuffer<Value> by_ring(plan.by_ring_size * n_components);
  std::fill(slots.begin(), slots.end(), Value{1});
  std::fill(by_ring.begin(), by_ring.end(), Value{2});
  const ModeMemory modes{by_ring.data(), by_ring.size(), slots.data(), slots.size()};

  const std::int64_t smaller = std::min(slots.size(), by_ring.size());
  const std::int64_t copied = comm.sum(smaller * std::int64_t{sizeof(Value)});
  const std::int64_t sent = comm.sum(exchange.bytes_sent());
  const auto report = [&](const char* what, std::int64_t bytes, double seconds) {
    if (!comm.is_root()) return;
    fmt::print(
        R"({{"what": "{}", "ranks": {}, "nside": {}, "lmax": {}, "components": {}, "bytes": {}, "seconds": {:.6g}, "gb_per_s": {:.4g}}})"
        "\n",
        what, comm.size(), nside, lmax, n_components, bytes, seconds,
        static_cast<double>(bytes) / seconds / 1e9);
  };
  report("memcpy", copied, slowest_rank_seconds(comm, repeats, [&] {
           std::memcpy(static_cast<void*>(by_ring.data()), slots.data(),
                       to_size(smaller) * sizeof(Value));
         }));
  report("orders_to_rings", sent, slowest_rank_seconds(comm, repeats, [&] {
           exchange.begin(ModeExchange::Direction::orders_to_rings, 0, modes);
           exchange.end(0);
         }));
  report("rings_to_orders", sent, slowest_rank_seconds(comm, repeats, [&] {
           exchange.begin(ModeExchange::Direction::rings_to_orders, 0, modes);
           exchange.end(0);
         }));
}

constexpr double degree = std::numbers::pi / 180;

/// Distributed for the convolution, not for a transform.
RingDistribution distribute_products(const std::shared_ptr<const RingGrid>& grid, double support,
                                     int n_ranks) {
  return {grid, ring_products(*grid, support, RingPayload::pixels(*grid)), n_ranks};
}

void print_halo_scaling(std::int64_t nside, double support, std::int64_t n_components) {
  const auto grid = std::make_shared<const RingGrid>(RingGrid::healpix(nside));
  const auto rows = halo_scaling_to_limit(
      [&](int n_ranks) { return distribute_products(grid, support, n_ranks); }, support,
      RingPayload::pixels(*grid));
  fmt::print("nside {}, support {} degrees, pixels as double, {} component(s)\n{}", nside,
             support / degree, n_components,
             halo_scaling_table(rows, n_components, sizeof(double)));
}

/// Rows of all modes of own and halo rings, from north to south.
ModeLayout halo_rows(const RingDistribution& rings, const HaloPlan& plan,
                     const RingPayload& orders) {
  ModeLayout rows;
  std::int64_t next = 0;
  const std::int64_t n_rings = rings.grid()->n_rings();
  for (int m = 0; m <= 2 * rings.grid()->nside(); ++m) {
    rows.begin_row(m);
    const auto kept = [&](std::int64_t r) {
      const bool here = rings.owner(RingId{r}) == plan.rank || plan.contains(RingId{r});
      return here && orders.values(RingId{r}) > m;
    };
    for (std::int64_t r = 0, end = 0; r < n_rings; r = end + 1) {
      for (end = r; end < n_rings && kept(end);) ++end;
      rows.add_segment({r, end}, next);
      next += end - r;
    }
  }
  rows.set_size(next);
  return rows;
}

void measure_halo(const Communicator& comm, std::int64_t nside, double support,
                  std::int64_t n_components, int repeats) {
  const auto grid = std::make_shared<const RingGrid>(RingGrid::healpix(nside));
  const RingDistribution rings = distribute_products(grid, support, comm.size());
  const auto report = [&](const char* what, std::int64_t bytes, double seconds) {
    const std::int64_t all = comm.sum(bytes);
    if (!comm.is_root()) return;
    fmt::print(
        R"({{"what": "{}", "ranks": {}, "nside": {}, "support_degrees": {}, "components": {}, "bytes": {}, "seconds": {:.6g}, "gb_per_s": {:.4g}}})"
        "\n",
        what, comm.size(), nside, support / degree, n_components, all, seconds,
        static_cast<double>(all) / seconds / 1e9);
  };

  const HaloPlan pixels = plan_halo(rings, comm.rank(), support, RingPayload::pixels(*grid));
  ComponentBuffer<double> own(n_components, pixels.own_size);
  ComponentBuffer<double> halo(n_components, pixels.halo_size);
  std::fill_n(own.view().data(), n_components * own.size(), 1.0);
  std::fill_n(halo.view().data(), n_components * halo.size(), 2.0);
  const std::int64_t copied = std::min(own.bytes(), halo.bytes());
  report("memcpy", copied, slowest_rank_seconds(comm, repeats, [&] {
           std::memcpy(halo.view().data(), own.view().data(), to_size(copied));
         }));
  HaloExchange pixel_exchange(comm, pixels, n_components);
  const double pixel_seconds = slowest_rank_seconds(comm, repeats, [&] {
    pixel_exchange.begin(own.view(), halo.view());
    pixel_exchange.end();
  });
  report("halo_pixels", pixel_exchange.bytes_sent(), pixel_seconds);
  own.release();
  halo.release();

  const RingPayload orders = RingPayload::modes(*grid);
  const HaloPlan modes = plan_halo(rings, comm.rank(), support, orders);
  const ModeLayout rows = halo_rows(rings, modes, orders);
  HostBuffer<Value> buffer(rows.size() * n_components);
  std::fill(buffer.begin(), buffer.end(), Value{1});
  HaloModeExchange mode_exchange(comm, modes, rows, orders, n_components);
  const double mode_seconds = slowest_rank_seconds(comm, repeats, [&] {
    mode_exchange.begin(ModeView<double>(buffer.data(), buffer.size()));
    mode_exchange.end();
  });
  report("halo_modes", mode_exchange.bytes_sent(), mode_seconds);
}

}  // namespace
}  // namespace ringweave::detail

int main(int argc, char** argv) {
  using namespace ringweave;
  using namespace ringweave::detail;
  const MpiSession session(&argc, &argv);
  const auto number = [&](int i, int otherwise) {
    return i < argc ? std::stoi(argv[i]) : otherwise;
  };
  if (argc > 1 && std::string_view(argv[1]) == "--volume") {
    const int nside = number(2, 2048);
    print_volumes(nside, number(3, 3 * nside - 1));
    return 0;
  }
  if (argc > 3 && std::string_view(argv[1]).starts_with("--halo")) {
    const double support = std::stod(argv[3]) * degree;
    if (std::string_view(argv[1]) == "--halo-scaling") {
      print_halo_scaling(number(2, 0), support, number(4, 1));
    } else {
      measure_halo(Communicator::world(), number(2, 0), support, number(4, 1), number(5, 7));
    }
    return 0;
  }
  const int nside = number(1, 512);
  measure(Communicator::world(), nside, number(2, 3 * nside - 1), number(3, 1), number(4, 7));
}
