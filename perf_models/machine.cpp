// SPDX-License-Identifier: GPL-3.0-or-later
#include "perf_models/machine.hpp"

#include <array>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "perf_models/typical_machine.hpp"

namespace ringweave {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* format_name = "ringweave machine 1";

struct NamedCurve {
  const char* name;
  CostCurve Machine::*curve;
};
constexpr std::array curves = {
    NamedCurve{"legendre_scalar", &Machine::legendre_scalar},
    NamedCurve{"legendre_spin", &Machine::legendre_spin},
    NamedCurve{"ring_fft", &Machine::ring_fft},
    NamedCurve{"ring_fft_modes", &Machine::ring_fft_modes},
    NamedCurve{"transform_planning", &Machine::transform_planning},
    NamedCurve{"convolution_stencil", &Machine::convolution_stencil},
    NamedCurve{"convolution_sectors", &Machine::convolution_sectors},
    NamedCurve{"convolution_ring_fft", &Machine::convolution_ring_fft},
    NamedCurve{"convolution_modes", &Machine::convolution_modes},
    NamedCurve{"convolution_planning", &Machine::convolution_planning},
    NamedCurve{"split_search", &Machine::split_search},
    NamedCurve{"new_memory", &Machine::new_memory},
    NamedCurve{"file_read", &Machine::file_read},
    NamedCurve{"file_write", &Machine::file_write},
};

struct NamedNumber {
  const char* name;
  double Network::*number;
};
constexpr std::array network_numbers = {
    NamedNumber{"short_latency", &Network::short_latency},
    NamedNumber{"short_byte", &Network::short_byte},
    NamedNumber{"long_latency", &Network::long_latency},
    NamedNumber{"long_byte", &Network::long_byte},
    NamedNumber{"longest_short", &Network::longest_short},
    NamedNumber{"uncertainty", &Network::uncertainty},
};

Json json_of(const CostCurve& curve) {
  Json points = Json::array();
  for (const CostCurve::Point& point : curve.points())
    points.push_back({point.size, point.seconds});
  return {{"points", points}, {"uncertainty", curve.uncertainty()}};
}

CostCurve curve_of(const Json& json) {
  std::vector<CostCurve::Point> points;
  for (const Json& point : json.at("points")) points.push_back({point.at(0), point.at(1)});
  return {std::move(points), json.at("uncertainty")};
}

/// What `read` makes of the entry `key`; says which entry where it fails.
template <class Read>
auto read_entry(const Json& json, const char* key, const std::string& where, const Read& read) {
  const auto refuse = [&](const std::string& why) {
    return DataError(where, std::string("\"") + key + "\": " + why +
                                "; `ringweave calibrate` writes a machine file");
  };
  if (!json.contains(key)) throw refuse("missing");
  try {
    return read(json.at(key));
  } catch (const Json::exception& error) {
    throw refuse(error.what());
  } catch (const UsageError& error) {
    throw refuse(error.what());
  }
}

double not_negative(const Json& json) {
  const double value = json.get<double>();
  if (!(value >= 0)) throw UsageError("expected a number of 0 or more");
  return value;
}

int positive(const Json& json) {
  const int value = json.get<int>();
  if (value < 1) throw UsageError("expected 1 or more");
  return value;
}

}  // namespace

std::string machine_text(const Machine& machine) {
  Json json = {{"format", format_name},    {"name", machine.name},
               {"date", machine.date},     {"backend", machine.backend},
               {"ranks", machine.n_ranks}, {"threads", machine.n_threads}};
  for (const auto& [name, curve] : curves) json[name] = json_of(machine.*curve);
  for (const auto& [name, number] : network_numbers)
    json["network"][name] = machine.network.*number;
  return json.dump(1) + '\n';
}

Machine parse_machine(const std::string& text, const std::string& where) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded() || !json.is_object() || json.value("format", Json()) != format_name) {
    throw DataError(where, std::string("not a machine file (JSON with \"format\": \"") +
                               format_name + "\"); `ringweave calibrate` writes one");
  }
  const auto text_of = [](const Json& entry) { return entry.get<std::string>(); };
  Machine machine;
  machine.name = read_entry(json, "name", where, text_of);
  machine.date = read_entry(json, "date", where, text_of);
  machine.backend = read_entry(json, "backend", where, text_of);
  machine.n_ranks = read_entry(json, "ranks", where, positive);
  machine.n_threads = read_entry(json, "threads", where, positive);
  for (const auto& [name, curve] : curves) machine.*curve = read_entry(json, name, where, curve_of);
  const Json network = read_entry(json, "network", where, [](const Json& entry) { return entry; });
  for (const auto& [name, number] : network_numbers)
    machine.network.*number = read_entry(network, name, where, not_negative);
  return machine;
}

const Machine& typical_machine() {
  static const Machine machine = parse_machine(typical_machine_text, "the typical machine");
  return machine;
}

}  // namespace ringweave
