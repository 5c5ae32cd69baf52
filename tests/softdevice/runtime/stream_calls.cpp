// SPDX-License-Identifier: GPL-3.0-or-later
// Streams, events and graphs: CUDA Runtime API, Stream, Event and Graph Management.
#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "softdevice/findings.hpp"
#include "softdevice/memory/waits.hpp"
#include "softdevice/runtime/runtime.hpp"
#include "softdevice/settings.hpp"

namespace softdevice {
namespace {

/// The recording that this thread began (cudaStreamCaptureModeThreadLocal).
thread_local std::shared_ptr<Recording> recording_of_thread;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::size_t branch_of(Recording& recording, cudaStream_t stream) {
  const auto found = std::find(recording.streams.begin(), recording.streams.end(), stream);
  if (found != recording.streams.end())
    return static_cast<std::size_t>(found - recording.streams.begin());
  recording.streams.push_back(stream);
  recording.waits.emplace_back();
  recording.last.push_back(-1);
  return recording.streams.size() - 1;
}

/// Records that a stream waits for an event of a recording, which the stream joins.
void join(cudaStream_t stream, const CUevent_st& event) {
  Recording& recording = *event.recording;
  stream->recording = event.recording;
  const std::size_t branch = branch_of(recording, stream);
  if (event.node >= 0 && static_cast<std::size_t>(event.branch) != branch)
    recording.waits[branch].push_back(event.node);
}

/// Returns whether all that other streams recorded comes before something of the first, or what
/// follows.
bool all_have_joined(const Recording& recording) {
  std::vector<bool> is_reached(recording.nodes.size());
  std::vector<int> open = recording.waits[0];
  open.push_back(recording.last[0]);
  while (!open.empty()) {
    const int node = open.back();
    open.pop_back();
    if (node < 0 || is_reached[static_cast<std::size_t>(node)]) continue;
    is_reached[static_cast<std::size_t>(node)] = true;
    const Node& reached = recording.nodes[static_cast<std::size_t>(node)];
    open.insert(open.end(), reached.after.begin(), reached.after.end());
    for (int earlier = node - 1; earlier >= 0; --earlier) {
      if (recording.nodes[static_cast<std::size_t>(earlier)].branch == reached.branch) {
        open.push_back(earlier);
        break;
      }
    }
  }
  return std::all_of(is_reached.begin(), is_reached.end(), [](bool reached) { return reached; });
}

int n_waits = 0;

}  // namespace

bool is_forbidden(const char* function) {
  if (recording_of_thread == nullptr) return false;
  find("call that a recording forbids", function);
  recording_of_thread->is_broken = true;
  return true;
}

}  // namespace softdevice

using namespace softdevice;

