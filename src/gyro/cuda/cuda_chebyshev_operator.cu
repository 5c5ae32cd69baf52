// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/cuda/device_machine.cuh"
#include "base/device_buffer.hpp"
#include "base/stream_copies.hpp"
#include "gyro/chebyshev_operator.hpp"
#include "gyro/cuda/chebyshev_sequence.hpp"

namespace ringweave::detail::inline gyro {
namespace {

/// Matrices that are folded at once while rows are made.
constexpr std::int64_t matrix_bytes = std::int64_t{32} << 20;  // not measured

struct CudaWork final : OperatorWork {
  DeviceBuffer<double> in;
  DeviceBuffer<double> out;
  DeviceBuffer<double> sums;
};

/// Operators in device memory. Folded planes go there and back.
class CudaChebyshevOperator final : public ChebyshevOperator {
 public:
  using Sequence = gpu::ChebyshevSequence<gpu::DeviceMachine>;

  CudaChebyshevOperator(const ChebyshevFold& fold, const ChunkRange& chunks,
                        std::vector<SemiAxes> radii)
      : fold_(fold),
        chunks_(chunks),
        radii_(std::move(radii)),
        plan_(fold, chunks),
        machine_(stream_),
        copies_(std::make_unique<StreamCopies>(stream_)),
        sequence_(std::make_unique<Sequence>(plan_, machine_)),
        tables_(radii_.size()) {}
  /// Waits for work that an error has left, before its memory is freed.
  ~CudaChebyshevOperator() override { stream_.finish(); }

  MemorySpace memory() const override { return MemorySpace::device; }
  std::unique_ptr<OperatorWork> make_work(std::int64_t most_planes, int) const override {
    auto work = std::make_unique<CudaWork>();
    work->in.allocate(most_planes * in_size());
    work->out.allocate(most_planes * out_size());
    work->sums.allocate(sums_size());
    return work;
  }
  std::int64_t work_bytes(std::int64_t most_planes, int) const override {
    return (most_planes * (in_size() + out_size()) + sums_size()) * std::int64_t{sizeof(double)};
  }

  void set_radii(std::int64_t begin, std::int64_t end) override {
    stream_.synchronize();
    for (std::int64_t r = 0; r < ssize64(tables_); ++r) {
      if (r < begin || r >= end) tables_[to_size(r)].release();
    }
    for (std::int64_t r = begin; r < end; ++r) {
      DeviceBuffer<double>& table = tables_[to_size(r)];
      if (table.size() > 0 || chunks_.n_blocks() == 0) continue;
      table.allocate(chunks_.n_blocks() * fold_.block_size());
      const SemiAxes& semi = radii_[to_size(r)];
      const TargetNodes nodes =
          nodes_of_targets(fold_, semi.x, semi.y, chunks_.block_begin, chunks_.block_end, rules_);
      const Sequence::BuildTask task = sequence_->make_rows(nodes, matrix_bytes, table.data());
      stream_.synchronize();
    }
  }

  void load(OperatorWork& work, Direction direction, std::int64_t n_planes,
            const double* in) const override {
    const std::int64_t size =
        direction == Direction::average ? fold_.row_size() : fold_.output_size(true);
    copies_->to_device(in, of(work).in.data(), n_planes * size * std::int64_t{sizeof(double)});
  }
  void clear(OperatorWork& work, Direction direction, std::int64_t n_planes,
             double*) const override {
    sequence_->clear(of(work).out.data(),
                     n_planes * fold_.output_size(direction == Direction::average));
  }
  void add(OperatorWork& some_work, Direction direction, std::int64_t radius, double weight,
           std::int64_t n_planes, const double*, double*) const override {
    CudaWork& work = of(some_work);
    const double* const table = tables_[to_size(radius)].data();
    if (direction == Direction::average) {
      sequence_->average(table, weight, n_planes, work.in.data(), work.out.data(),
                         work.sums.data());
    } else {
      sequence_->transpose(table, weight, n_planes, work.in.data(), work.out.data());
    }
  }
  void finish(OperatorWork& work, Direction direction, std::int64_t n_planes,
              double* out) const override {
    copies_->to_host(of(work).out.data(), out,
                     n_planes * fold_.output_size(direction == Direction::average) *
                         std::int64_t{sizeof(double)});
  }

 private:
  static CudaWork& of(OperatorWork& work) { return static_cast<CudaWork&>(work); }
  std::int64_t in_size() const { return std::max(fold_.row_size(), fold_.output_size(true)); }
  std::int64_t out_size() const {
    return std::max(fold_.output_size(true), fold_.output_size(false));
  }
  std::int64_t sums_size() const { return plan_.sums_size(Sequence::planes_together); }

  const ChebyshevFold& fold_;
  ChunkRange chunks_;
  std::vector<SemiAxes> radii_;
  GaussRules rules_;
  gpu::ChebyshevPlan plan_;
  DeviceStream stream_;
  gpu::DeviceMachine machine_;
  std::unique_ptr<StreamCopies> copies_;
  std::unique_ptr<Sequence> sequence_;
  std::vector<DeviceBuffer<double>> tables_;  ///< [radius], those set
};

}  // namespace

std::unique_ptr<ChebyshevOperator> make_cuda_chebyshev_operator(const ChebyshevFold& fold,
                                                                const ChunkRange& chunks,
                                                                std::vector<SemiAxes> radii) {
  return std::make_unique<CudaChebyshevOperator>(fold, chunks, std::move(radii));
}

}  // namespace ringweave::detail::inline gyro
