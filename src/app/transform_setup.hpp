// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/cli/field_choice.hpp"
#include "app/cli/options.hpp"
#include "app/run.hpp"
#include "base/error.hpp"
#include "convolve/harmonic_smoothing.hpp"
#include "io/map_file.hpp"
#include "transform/spherical_harmonic_transform.hpp"

namespace ringweave {

/// The grid --grid or --nside names. Error  UsageError when neither or both are given.
std::shared_ptr<const RingGrid> named_grid(const TransformOptions& options);

/// Checks the options and fills in defaults: lmax of the grid, mmax = lmax. `fallback_lmax`
/// replaces the grid's default where >= 0. Error  UsageError.
TransformSpec make_spec(const TransformOptions& options, std::shared_ptr<const RingGrid> grid,
                        const FieldSet& fields, int fallback_lmax = -1);

/// Of a stored real number.
std::int64_t bytes_of(Precision precision);

/// Storage: --precision, else the input's.
Precision storage_precision(const std::string& option, Precision of_input);

/// The rings of a map file a transform has to visit: all, or only the observed ones of a partial
/// map when nothing iterates (then unobserved rings, being zero, cost nothing and change nothing).
/// Collective.
std::shared_ptr<const RingGrid> grid_to_visit(MapReader& reader, bool iterates);

/// The file of quadrature weights --weights asks for: none, ring, ring:FILE, pixel:FILE. `ring`
/// alone looks for weight_ring_n%05d.fits in ., $HEALPIX/data, $HEALPIX.
struct WeightFiles {
  std::string ring;   ///< empty: the grid's own weights
  std::string pixel;  ///< empty: 1
};
/// Error  DataError when the file is missing, UsageError. Collective.
WeightFiles find_weights(const Run& run, const std::string& option, const RingGrid& grid);

/// Quadrature weights of an analysis. Collective.
AnalysisWeights load_weights(const Run& run, const WeightFiles& files, const LocalRings& rings);

UnseenPolicy unseen_policy(const std::string& name);
Remove remove_choice(const std::string& name);

/// Reads the chosen columns into the components of `map`, refuses NaN and infinities. Collective.
template <class T>
void read_map(FileTraffic& traffic, const std::string& path, MapReader& reader,
              const FieldChoice& choice, const LocalRings& rings, MapView<T> map);

/// The same into new memory, at work of the run's own. Collective.
template <class T>
MapBuffer<T> read_map(Run& run, const std::string& path, MapReader& reader,
                      const FieldChoice& choice, const LocalRings& rings);

/// DataError on every rank when an a_lm is NaN or infinite, naming `path`, the first place and the
/// count. Collective.
template <class T>
void require_finite_alm(const Communicator& comm, const std::string& path,
                        const std::vector<std::string>& components, const AlmLayout& layout,
                        AlmView<const T> alm);

/// Runs `work`, whose room knows no files, and puts `path` in front of the DataError it may throw.
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

}  // namespace ringweave
