// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/first_error.hpp"
#include "distribute/mpi/agree.hpp"
#include "gyro/chebyshev_blocks.hpp"
#include "gyro/chebyshev_operator.hpp"
#include "gyro/chebyshev_series.hpp"
#include "gyro/schemes.hpp"

namespace ringweave::detail::inline gyro {
namespace {

/// The largest coefficient of a plane, and the largest of the highest tenth of degrees.
struct LargestCoefficients {
  double all = 0;
  double high = 0;
};

/// Doubles of the buffers of a worker.
struct ChebyshevSizes {
  std::int64_t columns;     ///< [plane][element]
  std::int64_t values;      ///< [plane][output][target]
  std::int64_t chunk_sums;  ///< [chunk][plane][element]
  std::int64_t planes;      ///< [plane][node of the targets]
  std::int64_t matrices;    ///< [thread][2][q][p]
};

struct ChebyshevWork : SchemeWork {
  ChebyshevWork(const ChebyshevSizes& sizes, std::int64_t most_planes, int threads,
                std::unique_ptr<OperatorWork> of_operator)
      : n_threads(threads),
        columns(sizes.columns),
        values(sizes.values),
        chunk_sums(sizes.chunk_sums),
        planes(sizes.planes),
        matrices(sizes.matrices),
        largest(to_size(most_planes)),
        work(std::move(of_operator)) {}

  int n_threads;
  Direction direction = Direction::average;
  std::int64_t n_planes = 0;  ///< loaded
  bool has_sums = false;      ///< since clear()
  std::int64_t bytes_sent = 0;
  HostBuffer<double> columns;
  HostBuffer<double> values;
  HostBuffer<double> chunk_sums;
  HostBuffer<double> planes;
  HostBuffer<double> matrices;
  std::vector<LargestCoefficients> largest;
  std::unique_ptr<OperatorWork> work;
};

class ChebyshevScheme final : public Scheme {
 public:
  ChebyshevScheme(const GyroSpec& spec, const Communicator& rows, const RowShare& share)
      : rows_(rows),
        share_(share),
        fold_(make_chebyshev_fold(spec)),
        series_(fold_.degrees_x, fold_.degrees_y),
        chunks_(chunks_of(fold_, share)),
        operator_(spec.backend == Backend::cuda
                      ? make_cuda_chebyshev_operator(fold_, chunks_, semi_axes_of(spec, fold_))
                      : make_host_chebyshev_operator(fold_, chunks_, semi_axes_of(spec, fold_))) {}

  MemorySpace memory() const override { return operator_->memory(); }

  std::unique_ptr<SchemeWork> make_work(std::int64_t most_planes, int n_threads) const override {
    return std::make_unique<ChebyshevWork>(work_sizes(most_planes, n_threads), most_planes,
                                           n_threads, operator_->make_work(most_planes, n_threads));
  }

  std::int64_t work_bytes(std::int64_t most_planes, int n_threads) const override {
    const bool is_host = memory() == MemorySpace::host;
    return operator_->work_bytes(most_planes, n_threads) +
           (is_host ? plane_bytes(most_planes, n_threads) : 0);
  }
  std::int64_t host_work_bytes(std::int64_t most_planes, int n_threads) const override {
    return plane_bytes(most_planes, n_threads);
  }

  void set_radii(std::int64_t begin, std::int64_t end) override {
    // Ranks that share rows would wait for one without memory.
    if (share_.n_parts > 1) {
      agree(rows_, [&] { operator_->set_radii(begin, end); });
    } else {
      operator_->set_radii(begin, end);
    }
  }

  bool keeps_tables() const override { return true; }

  std::int64_t table_bytes(std::int64_t) const override {
    return chunks_.n_blocks() * fold_.block_size() * std::int64_t{sizeof(double)};
  }

  void clear(SchemeWork& work, Direction direction) const override {
    ChebyshevWork& mine = static_cast<ChebyshevWork&>(work);
    mine.direction = direction;
    mine.has_sums = false;
  }

  void load(SchemeWork& work, ComponentView<const double> planes) const override {
    ChebyshevWork& mine = static_cast<ChebyshevWork&>(work);
    mine.n_planes = planes.n_components();
    mine.direction == Direction::average ? load_fields(mine, planes) : load_results(mine, planes);
    on_operator(
        [&] { operator_->load(*mine.work, mine.direction, mine.n_planes, input_of(mine)); });
  }

  void add(SchemeWork& work, std::int64_t radius, double weight) const override {
    ChebyshevWork& mine = static_cast<ChebyshevWork&>(work);
    begin_sums(mine);
    on_operator([&] {
      operator_->add(*mine.work, mine.direction, radius, weight, mine.n_planes, input_of(mine),
                     output_of(mine));
    });
  }

