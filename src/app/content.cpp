// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/content.hpp"

#include "io/file_kind.hpp"
#include "ringweave/error.hpp"
#include "ringweave/files.hpp"

namespace ringweave::detail::inline app {

Content open_content(const Communicator& comm, const std::string& path) {
  Content content;
  if (file_kind(path) == FileKind::text) {
    content.spectra = read_spectra(comm, path);
    return content;
  }
  std::string reasons;
  // Readers agree on errors, so every rank takes the same branch.
  const auto attempt = [&](const char* what, auto&& open) {
    try {
      open();
      return true;
    } catch (const DataError& error) {
      reasons += std::string("\n  as ") + what + ": " + error.what();
      return false;
    }
  };
  if (attempt("a map", [&] { content.map = open_map(comm, path); })) return content;
  if (attempt("a_lm", [&] { content.alm = open_alm(comm, path); })) return content;
  if (attempt("spectra", [&] { content.spectra = read_spectra(comm, path); })) return content;
  throw DataError(path, "holds nothing this program reads" + reasons);
}

}  // namespace ringweave::detail::inline app
