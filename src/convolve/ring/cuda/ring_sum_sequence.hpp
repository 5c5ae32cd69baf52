// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/cuda/for_groups.hpp"
#include "convolve/ring/cuda/convolved_fields.hpp"
#include "convolve/ring/cuda/multiply_modes.hpp"
#include "convolve/ring/cuda/ring_sum_plan.hpp"
#include "convolve/ring/cuda/sum_equal_rings.hpp"
#include "convolve/ring/cuda/sum_pixels.hpp"
#include "sphere/kernel/kernel_table.hpp"

namespace ringweave::detail::gpu {

/// Consecutive maps that are convolved with one kernel.
struct MapsOfKernel {
  std::int64_t kernel = 0;  ///< number of add_kernel()
  std::int64_t first_map = 0;
  std::int64_t n_maps = 0;

  std::int64_t end_map() const { return first_map + n_maps; }
};

/// Calls work(maps of a kernel) for the kernels of some maps, whole fields.
template <class Work>
void for_kernels(const RingConvolutionPlan& plan, std::int64_t first_map, std::int64_t n_maps,
                 const Work& work) {
  if (plan.spec().kernels.size() == 1) return work(MapsOfKernel{0, first_map, n_maps});
  const std::int64_t of_field = plan.maps_of_field();
  for (std::int64_t map = first_map; map < first_map + n_maps; map += of_field)
    work(MapsOfKernel{map / of_field, map, of_field});
}

/// Launches of the sums of a ring convolution in order. Machine runs them: a device, or its
/// emulation on the host (see StageSequence).
template <class Machine>
class RingSumSequence {
 public:
  RingSumSequence(const RingSumPlan& plan, Machine& machine)
      : machine_(&machine),
        highest_order_(plan.highest_order),
        n_rings_(plan.n_rings),
        spin_(plan.spin),
        halves_nyquist_(plan.halves_nyquist),
        n_outputs_(ssize64(plan.outputs)),
        rings_(machine.upload(plan.rings)),
        outputs_(machine.upload(plan.outputs)),
        tiles_(machine.upload(plan.tiles)),
        rules_(machine.upload(plan.rules)),
        sines_(machine.upload(plan.sines)),
        orders_(machine.upload(plan.orders)),
        segments_(machine.upload(plan.segments)),
        own_orders_(machine.upload(plan.own_orders)),
        own_segments_(machine.upload(plan.own_segments)),
        pixels_(upload(plan.pixels, machine)),
        conjugates_(upload(plan.conjugates, machine)) {
    const UnitPowers powers(plan.powers);
    const auto factors = powers.factors();
    powers_ = machine.upload(reinterpret_cast<const Double2*>(factors.data()), factors.size());
  }

  void add_kernel(const KernelTable& table) {
    kernels_.push_back(
        {table.lookup(),
         machine_->upload(table.coefficients(), ssize64(table.pieces) * (KernelTable::degree + 1)),
         machine_->upload(table.first_piece), machine_->upload(table.piece_end),
         machine_->upload(table.piece_centre)});
  }

  /// in, out  [position][component] of own and halo rings, and of own rings
  void multiply(const MapsOfKernel& maps, std::int64_t n_components, const Double2* in,
                Double2* out) {
    for_fields(maps, [&](auto fields, std::int64_t first_map) {
      using Launch = MultiplyModes<decltype(fields)>;
      const std::int64_t n_order_blocks = Launch::order_blocks(highest_order_);
      const Launch launch{tables(),
                          lookup(maps.kernel),
                          fields,
                          halves_nyquist_,
                          n_order_blocks,
                          n_components,
                          first_map,
                          in,
                          out};
      machine_->launch(launch, n_outputs_ * n_order_blocks);
    });
  }

  /// Writes the sums of own rings that have no modes, and adds them to the others.
  template <class T>
  void sum_pixels(const MapsOfKernel& maps, SumMap<const T> own, SumMap<const T> halo,
                  SumMap<T> out) {
    for_fields(maps, [&](auto fields, std::int64_t first_map) {
      launch_sums<T>(fields, maps.kernel, first_map, pixels_, own, halo, out);
    });
  }

  /// Adds the sums of the conjugates of fields of spin, after those of the fields.
  template <class T>
  void sum_conjugates(const MapsOfKernel& maps, SumMap<const T> own, SumMap<const T> halo,
                      SumMap<T> out) {
    for (std::int64_t map = maps.first_map; map < maps.end_map(); map += ConjugateMaps::maps)
      launch_sums<T>(ConjugateMaps{spin_}, maps.kernel, map, conjugates_, own, halo, out);
  }

