// SPDX-License-Identifier: GPL-3.0-or-later
#include "softdevice/runtime/runtime.hpp"

#include <algorithm>
#include <utility>

#include "softdevice/findings.hpp"
#include "softdevice/memory/waits.hpp"
#include "softdevice/settings.hpp"

namespace softdevice {

Runtime& Runtime::get() {
  static auto* runtime = new Runtime;
  return *runtime;
}

cudaError_t Runtime::fail(cudaError_t error) {
  if (error != cudaSuccess) last = error;
  return error;
}

cudaError_t Runtime::record(cudaStream_t stream, const std::string& name, Work work) {
  Recording& recording = *stream->recording;
  const auto branch = static_cast<std::size_t>(
      std::find(recording.streams.begin(), recording.streams.end(), stream) -
      recording.streams.begin());
  recording.last[branch] = static_cast<int>(recording.nodes.size());
  recording.nodes.push_back({name, std::move(work), static_cast<int>(branch),
                             std::exchange(recording.waits[branch], {})});
  return cudaSuccess;
}

cudaError_t Runtime::enqueue(cudaStream_t stream, const std::string& name, Work work) {
  if (sticky != cudaSuccess) return fail(sticky);
  if (stream->recording != nullptr) return record(stream, name, std::move(work));
  auto task = std::make_shared<Task>();
  task->moment = {stream->id, ++stream->count};
  task->operation.name = name;
  task->operation.clock = stream->clock;
  task->operation.clock.merge(host);
  task->operation.clock.set(stream->id, stream->count);
  stream->clock = task->operation.clock;
  OperationLog::get().enter(task->operation, task->moment);
  for (const int wait : std::exchange(stream->unnamed_waits, {})) Waits::get().name(wait, name);
  if (name != name_of_events) stream->last_work = name;
  task->work = std::move(work);
  task->after = std::exchange(stream->waits, {});
  if (stream->last != nullptr) task->after.push_back(stream->last);
  stream->last = task;
  pending_.push_back(task);
  schedule();
  return fail(sticky);
}

void Runtime::run(Task& task) {
  if (task.is_done) return;
  for (const auto& before : task.after) run(*before);
  task.after.clear();
  task.is_done = true;
  if (sticky != cudaSuccess) return;
  if (task.operation.name != name_of_events && must_fail(n_run_++)) {
    sticky = cudaErrorLaunchFailure;
    return;
  }
  OrderedMemory memory(task.operation, task.moment);
  task.work(memory, task.operation, task.moment);
  task.work = {};
}

void Runtime::schedule() {
  switch (settings().streams.kind) {
    case Schedule::Kind::lazy: return;
    case Schedule::Kind::eager: return run_all();
    case Schedule::Kind::random: break;
  }
  if (pending_.size() == 1 && n_streams == 1) random_.seed(settings().streams.seed);
  while (!pending_.empty() && random_() % 2 == 0) {
    const auto chosen = pending_.begin() + static_cast<std::ptrdiff_t>(random_() % pending_.size());
    const std::shared_ptr<Task> task = *chosen;
    run(*task);
    std::erase_if(pending_, [](const auto& one) { return one->is_done; });
  }
}

void Runtime::run_all() {
  for (std::size_t i = 0; i < pending_.size(); ++i) run(*std::shared_ptr<Task>(pending_[i]));
  pending_.clear();
}

cudaError_t Runtime::wait_for(const std::shared_ptr<Task>& task, const Clock& clock) {
  if (task != nullptr) run(*task);
  std::erase_if(pending_, [](const auto& one) { return one->is_done; });
  host.merge(clock);
  return fail(sticky);
}

bool Runtime::is_pinned(const void* address, std::size_t bytes) const {
  const auto begin = reinterpret_cast<std::uint64_t>(address);
  const auto next = pinned.upper_bound(begin);
  if (next == pinned.begin()) return false;
  return begin + bytes <= std::prev(next)->second;
}

void Runtime::note_host_use(const void* memory, std::size_t bytes, const Operation& operation,
                            Moment moment, bool is_write) {
  const auto begin = reinterpret_cast<std::uint64_t>(memory);
  const std::uint64_t end = begin + bytes;
  std::erase_if(host_uses_,
                [&](const HostUse& use) { return host.of(use.moment.stream) >= use.moment.count; });
  for (const HostUse& use : host_uses_) {
    if (use.begin >= end || use.end <= begin || (!use.is_write && !is_write)) continue;
    if (OperationLog::get().is_before(use.operation, operation.clock))
      Waits::get().note_conflict(use.moment, operation.clock);
    else
      find("copies of one place in pinned memory, unordered",
           operation.name + " and " + OperationLog::get().name(use.operation));
  }
  host_uses_.push_back({begin, end, operation.id, moment, is_write});
}

void Runtime::check_freed_host_memory(std::uint64_t begin, std::uint64_t end) {
  for (const HostUse& use : host_uses_) {
    if (use.begin < end && use.end > begin && host.of(use.moment.stream) < use.moment.count)
      find("pinned memory freed while a stream may use it",
           OperationLog::get().name(use.operation));
  }
}

}  // namespace softdevice
