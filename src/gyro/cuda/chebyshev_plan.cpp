// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>

#include "base/checked_cast.hpp"
#include "gyro/cuda/chebyshev_sequence.hpp"
#include "gyro/host/chebyshev_kernels.hpp"

namespace ringweave::detail::gpu {

static_assert(targets_of_group == targets_together);

ChebyshevPlan::ChebyshevPlan(const ChebyshevFold& fold, const ChunkRange& chunks)
    : outputs(to_size(fold.n_outputs)),
      layout{fold.row_size(), fold.n_outputs, fold.n_padded_targets(), chunks.block_begin},
      n_groups(chunks.n_blocks()),
      n_chunks(fold.n_chunks()),
      first_chunk(chunks.chunk_begin),
      degrees_x(fold.degrees_x),
      degrees_y(fold.degrees_y),
      matrix_row(padded_length(fold.degrees_x)) {
  for (const ChebyshevFold::Element& element : fold.elements)
    elements.push_back({element.first, element.second, element.sign});
  for (const ChebyshevFold::Segment& of : fold.segments) {
    const FoldedSegment segment{of.begin,
                                of.size,
                                of.n_products,
                                {of.column[0], of.column[1]},
                                {of.output[0], of.output[1]}};
    segments.push_back(segment);
    const std::int64_t first = ssize64(parts);
    for (std::int64_t k = 0; k < of.size; k += most_elements) {
      FoldedSegment part = segment;
      part.begin += k;
      part.size = std::min(most_elements, of.size - k);
      for (std::int64_t& column : part.column) column += k;
      parts.push_back(part);
    }
    for (std::int64_t product = 0; product < of.n_products; ++product)
      outputs[to_size(of.output[to_size(product)])] = {first, ssize64(parts), product};
  }
  for (std::int64_t c = chunks.chunk_begin; c <= chunks.chunk_end; ++c)
    chunk_groups.push_back(fold.chunk_begin(c));
}

}  // namespace ringweave::detail::gpu
