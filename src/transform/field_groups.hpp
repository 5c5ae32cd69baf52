// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "base/view.hpp"
#include "sphere/field_set.hpp"

namespace ringweave {

/// Consecutive fields that go through the line together.
struct FieldGroup {
  FieldSet fields;
  std::int64_t first_component = 0;  ///< among those of all fields
  int shape = 0;  ///< the same for groups of the same spins; counted from 0 as they appear

  /// The group's components of the a_lm or maps of all fields.
  template <class T, MemorySpace Space>
  ComponentView<T, Space> of(ComponentView<T, Space> all) const {
    return all.components(first_component, fields.n_components());
  }
};

/// The fewest groups, their numbers of fields as even as possible, that have at most
/// `most_components` components each; single fields where even these have more.
std::vector<FieldGroup> group_fields(const FieldSet& fields, std::int64_t most_components);

/// Components of the largest group.
std::int64_t most_components(const std::vector<FieldGroup>& groups);

}  // namespace ringweave
