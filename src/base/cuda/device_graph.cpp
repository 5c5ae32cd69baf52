// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/device_graph.hpp"

#include <cuda_runtime_api.h>

#include <utility>

#include "base/cuda/device_errors.hpp"
#include "base/cuda/native_stream.hpp"
#include "base/error.hpp"

namespace ringweave {
namespace {

using gpu::native;

/// Owns a captured graph.
struct RecordedGraph {
  cudaGraph_t graph = nullptr;
  ~RecordedGraph() {
    if (graph != nullptr) gpu::forget(cudaGraphDestroy(graph));
  }
};

/// Ends a failed capture, so that the stream works normally again.
void abandon(const DeviceStream& stream) {
  RecordedGraph recorded;
  gpu::forget(cudaStreamEndCapture(native(stream), &recorded.graph));
}

}  // namespace

DeviceGraph::~DeviceGraph() { release(); }

void DeviceGraph::release() noexcept {
  if (executable_ == nullptr) return;
  gpu::forget(
      cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(std::exchange(executable_, nullptr))));
}

void DeviceGraph::capture(const DeviceStream& stream, const std::function<void()>& work) {
  release();
  gpu::require_device_alive();
  // Thread-local mode: other threads (of an MPI library, say) may make calls that a capture
  // forbids.
  check_device(cudaStreamBeginCapture(native(stream), cudaStreamCaptureModeThreadLocal),
               "beginning to record a graph");
  try {
    work();
  } catch (...) {
    abandon(stream);
    throw;
  }
  RecordedGraph recorded;
  check_device(cudaStreamEndCapture(native(stream), &recorded.graph), "recording a graph");
  cudaGraphExec_t executable = nullptr;
  check_device(cudaGraphInstantiateWithFlags(&executable, recorded.graph, 0),
               "making a graph ready to run");
  executable_ = executable;
}

void DeviceGraph::launch(const DeviceStream& stream) const {
  if (executable_ == nullptr) throw InternalError("GPU: a graph was launched before its recording");
  check_device(cudaGraphLaunch(static_cast<cudaGraphExec_t>(executable_), native(stream)),
               "launching a graph");
}

}  // namespace ringweave
