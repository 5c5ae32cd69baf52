// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/points/point_exchange.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>

#include "base/checked_cast.hpp"
#include "base/first_error.hpp"
#include "base/host_memory.hpp"
#include "distribute/mpi/agree.hpp"
#include "distribute/mpi/exchange_mpi.hpp"
#include "distribute/mpi/mpi_library.hpp"
#include "distribute/points/point_checks.hpp"
#include "distribute/points/point_messages.hpp"
#include "ringweave/error.hpp"
#include "ringweave/mpi.hpp"

namespace ringweave::detail::inline distribute {
namespace {

constexpr const char* where = "exchange of points";
/// Points before whose turn their values are fetched from memory.
constexpr std::int64_t ahead = 64;

std::int64_t digest_of(const FineRows& rows, const RowCosts& costs, const PointOptions& options) {
  Digest digest;
  digest.add(rows.n_rows());
  digest.add(rows.n_columns());
  digest.add(rows.n_taps);
  digest.add(rows.n_column_taps);
  digest.add(rows.untouched);
  digest.add(costs.of_point);
  digest.add(costs.of_row);
  digest.add(options.most_components);
  digest.add(options.mpi_count_limit);
  return digest.value();
}

void require_one_for_each(const char* name, std::span<const double> angles, std::int64_t n_points) {
  if (ssize64(angles) == n_points) return;
  throw UsageError(fmt::format(
      "points with {} values of theta and {} of {}; give one for each, psi on all ranks or on none",
      n_points, angles.size(), name));
}

/// Calls use(point, first tap) for the points from `begin` to `end`, one after the other.
template <class Use>
void for_each_first_tap(const FineRows& rows, std::span<const double> theta, std::int64_t begin,
                        std::int64_t end, const Use& use) {
  constexpr std::int64_t block = 512;
  std::array<std::int32_t, block> first_tap;
  for (std::int64_t first = begin; first < end; first += block) {
    const std::int64_t n = std::min(block, end - first);
    rows.number_first_taps(theta.subspan(to_size(first), to_size(n)), first_tap.data());
    for (std::int64_t i = 0; i < n; ++i)
      use(first + i, static_cast<std::size_t>(first_tap[to_size(i)]));
  }
}

/// The sums that references refer to: of points sent to others, [point][component], and of points
/// kept, [component][point]. Where there are both, no branch decides between them, because nothing
/// could predict it.
template <bool has_sent>
class ReferredSums {
 public:
  ReferredSums(const double* sent, std::int64_t n_sent, ComponentView<const double> kept)
      : n_sent_(n_sent),
        sums_{sent, kept.data()},
        first_{0, n_sent},
        of_point_{kept.n_components(), 1},
        of_component_{1, kept.stride()} {}

  const double* find(std::int64_t reference, std::int64_t component) const {
    if constexpr (!has_sent) return sums_[1] + reference + component * of_component_[1];
    const int i = reference >= n_sent_ ? 1 : 0;
    return sums_[i] + (reference - first_[i]) * of_point_[i] + component * of_component_[i];
  }

 private:
  std::int64_t n_sent_;
  const double* sums_[2];
  std::int64_t first_[2];
  std::int64_t of_point_[2];
  std::int64_t of_component_[2];
};

}  // namespace

std::vector<std::int64_t> sum_over_ranks(const Communicator& comm,
                                         const std::vector<std::int64_t>& counts) {
  std::vector<std::int64_t> sums = counts;
  if (comm.size() > 1) {
    check_mpi_wait("MPI_Allreduce", [&] {
      return MPI_Allreduce(counts.data(), sums.data(),
                           checked_cast<int>(ssize64(counts), "rows of points"), MPI_INT64_T,
                           MPI_SUM, mpi_handle(comm));
    });
  }
  return sums;
}

/// Counts and angles that only the constructor needs.
class PointExchange::Listing {
 public:
  std::vector<std::int64_t> points;    ///< [first tap] listed points
  std::vector<std::int64_t> sent;      ///< [peer] listed points
  std::vector<std::int64_t> arriving;  ///< [peer] its listed points that this rank sums
  std::int64_t n_kept = 0;             ///< listed points that this rank sums itself
  std::int64_t n_rest = 0;             ///< references beyond the first of listed points
  std::int64_t n_shared = 0;           ///< listed points that several ranks sum
  /// [point][angle] the points kept, then those from others by peer.
  HostBuffer<double> angles;

