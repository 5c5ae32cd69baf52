// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "ringweave/alm.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline transform {

/// Consecutive fields that are transformed together.
struct FieldGroup {
  FieldSet fields;
  std::int64_t first_component = 0;  ///< within all fields
  int shape = 0;  ///< equal for groups with the same spins; numbered from 0 in order of appearance

  /// Returns the group's components of the a_lm or maps of all fields.
  template <class T, MemorySpace Space>
  ComponentView<T, Space> of(ComponentView<T, Space> all) const {
    return all.components(first_component, fields.n_components());
  }
};

/// Returns the fewest groups with at most `most_components` components each, their numbers of
/// fields as even as possible; single fields where even these have more.
std::vector<FieldGroup> group_fields(const FieldSet& fields, std::int64_t most_components);

/// Returns the fields of each shape.
std::vector<FieldSet> fields_of_shapes(const std::vector<FieldGroup>& groups);

/// Returns the number of components of the largest group.
std::int64_t most_components(const std::vector<FieldGroup>& groups);

}  // namespace ringweave::detail::inline transform
