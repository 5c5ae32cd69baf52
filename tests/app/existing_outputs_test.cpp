// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/maps/existing_outputs.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <string>

namespace ringweave::detail {
namespace {

TEST(FirstDifference, IsInAnOptionThatDecidesWhatAnOutputHolds) {
  EXPECT_EQ(first_difference(R"({"cl":"cl.txt","lmax":16})", R"({"lmax":32,"cl":"cl.txt"})"),
            "was made with --lmax 16, and this run has --lmax 32");
  EXPECT_EQ(first_difference(R"({"lmax":16})", R"({"lmax":16,"fwhm":"3deg"})"),
            "was made with no --fwhm, and this run has --fwhm 3deg");
  EXPECT_EQ(first_difference(R"({"lmax":16,"put-back":true})", R"({"lmax":16,"put-back":false})"),
            "was made with --put-back, and this run has no --put-back");
  EXPECT_EQ(first_difference(R"({"error":1e-5})", R"({"error":0.001})"),
            "was made with --error 1e-05, and this run has --error 0.001");
  EXPECT_EQ(first_difference("", R"({"lmax":16})"),
            "was made with no --lmax, and this run has --lmax 16");
}

TEST(FirstDifference, IsNoneWhereOnlyTheRunOrTheNamesOfOutputsDiffer) {
  const std::string made =
      R"({"MAP":["a.h5","o.h5"],"OUT":"a","seed":"1..4","threads":1,"iter":3})";
  const std::string now =
      R"({"MAP":"o.h5","OUT":"b","seed":"1..9","maps":"list.txt","threads":8,"iter":3,
          "report":"r.json","machine":"typical","progress":"off","verbose":true,"overwrite":true,
          "resume":true,"dry-run":true,"batch":2,"backend":"cuda","harmonic-ranks":1,
          "save-alm":"alm.h5"})";
  EXPECT_EQ(first_difference(made, now), "");
  EXPECT_EQ(first_difference(now, made), "");
}

TEST(FirstDifference, IsNoneBetweenTwoNamesOfOneThing) {
  EXPECT_EQ(first_difference(R"({"nside":16})", R"({"grid":"healpix:16"})"), "");
  EXPECT_NE(first_difference(R"({"nside":16})", R"({"grid":"healpix:32"})"), "");
  EXPECT_EQ(first_difference(R"({"exchange":"double"})", R"({"exchange":"overlap"})"), "");
  EXPECT_NE(first_difference(R"({"exchange":"double"})", R"({"exchange":"single"})"), "");
  EXPECT_EQ(first_difference(R"({"lmax":16,"put-back":false})", R"({"lmax":16})"), "");
  const std::string path = testing::TempDir() + "ringweave_first_difference.txt";
  const std::string longer = testing::TempDir() + "./ringweave_first_difference.txt";
  const auto with = [](const std::string& cl) { return R"({"cl":")" + cl + R"("})"; };
  EXPECT_NE(first_difference(with(path), with(longer)), "");
  std::ofstream(path) << "1\n";
  EXPECT_EQ(first_difference(with(path), with(longer)), "");
  std::remove(path.c_str());
}

}  // namespace
}  // namespace ringweave::detail
