// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

namespace ringweave {

/// The fields that go through a transform together, each with its spin: {0} is T, {0, 2} is TQU,
/// {0, 0, 0} three scalar maps, {2} a QU map. A scalar field has one component (a_lm <-> map), a
/// field of spin s >= 1 two (E, B <-> the real and imaginary part, Q, U for s = 2). Components are
/// numbered field by field.
class FieldSet {
 public:
  struct Field {
    int spin;
    std::int64_t first_component;
  };
  /// Error  UsageError when empty or a spin is negative.
  explicit FieldSet(const std::vector<int>& spins);
  /// `count` fields of one spin.
  static FieldSet batch(int spin, int count) {
    return FieldSet(std::vector<int>(static_cast<std::size_t>(count), spin));
  }

  const std::vector<Field>& fields() const { return fields_; }
  std::int64_t n_components() const { return n_components_; }
  int max_spin() const { return max_spin_; }

 private:
  std::vector<Field> fields_;
  std::int64_t n_components_ = 0;
  int max_spin_ = 0;
};

}  // namespace ringweave
