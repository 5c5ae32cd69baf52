// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ringweave {

/// A value of a job script, which replaces the rest of the line that begins with `begin`.
struct JobLine {
  std::string begin;
  std::string value;
};

/// Returns the names of the files jobs/*.sbatch, without extension.
std::vector<std::string> job_names();

/// Returns the file jobs/NAME.sbatch with the values of these lines; lines it does not have are
/// ignored. Error  InternalError when there is no such file or a line of it begins with two of
/// them.
std::string job_script(std::string_view name, const std::vector<JobLine>& lines);

}  // namespace ringweave
