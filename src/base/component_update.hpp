// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "ringweave/views.hpp"

namespace ringweave::detail::inline base {

/// Sets to[i] = work(to[i], from[i]) for every element of every component. `from` has the shape of
/// `to` and does not overlap it. Parallel over elements (OpenMP).
template <class Element, class Work>
void update(ComponentView<Element> to, ComponentView<const Element> from, const Work& work) {
  for (std::int64_t c = 0; c < to.n_components(); ++c) {
    const auto target = to.component(c);
    const auto source = from.component(c);
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < target.size(); ++i) target[i] = work(target[i], source[i]);
  }
}

template <class Element>
void copy(ComponentView<const Element> from, ComponentView<Element> to) {
  update(to, from, [](const Element&, const Element& x) { return x; });
}

template <class Element>
void add(ComponentView<const Element> from, ComponentView<Element> to) {
  update(to, from, [](const Element& sum, const Element& x) { return sum + x; });
}

}  // namespace ringweave::detail::inline base
