// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "distribute/exchange/exchange_plan.hpp"
#include "distribute/exchange/order_distribution.hpp"
#include "distribute/exchange/order_passes.hpp"
#include "distribute/ring_distribution.hpp"
#include "fft/ring_fft.hpp"
#include "legendre/legendre_stage.hpp"
#include "ringweave/alm.hpp"
#include "ringweave/execution.hpp"
#include "ringweave/grid.hpp"
#include "ringweave/transform.hpp"
#include "sphere/mode_limits.hpp"
#include "transform/field_groups.hpp"

namespace ringweave::detail::inline transform {

/// Useful floating-point operations, of scalar and of spin fields.
struct LegendreFlops {
  double scalar = 0;
  double spin = 0;
  double total() const { return scalar + spin; }
};

/// The owners of orders and rings, and the modes that move, as plain data: made without MPI for any
/// rank of any number of ranks.
struct TransformPlan {
  TransformPlan(const TransformSpec& spec, int rank, int n_ranks);

  TransformSpec spec;
  int rank;
  int n_ranks;
  ModeLimits limits;
  FoldRule fold;
  OrderDistribution orders;
  RingDistribution ring_bands;     ///< spec's, else by grid, lmax and mmax, not by the fields
  AlmLayout alm;                   ///< orders of this rank
  LocalRings rings;                ///< rings of this rank
  std::int64_t most_modes;         ///< of one component on either side, on the rank that has most
  std::int64_t sent_modes;         ///< of one component, to other ranks in a synthesis
  std::vector<FieldGroup> groups;  ///< of fields, one after the other; the same on every rank
  ExchangePlan exchange;
  // Passes of an exchange, the same on every rank.
  int n_passes;            ///< with slots outside of the map, which is kept
  int n_passes_within;     ///< with slots in the map's memory
  int n_passes_consuming;  ///< with slots where the map is not yet, or no more
  /// Bytes of the device for a stage that copies its data there and back; known when the device
  /// is.
  std::int64_t copying_stage_bytes = std::numeric_limits<std::int64_t>::max();

  /// Returns the backend of each stage.
  Backend legendre_backend() const {
    return spec.on_device == StagesOnDevice::ring_fft ? Backend::host : spec.backend;
  }
  Backend ring_fft_backend() const {
    return spec.on_device == StagesOnDevice::legendre ? Backend::host : spec.backend;
  }
  /// Tells whether one stage runs on a device and the other on the host.
  bool is_mixed() const { return legendre_backend() != ring_fft_backend(); }

  /// Tells whether every exchange goes in passes (on several ranks, overlapped or in single
  /// precision).
  bool always_in_passes() const;
  /// Tells whether one MPI count holds the modes of each side of the exchange.
  bool countable() const { return most_modes <= spec.exchange.mpi_count_limit; }
  int n_pass_slots() const;
  /// Returns the orders in `count` passes, of `n_parts` parts at most each.
  OrderPasses order_passes(int count, int n_parts = 1) const;
  /// Parts of a pass on the host, between which an overlapped exchange goes on.
  int n_host_parts(int count) const;
  /// Bytes of the slots and the conversion buffers of an exchange in so many passes.
  std::int64_t pass_workspace_bytes(int count) const;

  /// Returns the shape of the Legendre stage of a group's fields, with its modes in `rows`.
  LegendreShape legendre_shape(const FieldSet& fields, const ModeLayout& rows) const {
    return {spec.grid,
            limits,
            fold,
            alm,
            rows,
            fields,
            spec.theta,
            spec.theta_components,
            copying_stage_bytes,
            spec.fine_rows};
  }
  /// Returns the shape of their ring FFT.
  RingFftShape ring_fft_shape(const FieldSet& fields) const {
    return {rings, exchange.by_ring, fields.n_components(), {}, copying_stage_bytes};
  }

  /// Bytes of the buffers of an exchange that packs the modes of some fields.
  std::int64_t packed_bytes(const OrderPasses& passes, const FieldSet& fields) const;

  /// Components of the largest group, whose ring modes are there at once.
  std::int64_t n_components_at_once() const { return most_components(groups); }
  /// Groups of one shape share their stages.
  int n_group_shapes() const;
  /// Returns the spec.mode_bytes that gives groups of n components.
  std::int64_t mode_bytes_of(std::int64_t n_components) const;

  /// Bytes of the modes of all fields on the rings of this rank.
  std::int64_t by_ring_bytes() const;
  /// Bytes of the modes of its orders on rings of other ranks, in double precision.
  std::int64_t sent_mode_bytes() const;
  /// Bytes this rank sends to others in one transform.
  std::int64_t bytes_sent() const;
  /// Returns the operations of this rank's Legendre stage in one direction.
  LegendreFlops legendre_flops() const;
};

/// Throws a UsageError unless 0 <= mmax <= lmax, or mmax = -1, which stands for lmax.
void require_degrees(int lmax, int mmax);

/// Returns the passes of an exchange whose slots take memory of their own.
/// pass_bytes  TransformSpec::pass_bytes
/// sent_bytes  of the modes that the rank with most sends in a transform
int passes_beside(const ExchangeOptions& exchange, std::int64_t pass_bytes,
                  std::int64_t sent_bytes);

/// Returns which orders count on the rings of a transform, or on its fine rows.
ModeLimits limits_of(const TransformSpec& spec, int max_spin);

/// Returns the operations of `degrees` significant (l, m, pair): 6 for each of a scalar field, 24
/// of a spin field (E/B pair).
LegendreFlops flops_of(const FieldSet& fields, double degrees);

}  // namespace ringweave::detail::inline transform
