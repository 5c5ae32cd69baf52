// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "ringweave/communicator.hpp"

namespace ringweave::detail::inline distribute {

/// Runs `work` on this rank, then lets all ranks agree on the outcome: all return, or all throw the
/// same error (the most severe one; among equals the lowest rank's). Its message names the rank
/// when there is more than one. `work` must not wait for another rank. Collective.
void agree(const Communicator& comm, const std::function<void()>& work);

/// As above, for work that returns a value: every rank gets its own result.
template <class Make>
auto agreed(const Communicator& comm, Make&& make) {
  using Result = decltype(make());
  std::unique_ptr<Result> result;
  agree(comm, [&] { result = std::make_unique<Result>(make()); });
  return std::move(*result);
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
void agree_same(const Communicator& comm, const std::string& what, std::int64_t value);

}  // namespace ringweave::detail::inline distribute
