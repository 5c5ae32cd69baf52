// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include "ringweave/communicator.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline distribute {

/// agree() for work that is no template. Collective.
void agree_on(const Communicator& comm, const std::function<void()>& work);

/// Runs `work` on this rank, then lets all ranks agree on the outcome: all return, or all throw the
/// same error (the most severe one; among equals the lowest rank's). Its message names the rank
/// when there is more than one. `work` must not wait for another rank. A rank with an error ends
/// the job after some seconds without the others, which may be inside a call that it will never
/// join. Collective.
template <class Work>
void agree(const Communicator& comm, Work&& work) {
  // A std::function of a reference takes no memory.
  agree_on(comm, std::ref(work));
}

/// Does the same for work that returns a value: every rank gets its own result. Collective.
template <class Make>
auto agreed(const Communicator& comm, Make&& make) {
  using Result = decltype(make());
  std::optional<Result> result;
  agree(comm, [&] { result.emplace(make()); });
  return std::move(*result);
}

/// Runs work that leads into a collective call: an error on this rank alone would leave the others
/// waiting, so it ends the job.
template <class Work>
auto abort_on_error(const Communicator& comm, Work&& work) {
  try {
    return std::forward<Work>(work)();
  } catch (...) {
    if (comm.size() == 1) throw;
    const CaughtError error = describe_current_exception();
    comm.abort(error.kind, error.message);
  }
}

/// Digest of some integers and enumerators: equal where the same ones are added in the same order.
class Digest {
 public:
  template <class Value>
  void add(Value value) {
    hash_ ^= static_cast<std::uint64_t>(value) + 0x9e3779b97f4a7c15u + (hash_ << 6) + (hash_ >> 2);
    hash_ *= 0xbf58476d1ce4e5b9u;
  }
  std::int64_t value() const { return static_cast<std::int64_t>(hash_ >> 1); }

 private:
  std::uint64_t hash_ = 0x9e3779b97f4a7c15u;
};

/// Throws UsageError on every rank unless `value` (a digest of what must be the same everywhere:
/// grid, lmax, options) is equal on all of them; `what` names it. Collective.
void agree_same(const Communicator& comm, std::string_view what, std::int64_t value);

}  // namespace ringweave::detail::inline distribute
