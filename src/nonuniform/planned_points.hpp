// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "distribute/points/point_exchange.hpp"
#include "nonuniform/fine_taps.hpp"
#include "nonuniform/host/row_sums.hpp"
#include "nonuniform/summed_points.hpp"
#include "ringweave/points.hpp"

namespace ringweave::detail::inline nonuniform {

/// Points that are summed one after the other while the rows around them are in memory.
struct PointTile {
  std::int64_t first_row = 0;  ///< where the work of a thread may begin; ascends
  std::int64_t n_points = 0;
  RingRange rows;  ///< all rows its points may touch; begins and ends no further north than before
};

class DevicePoints;
class ListedPoints;

/// Some fine rows in the memory of a thread.
template <class T>
struct RowsInMemory {
  RowTaps taps;
  T* values;  ///< [component][value]
  std::int64_t stride;
};

/// The taps and fine rows chosen for a specification and a number of points, the points at the
/// ranks that own their rows, in the order in which they are summed, and the ways of their values.
/// Values are [component][point], as this rank lists the points. Members marked * are collective.
class PlannedPoints {
 public:
  virtual ~PlannedPoints() = default;

  const Communicator& comm() const { return comm_; }
  std::int64_t n_components() const { return has_psi_ ? 1 : spec_.fields.n_components(); }
  const PointSpec& spec() const { return spec_; }
  const std::shared_ptr<const FineTaps>& taps() const { return taps_; }
  const PointReport& report() const { return report_; }

  virtual const PointPlan& plan() const = 0;
  virtual std::int64_t n_listed() const = 0;
  /// Returns the tiles from the north to the south.
  virtual std::span<const PointTile> tiles() const = 0;
  /// Returns the points if ranks list them; null: they are pixels that are deflected.
  virtual ListedPoints* listed() { return nullptr; }
  /// Returns the most rows that the points of a tile may touch.
  std::int64_t most_rows() const;
  virtual std::int64_t bytes() const = 0;
  /// Returns memory that holds nothing while modes are exchanged, if there is any.
  virtual std::optional<View<double>> reusable_memory() { return {}; }
  /// Allocates the memory of so many threads.
  virtual void prepare(std::int64_t n_threads) = 0;

  /// Computes sums over the rows of this rank at the points of a tile.
  virtual void interpolate(std::int64_t thread, std::int64_t tile,
                           const RowsInMemory<const double>& rows,
                           AnyMapView<> values) noexcept = 0;
  /// * Completes the values, from the sums of all ranks.
  virtual void gather(AnyMapView<> values) = 0;
  /// * Applies the transpose of gather().
  virtual void scatter(AnyConstMapView<> values) = 0;
  /// Adds the transpose of interpolate() to the rows in a range.
  virtual void spread(std::int64_t thread, std::int64_t tile, RingRange range,
                      const RowsInMemory<double>& rows, AnyConstMapView<> values) noexcept = 0;

  // A device has all rows and points at once, and no threads and tiles.

  /// Returns the points. Error  ResourceError.
  virtual SummedPoints summed() const = 0;
  /// [component of the fields][point of summed()] sums over this rank's rows, or values to spread.
  virtual ComponentView<double> sums() = 0;
  /// Takes sums to where gather() expects them.
  virtual void put_sums(AnyMapView<> values) noexcept = 0;
  /// Fetches values from where scatter() left them.
  virtual void load_values(AnyConstMapView<> values) noexcept = 0;

 protected:
  PlannedPoints(const Communicator& comm, const PointSpec& asked, bool has_psi);

  Communicator comm_;
  bool has_psi_;  ///< some rank's points have it
  PointSpec spec_;
  std::shared_ptr<const FineTaps> taps_;
  PointReport report_;
};

/// Points that ranks list by their angles.
class ListedPoints final : public PlannedPoints {
 public:
  /// field  the taps of a FineField, whose rows are there whether touched or not; null: they are
  ///        chosen for these points
  /// Collective.
  ListedPoints(const Communicator& comm, const PointSpec& asked, const PointAngles& angles,
               const std::shared_ptr<const FineTaps>& field);

  const PointExchange& exchange() const { return *exchange_; }
  /// The points on the device of their field; null until the field is evaluated there.
  std::shared_ptr<DevicePoints>& of_field() { return of_field_; }

  const PointPlan& plan() const override { return exchange_->plan(); }
  std::int64_t n_listed() const override { return exchange_->n_listed(); }
  ListedPoints* listed() override { return this; }
  std::span<const PointTile> tiles() const override { return tiles_; }
  std::int64_t bytes() const override { return exchange_->bytes() + sums_.bytes(); }
  std::optional<View<double>> reusable_memory() override {
    return View<double>(sums().data(), sums_.n_components() * sums_.size());
  }
  void prepare(std::int64_t) override {}
  void interpolate(std::int64_t thread, std::int64_t tile, const RowsInMemory<const double>& rows,
                   AnyMapView<> values) noexcept override;
  void gather(AnyMapView<> values) override;
  void scatter(AnyConstMapView<> values) override;
  void spread(std::int64_t thread, std::int64_t tile, RingRange range,
              const RowsInMemory<double>& rows, AnyConstMapView<> values) noexcept override;
  SummedPoints summed() const override { return {span_of({0, exchange_->summed().size()})}; }
  ComponentView<double> sums() override { return sums_.view(); }
  void put_sums(AnyMapView<>) noexcept override {}
  void load_values(AnyConstMapView<>) noexcept override {}

 private:
  PointSpan span_of(PointRange points) const;
  View<const double> psi() const {
    const HostBuffer<double>& angles = exchange_->summed().psi;
    return {angles.data(), angles.size()};
  }

  std::optional<PointExchange> exchange_;
  ComponentBuffer<double> sums_;
  std::vector<PointTile> tiles_;
  std::shared_ptr<DevicePoints> of_field_;
};

}  // namespace ringweave::detail::inline nonuniform
