// SPDX-License-Identifier: GPL-3.0-or-later
#include "legendre/cuda/blocks/row_blocks.hpp"

#include <algorithm>
#include <numeric>

#include "base/checked_cast.hpp"
#include "base/mode_view.hpp"
#include "legendre/shared/resampled_modes.hpp"
#include "ringweave/error.hpp"
#include "sphere/row_position.hpp"

namespace ringweave::detail::gpu {
namespace {

constexpr std::int64_t bytes_of_value = sizeof(std::complex<double>);

using Rings = std::vector<RingRange>;

/// Returns the rings of a row from north to south, in maximal runs.
Rings rings_of(const ModeLayout& rows, const ModeLayout::Row& row) {
  Rings rings;
  for (const RowSegment& segment : rows.segments(row)) {
    if (!segment.rings.empty()) rings.push_back(segment.rings);
  }
  std::sort(rings.begin(), rings.end(),
            [](const RingRange& a, const RingRange& b) { return a.begin < b.begin; });
  Rings joined;
  for (const RingRange& run : rings) {
    if (!joined.empty() && joined.back().end == run.begin) {
      joined.back().end = run.end;
    } else {
      joined.push_back(run);
    }
  }
  return joined;
}

/// Returns the same rows with contiguous modes, row i from positions[i] on.
ModeLayout packed(const ModeLayout& rows, const std::vector<std::int64_t>& positions,
                  std::int64_t size) {
  ModeLayout made;
  for (std::int64_t i = 0; i < ssize64(rows.rows()); ++i) {
    const ModeLayout::Row& row = rows.rows()[to_size(i)];
    made.begin_row(row.m);
    if (row.fold_into >= 0) made.fold_row(row.fold_into, row.fold_rings);
    std::int64_t next = positions[to_size(i)];
    for (const RingRange& run : rings_of(rows, row)) {
      made.add_segment(run, next);
      next += run.size();
    }
  }
  made.set_size(size);
  return made;
}

std::int64_t head_of(const ModeLayout& rows, std::int64_t row) {
  const std::int64_t into = rows.rows()[to_size(row)].fold_into;
  return into < 0 ? row : into;
}

}  // namespace

RowBlocks::RowBlocks(const LegendreShape& shape, std::int64_t most_bytes)
    : alm_(shape.alm), n_components_(shape.fields.n_components()) {
  const ModeLayout& rows = shape.rows;
  const std::int64_t n_rows = ssize64(rows.rows());
  sequence_.resize(to_size(n_rows));
  std::iota(sequence_.begin(), sequence_.end(), std::int64_t{0});
  std::stable_sort(sequence_.begin(), sequence_.end(), [&](std::int64_t a, std::int64_t b) {
    return head_of(rows, a) < head_of(rows, b);
  });
  for (std::int64_t row = 0, i = 0; row <= n_rows; ++row) {
    while (i < n_rows && head_of(rows, sequence_[to_size(i)]) < row) ++i;
    first_of_.push_back(i);
  }
  for (const ModeLayout::Row& row : rows.rows()) {
    std::int64_t count = 0;
    for (const RowSegment& segment : rows.segments(row)) count += segment.rings.size();
    n_modes_.push_back(count);
  }
  if (shape.fine_rows != nullptr) {
    const ModeLimits equidistant =
        ResampledModes(shape, equidistant_rings(shape.alm.lmax())).limits;
    for (const ModeLayout::Row& row : rows.rows())
      n_beside_.push_back(equidistant.kept(row.m).size());
  }
  cut(rows, most_bytes);
}

std::vector<RowRange> RowBlocks::all_heads() const {
  std::vector<RowRange> all;
  for (std::int64_t block = 0; block < size(); ++block) all.push_back(heads(block));
  return all;
}

void RowBlocks::require_same_modes(const ModeLayout& rows) const {
  bool same = rows.rows().size() == layout_.rows().size();
  for (std::size_t i = 0; same && i < sequence_.size(); ++i) {
    const ModeLayout::Row& given = rows.rows()[i];
    const ModeLayout::Row& own = layout_.rows()[i];
    same = given.m == own.m && given.fold_into == own.fold_into &&
           given.fold_rings == own.fold_rings && rings_of(rows, given) == rings_of(layout_, own);
  }
  if (same) return;
  throw UsageError(
      "Legendre stage: rows with other orders or rings than those of the stage they share; make "
      "both from one plan");
}

void RowBlocks::cut(const ModeLayout& rows, std::int64_t most_bytes) {
  const std::int64_t n_rows = ssize64(sequence_);
  alm_begin_.resize(sequence_.size());
  modes_begin_.resize(sequence_.size());
  std::int64_t alm = 0;
  std::int64_t modes = 0;
  std::int64_t beside = 0;
  std::int64_t n_positions = 0;
  ends_.push_back(0);
  for (std::int64_t head = 0; head < n_rows; ++head) {
    const Run own = rows_of({head, head + 1});
    std::int64_t values = alm + modes + beside;
    for (std::int64_t i = own.begin; i < own.end; ++i) {
      const std::int64_t row = sequence_[to_size(i)];
      values += n_degrees(row) + n_modes_[to_size(row)] + n_beside(row);
    }
    if (alm > 0 && bytes_of_value * n_components_ * values > most_bytes) {
      ends_.push_back(head);
      alm = 0;
      modes = 0;
      beside = 0;
    }
    for (std::int64_t i = own.begin; i < own.end; ++i) {
      const std::int64_t row = sequence_[to_size(i)];
      alm_begin_[to_size(row)] = alm;
      modes_begin_[to_size(row)] = modes;
      alm += n_degrees(row);
      modes += n_modes_[to_size(row)];
      beside += n_beside(row);
    }
    alm_size_ = std::max(alm_size_, alm);
    n_positions = std::max(n_positions, modes);
  }
  if (n_rows > 0) ends_.push_back(n_rows);
  layout_ = packed(rows, modes_begin_, n_positions);
}

std::int64_t RowBlocks::n_degrees(std::int64_t row) const {
  return alm_.lmax() - alm_.order(row) + 1;
}

std::int64_t RowBlocks::n_beside(std::int64_t row) const {
  return n_beside_.empty() ? 0 : n_beside_[to_size(row)];
}

RowBlocks::Run RowBlocks::rows_of(RowRange heads) const {
  return {first_of_[to_size(heads.begin)], first_of_[to_size(heads.end)]};
}
RowBlocks::Run RowBlocks::alm_of(RowRange heads) const {
  const Run rows = rows_of(heads);
  if (rows.size() == 0) return {0, 0};
  const std::int64_t last = sequence_[to_size(rows.end - 1)];
  return {alm_begin_[to_size(sequence_[to_size(rows.begin)])],
          alm_begin_[to_size(last)] + n_degrees(last)};
}
RowBlocks::Run RowBlocks::modes_of(RowRange heads) const {
  const Run rows = rows_of(heads);
  if (rows.size() == 0) return {0, 0};
  const std::int64_t last = sequence_[to_size(rows.end - 1)];
  return {modes_begin_[to_size(sequence_[to_size(rows.begin)])],
          modes_begin_[to_size(last)] + n_modes_[to_size(last)]};
}

template <class Copy>
void RowBlocks::for_each_row(RowRange heads, const Copy& copy) const {
  const Run rows = rows_of(heads);
#pragma omp parallel for schedule(dynamic, 8)
  for (std::int64_t i = rows.begin; i < rows.end; ++i) copy(sequence_[to_size(i)]);
}

template <class Copy>
void RowBlocks::for_each_segment(std::int64_t row, const ModeLayout& rows, const Copy& copy) const {
  const auto own = layout_.segments(layout_.rows()[to_size(row)]);
  for (const RowSegment& segment : rows.segments(rows.rows()[to_size(row)])) {
    if (segment.rings.empty()) continue;
    copy(position_in(own.data(), ssize64(own), segment.rings.begin), segment);
  }
}

template <class T>
void RowBlocks::gather(RowRange heads, AlmView<const T> alm, std::complex<T>* block) const {
  for_each_row(heads, [&](std::int64_t row) {
    const std::int64_t first = alm_.index(row, alm_.order(row));
    for (std::int64_t c = 0; c < n_components_; ++c) {
      std::copy_n(alm.component(c).data() + first, n_degrees(row),
                  block + c * alm_size_ + alm_begin_[to_size(row)]);
    }
  });
}
template <class T>
void RowBlocks::scatter(RowRange heads, const std::complex<T>* block, AlmView<T> alm) const {
  for_each_row(heads, [&](std::int64_t row) {
    const std::int64_t first = alm_.index(row, alm_.order(row));
    for (std::int64_t c = 0; c < n_components_; ++c) {
      std::copy_n(block + c * alm_size_ + alm_begin_[to_size(row)], n_degrees(row),
                  alm.component(c).data() + first);
    }
  });
}
void RowBlocks::gather(RowRange heads, const ModeLayout& rows, ModePieces<const double> modes,
                       std::complex<double>* block) const {
  for_each_row(heads, [&](std::int64_t row) {
    for_each_segment(row, rows, [&](std::int64_t position, const RowSegment& segment) {
      std::copy_n(modes.at(segment.first * n_components_), segment.rings.size() * n_components_,
                  block + position * n_components_);
    });
  });
}
void RowBlocks::scatter(RowRange heads, const std::complex<double>* block, const ModeLayout& rows,
                        ModePieces<double> modes) const {
  for_each_row(heads, [&](std::int64_t row) {
    for_each_segment(row, rows, [&](std::int64_t position, const RowSegment& segment) {
      std::copy_n(block + position * n_components_, segment.rings.size() * n_components_,
                  modes.at(segment.first * n_components_));
    });
  });
}

template void RowBlocks::gather(RowRange, AlmView<const double>, std::complex<double>*) const;
template void RowBlocks::gather(RowRange, AlmView<const float>, std::complex<float>*) const;
template void RowBlocks::scatter(RowRange, const std::complex<double>*, AlmView<double>) const;
template void RowBlocks::scatter(RowRange, const std::complex<float>*, AlmView<float>) const;

}  // namespace ringweave::detail::gpu
