// SPDX-License-Identifier: GPL-3.0-or-later
#include "convolve/host/mode_product.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/first_error.hpp"

namespace ringweave {
namespace {

using Complex = std::complex<double>;

/// Maps whose modes are multiplied together.
constexpr std::int64_t most_maps = 4;
/// Blocks of orders kept at a time where the samples are made more than once, in bytes.
constexpr std::int64_t most_block_bytes = std::int64_t{64} << 20;

/// work(i), i < count, shared among the threads.
template <class Work>
void for_each_index(std::int64_t count, const Work& work) {
  FirstError error;
#pragma omp parallel for schedule(dynamic)
  for (std::int64_t i = 0; i < count; ++i) error.guard([&] { work(i); });
  error.rethrow();
}

}  // namespace

/// Some orders of all rings, one in each lane: [ring of the zone][view, map, re or im][order]. The
/// second view has the rings from south to north.
class ModeProduct::Block {
 public:
  Block(const RingConvolutionPlan& plan, const KernelMaps& maps, const ModeSamples& samples)
      : plan_(&plan),
        maps_(maps),
        samples_(&samples),
        zone_(plan.modes().zone),
        n_views_(plan.is_symmetric() ? 2 : 1),
        n_channels_(n_views_ * maps.n_maps * 2),
        used_{samples.first_ring(), samples.first_ring() + samples.n_rings()},
        row_(n_channels_ * mode_sum::orders),
        // A tile that is not full reads beyond its last partner.
        size_((samples.n_rings() + 2 * mode_sum::pairs) * row_),
        in_(size_),
        out_(size_),
        cosines_(2 * samples.most_samples() * mode_sum::orders) {}

  static std::int64_t bytes(const RingConvolutionPlan& plan, const KernelMaps& maps,
                            const ModeSamples& samples) {
    const std::int64_t n_views = plan.is_symmetric() ? 2 : 1;
    return 2 * samples.n_rings() * n_views * maps.n_maps * 2 * mode_sum::orders *
           static_cast<std::int64_t>(sizeof(double));
  }

  /// Takes the orders from m on.
  void load(int m, const Complex* modes) {
    first_order_ = m;
    std::fill(in_.begin(), in_.end(), 0.0);
    std::fill(out_.begin(), out_.end(), 0.0);
    for_each_run(plan_->rows(), [&](const Run& run) {
      const Complex* from = modes + run.position * n_maps() + maps_.first_map;
      for (std::int64_t map = 0; map < maps_.n_maps; ++map) {
        double* to = in_.data() + at(run.rings.begin, run.view, map, run.order);
        const std::int64_t step = run.view == 0 ? row_ : -row_;
        for (std::int64_t i = 0; i < run.rings.size(); ++i, to += step) {
          const Complex value = from[i * n_maps() + map];
          to[0] = value.real();
          to[mode_sum::orders] = value.imag();
        }
      }
    });
  }

  void add(ModeSamples::Range range, const std::vector<std::vector<double>>& tables) {
    std::int64_t rule = -1;
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      const ModePairs& pairs = samples_->pairs()[to_size(i)];
      if (pairs.limit < first_order_) continue;
      if (pairs.rule != rule) {
        rule = pairs.rule;
        find_cosines(samples_->rules()[to_size(rule)], tables[to_size(rule)]);
      }
      const double* cosines =
          cosines_.data() + pairs.half * samples_->most_samples() * mode_sum::orders;
      mode_sum::add(pairs.tile, cosines, n_channels_, in_.data(), out_.data());
    }
  }

  void store(Complex* modes) const {
    for_each_run(plan_->own_rows(), [&](const Run& run) {
      Complex* to = modes + run.position * n_maps() + maps_.first_map;
      // The rings' own view comes first and overwrites, the mirrored one adds to it where it is.
      const RingRange both = run.view == 0 ? RingRange{} : intersection(run.rings, used_);
      for (std::int64_t map = 0; map < maps_.n_maps; ++map) {
        const double* from = out_.data() + at(run.rings.begin, run.view, map, run.order);
        const std::int64_t step = run.view == 0 ? row_ : -row_;
        for (std::int64_t i = 0; i < run.rings.size(); ++i, from += step) {
          const Complex value = Complex(from[0], from[mode_sum::orders]);
          Complex& mode = to[i * n_maps() + map];
          mode = both.contains(run.rings.begin + i) ? mode + value : value;
        }
      }
    });
    if (plan_->modes().kind != ModeRows::Kind::band_limited) halve_nyquist(modes);
  }

 private:
  /// Consecutive rings of the zone with one order, seen from one end.
  struct Run {
    RingRange rings;
    std::int64_t view = 0;
    std::int64_t order = 0;     ///< of the block
    std::int64_t position = 0;  ///< of the first ring's mode
  };

  std::int64_t n_maps() const { return plan_->spec().n_maps; }
  std::int64_t mirror(std::int64_t ring) const { return zone_.size() - 1 - ring; }
  std::int64_t at(std::int64_t ring, std::int64_t view, std::int64_t map,
                  std::int64_t order) const {
    const std::int64_t seen = view == 0 ? ring : mirror(ring);
    return (seen - used_.begin) * row_ + (view * maps_.n_maps + map) * 2 * mode_sum::orders + order;
  }