  void store(SchemeWork& work, ComponentView<double> planes, Accumulate how) const override {
    ChebyshevWork& mine = static_cast<ChebyshevWork&>(work);
    begin_sums(mine);
    on_operator(
        [&] { operator_->finish(*mine.work, mine.direction, mine.n_planes, output_of(mine)); });
    mine.direction == Direction::average ? store_results(mine, planes, how)
                                         : store_fields(mine, planes, how);
  }

  double indicator(const SchemeWork& work) const override {
    const ChebyshevWork& mine = static_cast<const ChebyshevWork&>(work);
    if (mine.direction == Direction::transpose) return 0;
    // Of each plane: a large one would hide the others, and ranks have other planes together.
    double indicator = 0;
    for (std::int64_t i = 0; i < mine.n_planes; ++i) {
      const LargestCoefficients& largest = mine.largest[to_size(i)];
      if (largest.all > 0) indicator = std::max(indicator, largest.high / largest.all);
    }
    return indicator;
  }

  std::int64_t bytes_sent(const SchemeWork& work) const override {
    return static_cast<const ChebyshevWork&>(work).bytes_sent;
  }

 private:
  static ChunkRange chunks_of(const ChebyshevFold& fold, const RowShare& share) {
    const std::int64_t begin = fold.n_chunks() * share.part / share.n_parts;
    const std::int64_t end = fold.n_chunks() * (share.part + 1) / share.n_parts;
    return {begin, end, fold.chunk_begin(begin), fold.chunk_begin(end)};
  }
  static std::vector<SemiAxes> semi_axes_of(const GyroSpec& spec, const ChebyshevFold& fold) {
    const double half_x = (spec.grid.x.last - spec.grid.x.first) / 2;
    const double half_y = fold.is_square ? half_x : (spec.grid.y.last - spec.grid.y.first) / 2;
    std::vector<SemiAxes> semi_axes;
    for (const double radius : spec.radii) semi_axes.push_back({radius / half_x, radius / half_y});
    return semi_axes;
  }

  std::int64_t values_size() const { return fold_.n_outputs * fold_.n_padded_targets(); }
  std::int64_t target_nodes() const { return fold_.targets_x * fold_.targets_y; }

  ChebyshevSizes work_sizes(std::int64_t most_planes, int n_threads) const {
    return {most_planes * fold_.row_size(), most_planes * values_size(),
            fold_.n_chunks() * most_planes * fold_.row_size(), most_planes * target_nodes(),
            2 * n_threads * series_.matrix_size()};
  }

  bool may_fail_alone() const { return share_.n_parts > 1 && memory() == MemorySpace::device; }
  /// Keeps an error of a device where other ranks would wait for this one in the next sum.
  template <class Work>
  void on_operator(const Work& work) const {
    may_fail_alone() ? error_.guard(work) : work();
  }

  /// Fills buffers that are zero but for this rank's part, and returns the bytes sent.
  std::int64_t sum_of_parts(double* values, std::int64_t count) const {
    if (share_.n_parts == 1) return 0;
    if (may_fail_alone()) agree(rows_, [&] { error_.rethrow(); });
    rows_.sum(values, count);
    return count * std::int64_t{sizeof(double)};
  }

  /// Returns the bytes of the planes of a worker on the host.
  std::int64_t plane_bytes(std::int64_t most_planes, int n_threads) const {
    const ChebyshevSizes sizes = work_sizes(most_planes, n_threads);
    const std::int64_t doubles =
        sizes.columns + sizes.values + sizes.chunk_sums + sizes.planes + sizes.matrices;
    return doubles * std::int64_t{sizeof(double)} +
           most_planes * std::int64_t{sizeof(LargestCoefficients)};
  }

  static const double* input_of(const ChebyshevWork& work) {
    return work.direction == Direction::average ? work.columns.data() : work.values.data();
  }
  static double* output_of(ChebyshevWork& work) {
    return work.direction == Direction::average ? work.values.data() : work.chunk_sums.data();
  }
  void begin_sums(ChebyshevWork& work) const {
    if (work.has_sums) return;
    work.has_sums = true;
    on_operator(
        [&] { operator_->clear(*work.work, work.direction, work.n_planes, output_of(work)); });
  }

  /// The threads that take planes, or that share each plane where there are few of these.
  struct ThreadsOfPlanes {
    explicit ThreadsOfPlanes(const ChebyshevWork& work)
        : outer(2 * work.n_planes <= work.n_threads ? 1 : work.n_threads),
          inner(work.n_threads / outer) {}
    int outer;
    int inner;
  };

  double* matrix_of(ChebyshevWork& work, int thread) const {
    return work.matrices.data() + 2 * thread * series_.matrix_size();
  }