  Listing(const FineRows& rows, std::span<const double> theta)
      : points(to_size(rows.n_first_taps()), 0) {
    checked_cast<std::int32_t>(rows.n_first_taps(), "rows of points");
    const std::int64_t n_shares = omp_get_max_threads();
    FirstError error;
#pragma omp parallel for schedule(static)
    for (std::int64_t s = 0; s < n_shares; ++s) {
      error.guard([&] {
        // Two counts of each, since points of one first tap often follow each other.
        std::vector<std::int64_t> count(2 * points.size(), 0);
        for_each_first_tap(rows, theta, ssize64(theta) * s / n_shares,
                           ssize64(theta) * (s + 1) / n_shares,
                           [&](std::int64_t point, std::size_t first) {
                             ++count[2 * first + to_size(point % 2)];
                           });
#pragma omp critical(ringweave_first_taps)
        for (std::size_t first = 0; first < points.size(); ++first)
          points[first] += count[2 * first] + count[2 * first + 1];
      });
    }
    error.rethrow();
  }

  void count_references(const PointPlan& plan, int own_rank) {
    sent.assign(to_size(plan.n_ranks()), 0);
    for (std::int64_t first = 0; first < ssize64(points); ++first) {
      const std::int64_t count = points[to_size(first)];
      if (count == 0) continue;
      const std::span<const int> ranks = plan.ranks(first);
      for (const int rank : ranks) (rank == own_rank ? n_kept : sent[to_size(rank)]) += count;
      n_rest += (ssize64(ranks) - 1) * count;
      n_shared += ranks.size() > 1 ? count : 0;
    }
    arriving.assign(sent.size(), 0);
  }
  void tell_peers(const Communicator& comm) {
    if (comm.size() > 1) arriving = all_to_all(comm, sent);
  }
};

PointExchange::~PointExchange() = default;

PointExchange::PointExchange(Communicator comm, const FineRows& rows, const RowCosts& costs,
                             const PointAngles& listed, const PointOptions& options)
    : comm_(std::move(comm)), options_(options), n_listed_(ssize64(listed.theta)) {
  const HostMemoryPool pool;
  require_arguments(rows, costs, listed);
  require_angles(comm_, listed);
  std::optional<Listing> listing;
  agree(comm_, [&] { listing.emplace(rows, listed.theta); });
  const std::vector<std::int64_t> points = sum_over_ranks(comm_, listing->points);
  agree(comm_, [&] {
    plan_.emplace(rows, points, costs, comm_.size());
    listing->count_references(*plan_, comm_.rank());
  });
  listing->tell_peers(comm_);
  send_angles(*listing, listed);
  agree(comm_, [&] { assign_places(*listing, listed); });
}

void PointExchange::require_arguments(const FineRows& rows, const RowCosts& costs,
                                      const PointAngles& listed) {
  agree(comm_, [&] {
    require_rows(rows);
    require_one_for_each("phi", listed.phi, n_listed_);
    if (!listed.psi.empty()) require_one_for_each("psi", listed.psi, n_listed_);
    if (options_.most_components < 0 || options_.mpi_count_limit < 1 ||
        options_.mpi_count_limit > std::numeric_limits<int>::max()) {
      throw UsageError(fmt::format(
          "points with {} components in messages of {} numbers; expected 0 or more, and 1 to "
          "2^31 - 1",
          options_.most_components, options_.mpi_count_limit));
    }
  });
  agree_same(comm_, "the exchange of points (rows, costs, options)",
             digest_of(rows, costs, options_));
  if (comm_.max(std::int64_t{listed.psi.empty() ? 0 : 1}) == 1) n_angles_ = 3;
  agree(comm_, [&] {
    if (n_angles_ == 3) require_one_for_each("psi", listed.psi, n_listed_);
  });
}

/// Calls use(listed point, reference) for all references, and fetch(reference) for most of them
/// some time before. OpenMP.
template <class Use, class Fetch>
void PointExchange::for_each_reference(const Use& use, const Fetch& fetch) const {
  first_.visit([&](const auto& first) {
#pragma omp parallel for schedule(static)
    for (std::int64_t point = 0; point < n_listed_; ++point) {
      fetch(first[std::min(point + ahead, n_listed_ - 1)]);
      use(point, first[point]);
    }
  });
#pragma omp parallel for schedule(static)
  for (std::int64_t s = 0; s < ssize64(shared_); ++s) {
    for (const std::int64_t reference : rest_of(s)) use(shared_[to_size(s)].point, reference);
  }
}

std::span<const std::int64_t> PointExchange::rest_of(std::int64_t shared) const {
  const std::int64_t begin = shared == 0 ? 0 : shared_[to_size(shared - 1)].end;
  return std::span(rest_).subspan(to_size(begin), to_size(shared_[to_size(shared)].end - begin));
}

/// Lists references below `limit`: places among the points sent or, until the order is known,
/// numbers among the points kept.
void PointExchange::list_references(const Listing& listing, std::span<const double> theta,
                                    std::int64_t limit) {
  first_.allocate(n_listed_, limit);
  shared_.reserve(to_size(listing.n_shared));
  rest_.reserve(to_size(listing.n_rest));
  // The rank of points that one rank sums; -1 for others.
  std::vector<int> only_rank(listing.points.size(), -1);
  for (std::int64_t first = 0; first < ssize64(only_rank); ++first) {
    const std::span<const int> ranks = plan_->ranks(first);
    if (ranks.size() == 1) only_rank[to_size(first)] = ranks[0];
  }
  // Where the next point for a rank goes.
  std::vector<std::int64_t> next(listing.sent.size());
  std::exclusive_scan(listing.sent.begin(), listing.sent.end(), next.begin(), std::int64_t{0});
  next[to_size(comm_.rank())] = n_sent_;
  first_.visit([&](auto& first) {
    using Index = std::remove_reference_t<decltype(first[0])>;
    const auto give = [&](std::int64_t point, std::size_t first_tap) {
      if (const int rank = only_rank[first_tap]; rank >= 0) {
        first[point] = static_cast<Index>(next[to_size(rank)]++);
        return;
      }
      const std::span<const int> ranks = plan_->ranks(static_cast<std::int64_t>(first_tap));
      first[point] = static_cast<Index>(next[to_size(ranks[0])]++);
      for (const int rank : ranks.subspan(1)) rest_.push_back(next[to_size(rank)]++);
      shared_.push_back({point, ssize64(rest_)});
    };
    for_each_first_tap(plan_->rows(), theta, 0, n_listed_, give);
  });
}

void PointExchange::send_angles(Listing& listing, const PointAngles& listed) {
  HostBuffer<double> leaving;
  agree(comm_, [&] {
    messages_ = std::make_unique<PointMessages>(comm_, listing.sent, listing.arriving,
                                                options_.mpi_count_limit);
    n_sent_ = messages_->n_listed();
    messages_->reserve(n_angles_);
    if (keeps_points()) return;
    const std::int64_t n_summed = listing.n_kept + messages_->n_summed();
    listing.angles.allocate(checked_product(n_summed, n_angles_, "angles of points"));
    leaving.allocate(checked_product(n_sent_, n_angles_, "angles of points"));
    list_references(listing, listed.theta, n_sent_ + n_summed);
    const auto give = [&](std::int64_t point, std::int64_t reference) {
      double* const angle = reference < n_sent_
                                ? leaving.data() + reference * n_angles_
                                : listing.angles.data() + (reference - n_sent_) * n_angles_;
      angle[0] = listed.theta[to_size(point)];
      angle[1] = listed.phi[to_size(point)];
      if (n_angles_ == 3) angle[2] = listed.psi[to_size(point)];
    };
    for_each_reference(give, [](std::int64_t) {});
  });
  double* const arriving =
      listing.angles.size() == 0 ? nullptr : listing.angles.data() + listing.n_kept * n_angles_;
  messages_->to_summed(leaving.data(), arriving, n_angles_);
}

/// Returns whether this rank sums the points that it lists, and no others. Then references are
/// places, and angles are sorted where they are listed.
bool PointExchange::keeps_points() const { return n_sent_ == 0 && messages_->n_summed() == 0; }

/// Sorts the points that this rank sums and makes all references places in their order.
void PointExchange::assign_places(Listing& listing, const PointAngles& listed) {
  const std::int64_t components = options_.most_components;
  messages_->reserve(components);
  if (keeps_points()) {
    summed_ = sort_points(plan_->rows(),
                          {listed.theta.data(), listed.phi.data(),
                           n_angles_ == 3 ? listed.psi.data() : nullptr, 1, n_listed_},
                          first_);
    return;
  }
  CompactIndices places;
  const std::int64_t n_summed = listing.angles.size() / n_angles_;
  const auto angle = [&](std::int64_t i) {
    return n_summed > 0 && i < n_angles_ ? listing.angles.data() + i : nullptr;
  };
  summed_ = sort_points(plan_->rows(), {angle(0), angle(1), angle(2), n_angles_, n_summed}, places);
  listing.angles.release();
  places.visit([&](const auto& place) { replace_by_indices(place, listing.n_kept); });
  listed_buffer_.allocate(checked_product(n_sent_, components, "values of points"));
  summed_buffer_.allocate(checked_product(messages_->n_summed(), components, "values of points"));
}

/// place  [point kept, then point from others] its place in summed()
template <class Places>
void PointExchange::replace_by_indices(const Places& place, std::int64_t n_kept) {
  first_.visit([&](auto& first) {
    using Index = std::remove_reference_t<decltype(first[0])>;
#pragma omp parallel for schedule(static)
    for (std::int64_t point = 0; point < n_listed_; ++point) {
      Index& reference = first[point];
      const std::int64_t kept = std::int64_t{reference} - n_sent_;
      if (kept >= 0) reference = static_cast<Index>(n_sent_ + std::int64_t{place[kept]});
    }
  });
  for (std::int64_t& reference : rest_) {
    if (reference >= n_sent_) reference = n_sent_ + std::int64_t{place[reference - n_sent_]};
  }
  arriving_.allocate(messages_->n_summed(), summed_.size());
  arriving_.visit([&](auto& arriving) {
    using Index = std::remove_reference_t<decltype(arriving[0])>;
    for (std::int64_t i = 0; i < arriving.size(); ++i)
      arriving[i] = static_cast<Index>(place[n_kept + i]);
  });
}

template <class T>
void PointExchange::require_shapes(ComponentView<const double> summed,
                                   ComponentView<const T> listed) const {
  const std::int64_t n_components = listed.n_components();
  agree(comm_, [&] {
    require_planned(where, summed.size(), summed_.size(), "summed points");
    require_planned(where, listed.size(), n_listed_, "listed points");
    require_planned(where, summed.n_components(), n_components, "components of summed points");
    if (n_components > options_.most_components) {
      throw UsageError(fmt::format("{}: {} components; planned for at most {}", where, n_components,
                                   options_.most_components));
    }
  });
  agree_same(comm_, "the components of points", n_components);
}

template <class T>
void PointExchange::gather(ComponentView<const double> partial, ComponentView<T> values) {
  require_shapes<T>(partial, values);
  const std::int64_t n_components = values.n_components();
  arriving_.visit([&](const auto& arriving) {
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < arriving.size(); ++i) {
      const std::int64_t later = std::int64_t{arriving[std::min(i + ahead, arriving.size() - 1)]};
      for (std::int64_t c = 0; c < n_components; ++c) {
        __builtin_prefetch(partial.component(c).data() + later);
        summed_buffer_[i * n_components + c] = partial.component(c)[arriving[i]];
      }
    }
  });
  messages_->to_listed(summed_buffer_.data(), listed_buffer_.data(), n_components);
  const auto sum_up = [&](const auto& sums) {
    first_.visit([&](const auto& first) {
#pragma omp parallel for schedule(static)
      for (std::int64_t point = 0; point < n_listed_; ++point) {
        const std::int64_t later = std::int64_t{first[std::min(point + ahead, n_listed_ - 1)]};
        for (std::int64_t c = 0; c < n_components; ++c) {
          __builtin_prefetch(sums.find(later, c));
          values.component(c)[point] = static_cast<T>(*sums.find(first[point], c));
        }
      }
      // In double from the first to the last.
#pragma omp parallel for schedule(static)
      for (std::int64_t s = 0; s < ssize64(shared_); ++s) {
        const std::int64_t point = shared_[to_size(s)].point;
        for (std::int64_t c = 0; c < n_components; ++c) {
          double sum = *sums.find(first[point], c);
          for (const std::int64_t reference : rest_of(s)) sum += *sums.find(reference, c);
          values.component(c)[point] = static_cast<T>(sum);
        }
      }
    });
  };
  n_sent_ > 0 ? sum_up(ReferredSums<true>(listed_buffer_.data(), n_sent_, partial))
              : sum_up(ReferredSums<false>(nullptr, 0, partial));
}

