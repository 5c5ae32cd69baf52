// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/header_json.hpp"

#include <utility>
#include <vector>

namespace nlohmann {

using namespace ringweave;

using SharedGrid = std::shared_ptr<const RingGrid>;

void adl_serializer<SharedGrid>::to_json(json& encoded, const SharedGrid& grid) {
  if (grid->kind() != GridKind::user) {
    encoded = grid->name();
    return;
  }
  encoded = json::array();
  for (const Ring& ring : grid->rings())
    encoded.push_back({ring.theta, ring.phi0, ring.n_phi, ring.weight});
}

void adl_serializer<SharedGrid>::from_json(const json& encoded, SharedGrid& grid) {
  if (encoded.is_string()) {
    grid = std::make_shared<const RingGrid>(RingGrid::from_name(encoded.get<std::string>()));
    return;
  }
  std::vector<RingSpec> specs;
  for (const json& ring : encoded) {
    specs.push_back({ring[0].get<double>(), ring[1].get<double>(), ring[2].get<std::int64_t>(),
                     ring[3].get<double>()});
  }
  grid = std::make_shared<const RingGrid>(RingGrid::from_rings(std::move(specs)));
}

}  // namespace nlohmann
