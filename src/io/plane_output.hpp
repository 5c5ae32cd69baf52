// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "io/atomic_output.hpp"
#include "io/hdf5/rows.hpp"
#include "ringweave/files.hpp"

namespace ringweave::detail::inline io {

/// Writes fields in the plane to the temporary name of an output, which the caller commits (with
/// others) after finish(). All collective; arguments and errors as those of PlaneFileWriter.
class PlaneOutput {
 public:
  /// output  outlives this
  PlaneOutput(const AtomicOutput& output, const PlaneHeader& header, const Provenance& provenance);

  void write(const PlaneFilePart& part, AnyConstMapView<> values);
  void add(const Keyword& attribute);
  /// Adds the attributes of the data set.
  void finish();

 private:
  const AtomicOutput& output_;
  PlaneHeader header_;
  Provenance provenance_;  ///< its keywords become attributes of the data set
};

}  // namespace ringweave::detail::inline io
