// SPDX-License-Identifier: GPL-3.0-or-later
// The runtime: the order of streams, events and graphs, memory in use, and calls that are errors.
#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <thread>
#include <vector>

#include "softdevice/findings.hpp"
#include "softdevice/memory/operation.hpp"

namespace softdevice::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Key;

constexpr std::size_t bytes = 256;

class Streams : public testing::Test {
 protected:
  void SetUp() override {
    take_findings();
    for (cudaStream_t* stream : {&first, &second})
      ASSERT_EQ(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking), cudaSuccess);
    ASSERT_EQ(cudaEventCreate(&event), cudaSuccess);
    ASSERT_EQ(cudaMalloc(&memory, bytes), cudaSuccess);
  }
  void TearDown() override {
    wait();
    cudaFree(memory);
    cudaEventDestroy(event);
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
    take_findings();
  }
  void clear(cudaStream_t stream) {
    EXPECT_EQ(cudaMemsetAsync(memory, 0, bytes, stream), cudaSuccess);
  }
  void order() {
    cudaEventRecord(event, first);
    cudaStreamWaitEvent(second, event, 0);
  }
  void wait() {
    cudaStreamSynchronize(first);
    cudaStreamSynchronize(second);
  }
  /// Findings when all is done.
  std::map<std::string, long> findings() {
    wait();
    return take_findings();
  }

  cudaStream_t first = nullptr;
  cudaStream_t second = nullptr;
  cudaEvent_t event = nullptr;
  void* memory = nullptr;
};

TEST_F(Streams, AreOrderedByEvents) {
  clear(first);
  order();
  clear(second);
  EXPECT_THAT(findings(), IsEmpty());
}

TEST_F(Streams, AreOrderedByTheHost) {
  clear(first);
  cudaStreamSynchronize(first);
  clear(second);
  cudaStreamSynchronize(second);
  clear(first);
  EXPECT_THAT(findings(), IsEmpty());
}

TEST_F(Streams, AreNotOrderedOtherwise) {
  clear(first);
  clear(second);
  EXPECT_THAT(findings(), Contains(Key(HasSubstr("unordered with a write before"))));
}

TEST_F(Streams, AreNotOrderedByAnEventThatCameTooEarly) {
  cudaEventRecord(event, first);
  clear(first);
  cudaStreamWaitEvent(second, event, 0);
  clear(second);
  EXPECT_THAT(findings(), Contains(Key(HasSubstr("unordered"))));
}

TEST_F(Streams, MayReadAtTheSameTimeButNotWrite) {
  clear(first);
  cudaStreamSynchronize(first);
  std::vector<char> values(bytes);
  void* pinned = nullptr;
  ASSERT_EQ(cudaMallocHost(&pinned, 2 * bytes), cudaSuccess);
  cudaMemcpyAsync(pinned, memory, bytes, cudaMemcpyDeviceToHost, first);
  cudaMemcpyAsync(static_cast<char*>(pinned) + bytes, memory, bytes, cudaMemcpyDeviceToHost,
                  second);
  EXPECT_THAT(findings(), IsEmpty());
  cudaMemcpyAsync(pinned, memory, bytes, cudaMemcpyDeviceToHost, first);
  clear(second);
  EXPECT_THAT(findings(), Contains(Key(HasSubstr("unordered with a read before"))));
  cudaMemcpyAsync(memory, pinned, bytes, cudaMemcpyHostToDevice, first);
  cudaMemcpyAsync(pinned, memory, bytes, cudaMemcpyDeviceToHost, second);
  EXPECT_THAT(findings(), Contains(Key(HasSubstr("copies of one place in pinned memory"))));
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
}

TEST_F(Streams, DoNotCopyWhatWasNeverWritten) {
  std::vector<char> values(bytes);
  cudaMemcpyAsync(values.data(), memory, bytes, cudaMemcpyDeviceToHost, first);
  EXPECT_THAT(findings(), Contains(Key(HasSubstr("values that were never written"))));
}

TEST_F(Streams, MustBeWaitedForBeforeMemoryIsFreed) {
  void* other = nullptr;
  cudaMalloc(&other, bytes);
  cudaMemsetAsync(other, 0, bytes, first);
  cudaFree(other);
  EXPECT_THAT(findings(), Contains(Key(HasSubstr("memory freed while a stream may use it"))));
  EXPECT_EQ(cudaMemsetAsync(other, 0, bytes, first), cudaSuccess);
  EXPECT_THAT(findings(), Contains(Key(HasSubstr("in memory that was freed"))));
}

