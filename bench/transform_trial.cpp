// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/transform_trial.hpp"

#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "bench/fma_peak.hpp"
#include "bench/raw_file.hpp"
#include "bench/sent_bytes.hpp"
#include "bench/test_alm.hpp"
#include "ringweave/error.hpp"
#include "ringweave/grid.hpp"
#include "ringweave/transform.hpp"

namespace ringweave::detail {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

template <class T>
class Trial : public TransformTrial {
 public:
  Trial(const Communicator& comm, const TransformSpec& spec, int iterations)
      : Trial(comm, spec, iterations, Clock::now()) {}

  const SphericalHarmonicTransform& transform() const override { return transform_; }

  TrialErrors check(bool with_analysis) override {
    TrialErrors errors;
    call(Direction::synthesis);
    call(Direction::adjoint);
    const double left = squared_norm<T>(comm_, map());
    const double right = inner_product<T>(comm_, transform_.alm_layout(), input(), back());
    errors.adjoint_gap = std::abs(left - right) / left;
    if (with_analysis) {
      call(Direction::analysis);
      errors.round_trip = round_trip_error();
    }
    return errors;
  }

  Timing measure(Direction direction, int count) override {
    transform_.times().clear();
    const std::int64_t sent_before = mpi_bytes_sent();
    comm_.barrier();
    const auto start = Clock::now();
    for (int i = 0; i < count; ++i) call(direction);
    const double seconds = seconds_since(start);
    const std::int64_t sent = mpi_bytes_sent() - sent_before;

    const auto stage = [&](const char* name) {
      const double mine = transform_.times().seconds(name) / count;
      return StageSeconds{-comm_.max(-mine), comm_.sum(mine) / comm_.size(), comm_.max(mine)};
    };
    const int transforms = direction == Direction::analysis ? 2 * iterations_ + 1 : 1;
    Timing timing;
    timing.seconds = comm_.max(seconds) / count;
    timing.legendre = stage("legendre");
    timing.exchange = stage("exchange");
    timing.ring_fft = stage("ring_fft");
    timing.legendre_flops = transforms * comm_.sum(transform_.plan().legendre_flops().total());
    timing.bytes_sent = comm_.sum(sent) / count;
    timing.bytes_planned = transforms * comm_.sum(transform_.plan().bytes_sent());
    return timing;
  }

  void write(const std::string& what, const std::string& path) const override {
    if (what == "map") {
      write_raw_map<T>(comm_, path, transform_.rings(), map());
    } else if (what == "input") {
      write_raw_alm<T>(comm_, path, transform_.alm_layout(), input());
    } else if (what == "alm") {
      write_raw_alm<T>(comm_, path, transform_.alm_layout(), back());
    } else {
      throw UsageError(what + ": expected input, map or alm");
    }
  }

 private:
  Trial(const Communicator& comm, const TransformSpec& spec, int iterations,
        Clock::time_point start)
      : comm_(comm),
        iterations_(iterations),
        transform_(comm, spec),
        analysis_(transform_, {ring_weights(transform_.rings()), {}}),
        input_(transform_.make_alm<T>()),
        back_(transform_.make_alm<T>()),
        map_(transform_.make_map<T>()) {
    plan_seconds_ = comm_.max(seconds_since(start));
    fill<T>(transform_.alm_layout(), spec.fields.max_spin(), input_.view());
  }

  AlmView<const T> input() const { return input_.view(); }
  AlmView<const T> back() const { return back_.view(); }
  MapView<const T> map() const { return map_.view(); }

  void call(Direction direction) {
    switch (direction) {
      case Direction::synthesis: transform_.synthesize<T>(input(), map_.view()); break;
      case Direction::adjoint: transform_.adjoint<T>(map(), {}, back_.view()); break;
      case Direction::analysis: analysis_.jacobi<T>(map(), iterations_, back_.view()); break;
    }
  }

  double round_trip_error() const {
    double largest = 0;
    double squares = 0;
    double count = 0;
    for (std::int64_t c = 0; c < input_.n_components(); ++c) {
      const auto before = input().component(c);
      const auto after = back().component(c);
      for (std::int64_t i = 0; i < before.size(); ++i) {
        const std::complex<double> a = before[i];
        largest = std::max(largest, std::abs(a - std::complex<double>(after[i])));
        squares += std::norm(a);
      }
      count += static_cast<double>(before.size());
    }
    return comm_.max(largest) / std::sqrt(comm_.sum(squares) / comm_.sum(count));
  }

  Communicator comm_;
  int iterations_;
  SphericalHarmonicTransform transform_;
  Analysis analysis_;
  AlmBuffer<T> input_;
  AlmBuffer<T> back_;
  MapBuffer<T> map_;
};

}  // namespace

const char* name_of(Direction direction) {
  switch (direction) {
    case Direction::synthesis: return "synthesis";
    case Direction::adjoint: return "adjoint";
    case Direction::analysis: break;
  }
  return "analysis";
}

Direction direction_named(const std::string& name) {
  for (const Direction direction : {Direction::synthesis, Direction::adjoint, Direction::analysis})
    if (name == name_of(direction)) return direction;
  throw UsageError(name + ": expected synthesis, adjoint or analysis");
}

template <class T>
std::unique_ptr<TransformTrial> TransformTrial::make(const Communicator& comm,
                                                     const TransformSpec& spec, int iterations) {
  return std::make_unique<Trial<T>>(comm, spec, iterations);
}
template std::unique_ptr<TransformTrial> TransformTrial::make<float>(const Communicator&,
                                                                     const TransformSpec&, int);
template std::unique_ptr<TransformTrial> TransformTrial::make<double>(const Communicator&,
                                                                      const TransformSpec&, int);

double all_threads_fma_peak(const Communicator& comm) {
  double sum = 0;
  comm.barrier();
#pragma omp parallel reduction(+ : sum)
  sum += measure_fma_peak(0.02);
  // Each thread counts its own processor time; more threads than processors alternate.
  const double threads = comm.node_local().size() * static_cast<double>(omp_get_max_threads());
  const double share = std::min(1.0, std::thread::hardware_concurrency() / threads);
  return comm.sum(sum * share);
}

}  // namespace ringweave::detail
