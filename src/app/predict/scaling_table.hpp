// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "app/predict/scaling_prediction.hpp"
#include "app/run.hpp"

namespace ringweave {

/// Prints what is predicted for some numbers of ranks: seconds, shares, ways to exchange. Not
/// collective.
void say_scaling(Run& run, const std::vector<ScalingPrediction>& rows);

/// One number of ranks.
nlohmann::ordered_json json_of(const ScalingPrediction& row);

/// Where scaling ends and why, in a sentence. Not collective.
std::string text_of(const std::optional<ScalingEnd>& end, ScalingPredictor& predictor);

}  // namespace ringweave
