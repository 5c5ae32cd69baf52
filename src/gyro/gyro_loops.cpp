// SPDX-License-Identifier: GPL-3.0-or-later
#include "gyro/gyro_loops.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <type_traits>
#include <utility>

#include "base/checked_cast.hpp"
#include "base/first_error.hpp"
#include "base/stage_timer.hpp"
#include "distribute/mpi/agree.hpp"

namespace ringweave::detail::inline gyro {
namespace {

/// Converts planes component by component.
template <class To, class From>
void convert(ComponentView<const From> from, ComponentView<To> to, int n_threads) {
  for (std::int64_t c = 0; c < to.n_components(); ++c) {
    const View<const From> source = from.component(c);
    const View<To> target = to.component(c);
#pragma omp parallel for num_threads(n_threads) schedule(static)
    for (std::int64_t i = 0; i < target.size(); ++i) target[i] = static_cast<To>(source[i]);
  }
}

double weight_of(std::span<const double> weights, std::int64_t radius) {
  return weights.empty() ? 1 : weights[to_size(radius)];
}

}  // namespace

GyroLoops::GyroLoops(GyroPlan plan, const LoopPlan& loops, std::unique_ptr<Scheme> scheme,
                     const Communicator& radius_group, const GyroProgress& progress)
    : plan_(std::move(plan)),
      loops_(loops),
      scheme_(std::move(scheme)),
      radius_group_(radius_group),
      shares_(loops.n_workers) {
  // First, because it needs memory of its own for a while.
  if (!loops_.remakes_operators()) make_tables(progress);
  workers_ = make_workers(loops_.n_workers, 1);
  team_ = make_workers(loops_.has_whole_team ? 1 : 0, loops_.n_threads);
  // Last: ranks that share rows would wait for one that fails.
  if (plan_.data == MemorySpace::device) {
    values_ = make_device_plane_values();
    team_.front().on_device.allocate(loops_.most_planes * loops_.larger_plane());
  }
  if (!loops_.forms_sums) return;
  const std::int64_t of_batch = loops_.most_planes * loops_.larger_plane();
  blocks_.allocate(loops_.round_batches * loops_.n_own_blocks() * of_batch);
  received_.allocate((plan_.n_blocks() - loops_.n_own_blocks()) * of_batch);
}

void GyroLoops::make_tables(const GyroProgress& progress) {
  const GyroPart& part = loops_.part;
  if (!scheme_->keeps_tables()) return scheme_->set_radii(part.radius_begin, part.radius_end);
  for (std::int64_t end = part.radius_begin + 1; end <= part.radius_end; ++end) {
    scheme_->set_radii(part.radius_begin, end);
    if (progress) progress(end - part.radius_begin, part.n_radii());
  }
}

GyroLoops::Workers GyroLoops::make_workers(int n_workers, int n_threads) const {
  Workers workers(to_size(n_workers));
  for (GyroWorker& worker : workers) {
    worker.work = scheme_->make_work(loops_.most_planes, n_threads);
    worker.n_threads = n_threads;
    worker.loaded.allocate(loops_.converted_size());
    worker.stored.allocate(loops_.converted_size());
  }
  return workers;
}

void GyroLoops::begin_call() {
  n_formed_ = 0;
  device_error_.forget();
  for (Workers* const workers : {&workers_, &team_}) {
    for (GyroWorker& worker : *workers) {
      worker.indicator = 0;
      scheme_->drop_results(*worker.work);
      worker.bytes_sent_before = scheme_->bytes_sent(*worker.work);
    }
  }
}

GyroLoops::Batch GyroLoops::batch(std::int64_t number) const {
  const std::int64_t first = number * loops_.most_planes;
  return {first, std::min(loops_.most_planes, loops_.part.n_fields() - first)};
}

template <class Work>
void GyroLoops::for_operators(const Work& work) {
  const GyroPart& part = loops_.part;
  for (Radii radii{part.radius_begin, 0}; radii.begin < part.radius_end; radii.begin = radii.end) {
    radii.end = std::min(radii.begin + loops_.radii_at_once, part.radius_end);
    if (loops_.remakes_operators()) {
      const StageTimer timer(&times_, "operator");
      scheme_->set_radii(radii.begin, radii.end);
    }
    work(radii);
  }
}

template <class Work>
void GyroLoops::share(Workers& workers, std::int64_t n, const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  const std::int64_t n_workers = ssize64(workers);
  if (n_workers == 1) {
    for (std::int64_t task = 0; task < n; ++task) work(workers.front(), task);
    scheme_->complete(*workers.front().work);
  } else {
    FirstError error;
    shares_.begin(n);
#pragma omp parallel for num_threads(static_cast <int>(n_workers)) schedule(static, 1)
    for (std::int64_t w = 0; w < n_workers; ++w) {
      error.guard([&] {
        for (std::int64_t task = shares_.next(w); task >= 0; task = shares_.next(w))
          work(workers[to_size(w)], task);
      });
    }
    error.rethrow();
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  report(workers, elapsed.count());
}

void GyroLoops::report(Workers& workers, double seconds) {
  const auto of_stage = [&](const char* stage, double GyroWorker::*reported) {
    double sum = 0;
    for (GyroWorker& worker : workers) {
      const double so_far = worker.work->times.seconds(stage);
      sum += so_far - worker.*reported;
      worker.*reported = so_far;
    }
    const double mean = sum / static_cast<double>(workers.size());
    if (mean > 0) times_.add(stage, mean);
    return mean;
  };
  const double halo = of_stage("halo", &GyroWorker::halo_seconds);
  const double sides = of_stage("sides", &GyroWorker::sides_seconds);
  times_.add("transform", seconds - halo - sides);
}

void GyroLoops::add(GyroWorker& worker, std::int64_t radius, double weight, std::int64_t n_planes) {
  scheme_->add(*worker.work, radius, weight);
  const std::int64_t n_formed = n_formed_ += n_planes;
  // The first worker is the calling thread.
  const bool is_first = &worker == team_.data() || &worker == workers_.data();
  if (progress_ && is_first) progress_(n_formed, loops_.part.n_radii() * loops_.part.n_fields());
}

template <class T>
void GyroLoops::load(GyroWorker& worker, ComponentView<const T> planes) const {
  if constexpr (std::is_same_v<T, double>) {
    scheme_->load(*worker.work, planes);
  } else {
    const ComponentView<double> doubles(worker.loaded.data(), planes.n_components(), planes.size());
    convert(planes, doubles, worker.n_threads);
    scheme_->load(*worker.work, doubles);
  }
  worker.indicator = std::max(worker.indicator, scheme_->indicator(*worker.work));
}

template <class T>
void GyroLoops::load(GyroWorker& worker, ComponentView<const T, MemorySpace::device> planes) const {
  double* const doubles = worker.on_device.data();
  const std::int64_t n = planes.n_components();
  if (!scheme_->takes_device_planes()) {
    device_error_.guard([&] {
      values_->to_doubles(planes, doubles);
      values_->copy_to_host(doubles, worker.loaded.data(), n * planes.size());
    });
    scheme_->load(*worker.work, {worker.loaded.data(), n, planes.size()});
  } else if constexpr (std::is_same_v<T, double>) {
    scheme_->load_on_device(*worker.work, planes, *values_);
  } else {
    values_->to_doubles(planes, doubles);
    scheme_->load_on_device(*worker.work, {doubles, n, planes.size()}, *values_);
  }
  worker.indicator = std::max(worker.indicator, scheme_->indicator(*worker.work));
}

template <class T>
void GyroLoops::store(GyroWorker& worker, ComponentView<T, MemorySpace::device> planes) const {
  double* const doubles = worker.on_device.data();
  const std::int64_t n = planes.n_components();
  if (!scheme_->takes_device_planes()) {
    const ComponentView<double> stored(worker.stored.data(), n, planes.size());
    scheme_->store(*worker.work, stored, Accumulate::overwrite);
    scheme_->complete(*worker.work);
    give<T>(worker, stored, planes);
  } else if constexpr (std::is_same_v<T, double>) {
    scheme_->store_on_device(*worker.work, planes);
  } else {
    scheme_->store_on_device(*worker.work, {doubles, n, planes.size()});
    scheme_->complete(*worker.work);
    values_->from_doubles(doubles, planes);
  }
}

template <class T>
void GyroLoops::give(GyroWorker& worker, ComponentView<const double> from,
                     ComponentView<T, MemorySpace::device> to) const {
  device_error_.guard([&] {
    double* const doubles = worker.on_device.data();
    values_->copy_from_host(from.data(), doubles, from.n_components() * from.size());
    values_->from_doubles(doubles, to);
  });
}

template <class T>
void GyroLoops::store(GyroWorker& worker, ComponentView<T> planes) const {
  if constexpr (std::is_same_v<T, double>) {
    scheme_->store(*worker.work, planes, Accumulate::overwrite);
  } else {
    const ComponentView<double> doubles(worker.stored.data(), planes.n_components(), planes.size());
    scheme_->store(*worker.work, doubles, Accumulate::overwrite);
    scheme_->complete(*worker.work);
    convert(ComponentView<const double>(doubles), planes, worker.n_threads);
  }
}

template <class T, MemorySpace Space>
void GyroLoops::spread(Direction direction, ComponentView<const T, Space> in,
                       std::span<const double> weights, ComponentView<T, Space> out) {
  begin_call();
  for_operators([&](const Radii& radii) {
    Workers& workers = workers_.empty() ? team_ : workers_;
    for (GyroWorker& worker : workers) worker.loaded_batch = -1;
    share(workers, radii.count() * loops_.n_batches(), [&](GyroWorker& worker, std::int64_t task) {
      const std::int64_t number = task / radii.count();
      const std::int64_t radius = radii.begin + task % radii.count();
      const Batch fields = batch(number);
      scheme_->clear(*worker.work, direction);
      if (number != worker.loaded_batch) load(worker, in.components(fields.first, fields.count));
      worker.loaded_batch = number;
      add(worker, radius, weight_of(weights, radius), fields.count);
      const std::int64_t first =
          (radius - loops_.part.radius_begin) * loops_.part.n_fields() + fields.first;
      store(worker, out.components(first, fields.count));
    });
  });
  device_error_.rethrow();
}

template <class T, MemorySpace Space>
void GyroLoops::pairs(Direction direction, ComponentView<const T, Space> in,
                      ComponentView<T, Space> out) {
  begin_call();
  for_operators([&](const Radii& radii) {
    const auto work = [&](GyroWorker& worker, std::int64_t task) {
      const std::int64_t radius = radii.begin + task / loops_.n_batches();
      const Batch fields = batch(task % loops_.n_batches());
      const std::int64_t first =
          (radius - loops_.part.radius_begin) * loops_.part.n_fields() + fields.first;
      scheme_->clear(*worker.work, direction);
      load(worker, in.components(first, fields.count));
      add(worker, radius, 1, fields.count);
      store(worker, out.components(first, fields.count));
    };
    share(workers_.empty() ? team_ : workers_, radii.count() * loops_.n_batches(), work);
  });
  device_error_.rethrow();
}

double* GyroLoops::block_plane(std::int64_t batch_of_round, std::int64_t block) {
  const std::int64_t number = batch_of_round * loops_.n_own_blocks() + block - loops_.first_block;
  return blocks_.data() + number * loops_.most_planes * loops_.larger_plane();
}

template <class T, MemorySpace Space>
void GyroLoops::sum_block(GyroWorker& worker, Direction direction, ComponentView<const T, Space> in,
                          std::span<const double> weights, const Batch& batch, const Radii& radii,
                          const Radii& block, ComponentView<double> sums) {
  const GyroPart& part = loops_.part;
  scheme_->clear(*worker.work, direction);
  for (std::int64_t r = std::max(radii.begin, block.begin); r < std::min(radii.end, block.end);
       ++r) {
    const std::int64_t first = (r - part.radius_begin) * part.n_fields() + batch.first;
    load(worker, in.components(first, batch.count));
    add(worker, r, weight_of(weights, r), batch.count);
    // Where operators may be made again, radius by radius: the sum is the same for any groups.
    if (!plan_.adds_radius_by_radius) continue;
    scheme_->store(*worker.work, sums, r == block.begin ? Accumulate::overwrite : Accumulate::add);
    scheme_->clear(*worker.work, direction);
  }
  if (!plan_.adds_radius_by_radius) scheme_->store(*worker.work, sums, Accumulate::overwrite);
}

template <class T, MemorySpace Space>
void GyroLoops::sum_blocks(Direction direction, ComponentView<const T, Space> in,
                           std::span<const double> weights, std::int64_t first, std::int64_t end,
                           std::int64_t plane) {
  const auto block_radii = [&](std::int64_t block) {
    return Radii{plan_.block_begin[to_size(block)], plan_.block_begin[to_size(block + 1)]};
  };
  Workers& workers = loops_.sums_as_whole_team() ? team_ : workers_;
  for_operators([&](const Radii& radii) {
    std::int64_t first_block = loops_.first_block;
    while (block_radii(first_block).end <= radii.begin) ++first_block;
    std::int64_t end_block = first_block;
    while (end_block < loops_.end_block && block_radii(end_block).begin < radii.end) ++end_block;
    const std::int64_t n_blocks = end_block - first_block;
    share(workers, (end - first) * n_blocks, [&](GyroWorker& worker, std::int64_t task) {
      const std::int64_t of_round = task / n_blocks;
      const std::int64_t block = first_block + task % n_blocks;
      const Batch fields = batch(first + of_round);
      sum_block(worker, direction, in, weights, fields, radii, block_radii(block),
                {block_plane(of_round, block), fields.count, plane});
    });
  });
}

template <class T>
void GyroLoops::add_blocks(std::int64_t batch_of_round, ComponentView<T> out) {
  const StageTimer timer(&times_, "sum");
  const std::int64_t count = out.n_components() * out.size();
  std::array<const double*, most_blocks> blocks{};
  std::int64_t n_received = 0;
  const std::int64_t n_blocks = plan_.n_blocks();
  for (std::int64_t block = 0; block < n_blocks; ++block) {
    const bool is_mine = block >= loops_.first_block && block < loops_.end_block;
    double* const plane =
        is_mine ? block_plane(batch_of_round, block)
                : received_.data() + n_received++ * loops_.most_planes * loops_.larger_plane();
    if (plan_.radius_parts > 1) {
      radius_group_.broadcast(plane, count * std::int64_t{sizeof(double)}, plan_.owner_of(block));
    }
    blocks[to_size(block)] = plane;
  }
  for (std::int64_t c = 0; c < out.n_components(); ++c) {
    const View<T> target = out.component(c);
#pragma omp parallel for num_threads(loops_.n_threads) schedule(static)
    for (std::int64_t i = 0; i < target.size(); ++i) {
      const std::int64_t at = c * target.size() + i;
      double sum = blocks[0][at];
      for (std::int64_t block = 1; block < n_blocks; ++block) sum += blocks[to_size(block)][at];
      target[i] = static_cast<T>(sum);
    }
  }
}

template <class T, MemorySpace Space>
void GyroLoops::sum(Direction direction, ComponentView<const T, Space> in,
                    std::span<const double> weights, ComponentView<T, Space> out) {
  begin_call();
  for (std::int64_t first = 0; first < loops_.n_batches(); first += loops_.round_batches) {
    const std::int64_t end = std::min(first + loops_.round_batches, loops_.n_batches());
    const auto form = [&] { sum_blocks(direction, in, weights, first, end, out.size()); };
    // Ranks of other radii would wait for the blocks of one without memory. Those that share rows
    // fail together, so none waits within.
    loops_.calls_may_fail&& plan_.radius_parts > 1 ? agree(radius_group_, form) : form();
    for (std::int64_t number = first; number < end; ++number) {
      const Batch fields = batch(number);
      const ComponentView<T, Space> sums = out.components(fields.first, fields.count);
      if constexpr (Space == MemorySpace::host) {
        add_blocks(number - first, sums);
      } else {
        GyroWorker& worker = team_.front();  // a device has no others
        const ComponentView<double> added(worker.stored.data(), fields.count, sums.size());
        add_blocks(number - first, added);
        give<T>(worker, added, sums);
      }
    }
  }
  device_error_.rethrow();
}

template <class T>
NotFinite GyroLoops::not_finite(const GyroRows& rows, const PlaneComponents& numbers,
                                ComponentView<const T, MemorySpace::device> planes) {
  NotFinite found;
  for (std::int64_t c = 0; c < planes.n_components(); ++c) {
    const PlaneFindings of_plane = values_->inspect(planes.component(c), {});
    found.add(of_plane.n_not_finite, c, of_plane.first_not_finite, rows, numbers);
  }
  return found;
}

double GyroLoops::indicator() const {
  double largest = 0;
  for (const Workers* const workers : {&workers_, &team_}) {
    for (const GyroWorker& worker : *workers) largest = std::max(largest, worker.indicator);
  }
  return largest;
}

std::int64_t GyroLoops::bytes_sent() const {
  std::int64_t bytes = 0;
  for (const Workers* const workers : {&workers_, &team_}) {
    for (const GyroWorker& worker : *workers)
      bytes += scheme_->bytes_sent(*worker.work) - worker.bytes_sent_before;
  }
  return bytes;
}

std::int64_t GyroLoops::bytes() const {
  const std::int64_t scratch = loops_.scratch_bytes(*scheme_, plan_.n_blocks());
  if (loops_.remakes_operators()) return loops_.table_bytes(*scheme_) + scratch;
  std::int64_t tables = 0;
  for (std::int64_t r = loops_.part.radius_begin; r < loops_.part.radius_end; ++r)
    tables += scheme_->held_bytes(r);
  return tables + scratch;
}

#define RINGWEAVE_INSTANTIATE(T, Space)                                                           \
  template void GyroLoops::spread(Direction, ComponentView<const T, Space>,                       \
                                  std::span<const double>, ComponentView<T, Space>);              \
  template void GyroLoops::pairs(Direction, ComponentView<const T, Space>,                        \
                                 ComponentView<T, Space>);                                        \
  template void GyroLoops::sum(Direction, ComponentView<const T, Space>, std::span<const double>, \
                               ComponentView<T, Space>)
RINGWEAVE_INSTANTIATE(double, MemorySpace::host);
RINGWEAVE_INSTANTIATE(float, MemorySpace::host);
RINGWEAVE_INSTANTIATE(double, MemorySpace::device);
RINGWEAVE_INSTANTIATE(float, MemorySpace::device);
#undef RINGWEAVE_INSTANTIATE
template NotFinite GyroLoops::not_finite(const GyroRows&, const PlaneComponents&,
                                         ComponentView<const double, MemorySpace::device>);
template NotFinite GyroLoops::not_finite(const GyroRows&, const PlaneComponents&,
                                         ComponentView<const float, MemorySpace::device>);

}  // namespace ringweave::detail::inline gyro
