// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "app/cli/field_choice.hpp"
#include "app/cli/options.hpp"
#include "app/predict/memory_estimate.hpp"
#include "app/run.hpp"
#include "ringweave/analysis.hpp"
#include "ringweave/error.hpp"
#include "ringweave/files.hpp"
#include "ringweave/points.hpp"
#include "ringweave/smoothing.hpp"
#include "ringweave/transform.hpp"

namespace ringweave::detail::inline app {

/// Returns the grid of --grid or --nside. Error  UsageError when neither or both are given.
std::shared_ptr<const RingGrid> named_grid(const TransformOptions& options);

/// Checks the options and fills in defaults: lmax of the grid, mmax = lmax. `usual_lmax` and
/// `usual_mmax` >= 0 replace them, at most lmax the latter. Error  UsageError.
TransformSpec make_spec(const TransformOptions& options, std::shared_ptr<const RingGrid> grid,
                        const FieldSet& fields, int usual_lmax = -1, int usual_mmax = -1);

/// Returns the options of --exchange.
ExchangeOptions exchange_options(const std::string& name);

/// Highest degree and order.
struct PointDegrees {
  int lmax;
  int mmax = std::numeric_limits<int>::max();  ///< of an input; at most lmax is taken
};

/// Options that say how a_lm are transformed to points.
struct PointRequest {
  const TransformOptions& transform;
  double epsilon;
  FieldSet fields;
  PointDegrees usual;  ///< without --lmax and --mmax
};

/// Makes the specification, and warns where rounding or the exchange leaves larger errors than
/// --epsilon asks for. Error  UsageError.
PointSpec make_point_spec(Run& run, const PointRequest& request);

/// Tells whether two grids have the same rings.
bool has_same_rings(const RingGrid& a, const RingGrid& b);

/// Returns the bytes of a stored real number.
std::int64_t bytes_of(Precision precision);

/// Returns the storage precision: that of --precision, else of the input.
Precision storage_precision(const std::string& option, Precision of_input);

/// Returns the rings of a map file that a transform has to process: all, or only the observed ones
/// of a partial map when there are no iterations (unobserved rings are then zero and have no
/// effect). Collective.
std::shared_ptr<const RingGrid> grid_to_visit(MapReader& reader, bool iterates);

/// Files of quadrature weights selected by --weights: none, ring, ring:FILE, pixel, pixel:FILE; as
/// healpix_file() finds them, of `ring` and `pixel` alone where HEALPix has them.
struct WeightFiles {
  std::string ring;   ///< empty: the grid's own weights
  std::string pixel;  ///< empty: 1
};
/// Finds the weight files. Error  DataError when the file is missing, UsageError. Collective.
WeightFiles find_weights(Run& run, const std::string& option, const RingGrid& grid);

/// Loads the quadrature weights of an analysis. Collective.
AnalysisWeights load_weights(const Run& run, const WeightFiles& files, const LocalRings& rings);

UnseenPolicy unseen_policy(const std::string& name);
Remove remove_choice(const std::string& name);

/// Reads the chosen columns into the components of `map`; refuses NaN and infinities. Collective.
template <class T>
void read_map(FileTraffic& traffic, const std::string& path, MapReader& reader,
              const FieldChoice& choice, const LocalRings& rings, MapView<T> map);

/// Reads the chosen components of a_lm; refuses NaN and infinities. Collective.
template <class T>
void read_alm(FileTraffic& traffic, const std::string& path, AlmReader& reader,
              const FieldChoice& choice, const AlmLayout& layout, AlmView<T> alm);

/// Calls `work` and prefixes `path` to any DataError it throws.
template <class Work>
auto with_path(const std::string& path, const Work& work) {
  try {
    return work();
  } catch (const DataError& error) {
    throw DataError(path, error.what());
  }
}

/// Calls work(float{}) or work(double{}).
template <class Work>
auto with_storage(Precision precision, const Work& work) {
  return precision == Precision::single_ ? work(float{}) : work(double{});
}

/// Plans a transform of all fields at once or, if memory is short, in the fewest groups that fit,
/// with a message. If no grouping fits, all at once. `backend` is the --backend from which that of
/// `spec` was chosen: with `auto` the host takes over if the device fails. Collective.
std::unique_ptr<SphericalHarmonicTransform> plan_transform(Run& run, const TransformSpec& spec,
                                                           const MemoryUse& use,
                                                           const std::string& backend);

}  // namespace ringweave::detail::inline app
