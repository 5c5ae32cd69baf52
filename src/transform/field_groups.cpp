// SPDX-License-Identifier: GPL-3.0-or-later
#include "transform/field_groups.hpp"

#include <algorithm>
#include <utility>

#include "base/checked_cast.hpp"

namespace ringweave::detail::inline transform {
namespace {

std::vector<int> spins_of(const FieldSet& fields, std::int64_t begin, std::int64_t end) {
  std::vector<int> spins;
  for (std::int64_t i = begin; i < end; ++i) spins.push_back(fields.fields()[to_size(i)].spin);
  return spins;
}

/// Returns `count` groups as equal as possible; the first ones may have one field more.
std::vector<FieldGroup> even_groups(const FieldSet& fields, std::int64_t count) {
  const std::int64_t n_fields = ssize64(fields.fields());
  const auto cut = [&](std::int64_t group) { return (group * n_fields + count - 1) / count; };
  std::vector<FieldGroup> groups;
  std::vector<std::vector<int>> shapes;
  for (std::int64_t i = 0; i < count; ++i) {
    std::vector<int> spins = spins_of(fields, cut(i), cut(i + 1));
    const auto known = std::find(shapes.begin(), shapes.end(), spins);
    groups.push_back({FieldSet(spins), fields.fields()[to_size(cut(i))].first_component,
                      static_cast<int>(known - shapes.begin())});
    if (known == shapes.end()) shapes.push_back(std::move(spins));
  }
  return groups;
}

}  // namespace

std::vector<FieldGroup> group_fields(const FieldSet& fields, std::int64_t most) {
  const std::int64_t n_fields = ssize64(fields.fields());
  for (std::int64_t count = 1; count < n_fields; ++count) {
    auto groups = even_groups(fields, count);
    if (most_components(groups) <= most) return groups;
  }
  return even_groups(fields, n_fields);
}

std::vector<FieldSet> fields_of_shapes(const std::vector<FieldGroup>& groups) {
  std::vector<FieldSet> fields;
  for (const FieldGroup& group : groups) {
    if (group.shape == ssize64(fields)) fields.push_back(group.fields);
  }
  return fields;
}

std::int64_t most_components(const std::vector<FieldGroup>& groups) {
  std::int64_t most = 0;
  for (const FieldGroup& group : groups) most = std::max(most, group.fields.n_components());
  return most;
}

}  // namespace ringweave::detail::inline transform
