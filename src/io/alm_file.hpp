// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/view.hpp"
#include "distribute/mpi/communicator.hpp"
#include "io/atomic_output.hpp"
#include "io/file_kind.hpp"
#include "io/provenance.hpp"
#include "sphere/alm_layout.hpp"

namespace ringweave {

struct AlmHeader {
  int lmax = 0;
  int mmax = 0;
  std::vector<std::string> components;  ///< "T", "E", "B" (FITS: the HDUs in order)
  Precision precision = Precision::double_;
  std::string unit;
  std::vector<std::string> warnings;
};

/// An open a_lm file, FITS (index column l^2 + l + m + 1, one HDU a component) or HDF5. Collective
/// throughout.
class AlmReader {
 public:
  virtual ~AlmReader() = default;
  const AlmHeader& header() const { return header_; }
  /// components[c] of the file -> component c of `alm`, for the orders of `layout`. Degrees and
  /// orders the file has beyond layout.lmax(), mmax() are left out; those it lacks become 0.
  virtual void read(std::span<const int> components, const AlmLayout& layout, AnyAlmView<> alm) = 0;

 protected:
  AlmHeader header_;
};

std::unique_ptr<AlmReader> open_alm(const Communicator& comm, const std::string& path);

/// Writes under the temporary name of `output`, which the caller commits (with others). Together
/// the ranks' layouts hold every order once. Collective.
void write_alm(const AtomicOutput& output, const AlmHeader& header, const Provenance& provenance,
               const AlmLayout& layout, AnyConstAlmView<> alm);

/// The same for a file by itself, whole or not at all. `alm` is an AlmView of float or double.
/// Collective.
template <class Values>
void write_alm(const Communicator& comm, const std::string& path, IfExists if_exists,
               const AlmHeader& header, const Provenance& provenance, const AlmLayout& layout,
               const Values& alm) {
  AtomicOutput output(comm, path, if_exists);
  write_alm(output, header, provenance, layout, alm);
  output.commit();
}

}  // namespace ringweave
