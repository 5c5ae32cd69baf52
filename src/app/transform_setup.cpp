// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/transform_setup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "app/backend_choice.hpp"
#include "app/healpix_data.hpp"
#include "distribute/mpi/agree.hpp"
#include "io/input_file.hpp"
#include "nonuniform/tap_choice.hpp"
#include "ringweave/analysis.hpp"
#include "ringweave/error.hpp"
#include "ringweave/execution.hpp"
#include "ringweave/files.hpp"
#include "ringweave/grid.hpp"
#include "ringweave/transform.hpp"
#include "transform/map_preparation.hpp"
#include "transform/transform_plan.hpp"

namespace ringweave::detail::inline app {
namespace {

/// Throws a DataError on every rank when an a_lm is NaN or infinite, naming `path`, the first (l,
/// m) and the count. Collective.
template <class T>
void require_finite_alm(const Communicator& comm, const std::string& path,
                        const std::vector<std::string>& components, const AlmLayout& layout,
                        AlmView<const T> alm) {
  constexpr std::int64_t nowhere = std::numeric_limits<std::int64_t>::max();
  for (std::size_t c = 0; c < components.size(); ++c) {
    const auto a = alm.component(static_cast<std::int64_t>(c));
    std::int64_t count = 0;
    std::int64_t first = nowhere;  // l + (lmax + 1) m, for a minimum over ranks
    for (std::int64_t i = 0; i < layout.n_orders(); ++i) {
      const std::int64_t m = layout.order(i);
      for (int l = layout.order(i); l <= layout.lmax(); ++l) {
        const auto value = a[layout.index(i, l)];
        if (std::isfinite(value.real()) && std::isfinite(value.imag())) continue;
        ++count;
        first = std::min(first, l + (layout.lmax() + 1) * m);
      }
    }
    const std::int64_t total = comm.sum(count);
    if (total == 0) continue;
    const std::int64_t place = comm.min(first);
    throw DataError(
        path,
        fmt::format(
            "{} a_lm of component {} are NaN or infinite, the first is l = {}, m = {}; compute "
            "them again",
            total, components[c], place % (layout.lmax() + 1), place / (layout.lmax() + 1)));
  }
}

}  // namespace

std::shared_ptr<const RingGrid> named_grid(const TransformOptions& options) {
  if (options.grid.empty() == (options.nside == 0)) {
    throw UsageError(
        "give the grid of the map either as --nside N or as --grid, e.g. --grid gauss:767");
  }
  if (!options.grid.empty()) return std::make_shared<RingGrid>(RingGrid::from_name(options.grid));
  return std::make_shared<RingGrid>(RingGrid::healpix(options.nside));
}

TransformSpec make_spec(const TransformOptions& options, std::shared_ptr<const RingGrid> grid,
                        const FieldSet& fields, int usual_lmax, int usual_mmax) {
  TransformSpec spec;
  const int usual = usual_lmax >= 0 ? usual_lmax : grid->default_lmax();
  spec.lmax = options.lmax >= 0 ? options.lmax : usual;
  spec.mmax = options.mmax >= 0 ? options.mmax
              : usual_mmax >= 0 ? std::min(spec.lmax, usual_mmax)
                                : spec.lmax;
  if (spec.mmax > spec.lmax) {
    throw UsageError(
        fmt::format("--mmax {} is above --lmax {}; expected at most lmax", spec.mmax, spec.lmax));
  }
  spec.grid = std::move(grid);
  spec.fields = fields;
  spec.exchange = exchange_options(options.exchange);
  return spec;
}

ExchangeOptions exchange_options(const std::string& name) {
  ExchangeOptions exchange;
  if (name == "overlap") exchange.schedule = ExchangeSchedule::overlapped;
  if (name == "single") exchange.precision = ModePrecision::single_;
  return exchange;
}

PointSpec make_point_spec(Run& run, const PointRequest& request) {
  const TransformOptions& asked = request.transform;
  PointSpec spec;
  spec.lmax = asked.lmax >= 0 ? asked.lmax : request.usual.lmax;
  spec.mmax = asked.mmax >= 0 ? asked.mmax : std::min(spec.lmax, request.usual.mmax);
  if (spec.mmax > spec.lmax) {
    throw UsageError(
        fmt::format("--mmax {} is above lmax = {}; expected at most lmax", spec.mmax, spec.lmax));
  }
  spec.fields = request.fields;
  spec.epsilon = request.epsilon;
  spec.exchange = exchange_options(asked.exchange);
  if (const double floor = rounding_error(spec.lmax); spec.epsilon < floor) {
    run.warn(
        fmt::format("--epsilon {:.3g} is below {:.3g}, the error that rounding leaves at lmax "
                    "= {}; expect the latter",
                    spec.epsilon, floor, spec.lmax));
  }
  constexpr double of_single_modes = 1e-5;
  if (spec.exchange.precision == ModePrecision::single_ && spec.epsilon < of_single_modes) {
    run.warn(fmt::format("--exchange single leaves errors of up to {:.0e}, above --epsilon {:.2g}",
                         of_single_modes, spec.epsilon));
  }
  return spec.checked();
}

bool has_same_rings(const RingGrid& a, const RingGrid& b) {
  return a.n_pixels() == b.n_pixels() &&
         std::equal(a.rings().begin(), a.rings().end(), b.rings().begin(), b.rings().end(),
                    [](const Ring& one, const Ring& other) {
                      return one.theta == other.theta && one.phi0 == other.phi0 &&
                             one.n_phi == other.n_phi;
                    });
}

std::int64_t bytes_of(Precision precision) { return precision == Precision::single_ ? 4 : 8; }

Precision storage_precision(const std::string& option, Precision of_input) {
  if (option.empty()) return of_input;
  return option == "single" ? Precision::single_ : Precision::double_;
}

std::shared_ptr<const RingGrid> grid_to_visit(MapReader& reader, bool iterates) {
  const auto& grid = reader.header().grid;
  if (reader.header().coverage == SkyCoverage::full || iterates) return grid;
  const std::vector<RingId> observed = reader.observed_rings();
  if (static_cast<std::int64_t>(observed.size()) == grid->n_rings()) return grid;
  return std::make_shared<RingGrid>(grid->subset(observed));
}

WeightFiles find_weights(Run& run, const std::string& option, const RingGrid& grid) {
  if (option == "none") return {};
  if (grid.nside() == 0) {
    throw UsageError("--weights: the " + grid.name() +
                     " grid has exact weights of its own; use --weights none");
  }
  const std::size_t colon = option.find(':');
  const std::string kind = option.substr(0, colon);
  const std::string value =
      colon == std::string::npos ? where_healpix_is : option.substr(colon + 1);
  if ((kind != "ring" && kind != "pixel") || value.empty()) {
    throw UsageError(
        fmt::format("--weights {}: expected none, ring, ring:FILE, pixel or pixel:FILE", option));
  }
  const auto table = kind == "ring" ? HealpixTable::ring_weights : HealpixTable::pixel_weights;
  const std::string path =
      healpix_file(run.comm, table, fmt::format("--weights {}:FILE", kind), value, grid.nside());
  agree(run.comm, [&] {
    if (run.comm.is_root()) check_input_file(path);
  });
  run.outputs.keep(path);
  return kind == "ring" ? WeightFiles{path, ""} : WeightFiles{"", path};
}

AnalysisWeights load_weights(const Run& run, const WeightFiles& files, const LocalRings& rings) {
  const std::int64_t nside = rings.grid().nside();
  std::vector<double> northern;
  std::vector<double> compressed;
  if (!files.ring.empty()) northern = read_ring_weights(run.comm, files.ring, nside);
  if (!files.pixel.empty()) compressed = read_pixel_weights(run.comm, files.pixel, nside);
  return agreed(run.comm, [&] {
    AnalysisWeights weights;
    weights.ring = ring_weights(rings, northern);
    if (!compressed.empty()) weights.pixel = expand_pixel_weights(rings, compressed);
    return weights;
  });
}

UnseenPolicy unseen_policy(const std::string& name) {
  if (name == "restore") return UnseenPolicy::restore;
  if (name == "zero") return UnseenPolicy::zero;
  if (name == "normalize") return UnseenPolicy::normalize;
  return UnseenPolicy::fail;
}

Remove remove_choice(const std::string& name) {
  if (name == "none") return Remove::none;
  if (name == "monopole") return Remove::monopole;
  return Remove::dipole;
}

template <class T>
void read_map(FileTraffic& traffic, const std::string& path, MapReader& reader,
              const FieldChoice& choice, const LocalRings& rings, MapView<T> map) {
  const StageTimer timer(&traffic.times, "read");
  const Communicator& comm = traffic.comm;
  reader.read(choice.columns, rings, map);
  traffic.bytes_read +=
      comm.sum(map.size() * map.n_components()) * bytes_of(reader.header().precision);
  std::vector<std::string> names;
  for (const int column : choice.columns)
    names.push_back(reader.header().columns[static_cast<std::size_t>(column)].name);
  require_finite<T>(comm, path, names, rings, map);
}

template <class T>
void read_alm(FileTraffic& traffic, const std::string& path, AlmReader& reader,
              const FieldChoice& choice, const AlmLayout& layout, AlmView<T> alm) {
  const StageTimer timer(&traffic.times, "read");
  reader.read(choice.columns, layout, alm);
  traffic.bytes_read +=
      traffic.comm.sum(alm.size() * alm.n_components()) * 2 * bytes_of(reader.header().precision);
  require_finite_alm<T>(traffic.comm, path, choice.components, layout, alm);
}

template void read_map<float>(FileTraffic&, const std::string&, MapReader&, const FieldChoice&,
                              const LocalRings&, MapView<float>);
template void read_map<double>(FileTraffic&, const std::string&, MapReader&, const FieldChoice&,
                               const LocalRings&, MapView<double>);
template void read_alm<float>(FileTraffic&, const std::string&, AlmReader&, const FieldChoice&,
                              const AlmLayout&, AlmView<float>);
template void read_alm<double>(FileTraffic&, const std::string&, AlmReader&, const FieldChoice&,
                               const AlmLayout&, AlmView<double>);

std::unique_ptr<SphericalHarmonicTransform> plan_transform(Run& run, const TransformSpec& spec,
                                                           const MemoryUse& use,
                                                           const std::string& backend) {
  if (spec.backend == Backend::cuda && backend == "auto") {
    try {
      return plan_transform(run, spec, use, "cuda");
    } catch (const ResourceError& error) {
      TransformSpec on_host = spec;
      on_host.on_device = StagesOnDevice::both;
      on_host.backend = fall_back_to_host(run, error.what());
      return plan_transform(run, on_host, use, "host");
    }
  }
  auto transform = std::make_unique<SphericalHarmonicTransform>(run.comm, spec);
  const TransformPlan& at_once = transform->plan();
  const std::int64_t excess = largest_shortage(run.comm, estimate_memory(*transform, use));
  if (excess <= 0 || spec.fields.fields().size() == 1) return transform;
  for (std::int64_t n = spec.fields.n_components() - 1; n > 0; --n) {
    TransformSpec grouped = spec;
    grouped.mode_bytes = at_once.mode_bytes_of(n);
    const auto plan =
        agreed(run.comm, [&] { return TransformPlan(grouped, run.comm.rank(), run.comm.size()); });
    if (largest_shortage(run.comm, estimate_memory(plan, use)) > 0) continue;
    run.print_line(fmt::format("memory is short by {}: the fields are transformed in {} groups",
                               bytes_text(static_cast<double>(excess)), plan.groups.size()));
    transform.reset();
    return std::make_unique<SphericalHarmonicTransform>(run.comm, grouped);
  }
  return transform;
}

}  // namespace ringweave::detail::inline app