  std::int64_t bytes() const {
    std::int64_t sum = rings_.bytes() + outputs_.bytes() + tiles_.bytes() + rules_.bytes() +
                       sines_.bytes() + orders_.bytes() + segments_.bytes() + own_orders_.bytes() +
                       own_segments_.bytes() + powers_.bytes();
    for (const PixelRingSetsThere* sets : {&pixels_, &conjugates_}) {
      sum += sets->equal.rings.bytes() + sets->symmetric.rings.bytes() + sets->other.rings.bytes();
    }
    for (const Kernel& kernel : kernels_) {
      sum += kernel.coefficients.bytes() + kernel.first_piece.bytes() + kernel.piece_end.bytes() +
             kernel.piece_centre.bytes();
    }
    return sum;
  }

 private:
  template <class T>
  using Buffer = typename Machine::template Buffer<T>;
  struct Kernel {
    KernelLookup host;
    Buffer<double> coefficients;
    Buffer<std::int32_t> first_piece;
    Buffer<double> piece_end;
    Buffer<double> piece_centre;
  };

  /// PixelRings where the launches read them.
  struct PixelRingsThere {
    Buffer<PixelRing> rings;
    std::int64_t count;
    std::int64_t longest;
  };
  struct PixelRingSetsThere {
    PixelRingsThere equal;
    PixelRingsThere symmetric;
    PixelRingsThere other;
  };

  /// Calls work(fields of a launch, their first map).
  template <class Work>
  void for_fields(const MapsOfKernel& maps, const Work& work) const {
    if (spin_ == 0) {
      return for_groups<2, 1>(maps.first_map, maps.end_map(),
                              [&](auto count, std::int64_t first_map) {
                                work(ScalarMaps<decltype(count)::value>(), first_map);
                              });
    }
    for (std::int64_t map = maps.first_map; map < maps.end_map(); map += SpinMaps::maps)
      work(SpinMaps{spin_}, map);
  }
  static PixelRingsThere upload(const PixelRings& rings, Machine& machine) {
    return {machine.upload(rings.rings), ssize64(rings.rings), rings.longest};
  }
  static PixelRingSetsThere upload(const PixelRingSets& sets, Machine& machine) {
    return {upload(sets.equal, machine), upload(sets.symmetric, machine),
            upload(sets.other, machine)};
  }

  template <class T, class Fields>
  void launch_sums(const Fields& fields, std::int64_t kernel, std::int64_t first_map,
                   PixelRingSetsThere& sets, SumMap<const T> own, SumMap<const T> halo,
                   SumMap<T> out) {
    const auto launch = [&](auto as, PixelRingsThere& rings) {
      using Launch = typename decltype(as)::type;
      if (rings.count == 0) return;
      const std::int64_t n_pieces = Launch::pieces(rings.longest);
      const Launch work{{tables(), lookup(kernel), fields, rings.rings.data(), n_pieces, first_map,
                         own, halo, out}};
      machine_->launch(work, rings.count * n_pieces);
    };
    launch(std::type_identity<SumEqualRings<T, Fields>>(), sets.equal);
    launch(std::type_identity<SumPixels<T, Fields, Symmetry::quarters>>(), sets.symmetric);
    launch(std::type_identity<SumPixels<T, Fields, Symmetry::none>>(), sets.other);
  }

  KernelLookup lookup(std::int64_t number) {
    Kernel& kernel = kernels_[to_size(number)];
    KernelLookup lookup = kernel.host;
    lookup.coefficients = kernel.coefficients.data();
    if (lookup.first_piece != nullptr) lookup.first_piece = kernel.first_piece.data();
    lookup.piece_end = kernel.piece_end.data();
    lookup.piece_centre = kernel.piece_centre.data();
    return lookup;
  }
  RingSumTables tables() {
    return {rings_.data(),      outputs_.data(),      tiles_.data(),  rules_.data(),
            sines_.data(),      powers_.data(),       orders_.data(), segments_.data(),
            own_orders_.data(), own_segments_.data(), n_rings_};
  }

  Machine* machine_;
  std::int64_t highest_order_;
  std::int64_t n_rings_;
  int spin_;
  bool halves_nyquist_;
  std::int64_t n_outputs_;
  Buffer<SumRing> rings_;
  Buffer<OutputRing> outputs_;
  Buffer<PartnerTile> tiles_;
  Buffer<SampleRule> rules_;
  Buffer<double> sines_;
  Buffer<OrderSegments> orders_;
  Buffer<RowSegment> segments_;
  Buffer<OrderSegments> own_orders_;
  Buffer<RowSegment> own_segments_;
  PixelRingSetsThere pixels_;
  PixelRingSetsThere conjugates_;
  Buffer<Double2> powers_;
  std::vector<Kernel> kernels_;
};

}  // namespace ringweave::detail::gpu
