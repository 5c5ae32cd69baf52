// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "app/predict/scaling_prediction.hpp"
#include "app/run.hpp"

namespace ringweave::detail::inline app {

/// Prints the predictions for some numbers of ranks: seconds, shares, variants of the exchange. Not
/// collective.
void say_scaling(Run& run, const std::vector<ScalingPrediction>& rows);

/// Returns the prediction for one number of ranks.
nlohmann::ordered_json json_of(const ScalingPrediction& row);

/// Returns a sentence that says where scaling ends and why. Not collective.
std::string text_of(const std::optional<ScalingEnd>& end, ScalingPredictor& predictor);

}  // namespace ringweave::detail::inline app
