// SPDX-License-Identifier: GPL-3.0-or-later
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "softdevice/own/kernels.hpp"

namespace softdevice::test {
namespace {

void expect_refused(const std::string& text, const std::string& wanted) {
  try {
    const ptx::Module module = ptx::read_module(text);
    for (const auto& [name, kernel] : module) decode(kernel);
    ADD_FAILURE() << "not refused: " << text;
  } catch (const ptx::UnknownText& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr(wanted));
  }
}

TEST(Reader, NamesTheLineOfWhatItDoesNotKnow) {
  expect_refused(kernel_of("tex.1d.v4.f32.s32 {%a, %b, %c, %d}, [%n0, {%n1}];"), "PTX line 13");
  expect_refused(kernel_of("sin.approx.f32 %a, %b;"), "PTX line 13: no instruction sin.approx.f32");
  expect_refused(kernel_of("add.s64 %a, %b;"), "other operands of add.s64");
  expect_refused(kernel_of("add.s64 %a, %b, %z;"), "no operand %z");
  expect_refused(kernel_of("bra nowhere;"), "no label nowhere");
  expect_refused(kernel_of(".local .align 8 .b8 depot[16];"), "no directive .local");
  expect_refused(".version 9.0\n.global .b32 x;", "PTX line 2: no directive .global");
  expect_refused(".visible .entry f() { ret;", "the text ends");
}

TEST(Reader, KnowsRegistersOfScopes) {
  const ptx::Module module =
      ptx::read_module(kernel_of("{ .reg .b64 %a; mov.u64 %a, 1; } mov.u64 %a, 2;"));
  const auto& statements = module.at("test").statements;
  const std::size_t n = statements.size();
  EXPECT_NE(statements[n - 3].operands[0].index, statements[n - 2].operands[0].index);
}

TEST(Reader, PlacesParametersAndSharedMemory) {
  const ptx::Module module = ptx::read_module(
      ".entry f(.param .u32 a, .param .align 16 .b8 b[24], .param .f64 c) {\n"
      ".shared .b8 x[3]; .shared .align 8 .b8 y[16]; ret; }");
  const ptx::Kernel& kernel = module.at("f");
  EXPECT_EQ(kernel.parameter_bytes, 48);
  EXPECT_EQ(kernel.parameters[1].first, 16);
  EXPECT_EQ(kernel.parameters[2].first, 40);
  EXPECT_EQ(kernel.shared_bytes, 24);
}

}  // namespace
}  // namespace softdevice::test
