// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <utility>

#include "base/checked_cast.hpp"
#include "gyro/chebyshev_operator.hpp"

namespace ringweave::detail::inline gyro {
namespace {

struct HostWork final : OperatorWork {
  HostWork(std::int64_t most_planes, int n_threads) {
    scratch.reserve(to_size(n_threads));
    for (int i = 0; i < n_threads; ++i) scratch.emplace_back(most_planes);
  }
  int n_threads() const { return static_cast<int>(scratch.size()); }

  std::vector<BlockScratch> scratch;  ///< [thread]
};

class HostChebyshevOperator final : public ChebyshevOperator {
 public:
  HostChebyshevOperator(const ChebyshevFold& fold, const ChunkRange& chunks,
                        std::vector<SemiAxes> radii)
      : fold_(fold), chunks_(chunks), radii_(std::move(radii)), tables_(radii_.size()) {}

  MemorySpace memory() const override { return MemorySpace::host; }
  std::unique_ptr<OperatorWork> make_work(std::int64_t most_planes, int n_threads) const override {
    return std::make_unique<HostWork>(most_planes, n_threads);
  }
  std::int64_t work_bytes(std::int64_t most_planes, int n_threads) const override {
    return n_threads * BlockScratch::bytes(most_planes);
  }

  void set_radii(std::int64_t begin, std::int64_t end) override {
    for (std::int64_t r = 0; r < ssize64(tables_); ++r) {
      if (r < begin || r >= end) tables_[to_size(r)].release();
    }
    for (std::int64_t r = begin; r < end; ++r) {
      HostBuffer<double>& table = tables_[to_size(r)];
      if (table.size() > 0 || chunks_.n_blocks() == 0) continue;
      table.allocate(chunks_.n_blocks() * fold_.block_size());
      const SemiAxes& semi = radii_[to_size(r)];
      make_chebyshev_blocks(fold_, semi.x, semi.y, chunks_.block_begin, chunks_.block_end, rules_,
                            table.data());
    }
  }

  void load(OperatorWork&, Direction, std::int64_t, const double*) const override {}
  void clear(OperatorWork&, Direction direction, std::int64_t n_planes,
             double* out) const override {
    std::fill_n(out, n_planes * fold_.output_size(direction == Direction::average), 0.0);
  }
  void add(OperatorWork& some_work, Direction direction, std::int64_t radius, double weight,
           std::int64_t n_planes, const double* in, double* out) const override {
    HostWork& work = static_cast<HostWork&>(some_work);
    const double* const table = tables_[to_size(radius)].data();
    const auto block_at = [&](std::int64_t b) {
      return table + (b - chunks_.block_begin) * fold_.block_size();
    };
    if (direction == Direction::average) {
      for_each_in_parallel(work.n_threads(), chunks_.block_begin, chunks_.block_end,
                           [&](std::int64_t b, int t) {
                             average_block(fold_, block_at(b), b, weight, n_planes, in, out,
                                           work.scratch[to_size(t)]);
                           });
      return;
    }
    for_each_in_parallel(
        work.n_threads(), chunks_.chunk_begin, chunks_.chunk_end, [&](std::int64_t c, int t) {
          const std::int64_t begin = fold_.chunk_begin(c);
          transpose_chunk(fold_, block_at(begin), begin, fold_.chunk_begin(c + 1), weight, n_planes,
                          in, out + c * n_planes * fold_.row_size(), work.scratch[to_size(t)]);
        });
  }
  void finish(OperatorWork&, Direction, std::int64_t, double*) const override {}

 private:
  const ChebyshevFold& fold_;
  ChunkRange chunks_;
  std::vector<SemiAxes> radii_;
  GaussRules rules_;
  std::vector<HostBuffer<double>> tables_;  ///< [radius], those set
};

}  // namespace

std::unique_ptr<ChebyshevOperator> make_host_chebyshev_operator(const ChebyshevFold& fold,
                                                                const ChunkRange& chunks,
                                                                std::vector<SemiAxes> radii) {
  return std::make_unique<HostChebyshevOperator>(fold, chunks, std::move(radii));
}

}  // namespace ringweave::detail::inline gyro