extern "C" {

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  const Call call;
  if (flags != cudaStreamNonBlocking)
    find("stream that waits for the default stream", "cudaStreamCreateWithFlags");
  *stream = new CUstream_st;
  (*stream)->id = ++call.runtime.n_streams;
  (*stream)->device = current_device("cudaStreamCreateWithFlags");
  return call.runtime.fail(call.runtime.sticky);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  const Call call;
  call.runtime.run_all();
  delete stream;
  return call.runtime.fail(call.runtime.sticky);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  const Call call;
  if (stream->recording != nullptr) {
    is_forbidden("cudaStreamSynchronize");
    stream->recording->is_broken = true;
    return call.runtime.fail(cudaErrorStreamCaptureUnsupported);
  }
  const cudaError_t status = call.runtime.wait_for(stream->last, stream->clock);
  if (status == cudaSuccess) {
    for (const auto& task : std::exchange(stream->waits, {})) call.runtime.wait_for(task, {});
  }
  return status;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  const Call call;
  if (is_dropped("cudaStreamWaitEvent", n_waits++)) return cudaSuccess;
  if (event->recording != nullptr) {
    join(stream, *event);
    return cudaSuccess;
  }
  if (stream->recording != nullptr) {
    find("wait of a recording for an event outside of it", "cudaStreamWaitEvent");
    stream->recording->is_broken = true;
    return call.runtime.fail(cudaErrorStreamCaptureIsolation);
  }
  const int wait = Waits::get().enter(event->behind);
  if (wait != Clock::no_wait) stream->unnamed_waits.push_back(wait);
  stream->clock.merge(event->clock, wait);
  if (event->task != nullptr) stream->waits.push_back(event->task);
  return call.runtime.fail(call.runtime.sticky);
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  const Call call;
  *event = new CUevent_st;
  return call.runtime.fail(call.runtime.sticky);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  const Call call;
  call.runtime.run_all();
  delete event;
  return call.runtime.fail(call.runtime.sticky);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  const Call call;
  event->recording = stream->recording;
  if (stream->recording != nullptr) {
    const std::size_t branch = branch_of(*stream->recording, stream);
    event->node = stream->recording->last[branch];
    event->branch = static_cast<int>(branch);
    return cudaSuccess;
  }
  event->seconds = 0;
  event->behind = stream->last_work;
  const cudaError_t status = call.runtime.enqueue(
      stream, name_of_events,
      [event](OrderedMemory&, const Operation&, Moment) { event->seconds = now(); });
  event->clock = stream->clock;
  event->task = stream->last;
  return status;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  const Call call;
  if (event->recording != nullptr) {
    is_forbidden("cudaEventSynchronize");
    return call.runtime.fail(cudaErrorStreamCaptureUnsupported);
  }
  return call.runtime.wait_for(event->task, event->clock);
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  const Call call;
  for (const cudaEvent_t event : {begin, end}) {
    if (event->task == nullptr) return call.runtime.fail(cudaErrorInvalidResourceHandle);
    if (!event->task->is_done) return call.runtime.fail(cudaErrorNotReady);
  }
  *milliseconds = static_cast<float>(1e3 * (end->seconds - begin->seconds));
  return call.runtime.fail(call.runtime.sticky);
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  const Call call;
  if (mode != cudaStreamCaptureModeThreadLocal)
    find("recording that other threads may disturb", "cudaStreamBeginCapture");
  if (stream->recording != nullptr) return call.runtime.fail(cudaErrorIllegalState);
  stream->recording = recording_of_thread = std::make_shared<Recording>();
  branch_of(*stream->recording, stream);
  return call.runtime.fail(call.runtime.sticky);
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  const Call call;
  *graph = nullptr;
  const std::shared_ptr<Recording> recording = stream->recording;
  if (recording == nullptr) return call.runtime.fail(cudaErrorIllegalState);
  if (recording != recording_of_thread) return call.runtime.fail(cudaErrorStreamCaptureWrongThread);
  recording_of_thread.reset();
  for (const cudaStream_t one : recording->streams) one->recording.reset();
  if (recording->is_broken) return call.runtime.fail(cudaErrorStreamCaptureInvalidated);
  if (!all_have_joined(*recording)) return call.runtime.fail(cudaErrorStreamCaptureUnjoined);
  *graph = new CUgraph_st{std::move(recording->nodes), static_cast<int>(recording->streams.size())};
  return call.runtime.fail(call.runtime.sticky);
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* executable, cudaGraph_t graph,
                                          unsigned long long) {
  const Call call;
  *executable = new CUgraphExec_st{*graph};
  return call.runtime.fail(call.runtime.sticky);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  const Call call;
  const CUgraph_st& graph = executable->graph;
  // Each other branch is a stream of its own, which begins after what is in this one, and which
  // this one waits for.
  std::vector<std::unique_ptr<CUstream_st>> others;
  for (int branch = 1; branch < graph.n_branches; ++branch) {
    others.push_back(std::make_unique<CUstream_st>());
    others.back()->id = ++call.runtime.n_streams;
    others.back()->clock = stream->clock;
    if (stream->last != nullptr) others.back()->waits.push_back(stream->last);
  }
  std::vector<std::pair<std::shared_ptr<Task>, Clock>> done;
  for (const Node& node : graph.nodes) {
    CUstream_st& branch =
        node.branch == 0 ? *stream : *others[static_cast<std::size_t>(node.branch) - 1];
    for (const int before : node.after) {
      branch.clock.merge(done[static_cast<std::size_t>(before)].second);
      branch.waits.push_back(done[static_cast<std::size_t>(before)].first);
    }
    const cudaError_t status = call.runtime.enqueue(&branch, node.name, node.work);
    if (status != cudaSuccess) return status;
    done.emplace_back(branch.last, branch.clock);
  }
  for (const auto& other : others) {
    stream->clock.merge(other->clock);
    if (other->last != nullptr) stream->waits.push_back(other->last);
  }
  return call.runtime.fail(call.runtime.sticky);
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  delete executable;
  return cudaSuccess;
}
}
