// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>

#include "gyro/device_plane_values.hpp"
#include "ringweave/execution.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline gyro {

/// Tells whether averages are formed, or their transpose.
enum class Direction { average, transpose };

/// State of one worker: the planes it loaded and the sums it forms. Each scheme has its own.
class SchemeWork {
 public:
  virtual ~SchemeWork() = default;
  /// Seconds of "halo" and "sides" so far.
  StageTimes times;
};

/// One way of averaging planes: the linear operators G_r of a list of radii. A worker loads planes,
/// adds averages of some radii and stores their sum:
///
///     clear();  load(planes);  add(r, weight) for some r;  [load(); add() ...]  store(out)
///
/// A scheme with one worker may form several sums of the loaded planes at a time: results are there
/// after complete().
/// All double. Planes of average: rows of nodes in, rows of targets out; of transpose: the other
/// way. A rank that has some rows only gets and makes those. Tables are shared and constant;
/// workers may work at once, each with a SchemeWork of its own, except where rows are shared among
/// ranks: then calls are collective over the ranks of the rows. Nothing is allocated but by
/// make_work().
class Scheme {
 public:
  virtual ~Scheme() = default;

  /// Returns where tables and the memory of workers are. There is one worker on a device, whose
  /// planes go there and back.
  virtual MemorySpace memory() const { return MemorySpace::host; }

  /// most_planes  of a load
  /// n_threads    that share every call of this worker; 1 inside a parallel region
  virtual std::unique_ptr<SchemeWork> make_work(std::int64_t most_planes, int n_threads) const = 0;
  virtual std::int64_t work_bytes(std::int64_t most_planes, int n_threads) const = 0;
  /// Returns the bytes that a worker takes on the host where its memory is on a device.
  virtual std::int64_t host_work_bytes(std::int64_t, int) const { return 0; }

  /// Makes the tables of radii [begin, end), an index of the specification, and drops others.
  /// OpenMP. Collective where rows are shared.
  virtual void set_radii(std::int64_t begin, std::int64_t end) = 0;
  /// Tells whether set_radii() keeps the tables that there are of its radii: where they take long,
  /// they can be made one after the other.
  virtual bool keeps_tables() const { return false; }
  /// Bounds the bytes of the tables of one radius, which set_radii() will hold; side tables of
  /// bilinear and bicubic averages are up to 20 % smaller.
  virtual std::int64_t table_bytes(std::int64_t radius) const = 0;

  /// Returns the bytes of the tables of one radius that is set.
  virtual std::int64_t held_bytes(std::int64_t radius) const { return table_bytes(radius); }
  /// Bounds the bytes that set_radii() takes for a while on the host to make those of one radius,
  /// in addition to these.
  virtual std::int64_t making_bytes(std::int64_t) const { return 0; }

  /// Forgets sums; the next ones go in `direction`. Planes loaded for this direction stay.
  virtual void clear(SchemeWork& work, Direction direction) const = 0;
  /// Takes planes, [plane][row][x]; their number is that of the sums until clear(). Sums over
  /// several loads begin with one.
  virtual void load(SchemeWork& work, ComponentView<const double> planes) const = 0;
  /// Adds weight times G_r (or its transpose) of the loaded planes to the sums.
  virtual void add(SchemeWork& work, std::int64_t radius, double weight) const = 0;
  /// Writes the sums, or adds them to the planes.
  virtual void store(SchemeWork& work, ComponentView<double> planes, Accumulate how) const = 0;
  /// Tells whether planes may be in the memory of the device, too.
  virtual bool takes_device_planes() const { return false; }
  /// load() and store() for such planes; those to load are there before, and read on return.
  /// Results overwrite the planes.
  virtual void load_on_device(SchemeWork&, ComponentView<const double, MemorySpace::device>,
                              DevicePlaneValues&) const {}
  virtual void store_on_device(SchemeWork&, ComponentView<double, MemorySpace::device>) const {}
  /// Writes the results that store() has left for later.
  virtual void complete(SchemeWork&) const {}
  /// Forgets such results, which an error has left.
  virtual void drop_results(SchemeWork&) const {}

  /// Returns Gyroaverage::indicator() of the planes of the last load().
  virtual double indicator(const SchemeWork& work) const = 0;
  /// Bytes sent to other ranks so far.
  virtual std::int64_t bytes_sent(const SchemeWork& work) const = 0;
};

/// The ranks that share the rows of the same planes, and this rank's share.
struct RowShare {
  std::int64_t row_begin = 0;  ///< of targets
  std::int64_t row_end = 0;
  int part = 0;
  int n_parts = 1;
};

}  // namespace ringweave::detail::inline gyro