  void load_fields(ChebyshevWork& work, ComponentView<const double> planes) const {
    const ThreadsOfPlanes threads(work);
    for_each_in_parallel(threads.outer, 0, work.n_planes, [&](std::int64_t i, int thread) {
      double* matrix = matrix_of(work, thread);
      const double* from = planes.component(i).data();
      for (std::int64_t y = 0; y < fold_.degrees_y; ++y) {
        std::copy_n(from + y * fold_.degrees_x, fold_.degrees_x, matrix + y * series_.row_length());
      }
      series_.to_coefficients(matrix, matrix + series_.matrix_size(), threads.inner);
      work.largest[to_size(i)] = largest_of(matrix);
      fold_coefficients(fold_, matrix, work.columns.data() + i * fold_.row_size());
    });
  }

  LargestCoefficients largest_of(const double* matrix) const {
    LargestCoefficients largest;
    for (std::int64_t q = 0; q < fold_.degrees_y; ++q) {
      for (std::int64_t p = 0; p < fold_.degrees_x; ++p) {
        const double size = std::abs(matrix[q * series_.row_length() + p]);
        largest.all = std::max(largest.all, size);
        if (10 * p >= 9 * fold_.degrees_x || 10 * q >= 9 * fold_.degrees_y)
          largest.high = std::max(largest.high, size);
      }
    }
    return largest;
  }

  void load_results(ChebyshevWork& work, ComponentView<const double> planes) const {
    const std::int64_t size = target_nodes();
    const std::int64_t begin = share_.row_begin * fold_.targets_x;
    for (std::int64_t i = 0; i < work.n_planes; ++i) {
      double* to = work.planes.data() + i * size;
      std::fill_n(to, size, 0.0);
      std::copy_n(planes.component(i).data(), planes.size(), to + begin);
    }
    work.bytes_sent += sum_of_parts(work.planes.data(), work.n_planes * size);
    for_each_in_parallel(work.n_threads, 0, work.n_planes, [&](std::int64_t i, int) {
      fold_values(fold_, work.planes.data() + i * size, work.values.data() + i * values_size());
    });
  }

  void store_results(ChebyshevWork& work, ComponentView<double> planes, Accumulate how) const {
    const std::int64_t size = target_nodes();
    const std::int64_t begin = share_.row_begin * fold_.targets_x;
    for_each_in_parallel(work.n_threads, 0, work.n_planes, [&](std::int64_t i, int) {
      double* plane = work.planes.data() + i * size;
      std::fill_n(plane, size, 0.0);
      unfold_values(fold_, work.values.data() + i * values_size(), chunks_.block_begin,
                    chunks_.block_end, plane);
    });
    work.bytes_sent += sum_of_parts(work.planes.data(), work.n_planes * size);
    for (std::int64_t i = 0; i < work.n_planes; ++i) {
      const double* from = work.planes.data() + i * size + begin;
      double* to = planes.component(i).data();
      for (std::int64_t k = 0; k < planes.size(); ++k)
        to[k] = how == Accumulate::add ? to[k] + from[k] : from[k];
    }
  }

  void store_fields(ChebyshevWork& work, ComponentView<double> planes, Accumulate how) const {
    const std::int64_t size = fold_.row_size();
    work.bytes_sent +=
        sum_of_parts(work.chunk_sums.data(), fold_.n_chunks() * work.n_planes * size);
    const ThreadsOfPlanes threads(work);
    for_each_in_parallel(threads.outer, 0, work.n_planes, [&](std::int64_t i, int thread) {
      // Chunks one after the other, whoever made them.
      double* sum = work.columns.data() + i * size;
      std::fill_n(sum, size, 0.0);
      for (std::int64_t c = 0; c < fold_.n_chunks(); ++c) {
        const double* chunk = work.chunk_sums.data() + (c * work.n_planes + i) * size;
        for (std::int64_t k = 0; k < size; ++k) sum[k] += chunk[k];
      }
      double* matrix = matrix_of(work, thread);
      unfold_coefficients(fold_, sum, matrix);
      series_.to_node_weights(matrix, matrix + series_.matrix_size(), threads.inner);
      double* to = planes.component(i).data();
      for (std::int64_t y = 0; y < fold_.degrees_y; ++y) {
        const double* from = matrix + y * series_.row_length();
        for (std::int64_t x = 0; x < fold_.degrees_x; ++x, ++to)
          *to = how == Accumulate::add ? *to + from[x] : from[x];
      }
    });
  }

  Communicator rows_;
  RowShare share_;
  ChebyshevFold fold_;
  ChebyshevSeries series_;
  ChunkRange chunks_;  ///< of this rank
  std::unique_ptr<ChebyshevOperator> operator_;
  mutable FirstError error_;  ///< of this rank's device
};

}  // namespace

std::unique_ptr<Scheme> make_chebyshev_scheme(const GyroSpec& spec, const Communicator& rows,
                                              const RowShare& share) {
  return std::make_unique<ChebyshevScheme>(spec, rows, share);
}

}  // namespace ringweave::detail::inline gyro