template <class T>
void PointExchange::scatter(ComponentView<const T> values, ComponentView<double> summed) {
  require_shapes<T>(summed, values);
  require_finite_values<T>(comm_, values);
  const std::int64_t n_components = values.n_components();
  const auto fetch = [&](std::int64_t reference) {
    if (reference < n_sent_) return;
    for (std::int64_t c = 0; c < n_components; ++c)
      __builtin_prefetch(summed.component(c).data() + reference - n_sent_, 1);
  };
  const auto give = [&](std::int64_t point, std::int64_t reference) {
    for (std::int64_t c = 0; c < n_components; ++c) {
      double& place = reference < n_sent_ ? listed_buffer_[reference * n_components + c]
                                          : summed.component(c)[reference - n_sent_];
      place = static_cast<double>(values.component(c)[point]);
    }
  };
  for_each_reference(give, fetch);
  messages_->to_summed(listed_buffer_.data(), summed_buffer_.data(), n_components);
  arriving_.visit([&](const auto& arriving) {
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < arriving.size(); ++i) {
      const std::int64_t later = std::int64_t{arriving[std::min(i + ahead, arriving.size() - 1)]};
      for (std::int64_t c = 0; c < n_components; ++c) {
        __builtin_prefetch(summed.component(c).data() + later, 1);
        summed.component(c)[arriving[i]] = summed_buffer_[i * n_components + c];
      }
    }
  });
  // Points at one place have the same weights: their values in any fixed order give the same sum.
