// SPDX-License-Identifier: GPL-3.0-or-later
#include "transform/graph_cache.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ringweave/error.hpp"
#include "ringweave/execution.hpp"
#include "transform/stream_stages.hpp"

// Graphs and events of a device that only records its calls.
namespace ringweave::detail::test {
namespace {

struct Stream {
  std::vector<std::string> given;
  std::vector<std::string>* recording = nullptr;
  int waits = 0;
  double now = 0;

  void submit(const std::string& task) {
    (recording != nullptr ? *recording : given).push_back(task);
    if (recording == nullptr) now += 1;
  }
  void synchronize() const { ++const_cast<Stream*>(this)->waits; }
};

struct Graph {
  std::vector<std::string> tasks;
  bool captured() const { return !tasks.empty(); }
  void capture(const Stream& stream, const std::function<void()>& work) {
    Stream& open = const_cast<Stream&>(stream);
    open.recording = &tasks;
    work();
    open.recording = nullptr;
  }
  void launch(const Stream& stream) const {
    for (const std::string& task : tasks) const_cast<Stream&>(stream).submit(task + " again");
  }
};

TEST(GraphCache, TheThirdCallOnGivesOneGraphAndNothingElse) {
  Stream stream;
  GraphCache<int, Graph, Stream> cache(4);
  int worked = 0;
  const auto call = [&](int key) {
    cache.submit(key, stream, [&] {
      ++worked;
      stream.submit("legendre");
      stream.submit("fft");
    });
  };
  for (int i = 0; i < 5; ++i) call(1);
  EXPECT_EQ(worked, 2) << "once as it is, once to be recorded";
  EXPECT_EQ(stream.given.size(), 10U);
  EXPECT_EQ(stream.given.front(), "legendre");
  EXPECT_EQ(stream.given.back(), "fft again");
  EXPECT_EQ(stream.waits, 0);
}

TEST(GraphCache, OtherMemoryIsOtherWork) {
  Stream stream;
  GraphCache<int, Graph, Stream> cache(2);
  int worked = 0;
  const auto call = [&](int key) {
    cache.submit(key, stream, [&] {
      ++worked;
      stream.submit(std::to_string(key));
    });
  };
  for (const int key : {1, 2, 1, 2, 1, 2}) call(key);
  EXPECT_EQ(worked, 4);
  EXPECT_EQ(stream.given.back(), "2 again");
  call(3);  // evicts the oldest, once that has finished
  EXPECT_EQ(stream.waits, 1);
  call(2);
  EXPECT_EQ(worked, 5);
  call(1);
  EXPECT_EQ(worked, 6);
  cache.clear();
  call(2);
  EXPECT_EQ(worked, 7);
}

TEST(GraphCache, WhatCannotBeRecordedIsDoneEachTime) {
  Stream stream;
  GraphCache<int, Graph, Stream> cache(2);
  int recordings = 0;
  const auto call = [&] {
    cache.submit(1, stream, [&] {
      if (stream.recording != nullptr) {
        stream.recording = nullptr;
        ++recordings;
        throw ResourceError("not while recording");
      }
      stream.submit("fft");
    });
  };
  for (int i = 0; i < 4; ++i) call();
  EXPECT_EQ(recordings, 1);
  EXPECT_EQ(stream.given, std::vector<std::string>(4, "fft"));
}

struct Event {
  double at = -1;
  void record(const Stream& stream) { at = stream.now; }
  void wait() const { EXPECT_GE(at, 0); }
  double seconds_since(const Event& earlier) const { return at - earlier.at; }
};

TEST(StreamStages, AddWhatLiesBetweenTheirEventsWithoutWaitingBetweenThem) {
  Stream stream;
  StageTimes times;
  StreamStages<Event, Stream> stages;
  stages.add_to(times);
  EXPECT_TRUE(times.entries().empty());
  for (int call = 0; call < 2; ++call) {
    stages.mark(nullptr, stream);
    stream.submit("a");
    stages.mark("legendre", stream);
    stream.submit("b");
    stream.submit("c");
    stages.mark("ring_fft", stream);
    stages.add_to(times);
  }
  EXPECT_EQ(times.seconds("legendre"), 2);
  EXPECT_EQ(times.seconds("ring_fft"), 4);
  EXPECT_EQ(times.entries().at("ring_fft").calls, 2);
  EXPECT_EQ(stream.waits, 0);
}

// The stages of a timed call are launched as graphs like those of any other.
TEST(StreamStages, ReplayedStagesAreTimedToo) {
  Stream stream;
  StageTimes times;
  StreamStages<Event, Stream> stages;
  GraphCache<int, Graph, Stream> cache(4);
  for (int call = 0; call < 4; ++call) {
    stages.mark(nullptr, stream);
    cache.submit(1, stream, [&] { stream.submit("legendre"); });
    stages.mark("legendre", stream);
    cache.submit(2, stream, [&] { stream.submit("fft"); });
    stages.mark("ring_fft", stream);
    stages.add_to(times);
  }
  EXPECT_EQ(stream.given.back(), "fft again");
  EXPECT_EQ(times.seconds("legendre"), 4);
  EXPECT_EQ(times.seconds("ring_fft"), 4);
}

}  // namespace
}  // namespace ringweave::detail::test
