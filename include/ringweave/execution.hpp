// SPDX-License-Identifier: GPL-3.0-or-later
// Options for the stages of transforms, and the seconds that they took.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <string>

namespace ringweave {

/// Place where the stages of a plan run. Chosen once, when the plan is made.
enum class Backend { host, cuda };

/// Stages of a transform that run on the device of Backend::cuda. Where one of them stays on the
/// host, so do a_lm and maps, and the other copies its data in blocks: some machines are fastest
/// so.
enum class StagesOnDevice { both, legendre, ring_fft };

/// Rings on which the sums over degrees are formed: those of the grid, or lmax + 1 equidistant ones
/// from which those of the grid are interpolated, to 1e-13 and with an exact transpose. `automatic`
/// takes the route with the smaller estimated cost.
enum class ThetaRoute { automatic, direct, resampled };

/// Tells whether orders that are aliases on the longest run of equal rings, and live on one rank,
/// are summed before they are sent.
enum class Folding { fold, keep };

/// Schedule of the exchange of modes. `whole`: between the stages, as one MPI_Alltoallv, or in
/// passes of some orders each where memory is short. `overlapped`: in passes, one of which is
/// exchanged while the Legendre stage works on the next. Results are the same bit by bit.
enum class ExchangeSchedule { whole, overlapped };

/// Precision of the modes that are exchanged. `single_` sends complex<float>, in passes: half the
/// bytes. Every mode is rounded, also those that stay on their rank, so results do not depend on
/// the number of ranks. Maps and a_lm then have relative rms errors of about 3e-8, below 1e-6 in
/// any case. Modes above 3e38 are refused (DataError); a field whose modes are all below 1e-37
/// loses its digits.
enum class ModePrecision { double_, single_ };

/// Options of the exchange of ring modes between ranks.
struct ExchangeOptions {
  Folding folding = Folding::fold;  ///< of orders that are aliases
  /// Order of the messages and the Legendre stage.
  ExchangeSchedule schedule = ExchangeSchedule::whole;
  ModePrecision precision = ModePrecision::double_;  ///< of the modes that are sent
  /// Largest count or displacement handed to MPI. More modes are packed and go in passes. Tests
  /// make it small.
  std::int64_t mpi_count_limit = std::numeric_limits<int>::max();
};

/// Wall seconds and calls of the named stages of one rank ("legendre", "exchange", "ring_fft",
/// "read", ...). Not thread safe: stages begin and end on the rank's main thread.
class StageTimes {
 public:
  /// Seconds and calls of one stage.
  struct Entry {
    double seconds = 0;  ///< of all calls together
    long calls = 0;      ///< so far
  };
  /// Adds one call of a stage.
  void add(const std::string& stage, double seconds) {
    Entry& entry = entries_[stage];
    entry.seconds += seconds;
    ++entry.calls;
  }
  /// Returns the seconds of a stage; 0 if it never ran.
  double seconds(const std::string& stage) const {
    const auto found = entries_.find(stage);
    return found == entries_.end() ? 0.0 : found->second.seconds;
  }
  const std::map<std::string, Entry>& entries() const { return entries_; }  ///< [name]
  void clear() { entries_.clear(); }                                        ///< forgets all stages

 private:
  std::map<std::string, Entry> entries_;
};

/// Predicted seconds, and one standard deviation of the prediction's error.
struct Estimate {
  double seconds = 0;  ///< the prediction
  double sigma = 0;    ///< one standard deviation, seconds

  /// Adds stages that run one after the other; errors of different stages are independent.
  friend Estimate operator+(const Estimate& a, const Estimate& b) {
    return {a.seconds + b.seconds, std::hypot(a.sigma, b.sigma)};
  }
  /// Repeats a stage: the relative error is the same every time.
  friend Estimate operator*(double times, const Estimate& one) {
    return {times * one.seconds, times * one.sigma};
  }
  /// Returns the longer of two stages that run side by side.
  friend Estimate longer(const Estimate& a, const Estimate& b) {
    return b.seconds > a.seconds ? b : a;
  }
};

}  // namespace ringweave
