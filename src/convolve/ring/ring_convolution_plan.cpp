// SPDX-License-Identifier: GPL-3.0-or-later
#include "convolve/ring/ring_convolution_plan.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <string>
#include <utility>

#include "base/checked_cast.hpp"
#include "convolve/ring/mode_rows.hpp"
#include "convolve/ring/ring_pair.hpp"
#include "convolve/ring/row_fft.hpp"
#include "ringweave/error.hpp"
#include "sphere/kernel/kernel_table.hpp"

namespace ringweave::detail::inline convolve {
namespace {

/// Returns true if every ring has a mirror at pi - theta with the same pixels.
bool is_symmetric(const RingGrid& grid) {
  const std::int64_t n = grid.n_rings();
  for (std::int64_t r = 0; r < (n + 1) / 2; ++r) {
    const Ring& a = grid.ring(RingId{r});
    const Ring& b = grid.ring(RingId{n - 1 - r});
    const bool same = a.n_phi == b.n_phi && std::abs(a.phi0 - b.phi0) < 1e-14 &&
                      a.weight == b.weight && std::abs(a.cos_theta + b.cos_theta) < 1e-15;
    if (!same) return false;
  }
  return true;
}

[[noreturn]] void refuse(const std::string& what) { throw UsageError("ring convolution: " + what); }

/// Memory allowed besides the maps and the modes of one, as a share of one map's input and output.
constexpr double scratch_share = 0.4;
/// Partners of a ring whose costs are predicted, about; the others are like them.
constexpr std::int64_t most_partners = 129;

/// Returns the mean number of a ring's pixels within half a width in longitude.
double pixels_within(double half_width, const Ring& ring) {
  const auto n = static_cast<double>(ring.n_phi);
  return std::min(half_width / std::numbers::pi * n + 0.5, n);
}

/// The share of it that the ring FFT leaves.
constexpr double share_of_goal = 0.75;

constexpr std::int64_t mode_size = 2 * sizeof(double);

}  // namespace

SectorRule SectorRule::for_grid(const RingGrid& grid) {
  if (!is_symmetric(grid)) return {};
  for (const Ring& ring : grid.rings()) {
    const double offset = offset_in_pixels(ring);
    if (ring.n_phi % 4 != 0 || (offset != 0 && offset != 0.5)) return {};
  }
  return {4, 2};
}

EqualRun EqualRun::for_grid(const RingGrid& grid) {
  EqualRun run;
  const std::int64_t n = grid.n_rings();
  for (std::int64_t begin = 0, end = 0; begin < n; begin = end) {
    const std::int64_t n_phi = grid.ring(RingId{begin}).n_phi;
    while (end < n && grid.ring(RingId{end}).n_phi == n_phi) ++end;
    if (end - begin > run.rings.size()) run.rings = {begin, end};
  }
  const auto offset = [&](std::int64_t r) { return offset_in_pixels(grid.ring(RingId{r})); };
  const double first = offset(run.rings.begin);
  const double second = run.rings.size() > 1 ? offset(run.rings.begin + 1) : first;
  run.alternates = second != first;
  run.is_regular = !run.alternates || std::abs(second - first) == 0.5;
  for (std::int64_t r = run.rings.begin; r < run.rings.end; ++r) {
    if (offset(r) != ((r - run.rings.begin) % 2 == 0 ? first : second)) run.is_regular = false;
  }
  return run;
}

RingConvolutionPlan::RingConvolutionPlan(const RingConvolutionSpec& spec, int rank, int n_ranks)
    : spec_(spec) {
  check();
  for (const RadialKernel& kernel : spec_.kernels) support_ = std::max(support_, kernel.support());
  for (const RadialKernel& kernel : spec_.conjugate_kernels)
    conjugate_support_ = std::max(conjugate_support_, kernel.support());
  is_symmetric_ = ringweave::detail::is_symmetric(grid());
  sectors_ = SectorRule::for_grid(grid());
  run_ = EqualRun::for_grid(grid());
  choose_modes(n_ranks);
  if (spec_.ring_bands == nullptr) {
    bands_.emplace(spec_.grid, ring_costs(), n_ranks);
  } else {
    if (spec_.ring_bands->n_ranks() != n_ranks || spec_.ring_bands->grid() != spec_.grid)
      refuse("the ring bands given are those of another grid or number of ranks");
    bands_.emplace(*spec_.ring_bands);
  }
  own_.emplace(bands_->rings(rank));
  plan_halos(rank);
  lay_out_rows();
  choose_maps_together();
}

void RingConvolutionPlan::check() const {
  if (spec_.grid == nullptr) refuse("no grid given");
  if (spec_.highest_degree < 0) refuse("a highest degree below 0; give 0 where all count");
  if (spec_.n_maps < 1) refuse("expected at least one map, got " + std::to_string(spec_.n_maps));
  const std::int64_t n_kernels = ssize64(spec_.kernels);
  for (const RadialKernel& kernel : spec_.kernels) {
    if (kernel.spin() != spin())
      refuse("kernels of different spins; convolve their maps separately");
    if (kernel.acts_on_conjugate()) refuse("a kernel of conjugates; give it as conjugate_kernels");
  }
  check_conjugates();
  if (n_kernels > 0 && spin() > 0) {
    check_spin();
  } else if (n_kernels != 1 && n_kernels != spec_.n_maps) {
    refuse(std::to_string(n_kernels) + " kernels for " + std::to_string(spec_.n_maps) +
           " maps; pass one for all, or one for each");
  }
  if (!(spec_.error >= 0 && spec_.error < 1))
    refuse("the error must lie in [0, 1), got " + std::to_string(spec_.error));
  for (const Ring& ring : grid().rings()) {
    if (ring.weight != 0) continue;
    refuse("the grid " + grid().name() + " has no quadrature weights");
  }
}

void RingConvolutionPlan::check_spin() const {
  const std::int64_t n_kernels = ssize64(spec_.kernels);
  if (spec_.n_maps % 2 != 0 || (n_kernels != 1 && 2 * n_kernels != spec_.n_maps)) {
    refuse(
        std::to_string(n_kernels) + " kernels of spin " + std::to_string(spin()) + " for " +
        std::to_string(spec_.n_maps) +
        " maps; fields of that spin are pairs of maps, pass one kernel for all, or one for each");
  }
  if (spec_.mode == ConvolutionMode::plain)
    refuse("the plain mode is for scalar fields; use the exact mode");
  if (spec_.rows == KernelRows::fft)
    refuse("rows of kernels for fields of spin are made by sums; leave the rows to the plan");
}

void RingConvolutionPlan::check_conjugates() const {
  if (!has_conjugates()) return;
  if (spec_.conjugate_kernels.size() != spec_.kernels.size()) {
    refuse(std::to_string(spec_.conjugate_kernels.size()) + " kernels of conjugates and " +
           std::to_string(spec_.kernels.size()) + " of fields; give as many, or none");
  }
  for (const RadialKernel& kernel : spec_.conjugate_kernels) {
    if (!kernel.acts_on_conjugate() || kernel.spin() != spin())
      refuse("a kernel of conjugates that is none, or of another spin than the fields'");
  }
}

ConvolutionSeconds RingConvolutionPlan::predicted(int rank) const {
  ConvolutionSeconds sum;
  const LocalRings rings = bands_->rings(rank);
  for (const RingBand& band : rings.bands()) {
    for (std::int64_t t = band.rings.begin; t < band.rings.end; ++t)
      sum.add(predicted_.of_ring[to_size(t)], 1);
  }
  return sum;
}

ConvolutionSeconds RingConvolutionPlan::predicted_with_repeats(int rank) const {
  ConvolutionSeconds sum = predicted(rank);
  const LocalRings rings = bands_->rings(rank);
  for (const RingBand& band : rings.bands()) {
    for (std::int64_t t = band.rings.begin; t < band.rings.end; ++t) {
      // Both ranks of a pair of rings compute the kernel's modes.
      if (has_modes(t))
        sum.modes += predicted_.of_ring[to_size(t)].modes * share_elsewhere(t, rings.bands());
    }
  }
  return sum;
}

double RingConvolutionPlan::share_elsewhere(std::int64_t ring,
                                            std::span<const RingBand> bands) const {
  const RingRange partners = intersection(window(ring), modes_.zone);
  std::int64_t here = 0;
  for (const RingBand& band : bands) here += intersection(partners, band.rings).size();
  return 1 - static_cast<double>(here) / static_cast<double>(partners.size());
}

std::vector<std::int64_t> RingConvolutionPlan::ring_costs() const {
  std::vector<std::int64_t> nanoseconds;
  for (const ConvolutionSeconds& of : predicted_.of_ring)
    nanoseconds.push_back(static_cast<std::int64_t>(std::max(1.0, 1e9 * of.total())));
  return nanoseconds;
}

RingRange RingConvolutionPlan::window(std::int64_t ring) const {
  return rings_within(grid(), {ring, ring + 1}, support_);
}

RingRange RingConvolutionPlan::conjugate_window(std::int64_t ring) const {
  return rings_within(grid(), {ring, ring + 1}, conjugate_support_);
}

bool RingConvolutionPlan::has_sectors(std::int64_t ring) const {
  const RingRange near = window(ring);
  // Rings summed in another way form a run around this one.
  return way(ring, near.begin) == Way::sectors || way(ring, near.end - 1) == Way::sectors;
}

std::vector<ModeRows> RingConvolutionPlan::mode_candidates() const {
  using Path = ConvolutionPath;
  if (spec_.mode == ConvolutionMode::plain) {
    if (spec_.path == Path::pixels || spec_.path == Path::modes_equal)
      refuse("the plain mode multiplies ring modes; leave the path to the plan, or ask for modes");
    return {plain_rows(grid())};
  }
  std::vector<ModeRows> candidates;
  if (spec_.path == Path::automatic || spec_.path == Path::pixels) candidates.emplace_back();
  const bool is_regular = run_.is_regular && run_.rings.size() > 1;
  if (spec_.path == Path::modes_equal && !is_regular)
    refuse("the grid " + grid().name() + " has no rings of one length side by side");
  if (is_regular && (spec_.path == Path::automatic || spec_.path == Path::modes_equal))
    candidates.push_back(circulant_rows(grid(), run_.rings));
  if (spec_.path == Path::automatic || spec_.path == Path::modes) {
    const int found = highest_degree(grid(), spec_.kernels, spec_.error);
    const int degree = found > 0 ? found : spec_.highest_degree;
    if (degree > 0) candidates.push_back(band_limited_rows(grid(), degree, spin()));
    if (degree == 0 && spec_.path == Path::modes) {
      refuse(
          "the kernel has no highest degree on this grid (a hard edge, or a beam narrower than the "
          "pixels), so modes alone cannot sum it; allow pixels, or a larger error");
    }
  }
  return candidates;
}

void RingConvolutionPlan::choose_modes(int n_ranks) {
  const auto weigh = [&](ModeRows candidate) {
    Prediction prediction = predict(candidate);
    const bool is_first = predicted_.of_ring.empty();
    if (!is_first && prediction.seconds.total() >= predicted_.seconds.total()) return;
    modes_ = std::move(candidate);
    predicted_ = std::move(prediction);
  };
  for (ModeRows& candidate : mode_candidates()) {
    const RowFft fft = fastest_fft(candidate, n_ranks);
    if (spec_.rows != KernelRows::fft || !fft.exists()) weigh(candidate);
    if (!fft.exists()) continue;
    candidate.row_fft = fft;
    weigh(std::move(candidate));
  }
}

RowFft RingConvolutionPlan::fastest_fft(const ModeRows& modes, int n_ranks) const {
  if (modes.zone.empty() || spec_.rows == KernelRows::sums || spin() > 0) return {};
  const std::int64_t middle = (modes.zone.begin + modes.zone.end) / 2;
  const Ring& ring = grid().ring(RingId{middle});
  const std::int64_t around = *std::max_element(modes.n_samples.begin(), modes.n_samples.end());
  std::vector<std::int64_t> allowed = {around};
  if (modes.kind == ModeRows::Kind::band_limited) {
    // Rounded up to numbers with many factors.
    for (std::int64_t unit = 32; unit <= around / 4; unit *= 2)
      allowed.push_back((around + unit - 1) / unit * unit);
  }
  // A block of orders is held for all rings within reach, with as many vectors as an FFT has
  // points, and its carried rings for half of them.
  const std::int64_t maps = spec_.kernels.size() == 1 ? std::min<std::int64_t>(4, spec_.n_maps) : 1;
  const std::int64_t rings = intersection(window(middle), modes.zone).size();
  const double point = static_cast<double>(rings * (is_symmetric_ ? 4 : 2) * maps *
                                           orders_together * std::int64_t{sizeof(double)});
  // Per thread, on an average rank: the same on all.
  const double bytes = static_cast<double>(grid().n_pixels()) *
                       static_cast<double>(spec_.n_maps * spec_.bytes_per_pixel) / n_ranks;
  const double room = static_cast<double>(
      scratch_within((spec_.n_maps > 1 ? 0.5 : 1.0) * scratch_share * bytes, 1));
  const auto fitting = static_cast<std::int64_t>(room / 3 / (2 * point));
  constexpr std::int64_t fewest_points = 4;
  constexpr std::int64_t most_points = 256;
  if (fitting < fewest_points && spec_.rows != KernelRows::fft) return {};
  const double width = RingPairChord(ring, ring).half_width(widest_chord());
  RowFft fft = fastest_row_fft(ConvolutionRates(), allowed, width / (2 * std::numbers::pi),
                               std::clamp(fitting, fewest_points, most_points));
  if (!fft.exists()) return fft;
  const double block = static_cast<double>(fft.points) * point;
  const double n_groups = static_cast<double>(fft.n_groups());
  const double n_held =
      std::clamp(std::floor((0.6 * room - 2 * block) / (block / 2)), 1.0, n_groups);
  fft.n_passes = std::ceil(n_groups / n_held);
  return fft;
}

bool RingConvolutionPlan::makes_rows_by_fft(const ModeRows& modes, double n_summed,
                                            double n_transformed, double limit) const {
  // Longer sums would need more memory for cosines than they are worth.
  constexpr double most_summed = 1.0 / 16;
  if (!modes.row_fft.exists()) return false;
  if (spec_.rows == KernelRows::fft) return true;
  if (n_summed > most_summed * static_cast<double>(modes.row_fft.samples)) return true;
  const ConvolutionRates rates;
  const double sample = modes.row_fft.n_passes * rates.mode_sample;
  const double products = static_cast<double>(spec_.n_maps) /
                          static_cast<double>(spec_.kernels.size()) * limit *
                          (rates.row_product - rates.mode_product);
  return n_transformed * sample + modes.row_fft.nanoseconds(rates, n_transformed) + products <
         n_summed * (sample + limit * rates.mode_sum);
}

double RingConvolutionPlan::widest_chord(const std::vector<RadialKernel>& kernels) {
  double chord = 0;
  for (const RadialKernel& kernel : kernels)
    chord = std::max(chord, kernel.table().chord_squared_cut);
  return chord;
}

RingConvolutionPlan::Prediction RingConvolutionPlan::predict(const ModeRows& modes) const {
  // Rings are many and similar: a sample is enough.
  constexpr std::int64_t most_rings = 512;
  const double chord = widest_chord();
  Prediction prediction;
  const std::int64_t n_rings = grid().n_rings();
  const std::int64_t step = std::max<std::int64_t>(1, n_rings / most_rings);
  for (std::int64_t begin = 0; begin < n_rings; begin += step) {
    const std::int64_t end = std::min(begin + step, n_rings);
    ConvolutionSeconds of_ring;
    of_ring.add(predict_ring(modes, (begin + end) / 2, chord), 1e-9);
    prediction.of_ring.resize(to_size(end), of_ring);
    prediction.seconds.add(of_ring, static_cast<double>(end - begin));
  }
  return prediction;
}

double RingConvolutionPlan::spin_nanoseconds(const Ring& out, const Ring& in, double taps,
                                             const ConvolutionRates& rates) const {
  const auto n_maps = static_cast<double>(spec_.n_maps);
  const auto n_kernels = static_cast<double>(spec_.kernels.size());
  const auto shared = static_cast<double>(std::gcd(out.n_phi, in.n_phi));
  return static_cast<double>(out.n_phi) * (n_maps * (rates.spin_row + taps * rates.spin_product) +
                                           n_kernels * taps * rates.spin_value / shared);
}

ConvolutionSeconds RingConvolutionPlan::predict_ring(const ModeRows& modes, std::int64_t t0,
                                                     double chord) const {
  constexpr double pairs_of_a_tile = 12;
  const ConvolutionRates rates;
  const double n_maps = static_cast<double>(spec_.n_maps);
  const double n_kernels = static_cast<double>(spec_.kernels.size());
  // Cosine and sine sums.
  const double n_rows = n_kernels * static_cast<double>(maps_of_field());
  const double n_symmetric = sectors_.is_mirrored() ? 16.0 : 1.0;
  const double n_lanes =
      static_cast<double>(sectors_.n_sectors * sectors_.n_hemispheres * spec_.n_maps);
  const double lane_waste = 8 * std::ceil(n_lanes / 8) / n_lanes;
  const Ring& out = grid().ring(RingId{t0});
  const double n_out = static_cast<double>(out.n_phi);
  const bool has_modes = modes.zone.contains(t0);
  ConvolutionSeconds cost;
  if (has_modes) {
    const double of_pixel = run_.rings.contains(t0) ? rates.equal_ring_fft : rates.ring_fft;
    const double n_modes = modes.limit(t0) + 1;
    cost.ring_fft = 2 * n_maps * (of_pixel * n_out + rates.ring_fft_mode * n_modes);
    cost.modes = n_maps * rates.mode_copy * n_modes;
  }
  if (!has_modes && spin() == 0 && run_.rings.contains(t0))
    cost.stencil = rates.stencil_pixel * n_out * n_maps;
  const RingRange near = window(t0);
  // Tiles of pairs of rings are rarely full.
  const double partners = static_cast<double>(near.size() / 2 + 1);
  const double in_tiles = modes.kind == ModeRows::Kind::circulant && run_.alternates
                              ? 2 * pairs_of_a_tile
                              : pairs_of_a_tile;
  const double tile_waste = in_tiles * std::ceil(partners / in_tiles) / partners;
  const double digits = -std::log10(std::max(spec_.error, 1e-13));
  bool has_sectors = false;
  const std::int64_t step = std::max<std::int64_t>(1, near.size() / most_partners);
  for (std::int64_t t = near.begin; t < near.end; t += step) {
    const Ring& in = grid().ring(RingId{t});
    const double width = RingPairChord(out, in).half_width(chord);
    if (width < 0) continue;
    const double pairs = static_cast<double>(std::min(step, near.end - t));
    const double taps = pixels_within(width, in);
    if (has_modes && modes.zone.contains(t)) {
      const double orders = std::min(modes.limit(t0), modes.limit(t));
      const double share = width / (2 * std::numbers::pi);
      const double summed = share * modes.samples(t0) + 1;
      const double transformed = share * static_cast<double>(modes.row_fft.samples) + 1;
      const bool by_fft = makes_rows_by_fft(modes, summed, transformed, orders);
      const double samples = by_fft ? transformed : summed;
      const double row =
          by_fft ? modes.row_fft.nanoseconds(rates, samples) : orders * samples * rates.mode_sum;
      const double product = by_fft || spin() > 0 ? rates.row_product : rates.mode_product;
      // Half of the pairs are their own transpose; half of the rest are mirrors.
      const double unique = pairs / (is_symmetric_ ? 4 : 2);
      cost.modes += unique * n_rows * samples * rates.mode_sample * modes.row_fft.n_passes;
      cost.modes += unique * tile_waste * (n_rows * row + orders * n_maps * product);
    } else if (spin() > 0) {
      cost.sectors += pairs * spin_nanoseconds(out, in, taps, rates);
    } else if (run_.rings.contains(t0) && run_.rings.contains(t)) {
      cost.stencil += pairs * taps * rates.stencil_product * n_out * n_maps;
      cost.stencil += pairs * taps * rates.stencil_weight * n_kernels;
    } else {
      has_sectors = true;
      cost.sectors += pairs * n_out * (taps + 0.5) *
                      (n_maps * lane_waste * rates.sector_product +
                       n_kernels * rates.sector_value_digit * digits / n_symmetric);
    }
  }
  if (has_sectors) cost.sectors += rates.sector_pixel * n_out * n_maps;
  if (has_conjugates()) cost.sectors += conjugate_nanoseconds(t0);
  return cost;
}

double RingConvolutionPlan::conjugate_nanoseconds(std::int64_t ring) const {
  const double chord = widest_chord(spec_.conjugate_kernels);
  const Ring& out = grid().ring(RingId{ring});
  const RingRange near = conjugate_window(ring);
  const std::int64_t step = std::max<std::int64_t>(1, near.size() / most_partners);
  double sum = 0;
  for (std::int64_t t = near.begin; t < near.end; t += step) {
    const Ring& in = grid().ring(RingId{t});
    const double width = RingPairChord(out, in).half_width(chord);
    if (width < 0) continue;
    const double pairs = static_cast<double>(std::min(step, near.end - t));
    sum += pairs * spin_nanoseconds(out, in, pixels_within(width, in), ConvolutionRates());
  }
  return sum;
}

void RingConvolutionPlan::plan_halos(int rank) {
  std::vector<std::int64_t> orders;
  for (std::int64_t t = 0; t < grid().n_rings(); ++t) {
    const std::int64_t apart = grid().ring(RingId{t}).n_phi / 2;
    orders.push_back(has_modes(t) ? std::min<std::int64_t>(modes_.limit(t), apart) + 1 : 0);
  }
  mode_orders_ = RingPayload(orders);
  if (has_modes()) mode_halo_ = plan_halo(*bands_, rank, support_, mode_orders_);
  if (sums_pixels()) pixel_halo_ = plan_halo(*bands_, rank, support(), RingPayload::pixels(grid()));
}

void RingConvolutionPlan::lay_out_rows() {
  std::int64_t position = 0;
  for (int m = 0; m <= modes_.mmax(); ++m) {
    const RingRange kept = modes_.kept[to_size(m)];
    rows_.begin_row(m);
    own_rows_.begin_row(m);
    const auto add = [&](RingRange rings, bool is_own) {
      const RingRange here = intersection(kept, rings);
      if (here.empty()) return;
      rows_.add_segment(here, position);
      if (is_own) own_rows_.add_segment(here, position);
      position += here.size();
    };
    for (const RingBand& band : own_->bands()) add(band.rings, true);
    for (const HaloPlan::Run& run : mode_halo_.runs) add(run.rings, false);
  }
  rows_.set_size(position);
  own_rows_.set_size(position);
}

void RingConvolutionPlan::choose_maps_together() {
  const std::int64_t n_modes = modes_.n_modes();
  if (n_modes == 0) return;
  // Half of the memory allowed besides the modes of one map; the same on all ranks.
  const double room = 0.5 * scratch_share * static_cast<double>(grid().n_pixels()) *
                      static_cast<double>(spec_.n_maps * spec_.bytes_per_pixel);
  const std::int64_t of_field = maps_of_field();
  const double more = std::floor(room / static_cast<double>(n_modes * mode_size * of_field));
  const std::int64_t n_fields = spec_.n_maps / of_field;
  auto together = static_cast<std::int64_t>(std::min(1 + more, static_cast<double>(n_fields)));
  while (n_fields % together != 0) --together;
  maps_together_ = together * of_field;
}

std::int64_t RingConvolutionPlan::mode_bytes() const {
  const std::int64_t modes = checked_product(rows_.size(), maps_together_, "ring modes");
  return checked_product(modes, mode_size, "bytes of ring modes");
}

std::int64_t RingConvolutionPlan::halo_bytes() const {
  const std::int64_t bytes = pixel_halo_.halo_bytes(spec_.n_maps, spec_.bytes_per_pixel);
  constexpr std::int64_t unit = sizeof(double);
  return (bytes + unit - 1) / unit * unit;
}

std::int64_t RingConvolutionPlan::scratch_within(double bytes, int n_threads) const {
  constexpr std::int64_t least_of_a_thread = std::int64_t{2} << 20;
  // Approximate memory besides the scratch: a ring FFT's tile of modes, its tables and those of the
  // products.
  constexpr std::int64_t tile_of_a_thread = std::int64_t{1} << 20;
  const std::int64_t tables = 200 * grid().longest_ring();
  const auto goal = static_cast<std::int64_t>(share_of_goal * bytes);
  return std::max(goal - n_threads * tile_of_a_thread - tables, n_threads * least_of_a_thread);
}

std::int64_t RingConvolutionPlan::scratch_goal(int n_threads) const {
  const double maps = static_cast<double>(own_->n_pixels()) *
                      static_cast<double>(spec_.n_maps * spec_.bytes_per_pixel);
  const double more_modes =
      static_cast<double>(own_rows_.size() * (maps_together_ - maps_of_field()) * mode_size);
  return scratch_within(scratch_share * maps - more_modes, n_threads);
}

}  // namespace ringweave::detail::inline convolve
