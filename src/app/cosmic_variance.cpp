// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cosmic_variance.hpp"

#include "base/checked_cast.hpp"

namespace ringweave::detail::inline app {

Spectra::Name own_spectrum(char component) {
  switch (component) {
    case 'T': return Spectra::TT;
    case 'E': return Spectra::EE;
    case 'B': return Spectra::BB;
    default: return Spectra::PP;
  }
}

double cosmic_variance(const Spectra& expected, Spectra::Name name, int l) {
  const std::string_view letters = Spectra::names[to_size(std::int64_t{name})];
  const Spectra::Name xx = own_spectrum(letters[0]), yy = own_spectrum(letters[1]);
  if (!expected.has(name) || !expected.has(xx) || !expected.has(yy)) return 0;
  const double c_l = expected(name, l);
  return (c_l * c_l + expected(xx, l) * expected(yy, l)) / (2 * l + 1);
}

}  // namespace ringweave::detail::inline app
