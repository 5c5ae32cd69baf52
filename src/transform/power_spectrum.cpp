// SPDX-License-Identifier: GPL-3.0-or-later
#include <string>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
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

/// The products of components of two skies: those of one, and those of different components the
/// other way round.
std::vector<Product> cross_products_of(std::int64_t n_components) {
  std::vector<Product> products = products_of(n_components);
  for (const Product& product : products_of(n_components)) {
    if (product.x == product.y) continue;
    const Spectra::Name turned = product.name == Spectra::TE   ? Spectra::ET
                                 : product.name == Spectra::EB ? Spectra::BE
                                                               : Spectra::BT;
    products.push_back({turned, product.y, product.x});
  }
  return products;
}

void require_coefficients(const AlmLayout& layout, std::int64_t size) {
  require_planned("spectra", size, layout.size(), "coefficients of a component");
}

/// Returns spectra of zeros.
Spectra zeros(int lmax, const std::vector<Product>& products) {
  Spectra spectra(lmax);
  for (const Product& product : products) spectra.values(product.name);
  return spectra;
}

/// Adds these products to spectra of zeros. Collective.
template <class T>
Spectra spectra_of(const Communicator& comm, const AlmLayout& layout, Spectra spectra,
                   const std::vector<Product>& products, AlmView<const T> first,
                   AlmView<const T> second) {
  for (const Product& product : products) {
    const auto x = first.component(product.x);
    const auto y = second.component(product.y);
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

}  // namespace

template <class T>
Spectra power_spectra(const Communicator& comm, const AlmLayout& layout, AlmView<const T> alm) {
  std::vector<Product> products;
  Spectra spectra = agreed(comm, [&] {
    products = products_of(alm.n_components());
    require_coefficients(layout, alm.size());
    return zeros(layout.lmax(), products);
  });
  return spectra_of<T>(comm, layout, std::move(spectra), products, alm, alm);
}

template <class T>
Spectra cross_spectra(const Communicator& comm, const AlmLayout& layout, AlmView<const T> first,
                      AlmView<const T> second) {
  std::vector<Product> products;
  Spectra spectra = agreed(comm, [&] {
    if (first.n_components() != second.n_components()) {
      throw UsageError("cross spectra are made of skies with the same components, not of " +
                       std::to_string(first.n_components()) + " and " +
                       std::to_string(second.n_components()));
    }
    products = cross_products_of(first.n_components());
    for (const AlmView<const T>& alm : {first, second}) require_coefficients(layout, alm.size());
    return zeros(layout.lmax(), products);
  });
  return spectra_of<T>(comm, layout, std::move(spectra), products, first, second);
}

#define RINGWEAVE_INSTANTIATE(T)                                                              \
  template Spectra power_spectra<T>(const Communicator&, const AlmLayout&, AlmView<const T>); \
  template Spectra cross_spectra<T>(const Communicator&, const AlmLayout&, AlmView<const T>,  \
                                    AlmView<const T>);
RINGWEAVE_INSTANTIATE(float)
RINGWEAVE_INSTANTIATE(double)
#undef RINGWEAVE_INSTANTIATE

}  // namespace ringweave
