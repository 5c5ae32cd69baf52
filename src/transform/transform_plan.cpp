// SPDX-License-Identifier: GPL-3.0-or-later
#include "transform/transform_plan.hpp"

#include <algorithm>
#include <bit>
#include <complex>
#include <string>
#include <vector>

#include "base/checked_cast.hpp"
#include "distribute/exchange/mode_exchange.hpp"
#include "distribute/mpi/agree.hpp"
#include "legendre/deconvolved_rows.hpp"
#include "ringweave/error.hpp"
#include "ringweave/execution.hpp"
#include "ringweave/transform.hpp"
#include "transform/significant_degrees.hpp"

namespace ringweave {

using namespace detail;

namespace {

AlmLayout layout_of(const TransformSpec& spec, const OrderDistribution& orders, int rank) {
  const auto mine = orders.orders(rank);
  return {spec.lmax, spec.mmax, std::vector<int>(mine.begin(), mine.end())};
}

/// Distributes rings and orders as for scalar fields whatever the spins, so that transforms of
/// different fields on one grid give a rank the same ones and can share maps and a_lm.
ModeLimits scalar_limits(const TransformSpec& spec) { return limits_of(spec, 0); }

RingDistribution ring_bands_of(const TransformSpec& spec, int n_ranks) {
  if (spec.ring_bands == nullptr) return {spec.grid, scalar_limits(spec), n_ranks};
  if (spec.ring_bands->n_ranks() != n_ranks || spec.ring_bands->grid() != spec.grid) {
    throw UsageError("the ring bands given to a transform are those of another grid or of " +
                     std::to_string(spec.ring_bands->n_ranks()) + " ranks instead of " +
                     std::to_string(n_ranks));
  }
  return *spec.ring_bands;
}

constexpr std::int64_t bytes_of_mode = static_cast<std::int64_t>(sizeof(std::complex<double>));

/// The most passes: beyond, the buffer of a pass is already negligible.
constexpr std::int64_t most_passes = 64;
constexpr std::int64_t bytes_worth_a_pass = std::int64_t{1} << 20;
constexpr std::int64_t least_overlapped_passes = 8;

ExchangeVolume volume_of(const TransformPlan& plan) {
  return exchange_volume(plan.limits, plan.fold, plan.orders, plan.ring_bands,
                         plan.spec.exchange.folding);
}

/// Counts the passes for slots outside of a map.
int count_passes(const TransformPlan& plan) {
  if (plan.n_ranks == 1) return 1;
  return passes_beside(plan.spec.exchange, plan.spec.pass_bytes,
                       volume_of(plan).most_sent() * plan.n_components_at_once() * bytes_of_mode);
}

/// One pass counts all its modes in a single MPI call.
bool may_go_in_one_pass(const TransformPlan& plan) {
  return !plan.always_in_passes() && plan.countable();
}

int count_passes_within(const TransformPlan& plan) {
  return may_go_in_one_pass(plan) ? 1 : plan.n_passes;
}

/// Returns the fewest passes for which a_lm, modes and slots take no more than map and modes do:
/// slots may use the amount by which a map is larger than the a_lm.
int count_passes_consuming(const TransformPlan& plan) {
  if (plan.n_ranks == 1 || !may_go_in_one_pass(plan)) return plan.n_passes;
  constexpr std::int64_t bytes_of_pixel = 8;
  const TransformSpec& spec = plan.spec;
  const std::int64_t room_of_all = spec.grid->n_pixels() * bytes_of_pixel -
                                   AlmLayout::full_size(spec.lmax, spec.mmax) * bytes_of_mode;
  const std::int64_t room = std::max(room_of_all / plan.n_ranks, std::int64_t{1});
  const std::int64_t slots = volume_of(plan).most_sent() * bytes_of_mode;
  return static_cast<int>(std::clamp<std::int64_t>((slots + room - 1) / room, 1, plan.n_passes));
}

}  // namespace

TransformSpec TransformSpec::checked() const {
  if (grid == nullptr) throw UsageError("a transform needs a grid");
  require_degrees(lmax, mmax);
  if (data == MemorySpace::pinned)
    throw UsageError("a_lm and maps of a transform are in the host's memory or in a device's");
  if (data == MemorySpace::device &&
      (backend != Backend::cuda || on_device != StagesOnDevice::both)) {
    throw UsageError(
        "a transform with a_lm and maps in a device's memory runs there: choose the CUDA backend "
        "for both stages");
  }
  TransformSpec spec = *this;
  if (mmax < 0) spec.mmax = lmax;
  return spec;
}

std::int64_t TransformSpec::digest() const {
  Digest digest;
  digest.add(lmax);
  digest.add(mmax < 0 ? lmax : mmax);
  digest.add(backend);
  digest.add(on_device);
  digest.add(data);
  digest.add(theta);
  digest.add(theta_components);
  for (const FieldSet::Field& field : fields.fields()) digest.add(field.spin);
  for (const Ring& ring : grid->rings()) {
    digest.add(std::bit_cast<std::int64_t>(ring.theta));
    digest.add(std::bit_cast<std::int64_t>(ring.phi0));
    digest.add(ring.n_phi);
  }
  for (int rank = 0; ring_bands != nullptr && rank < ring_bands->n_ranks(); ++rank)
    digest.add(ring_bands->n_rings(rank));
  digest.add(fine_rows == nullptr ? 0 : fine_rows->n_rows);
  digest.add(exchange.folding);
  digest.add(exchange.schedule);
  digest.add(exchange.precision);
  digest.add(pass_bytes);
  digest.add(mode_bytes);
  digest.add(device_bytes);
  digest.add(exchange.mpi_count_limit);
  return digest.value();
}

TransformPlan::TransformPlan(const TransformSpec& asked, int my_rank, int all_ranks)
    : spec(asked.checked()),
      rank(my_rank),
      n_ranks(all_ranks),
      limits(limits_of(spec, spec.fields.max_spin())),
      fold(FoldRule::for_grid(*spec.grid, spec.mmax)),
      orders(scalar_limits(spec), fold, n_ranks),
      ring_bands(ring_bands_of(spec, n_ranks)),
      alm(layout_of(spec, orders, rank)),
      rings(ring_bands.rings(rank)),
      most_modes(volume_of(*this).largest_side()),
      sent_modes(volume_of(*this).sent(rank)),
      groups(
          group_fields(spec.fields, spec.mode_bytes / std::max<std::int64_t>(1, mode_bytes_of(1)))),
      exchange(plan_exchange(limits, fold, orders, ring_bands, rank, spec.exchange.folding)),
      n_passes(count_passes(*this)),
      n_passes_within(count_passes_within(*this)),
      n_passes_consuming(count_passes_consuming(*this)) {}

bool TransformPlan::always_in_passes() const {
  return n_ranks > 1 && (spec.exchange.schedule == ExchangeSchedule::overlapped ||
                         spec.exchange.precision == ModePrecision::single_);
}

int TransformPlan::n_pass_slots() const { return ModeExchange::n_slots_of(spec.exchange); }

OrderPasses TransformPlan::order_passes(int count, int n_parts) const {
  return plan_order_passes(limits, fold, orders, ring_bands, rank, exchange,
                           {.folding = spec.exchange.folding,
                            .n_passes = count,
                            .n_slots = n_pass_slots(),
                            .n_parts = n_parts,
                            .row_multiple = LegendreStage::rows_at_once});
}

int TransformPlan::n_host_parts(int count) const {
  if (spec.exchange.schedule == ExchangeSchedule::whole) return 1;
  // Enough parts to keep the exchange busy, enough orders in each for all threads.
  constexpr std::int64_t wanted_parts = 4;
  constexpr std::int64_t least_orders = 2 * LegendreStage::rows_at_once;
  return static_cast<int>(
      std::clamp<std::int64_t>(ssize64(alm.orders()) / count / least_orders, 1, wanted_parts));
}

std::int64_t TransformPlan::pass_workspace_bytes(int count) const {
  if (n_ranks == 1) return 0;
  const OrderPasses passes = order_passes(count);
  // Groups share the slots; those of one shape have conversion buffers of the same size.
  std::int64_t bytes = passes.all_slots() * n_components_at_once() * bytes_of_mode;
  const bool packs = spec.exchange.precision == ModePrecision::single_ || !countable();
  if (!packs) return bytes;
  for (const FieldSet& fields : fields_of_shapes(groups)) bytes += packed_bytes(passes, fields);
  return bytes;
}

std::int64_t TransformPlan::packed_bytes(const OrderPasses& passes, const FieldSet& fields) const {
  return n_pass_slots() * packed_size(passes, fields.n_components()).total() *
         complex_bytes(spec.exchange.precision);
}

int TransformPlan::n_group_shapes() const {
  return static_cast<int>(ssize64(fields_of_shapes(groups)));
}

std::int64_t TransformPlan::mode_bytes_of(std::int64_t n_components) const {
  return most_modes * n_components * bytes_of_mode;
}

std::int64_t TransformPlan::by_ring_bytes() const {
  return exchange.by_ring.size() * spec.fields.n_components() * bytes_of_mode;
}

std::int64_t TransformPlan::sent_mode_bytes() const {
  return sent_modes * spec.fields.n_components() * bytes_of_mode;
}

std::int64_t TransformPlan::bytes_sent() const {
  const bool in_single = spec.exchange.precision == ModePrecision::single_;
  return sent_mode_bytes() / (in_single ? 2 : 1);
}

LegendreFlops TransformPlan::legendre_flops() const {
  const SignificantDegrees significant(*spec.grid, limits);
  double degrees = 0;
  for (const int m : alm.orders()) degrees += significant.of(m);
  return flops_of(spec.fields, degrees);
}

int detail::passes_beside(const ExchangeOptions& exchange, std::int64_t pass_bytes,
                          std::int64_t sent_bytes) {
  // In single precision, half a pass is a send buffer and half a pass a receive buffer.
  const int copies =
      ModeExchange::n_slots_of(exchange) * (exchange.precision == ModePrecision::single_ ? 2 : 1);
  const std::int64_t bytes = sent_bytes * copies;
  const std::int64_t least =
      exchange.schedule == ExchangeSchedule::overlapped ? least_overlapped_passes : 1;
  if (bytes <= pass_bytes) return static_cast<int>(least);
  const std::int64_t of_pass = std::min(pass_bytes, std::max((bytes + 3) / 4, bytes_worth_a_pass));
  const std::int64_t wanted = (bytes + of_pass - 1) / of_pass;
  return static_cast<int>(std::clamp(wanted, least, most_passes));
}

ModeLimits detail::limits_of(const TransformSpec& spec, int max_spin) {
  if (spec.fine_rows == nullptr) return {*spec.grid, spec.lmax, spec.mmax, max_spin};
  return ModeLimits::of_fine_rows(*spec.grid, spec.fine_rows->n_rows, spec.lmax, spec.mmax,
                                  max_spin);
}

void detail::require_degrees(int lmax, int mmax) {
  if (lmax >= 0 && mmax >= -1 && mmax <= lmax) return;
  throw UsageError("lmax = " + std::to_string(lmax) + ", mmax = " + std::to_string(mmax) +
                   "; expected 0 <= mmax <= lmax, or mmax = -1 for lmax");
}

LegendreFlops detail::flops_of(const FieldSet& fields, double degrees) {
  LegendreFlops flops;
  for (const FieldSet::Field& field : fields.fields()) {
    if (field.spin == 0)
      flops.scalar += 6 * degrees;
    else
      flops.spin += 24 * degrees;
  }
  return flops;
}

}  // namespace ringweave