  /// work(run) for all modes the rows and the views hold, the first view of a mode before the
  /// other.
  template <class Work>
  void for_each_run(const ModeLayout& layout, const Work& work) const {
    // Few enough for their rows of the block to stay in the first cache.
    constexpr std::int64_t rings_together = 64;
    const auto rows = layout.rows();
    const std::int64_t n_orders = std::min(mode_sum::orders, ssize64(rows) - first_order_);
    const RingRange seen[] = {used_, {mirror(used_.end - 1), mirror(used_.begin) + 1}};
    for (std::int64_t begin = 0; begin < zone_.size(); begin += rings_together) {
      const RingRange here{begin, std::min(begin + rings_together, zone_.size())};
      for (std::int64_t order = 0; order < n_orders; ++order) {
        for (const RowSegment& segment : layout.segments(rows[to_size(first_order_ + order)])) {
          const RingRange rings{segment.rings.begin - zone_.begin, segment.rings.end - zone_.begin};
          for (std::int64_t view = 0; view < n_views_; ++view) {
            const RingRange part = intersection(intersection(rings, here), seen[view]);
            if (part.empty()) continue;
            work(Run{part, view, order, segment.first + part.begin - rings.begin});
          }
        }
      }
    }
  }

  /// A synthesis counts a ring's Nyquist as two orders.
  void halve_nyquist(Complex* modes) const {
    const auto rows = plan_->own_rows().rows();
    for (std::int64_t order = 0; order < mode_sum::orders; ++order) {
      const std::int64_t m = first_order_ + order;
      if (m >= ssize64(rows)) return;
      for (const RowSegment& segment : plan_->own_rows().segments(rows[to_size(m)])) {
        for (std::int64_t ring = segment.rings.begin; ring < segment.rings.end; ++ring) {
          if (plan_->modes().limit(ring) != m) continue;
          if (2 * m != plan_->grid().ring(RingId{ring}).n_phi) continue;
          Complex* mode = modes + (segment.first + ring - segment.rings.begin) * n_maps();
          for (std::int64_t map = 0; map < maps_.n_maps; ++map) mode[maps_.first_map + map] *= 0.5;
        }
      }
    }
  }

  /// cosines_[half][sample][order] = cos(pi m (2 sample + half) / around).
  void find_cosines(std::int64_t around, const std::vector<double>& table) {
    double* to = cosines_.data();
    for (std::int64_t half = 0; half < 2; ++half) {
      for (std::int64_t j = 0; j < samples_->most_samples(); ++j) {
        const std::int64_t step = 2 * j + half;
        std::int64_t k = first_order_ * step % (2 * around);
        for (std::int64_t order = 0; order < mode_sum::orders; ++order, ++to) {
          *to = table[to_size(k)];
          k = (k + step) % (2 * around);
        }
      }
    }
  }

  const RingConvolutionPlan* plan_;
  KernelMaps maps_;
  const ModeSamples* samples_;
  RingRange zone_;
  std::int64_t n_views_;
  std::int64_t n_channels_;
  RingRange used_;  ///< of the zone's rings
  std::int64_t row_;
  std::int64_t size_;
  std::int64_t first_order_ = 0;
  HostBuffer<double> in_;
  HostBuffer<double> out_;
  HostBuffer<double> cosines_;
};

ModeProduct::ModeProduct(const RingConvolutionPlan& plan) : plan_(&plan) {}

std::vector<double> ModeProduct::cosine_table(std::int64_t around) const {
  std::vector<double> table;
  for (std::int64_t k = 0; k < 2 * around; ++k)
    table.push_back(
        std::cos(std::numbers::pi * static_cast<double>(k) / static_cast<double>(around)));
  return table;
}

void ModeProduct::apply(const KernelMaps& maps, ModeView<double> modes) const {
  ModeSamples samples(*plan_, maps);
  std::vector<std::vector<double>> tables;
  for (const std::int64_t around : samples.rules()) tables.push_back(cosine_table(around));
  const bool makes_once = samples.n_parts() == 1;
  if (makes_once) samples.make(0);
  for (std::int64_t first_map = 0; first_map < maps.n_maps; first_map += most_maps) {
    KernelMaps some = maps;
    some.first_map = maps.first_map + first_map;
    some.n_maps = std::min(most_maps, maps.n_maps - first_map);
    const std::int64_t n_blocks = plan_->modes().mmax() / mode_sum::orders + 1;
    const std::int64_t n_threads = omp_get_max_threads();
    const std::int64_t n_held =
        makes_once ? std::min(n_blocks, n_threads)
                   : std::clamp(most_block_bytes / Block::bytes(*plan_, some, samples), n_threads,
                                std::max(n_blocks, n_threads));
    std::vector<Block> blocks;
    for (std::int64_t i = 0; i < n_held; ++i) blocks.emplace_back(*plan_, some, samples);
    for (std::int64_t begin = 0; begin < n_blocks; begin += n_held) {
      const std::int64_t count = std::min(n_held, n_blocks - begin);
      const auto each = [&](const auto& work) { for_each_index(count, work); };
      each([&](std::int64_t i) {
        blocks[to_size(i)].load(static_cast<int>((begin + i) * mode_sum::orders), modes.data());
      });
      for (std::int64_t part = 0; part < samples.n_parts(); ++part) {
        if (!makes_once) samples.make(part);
        each([&](std::int64_t i) { blocks[to_size(i)].add(samples.part(part), tables); });
      }
      each([&](std::int64_t i) { blocks[to_size(i)].store(modes.data()); });
    }
  }
}

}  // namespace ringweave
