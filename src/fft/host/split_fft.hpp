// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <vector>

#include "base/scratch_arena.hpp"
#include "base/unit_powers.hpp"
#include "fft/host/column_lanes.hpp"
#include "fft/host/column_plan.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline fft {

/// Complex FFTs of lengths h = s p, s smooth and p awkward, for a block of rings, by one thread: s
/// columns of length p, then p rows of length s. With k = c + s k', j = j' + p q:
/// j k / h = j' k' / p + j' c / h + c q / s up to integers.
///
/// Columns of all rings of a block share the lanes of vectors; results do not depend on which
/// columns share a vector.
///
/// From  Cooley and Tukey (1965), Math. Comput. 19, 297
class SplitFft {
 public:
  /// Plans of one length h = s p, shared by all threads.
  struct Plans {
    const ColumnTransform* columns = nullptr;  ///< of length p
    const LaneTransform* rows = nullptr;       ///< of length s
    std::int64_t n_rows() const { return rows->length; }
    std::int64_t n_columns() const { return columns->length; }
  };
  /// Scratch sizes for several lengths: the maximum of each.
  struct Capacity {
    std::int64_t sorted = 0;    ///< length of an FFT that is not in place
    std::int64_t chirp = 0;     ///< length of columns computed by convolution
    std::int64_t response = 0;  ///< length of a convolution
    std::int64_t rows = 0;
    std::int64_t coarse = 0;
    std::int64_t twiddles = 0;
    void include(const Plans& plans);
  };

  SplitFft() = default;
  /// n_lengths  lengths between two flushes, at most
  /// powers     holds the tables of all transforms; must outlive this object
  SplitFft(const Capacity& capacity, std::int64_t n_lengths, const UnitPowers& powers);
  void place(ScratchArena& pieces);

  /// Transforms the columns of in[n_complex], now or at the next flush; column c of the result is
  /// out[c + s j]. `out` may be `in`. Rings of one length must be added in succession.
  void add_columns(const Plans& plans, const std::complex<double>* in,
                   std::complex<double>* out) noexcept;
  void flush_columns() noexcept;

  /// Sets the length of the next rows. Table `roots` of the powers holds exp(i pi k / n_complex)
  /// for k < n_complex.
  void prepare_rows(const Plans& plans, std::int64_t roots) noexcept;
  /// Transforms the rows of the result of add_columns(); `in` and `out` do not overlap.
  void transform_rows(const std::complex<double>* in, std::complex<double>* out) noexcept;

  std::int64_t bytes() const;

 private:
  /// A vector with n_used lanes in use.
  struct Group {
    ColumnLanes columns;
    std::int64_t n_used = 0;
  };
  /// Tables of one length. Keeping those of all lengths would need more memory than everything
  /// else.
  struct Tables {
    const ColumnTransform* transform = nullptr;  ///< the transform they belong to
    HostBuffer<std::complex<double>> chirp;
    HostBuffer<std::complex<double>> response;
  };
  void run(Group& group) noexcept;
  /// Makes the tables unless they exist, without replacing those of `kept`. Overwrites the scratch.
  Chirp chirp_of(const ColumnTransform& transform, const ColumnTransform* kept) noexcept;
  column_lanes::Scratch scratch() noexcept { return {data_, other_}; }

  std::int64_t n_lanes_ = 0;
  const UnitPowers* powers_ = nullptr;
  Capacity capacity_;
  std::vector<Group> waiting_;  ///< not full; one per length
  std::array<Tables, 2> tables_;
  RowLanes rows_;
  HostBuffer<double> twiddles_;  ///< of the next rows
  double* data_ = nullptr;
  double* other_ = nullptr;
  double* fine_ = nullptr;
  std::complex<double>* coarse_ = nullptr;
  std::complex<double> sink_;  ///< output of unused lanes
};

}  // namespace ringweave::detail::inline fft