#pragma omp parallel for schedule(dynamic, 64)
  for (std::int64_t i = 0; i < ssize64(summed_.repeated); ++i) {
    const PointRange& range = summed_.repeated[to_size(i)];
    for (std::int64_t c = 0; c < n_components; ++c) {
      double* const value = summed.component(c).data();
      std::sort(value + range.begin, value + range.end);
    }
  }
}

std::int64_t PointExchange::bytes() const {
  return plan_->bytes() + messages_->bytes() + summed_.bytes() + first_.bytes() +
         arriving_.bytes() + held_bytes(shared_, rest_, listed_buffer_, summed_buffer_);
}

std::int64_t PointExchange::bytes_of_references(const PointCounts& points) {
  const std::int64_t shared = std::min(points.listed, points.repeated);
  return CompactIndices::bytes_of(points.listed, points.sent + points.summed) +
         shared * std::int64_t{sizeof(SharedPoint)} +
         points.repeated * std::int64_t{sizeof(std::int64_t)};
}

std::int64_t PointExchange::bytes_of(const PointCounts& points, std::int64_t most_components) {
  constexpr std::int64_t number = sizeof(double);
  return number * points.n_angles * points.summed + bytes_of_references(points) +
         CompactIndices::bytes_of(points.arriving, points.summed) +
         number * most_components * (points.sent + points.arriving);
}

std::int64_t PointExchange::bytes_while_sorting(const PointCounts& points) {
  const std::int64_t sorting = sorting_bytes(points.summed, points.n_angles, points.in_work);
  if (points.sent == 0 && points.arriving == 0) return sorting;
  // Angles as they arrived.
  return sorting + bytes_of_references(points) +
         points.summed * points.n_angles * std::int64_t{sizeof(double)};
}

#define RINGWEAVE_INSTANTIATE(T)                                                         \
  template void PointExchange::gather<T>(ComponentView<const double>, ComponentView<T>); \
  template void PointExchange::scatter<T>(ComponentView<const T>, ComponentView<double>);
RINGWEAVE_INSTANTIATE(float)
RINGWEAVE_INSTANTIATE(double)
#undef RINGWEAVE_INSTANTIATE

}  // namespace ringweave::detail::inline distribute
