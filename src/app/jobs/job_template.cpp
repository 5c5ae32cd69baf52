// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/jobs/job_template.hpp"

#include <algorithm>
#include <sstream>

#include "app/jobs/job_templates.hpp"
#include "base/error.hpp"

namespace ringweave {
namespace {

std::string filled(const std::string& line, const std::vector<JobLine>& values) {
  const auto holds = [&](const JobLine& value) { return line.starts_with(value.begin); };
  const auto found = std::find_if(values.begin(), values.end(), holds);
  if (found == values.end()) return line;
  if (std::find_if(found + 1, values.end(), holds) != values.end())
    throw InternalError("two values for one line of a job: " + line);
  return found->begin + found->value;
}

}  // namespace

std::vector<std::string> job_names() {
  std::vector<std::string> names;
  for (const JobTemplate& job : job_templates) names.emplace_back(job.name);
  return names;
}

std::string job_script(std::string_view name, const std::vector<JobLine>& lines) {
  const auto job = std::find_if(job_templates.begin(), job_templates.end(),
                                [&](const JobTemplate& j) { return j.name == name; });
  if (job == job_templates.end()) throw InternalError("no job of the name " + std::string(name));
  std::istringstream text{std::string(job->text)};
  std::string script;
  for (std::string line; std::getline(text, line);) script += filled(line, lines) + '\n';
  return script;
}

}  // namespace ringweave
