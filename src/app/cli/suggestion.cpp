// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/suggestion.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ringweave::detail::inline app {
namespace {

/// Number of letters to add, leave out, replace, or exchange with their neighbour.
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> two_before;
  std::vector<std::size_t> before(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) before[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::vector<std::size_t> row(b.size() + 1);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = before[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({before[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], two_before[j - 2] + 1);
    }
    two_before = std::move(before);
    before = std::move(row);
  }
  return before.back();
}

}  // namespace

std::string did_you_mean(const std::string& word, const std::vector<std::string>& candidates) {
  // Longer than any candidate by far, and the time would be its square.
  constexpr std::size_t most_letters = 100;
  if (word.size() > most_letters) return {};
  const auto nearest = std::min_element(candidates.begin(), candidates.end(),
                                        [&](const std::string& one, const std::string& other) {
                                          return distance(word, one) < distance(word, other);
                                        });
  if (nearest == candidates.end()) return {};
  const bool begins_so = word.size() >= 3 && nearest->starts_with(word);
  if (!begins_so && 3 * distance(word, *nearest) > nearest->size()) return {};
  return fmt::format("; did you mean {}?", *nearest);
}

}  // namespace ringweave::detail::inline app
