// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

namespace ringweave::detail::inline app {

/// Shows the current stage and the time left, on rank 0, and tells them to the Activity of the
/// process on every rank.
class Progress {
 public:
  enum class Mode { automatic, on, off };
  /// line: one line of a terminal, written again and again. log: plain lines.
  enum class Style { silent, line, log };

  /// A line on the terminal of stderr, or on the one that mpirun was started from, where its pipe
  /// is stderr. Without a terminal plain lines on stderr, with `on` for all that happens, else no
  /// more than one in 30 s.
  Progress(Mode mode, bool is_root);
  /// Writes to `out`, plain lines no more than one in `seconds`.
  Progress(Style style, std::FILE* out, double seconds);
  ~Progress();
  Progress(Progress&&) = default;
  Progress& operator=(Progress&&) = delete;

  /// Begins a new stage; the line of the last one ends with its time.
  void stage(const std::string& name);
  /// Reports that step `done` of `total` of the current stage is finished; shows both and the time
  /// left.
  void step(std::int64_t done, std::int64_t total, const std::string& note = "");
  /// Does the same for many short steps: shows one a second at most.
  void short_step(std::int64_t done, std::int64_t total);
  void finish();

 private:
  using Clock = std::chrono::steady_clock;
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  double seconds_of_stage() const;
  void show(const std::string& text, const char* end);

  Style style_ = Style::silent;
  std::unique_ptr<std::FILE, Close> terminal_{};  ///< that of mpirun
  std::FILE* out_ = stderr;
  double log_seconds_ = 0;
  std::string stage_{};
  Clock::time_point start_{};
  Clock::time_point stepped_{};  ///< the last step
  Clock::time_point logged_ = Clock::now();
};

}  // namespace ringweave::detail::inline app
