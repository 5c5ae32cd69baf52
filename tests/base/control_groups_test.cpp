// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/control_groups.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string>

namespace ringweave::detail::test {
namespace {

constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t megabyte = std::int64_t{1} << 20;

/// A folder with the files of /proc and /sys that tell of control groups.
class ControlGroups : public testing::Test {
 protected:
  ControlGroups() {
    // mkdtemp() replaces the six X.
    std::string name = (std::filesystem::temp_directory_path() / "ringweave_groups_").string() +
                       std::string(6, 'X');
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no scratch folder");
    root_ = name;
  }
  ~ControlGroups() override {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }

  void write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = root_ + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  void write(const std::string& path, std::int64_t number) const {
    write(path, std::to_string(number) + "\n");
  }
  void put_in_group(const std::string& lines) const { write("/proc/self/cgroup", lines); }
  void mount(const std::string& lines) const { write("/proc/self/mountinfo", lines); }
  std::int64_t bytes() const { return control_group_bytes(root_); }

  std::string root_;
  const std::string version_1_ =
      "31 23 0:28 / /sys/fs/cgroup rw,relatime shared:5 - tmpfs tmpfs rw,mode=755\n"
      "34 31 0:31 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset\n"
      "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:7 - cgroup cgroup rw,memory\n";
  const std::string version_2_ =
      "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
};

TEST_F(ControlGroups, NoneLimitNothing) {
  EXPECT_EQ(bytes(), unlimited);
  mount(version_2_);
  put_in_group("0::/\n");
  EXPECT_EQ(bytes(), unlimited);
  write("/sys/fs/cgroup/memory.max", "max\n");
  write("/sys/fs/cgroup/memory.current", 5 * megabyte);
  EXPECT_EQ(bytes(), unlimited);
}

TEST_F(ControlGroups, OfVersion2LimitAndThoseAroundThemToo) {
  mount(version_2_);
  put_in_group("0::/slurm/job_7/step_0\n");
  write("/sys/fs/cgroup/slurm/job_7/step_0/memory.max", "max\n");
  write("/sys/fs/cgroup/slurm/job_7/memory.max", 250 * megabyte);
  write("/sys/fs/cgroup/slurm/job_7/memory.current", 100 * megabyte);
  EXPECT_EQ(bytes(), 150 * megabyte);
  write("/sys/fs/cgroup/slurm/memory.max", 1000 * megabyte);
  write("/sys/fs/cgroup/slurm/memory.current", 900 * megabyte);
  EXPECT_EQ(bytes(), 100 * megabyte);
  write("/sys/fs/cgroup/slurm/job_7/step_0/memory.high", 50 * megabyte);
  write("/sys/fs/cgroup/slurm/job_7/step_0/memory.current", 60 * megabyte);
  EXPECT_EQ(bytes(), 0);
}

TEST_F(ControlGroups, OfVersion1LimitByTheMemoryController) {
  mount(version_1_);
  put_in_group("8:pids:/\n4:cpuset,memory:/slurm/uid_0/job_7\n3:cpuset:/other\n0::/\n");
  write("/sys/fs/cgroup/memory/slurm/uid_0/job_7/memory.limit_in_bytes", 250 * megabyte);
  write("/sys/fs/cgroup/memory/slurm/uid_0/job_7/memory.usage_in_bytes", 50 * megabyte);
  write("/sys/fs/cgroup/memory/memory.limit_in_bytes", 9223372036854771712);
  write("/sys/fs/cgroup/cpuset/other/memory.limit_in_bytes", megabyte);
  EXPECT_EQ(bytes(), 200 * megabyte);
}

TEST_F(ControlGroups, CachedFilesAreFree) {
  mount(version_2_);
  put_in_group("0::/job\n");
  write("/sys/fs/cgroup/job/memory.max", 100 * megabyte);
  write("/sys/fs/cgroup/job/memory.current", 90 * megabyte);
  write("/sys/fs/cgroup/job/memory.stat",
        "anon 1000\nfile 83886080\ninactive_file 52428800\nactive_file 20971520\n");
  EXPECT_EQ(bytes(), 80 * megabyte);
}

TEST_F(ControlGroups, OfContainersAreFoundWhereTheyAreMounted) {
  put_in_group("4:memory:/docker/abc/inner\n");
  mount("35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n");
  write("/sys/fs/cgroup/memory/memory.limit_in_bytes", 100 * megabyte);
  EXPECT_EQ(bytes(), 100 * megabyte);
  write("/sys/fs/cgroup/memory/inner/memory.limit_in_bytes", 30 * megabyte);
  EXPECT_EQ(bytes(), 30 * megabyte);
  put_in_group("4:memory:/another\n");
  EXPECT_EQ(bytes(), 100 * megabyte);
}

}  // namespace
}  // namespace ringweave::detail::test
