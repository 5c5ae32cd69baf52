// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/activity.hpp"

namespace ringweave::detail::inline base {
namespace {

thread_local bool this_thread_is_watched = false;

std::string text_of(const std::atomic<const char*>& name) {
  const char* const text = name.load(std::memory_order_relaxed);
  return text == nullptr ? "" : text;
}

}  // namespace

Activity& Activity::of_process() {
  static Activity activity;
  return activity;
}

void Activity::name_work(const std::string& name) {
  step();
  const std::lock_guard lock(mutex_);
  work_ = name;
}

void Activity::watch_this_thread() { this_thread_is_watched = true; }

void Activity::end_watch() {
  this_thread_is_watched = false;
  stage_ = nullptr;
  call_ = nullptr;
}

Activity::Names Activity::names() const {
  const std::lock_guard lock(mutex_);
  return {work_, text_of(stage_), text_of(call_)};
}

ActivityMark::ActivityMark(Of of, const char* name) : place_(nullptr) {
  Activity& activity = Activity::of_process();
  activity.step();
  if (!this_thread_is_watched) return;
  place_ = of == Of::stage ? &activity.stage_ : &activity.call_;
  before_ = place_->exchange(name, std::memory_order_relaxed);
}

ActivityMark::~ActivityMark() {
  Activity::of_process().step();
  if (place_ != nullptr) place_->store(before_, std::memory_order_relaxed);
}

}  // namespace ringweave::detail::inline base