TEST_F(Streams, RefuseCopiesOfAnotherKind) {
  std::vector<char> values(bytes);
  EXPECT_EQ(cudaMemcpyAsync(values.data(), memory, bytes, cudaMemcpyHostToDevice, first),
            cudaErrorInvalidValue);
  EXPECT_THAT(findings(), Contains(Key(HasSubstr("kind of a copy"))));
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(Streams, AreReplayedAsGraphs) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  cudaStreamBeginCapture(first, cudaStreamCaptureModeThreadLocal);
  clear(first);
  order();
  EXPECT_EQ(cudaMemsetAsync(memory, 1, bytes, second), cudaSuccess);
  cudaEventRecord(event, second);
  cudaStreamWaitEvent(first, event, 0);
  ASSERT_EQ(cudaStreamEndCapture(first, &graph), cudaSuccess);
  EXPECT_EQ(cudaGraphInstantiateWithFlags(&executable, graph, 0), cudaSuccess);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(cudaGraphLaunch(executable, first), cudaSuccess);
  std::vector<char> values(bytes);
  cudaMemcpyAsync(values.data(), memory, bytes, cudaMemcpyDeviceToHost, first);
  EXPECT_THAT(findings(), IsEmpty());
  EXPECT_EQ(values[0], 1);
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
}

TEST_F(Streams, OfARecordingMustJoinItsFirst) {
  cudaGraph_t graph = nullptr;
  cudaStreamBeginCapture(first, cudaStreamCaptureModeThreadLocal);
  order();
  clear(second);
  EXPECT_EQ(cudaStreamEndCapture(first, &graph), cudaErrorStreamCaptureUnjoined);
  EXPECT_THAT(findings(), IsEmpty());
  cudaGetLastError();
}

TEST_F(Streams, OfARecordingForbidWaitsAndAllocations) {
  cudaGraph_t graph = nullptr;
  cudaStreamBeginCapture(first, cudaStreamCaptureModeThreadLocal);
  EXPECT_EQ(cudaStreamSynchronize(first), cudaErrorStreamCaptureUnsupported);
  void* other = nullptr;
  EXPECT_EQ(cudaMalloc(&other, bytes), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(cudaStreamEndCapture(first, &graph), cudaErrorStreamCaptureInvalidated);
  EXPECT_THAT(findings(), Contains(Key(HasSubstr("call that a recording forbids"))));
  cudaGetLastError();
}

TEST_F(Streams, RefuseMoreMemoryThanTheDeviceHas) {
  void* other = nullptr;
  EXPECT_EQ(cudaMalloc(&other, std::size_t{1} << 40), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
}

TEST(Clocks, KnowWhatWouldBeWithoutAWait) {
  Clock later;
  later.set(1, 1);
  Clock clock;
  clock.merge(later, 0);
  EXPECT_EQ(clock.of(1), 1U);
  EXPECT_EQ(Clock::of(clock.without().at(0), 1), 0U);
  // Another order makes up for the wait.
  clock.merge(later);
  EXPECT_TRUE(clock.without().empty());
}

/// Tests that need SOFTDEVICE_DEVICES=2.
class TwoDevices : public testing::Test {
 protected:
  void SetUp() override {
    int count = 0;
    ASSERT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
    if (count != 2) GTEST_SKIP() << "one device: set SOFTDEVICE_DEVICES=2";
    take_findings();
  }
};

TEST_F(TwoDevices, HaveMemoryEach) {
  EXPECT_EQ(cudaSetDevice(2), cudaErrorInvalidDevice);
  std::size_t before[2];
  std::size_t after[2];
  std::size_t total = 0;
  void* memory = nullptr;
  for (const int device : {0, 1}) {
    EXPECT_EQ(cudaSetDevice(device), cudaSuccess);
    EXPECT_EQ(cudaMemGetInfo(&before[device], &total), cudaSuccess);
  }
  EXPECT_EQ(cudaMalloc(&memory, 1024), cudaSuccess);
  for (const int device : {0, 1}) {
    cudaSetDevice(device);
    EXPECT_EQ(cudaMemGetInfo(&after[device], &total), cudaSuccess);
  }
  EXPECT_EQ(after[0], before[0]);
  EXPECT_LT(after[1], before[1]);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
  EXPECT_THAT(take_findings(), IsEmpty());
}

TEST_F(TwoDevices, MustBeChosenByEveryThread) {
  cudaSetDevice(1);
  std::thread([] {
    void* memory = nullptr;
    EXPECT_EQ(cudaMalloc(&memory, 1024), cudaSuccess);
    EXPECT_EQ(cudaFree(memory), cudaSuccess);
  }).join();
  EXPECT_THAT(take_findings(), Contains(Key(HasSubstr("thread that has not chosen a device"))));
}

}  // namespace
}  // namespace softdevice::test
