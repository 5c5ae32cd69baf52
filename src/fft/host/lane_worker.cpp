// SPDX-License-Identifier: GPL-3.0-or-later
#include "fft/host/lane_worker.hpp"

#include <algorithm>

#include "base/checked_cast.hpp"

namespace ringweave::detail::inline fft {
namespace {

using Complex = std::complex<double>;

// Values of offsets_ for orders without one position for the whole run.
constexpr std::int64_t in_parts = -1;
constexpr std::int64_t absent = -2;

}  // namespace

LaneWorker::LaneWorker(const RingPlan& plan, const RingFftShape& shape)
    : plan_(&plan),
      rows_(&shape.rows),
      n_components_(shape.n_components),
      n_lanes_(lane_rings::n_lanes()) {
  phase_tables_.fill(-1);
  const std::int64_t n_phi = plan.max_lane_phi;
  if (n_phi == 0) return;
  fine_phases_.allocate(lane_rings::n_fine_phases * 2 * n_lanes_);
  coarse_phases_.allocate((plan.n_modes / lane_rings::n_fine_phases + 1) * 2 * n_lanes_);
  roots_.allocate(n_phi / 4 + 1);
  turns_.allocate(n_phi / 2);
  offsets_.allocate(plan.n_modes);
  places_.allocate(plan.n_modes);
}

void LaneWorker::place(ScratchArena& pieces) {
  const std::int64_t n_phi = plan_->max_lane_phi;
  if (n_phi == 0) return;
  rings_.bins = pieces.allocate<double>((n_phi / 2 + 1) * 2 * n_lanes_);
  rings_.scratch = pieces.allocate<double>((n_phi / 2 + 1) * 2 * n_lanes_);
  edges_ = pieces.allocate<Complex>(plan_->n_modes * n_lanes_);
}

void LaneWorker::prepare(const LaneRun& run) noexcept {
  const RingPlan::Length* length = &plan_->lengths[to_size(run.length)];
  if (length != length_) {
    length_ = length;
    plan_->powers.expand(length->roots, length->length.n_phi / 4 + 1, roots_.data());
    plan_->powers.expand(length->turns, length->length.n_complex, turns_.data());
  }
  locate(run);
  rings_.n_phi = length->length.n_phi;
  rings_.radices = length->radices;
  rings_.roots = roots_.data();
  rings_.turns = turns_.data();
}

void LaneWorker::locate(const LaneRun& run) noexcept {
  rings_.n_modes = 0;
  std::fill(offsets_.begin(), offsets_.end(), absent);
  for (const ModeLayout::Row& row : rows_->rows()) {
    for (const RowSegment& segment : rows_->segments(row)) {
      const RingRange common = intersection(segment.rings, run.rings);
      if (common.empty()) continue;
      rings_.n_modes = row.m + std::int64_t{1};
      offsets_[row.m] =
          common.size() == run.rings.size()
              ? (segment.first + run.rings.begin - segment.rings.begin) * n_components_
              : in_parts;
    }
  }
}

void LaneWorker::prepare_phases(const LaneRun& run, Group group) noexcept {
  std::array<std::int64_t, lane_rings::most_lanes> tables;
  tables.fill(-1);
  for (std::int64_t i = 0; i < group.count; ++i)
    tables[to_size(i)] = plan_->ring(ring_of(run, group.first + i)).phases;
  const bool is_shifted = std::any_of(tables.begin(), tables.end(), [](auto t) { return t >= 0; });
  rings_.fine_phases = is_shifted ? fine_phases_.data() : nullptr;
  rings_.coarse_phases = coarse_phases_.data();
  if (!is_shifted || (tables == phase_tables_ && rings_.n_modes <= n_phases_)) return;
  phase_tables_ = tables;
  n_phases_ = rings_.n_modes;
  const auto set = [&](double* to, std::int64_t m) {
    for (std::int64_t i = 0; i < n_lanes_; ++i) {
      const std::int64_t table = tables[to_size(i)];
      const Complex phase = table < 0 ? 1.0 : plan_->powers.value(table, m);
      to[i] = phase.real();
      to[n_lanes_ + i] = phase.imag();
    }
  };
  constexpr std::int64_t n_fine = lane_rings::n_fine_phases;
  for (std::int64_t m = 0; m < std::min(n_fine, n_phases_); ++m)
    set(fine_phases_.data() + 2 * n_lanes_ * m, m);
  for (std::int64_t m = 0; m < n_phases_; m += n_fine)
    set(coarse_phases_.data() + 2 * n_lanes_ * (m / n_fine), m);
}

template <class Work>
void LaneWorker::for_each_group(const LaneRun& run, LastGroup last, const Work& work) {
  const std::int64_t n = run.rings.size() * n_components_;
  for (std::int64_t first = 0; first < n; first += n_lanes_) {
    const std::int64_t begin = last == LastGroup::is_short
                                   ? first
                                   : std::max<std::int64_t>(0, std::min(first, n - n_lanes_));
    const Group group{begin, std::min(n_lanes_, n - begin)};
    prepare_phases(run, group);
    work(group);
  }
}

template <class T>
auto LaneWorker::lanes_of(const LaneRun& run, MapView<T> map) const noexcept {
  return [=, this](std::int64_t lane) {
    return map.component(lane % n_components_).data() + plan_->ring(ring_of(run, lane)).first_pixel;
  };
}

auto LaneWorker::lanes_of(const RunPixels& pixels) const noexcept {
  return [=, this](std::int64_t lane) {
    return pixels.rings[to_size(lane / n_components_)] +
           lane % n_components_ * pixels.component_stride;
  };
}

template <class T, class Lanes>
std::array<T*, lane_rings::most_lanes> LaneWorker::targets_of(Group group,
                                                              const Lanes& lanes) noexcept {
  std::array<T*, lane_rings::most_lanes> pixels{};
  for (std::int64_t i = 0; i < group.count; ++i) pixels[to_size(i)] = lanes(group.first + i);
  return pixels;
}

template <class T, class Lanes>
std::array<const T*, lane_rings::most_lanes> LaneWorker::pixels_of(Group group,
                                                                   const Lanes& lanes) noexcept {
  auto pixels = targets_of<const T>(group, lanes);
  std::fill(pixels.begin() + group.count, pixels.end(), pixels[to_size(group.count - 1)]);
  return pixels;
}

std::array<double, lane_rings::most_lanes> LaneWorker::weights_of(
    const LaneRun& run, Group group, std::span<const double> ring_weights) const noexcept {
  std::array<double, lane_rings::most_lanes> weights;
  weights.fill(1);
  for (std::int64_t i = 0; i < group.count && !ring_weights.empty(); ++i) {
    weights[to_size(i)] = ring_weights[static_cast<std::size_t>(ring_of(run, group.first + i))];
  }
  return weights;
}

template <class Move>
void LaneWorker::for_each_part(const LaneRun& run, Group group, const ModeLayout::Row& row,
                               const Move& move) const {
  for (const RowSegment& segment : rows_->segments(row)) {
    const RingRange common = intersection(segment.rings, run.rings);
    if (common.empty()) continue;
    const std::int64_t begin =
        std::max((common.begin - run.rings.begin) * n_components_, group.first);
    const std::int64_t end =
        std::min((common.end - run.rings.begin) * n_components_, group.first + group.count);
    if (begin >= end) continue;
    const std::int64_t place =
        (segment.first + run.rings.begin - segment.rings.begin) * n_components_ + begin;
    move(place, begin - group.first, end - begin);
  }
}

void LaneWorker::place(Group group, Complex* modes) noexcept {
  std::fill(places_.begin(), places_.end(), nullptr);
  for (const ModeLayout::Row& row : rows_->rows()) {
    if (offsets_[row.m] == absent) continue;
    places_[row.m] = is_direct(group, row.m) ? modes + offsets_[row.m] + group.first : edge(row.m);
  }
}

void LaneWorker::copy_to_edges(const LaneRun& run, Group group, const Complex* modes) noexcept {
  for (const ModeLayout::Row& row : rows_->rows()) {
    if (offsets_[row.m] == absent || is_direct(group, row.m)) continue;
    std::fill_n(edge(row.m), n_lanes_, 0.0);
    for_each_part(run, group, row, [&](std::int64_t place, std::int64_t lane, std::int64_t n) {
      std::copy_n(modes + place, n, edge(row.m) + lane);
    });
  }
}

void LaneWorker::copy_from_edges(const LaneRun& run, Group group, Complex* modes) noexcept {
  for (const ModeLayout::Row& row : rows_->rows()) {
    if (offsets_[row.m] == absent || is_direct(group, row.m)) continue;
    for_each_part(run, group, row, [&](std::int64_t place, std::int64_t lane, std::int64_t n) {
      std::copy_n(edge(row.m) + lane, n, modes + place);
    });
  }
}

template <class T, class Lanes>
void LaneWorker::synthesize_lanes(const LaneRun& run, const Complex* modes,
                                  const Lanes& lanes) noexcept {
  prepare(run);
  for_each_group(run, LastGroup::reaches_back, [&](Group group) {
    // The const_cast is safe: these pointers are only read.
    place(group, const_cast<Complex*>(modes));
    copy_to_edges(run, group, modes);
    lane_steps<T>().synthesize(rings_, places_.data(), targets_of<T>(group, lanes).data());
  });
}

template <class T, class Lanes>
void LaneWorker::adjoint_lanes(const LaneRun& run, const Lanes& lanes,
                               std::span<const double> ring_weights, Complex* modes) noexcept {
  prepare(run);
  for_each_group(run, LastGroup::reaches_back, [&](Group group) {
    place(group, modes);
    lane_steps<T>().adjoint(rings_, pixels_of<T>(group, lanes).data(),
                            weights_of(run, group, ring_weights).data(), places_.data());
    copy_from_edges(run, group, modes);
  });
}

template <class T>
void LaneWorker::synthesize(const LaneRun& run, const Complex* modes, MapView<T> map) noexcept {
  synthesize_lanes<T>(run, modes, lanes_of<T>(run, map));
}
void LaneWorker::synthesize(const LaneRun& run, const Complex* modes,
                            const RunPixels& pixels) noexcept {
  synthesize_lanes<double>(run, modes, lanes_of(pixels));
}

template <class T>
void LaneWorker::adjoint(const LaneRun& run, MapView<const T> map,
                         std::span<const double> ring_weights, Complex* modes) noexcept {
  adjoint_lanes<T>(run, lanes_of<const T>(run, map), ring_weights, modes);
}
void LaneWorker::adjoint(const LaneRun& run, const RunPixels& pixels, Complex* modes) noexcept {
  adjoint_lanes<double>(run, lanes_of(pixels), {}, modes);
}

template <class T>
void LaneWorker::to_spectra(const LaneRun& run, MapView<T> map) noexcept {
  prepare(run);
  for_each_group(run, LastGroup::is_short, [&](Group group) {
    lane_steps<T>().to_spectra(rings_, targets_of<T>(group, lanes_of<T>(run, map)).data());
  });
}

template <class T>
void LaneWorker::apply_operator(SpectrumOperator what, const LaneRun& run, MapView<const T> spectra,
                                std::span<const double> ring_weights, Complex* modes,
                                double* squares) noexcept {
  prepare(run);
  for_each_group(run, LastGroup::is_short, [&](Group group) {
    place(group, modes);
    copy_to_edges(run, group, modes);
    std::array<const T*, lane_rings::most_lanes> pixels{};
    if (what != SpectrumOperator::adjoint_of_synthesis)
      pixels = pixels_of<T>(group, lanes_of<const T>(run, spectra));
    std::array<double, lane_rings::most_lanes> of_lanes;
    lane_steps<T>().apply_operator(what, rings_, pixels.data(),
                                   weights_of(run, group, ring_weights).data(), places_.data(),
                                   of_lanes.data());
    copy_from_edges(run, group, modes);
    std::copy_n(of_lanes.data(), group.count,
                squares + run.first_local * n_components_ + group.first);
  });
}

template void LaneWorker::synthesize(const LaneRun&, const Complex*, MapView<double>) noexcept;
template void LaneWorker::synthesize(const LaneRun&, const Complex*, MapView<float>) noexcept;
template void LaneWorker::adjoint(const LaneRun&, MapView<const double>, std::span<const double>,
                                  Complex*) noexcept;
template void LaneWorker::adjoint(const LaneRun&, MapView<const float>, std::span<const double>,
                                  Complex*) noexcept;
template void LaneWorker::to_spectra(const LaneRun&, MapView<double>) noexcept;
template void LaneWorker::to_spectra(const LaneRun&, MapView<float>) noexcept;
template void LaneWorker::apply_operator(SpectrumOperator, const LaneRun&, MapView<const double>,
                                         std::span<const double>, Complex*, double*) noexcept;
template void LaneWorker::apply_operator(SpectrumOperator, const LaneRun&, MapView<const float>,
                                         std::span<const double>, Complex*, double*) noexcept;

std::int64_t run_bytes_of_thread(std::int64_t n_phi, std::int64_t n_orders) {
  const std::int64_t of_lane =
      2 * (n_phi + 2) * std::int64_t{sizeof(double)} + n_orders * std::int64_t{sizeof(Complex)};
  const std::int64_t of_tables = (n_phi / 4 + n_phi / 2) * std::int64_t{sizeof(Complex)} +
                                 n_orders * std::int64_t{sizeof(std::int64_t) + sizeof(Complex*)};
  return lane_rings::n_lanes() * of_lane + of_tables;
}

std::int64_t LaneWorker::bytes() const {
  return held_bytes(fine_phases_, coarse_phases_, roots_, turns_, offsets_, places_);
}

}  // namespace ringweave::detail::inline fft
