// SPDX-License-Identifier: GPL-3.0-or-later
#include <string>
#include <vector>

#include "base/checked_cast.hpp"
#include "ringweave/analysis.hpp"
#include "ringweave/error.hpp"

namespace ringweave {

using namespace detail;

namespace {

struct Product {
  Spectra::Name name;
  std::int64_t x;
  std::int64_t y;
};

std::vector<Product> products_of(std::int64_t n_components) {
  switch (n_components) {
    case 1: return {{Spectra::TT, 0, 0}};
    case 2: return {{Spectra::EE, 0, 0}, {Spectra::BB, 1, 1}, {Spectra::EB, 0, 1}};
    case 3:
      return {{Spectra::TT, 0, 0}, {Spectra::EE, 1, 1}, {Spectra::BB, 2, 2},
              {Spectra::TE, 0, 1}, {Spectra::EB, 1, 2}, {Spectra::TB, 0, 2}};
    default:
      throw UsageError(
          "power spectra are made of 1 (T), 2 (E, B) or 3 (T, E, B) components, not of " +
          std::to_string(n_components));
  }
}

}  // namespace

template <class T>
Spectra power_spectra(const Communicator& comm, const AlmLayout& layout, AlmView<const T> alm) {
  Spectra spectra(layout.lmax());
  for (const Product& product : products_of(alm.n_components())) {
    const auto x = alm.component(product.x);
    const auto y = alm.component(product.y);
    const std::span<double> cl = spectra.values(product.name);
    for (std::int64_t row = 0; row < layout.n_orders(); ++row) {
      const int m = layout.order(row);
      for (int l = m; l <= layout.lmax(); ++l) {
        const std::int64_t i = layout.index(row, l);
        const double re = double{x[i].real()} * double{y[i].real()};
        const double im = double{x[i].imag()} * double{y[i].imag()};
        cl[to_size(l)] += m == 0 ? re : 2 * (re + im);
      }
    }
    comm.sum(cl.data(), ssize64(cl));
    for (int l = 0; l <= layout.lmax(); ++l) cl[to_size(l)] /= 2 * l + 1;
  }
  return spectra;
}

template Spectra power_spectra<float>(const Communicator&, const AlmLayout&, AlmView<const float>);
template Spectra power_spectra<double>(const Communicator&, const AlmLayout&,
                                       AlmView<const double>);

}  // namespace ringweave
