// SPDX-License-Identifier: GPL-3.0-or-later
#include "ringweave/error.hpp"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <system_error>

namespace ringweave::detail::test {
namespace {

constexpr ErrorKind kinds[] = {ErrorKind::usage, ErrorKind::data,     ErrorKind::resource,
                               ErrorKind::peer,  ErrorKind::internal, ErrorKind::stopped};

template <class Throw>
CaughtError caught(Throw&& throw_something) {
  try {
    throw_something();
  } catch (...) {
    return describe_current_exception();
  }
  return {};
}

TEST(Error, ExitCodesAreThoseOfTheTable) {
  EXPECT_EQ(exit_code(ErrorKind::none), 0);
  EXPECT_EQ(exit_code(UsageError("").kind()), 2);
  EXPECT_EQ(exit_code(DataError("", "").kind()), 3);
  EXPECT_EQ(exit_code(ResourceError("").kind()), 4);
  EXPECT_EQ(exit_code(PeerError("").kind()), 5);
  EXPECT_EQ(exit_code(InternalError("").kind()), 70);
  EXPECT_EQ(exit_code(StoppedEarly("").kind()), 75);
}

TEST(Error, ThrowErrorThrowsTheClassOfTheKind) {
  EXPECT_THROW(throw_error(ErrorKind::usage, "x"), UsageError);
  EXPECT_THROW(throw_error(ErrorKind::data, "x"), DataError);
  EXPECT_THROW(throw_error(ErrorKind::resource, "x"), ResourceError);
  EXPECT_THROW(throw_error(ErrorKind::peer, "x"), PeerError);
  EXPECT_THROW(throw_error(ErrorKind::internal, "x"), InternalError);
  EXPECT_THROW(throw_error(ErrorKind::stopped, "x"), StoppedEarly);
  EXPECT_THROW(throw_error(ErrorKind::none, "x"), InternalError);
}

TEST(Error, KindAndMessageSurviveBeingThrownAgain) {
  for (const ErrorKind kind : kinds) {
    const CaughtError error = caught([&] { throw_error(kind, "what went wrong"); });
    EXPECT_EQ(error.kind, kind);
    EXPECT_EQ(error.message, "what went wrong");
  }
}

TEST(Error, ForeignExceptionsAreDescribed) {
  EXPECT_EQ(caught([] { throw std::bad_alloc(); }).kind, ErrorKind::resource);
  const CaughtError foreign = caught([] { throw std::out_of_range("index 7"); });
  EXPECT_EQ(foreign.kind, ErrorKind::internal);
  EXPECT_EQ(foreign.message, "index 7");
  EXPECT_EQ(caught([] { throw 7; }).kind, ErrorKind::internal);
  const auto from_system = [](std::errc code) {
    return caught([&] { throw std::system_error(std::make_error_code(code)); }).kind;
  };
  EXPECT_EQ(from_system(std::errc::resource_unavailable_try_again), ErrorKind::resource);
  EXPECT_EQ(from_system(std::errc::not_enough_memory), ErrorKind::resource);
  EXPECT_EQ(from_system(std::errc::invalid_argument), ErrorKind::internal);
}

TEST(Error, DataErrorsBeginWithThePlace) {
  EXPECT_STREQ(DataError("map.fits", "is cut short").what(), "map.fits: is cut short");
  EXPECT_STREQ(DataError("", "is cut short").what(), "is cut short");
}

TEST(Error, EveryKindHasANameOfItsOwn) {
  for (const ErrorKind a : kinds) {
    EXPECT_NE(name_of(a), "unknown error");
    for (const ErrorKind b : kinds) EXPECT_EQ(name_of(a) == name_of(b), a == b);
  }
}

}  // namespace
}  // namespace ringweave::detail::test
