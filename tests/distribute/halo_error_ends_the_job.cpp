// SPDX-License-Identifier: GPL-3.0-or-later
// Rank 1 fails between begin and end of a halo exchange; the others wait for it in the next
// collective call. The whole job must end, with the exit code of rank 1's error (4).
#include <memory>
#include <vector>

#include "distribute/halo/halo_exchange.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/error.hpp"
#include "ringweave/views.hpp"

int main(int argc, char** argv) {
  using namespace ringweave;
  using namespace ringweave::detail;
  const MpiSession session(&argc, &argv);
  const Communicator world = Communicator::world();
  const auto grid = std::make_shared<const RingGrid>(RingGrid::healpix(64));
  const RingDistribution rings(grid, ModeLimits(*grid, 128, 128, 0), world.size());
  const HaloPlan plan = plan_halo(rings, world.rank(), 0.5, RingPayload::pixels(*grid));
  HaloExchange exchange(world, plan, 1);
  ComponentBuffer<double> own(1, plan.own_size);
  ComponentBuffer<double> halo(1, plan.halo_size);
  exchange.run(own.view(), halo.view(), [&] {
    if (world.rank() == 1) throw ResourceError("rank 1 gives up");
  });
  world.barrier();
}
