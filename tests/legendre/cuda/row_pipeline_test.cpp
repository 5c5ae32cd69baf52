// SPDX-License-Identifier: GPL-3.0-or-later
#include "legendre/cuda/blocks/row_pipeline.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <random>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/mode_view.hpp"
#include "legendre/cuda/blocks/row_blocks.hpp"
#include "legendre/legendre_problem.hpp"
#include "ringweave/error.hpp"

// Copies beside the computation, on streams that run in any order that events allow.
namespace ringweave::detail::gpu {
namespace {

/// The work of several streams, run as late as possible and in random order.
class Streams {
 public:
  struct Event {
    std::int64_t recorded = 0;
    std::int64_t happened = 0;
  };
  struct Task {
    std::function<bool()> ready;
    std::function<void()> work;
  };

  static Streams& all() {
    static Streams streams;
    return streams;
  }
  std::int64_t add() {
    queues_.emplace_back();
    return ssize64(queues_) - 1;
  }
  void give(std::int64_t stream, Task task) { queues_[to_size(stream)].push_back(std::move(task)); }
  template <class Done>
  void run_until(const Done& done) {
    while (!done()) {
      const auto i = std::uniform_int_distribution<std::size_t>(0, queues_.size() - 1)(engine_);
      auto& queue = queues_[i];
      if (queue.empty() || !queue.front().ready()) continue;
      queue.front().work();
      queue.pop_front();
    }
  }
  bool empty(std::int64_t stream) const { return queues_[to_size(stream)].empty(); }

 private:
  std::vector<std::deque<Task>> queues_;
  std::mt19937 engine_{1};
};

struct EmulatedPipeline {
  class Event;
  class Stream {
   public:
    void give(std::function<void()> work) const {
      Streams::all().give(number_, {[] { return true; }, std::move(work)});
    }
    void synchronize() const {
      Streams::all().run_until([&] { return Streams::all().empty(number_); });
    }
    void wait_for(const Event& event) const {
      Streams::all().give(number_, {event.occurrence(), [] {}});
    }

   private:
    std::int64_t number_ = Streams::all().add();
  };
  class Event {
   public:
    void record(const Stream& stream) {
      ++state_->recorded;
      stream.give([state = state_, number = state_->recorded] { state->happened = number; });
    }
    /// Returns a function that says whether the point recorded last has been reached.
    std::function<bool()> occurrence() const {
      return [state = state_, number = state_->recorded] { return state->happened >= number; };
    }
    void wait() const {
      Streams::all().run_until([&] { return state_->happened >= state_->recorded; });
    }

   private:
    std::shared_ptr<Streams::Event> state_ = std::make_shared<Streams::Event>();
  };
  template <class T>
  class Buffer {
   public:
    explicit Buffer(std::int64_t size) : values_(to_size(size), T(1e30)) {}
    T* data() { return values_.data(); }
    std::int64_t bytes() const { return ssize64(values_) * std::int64_t{sizeof(T)}; }

   private:
    std::vector<T> values_;
  };
  template <class T>
  using Pinned = Buffer<T>;
};
using Pipeline = RowPipeline<EmulatedPipeline>;
using Data = RowData<EmulatedPipeline>;

/// "Computes" modes of the rows of a block as their a_lm's number plus one, through all copies.
struct Work {
  const RowBlocks& blocks;
  const Pipeline& pipeline;
  AlmView<const double> alm;
  const ModeLayout& rows;
  ModeView<double> modes;
  RowRange wanted{0, 17};
  std::int64_t fail_at = -1;

  std::optional<RowRange> block(std::int64_t b) const { return requested_rows(blocks, b, wanted); }
  void fill(Data& data, RowRange heads) const {
    blocks.gather<double>(heads, alm, data.host_alm.data());
  }
  void upload(Data& data, RowRange heads, const EmulatedPipeline::Stream& stream) const {
    stream.give([&data, run = blocks.alm_of(heads)] {
      std::copy_n(data.host_alm.data() + run.begin, run.size(), data.alm.data() + run.begin);
    });
  }
  void compute(Data& data, RowRange heads) const {
    if (heads.begin == fail_at) throw ResourceError("the device is gone");
    pipeline.stream().give([&data, from = blocks.alm_of(heads), to = blocks.modes_of(heads)] {
      for (std::int64_t i = to.begin; i < to.end; ++i) {
        data.modes.data()[i] = data.alm.data()[from.begin] + 1.0;
      }
    });
  }
  void download(Data& data, RowRange heads, const EmulatedPipeline::Stream& stream) const {
    stream.give([&data, run = blocks.modes_of(heads)] {
      std::copy_n(data.modes.data() + run.begin, run.size(), data.host_modes.data() + run.begin);
    });
  }
  void unpack(Data& data, RowRange heads) const {
    blocks.scatter(heads, data.host_modes.data(), rows, modes);
  }
};

TEST(RowPipeline, CopiesOvertakeNothingTheyMustNot) {
  const LegendreProblem problem(RingGrid::healpix(8), 16, 16, {0});
  const RowBlocks blocks(shape_of(problem), 1);  // one row per block
  ASSERT_EQ(blocks.size(), 17);
  auto pipeline = make_row_pipeline<EmulatedPipeline>(blocks, 1);
  const auto alm = random_values(problem.alm_size(), 71);
  const AlmView<const double> alm_view(alm.data(), 1, problem.alm_layout.size());
  for (int repeat = 0; repeat < 50; ++repeat) {
    std::vector<Complex> modes(to_size(problem.modes_size()));
    pipeline.run(Work{blocks, pipeline, alm_view, problem.rows, LegendreProblem::view(modes)});
    problem.for_each_mode([&](std::int64_t row, std::int64_t, std::int64_t mode) {
      const int m = problem.alm_layout.order(row);
      ASSERT_EQ(modes[to_size(mode)], alm[to_size(problem.alm_layout.index(row, m))] + 1.0);
    });
  }
}

TEST(RowPipeline, AFailedCallLeavesNothingToTheNext) {
  const LegendreProblem problem(RingGrid::healpix(8), 16, 16, {0});
  const RowBlocks blocks(shape_of(problem), 1);
  auto pipeline = make_row_pipeline<EmulatedPipeline>(blocks, 1);
  const auto alm = random_values(problem.alm_size(), 72);
  const AlmView<const double> alm_view(alm.data(), 1, problem.alm_layout.size());
  std::vector<Complex> modes(to_size(problem.modes_size()));
  Work work{blocks, pipeline, alm_view, problem.rows, LegendreProblem::view(modes)};
  work.fail_at = 5;
  EXPECT_THROW(pipeline.run(work), ResourceError);
  const std::vector<Complex> after_error = modes;
  work.fail_at = -1;
  work.wanted = {16, 17};
  pipeline.run(work);
  problem.for_each_mode([&](std::int64_t row, std::int64_t, std::int64_t mode) {
    if (row == 16) return;
    EXPECT_EQ(modes[to_size(mode)], after_error[to_size(mode)]);
  });
}

}  // namespace
}  // namespace ringweave::detail::gpu
