// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ringweave {

/// A value of a job script: what stands after `begin` on the line that begins so.
struct JobLine {
  std::string begin;
  std::string value;
};

/// The names of the files jobs/*.sbatch, without their extension.
std::vector<std::string> job_names();

/// The file jobs/NAME.sbatch with the values of these lines put in; those it does not have are left
/// out. Error  InternalError when there is no such file or a line of it begins with two of them.
std::string job_script(std::string_view name, const std::vector<JobLine>& lines);

}  // namespace ringweave
