// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/field_choice.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/expect_error.hpp"

namespace ringweave::detail::test {
namespace {

MapHeader columns(const std::vector<std::string>& names) {
  MapHeader header;
  for (const std::string& name : names) header.columns.push_back({name, "K"});
  return header;
}

FieldChoice chosen(const std::vector<std::string>& names, const std::string& asked = "") {
  return choose_fields("sky.fits", columns(names), asked);
}

using Columns = std::vector<int>;

TEST(FieldChoice, IsWhatTheColumnsAreCalled) {
  EXPECT_EQ(chosen({"TEMPERATURE"}).name, "T");
  EXPECT_EQ(chosen({"TEMPERATURE", "Q_POLARISATION", "U_POLARISATION"}).name, "TQU");
  EXPECT_EQ(chosen({"I_STOKES", "Q-POLARISATION", "U_STOKES"}).name, "TQU");
  EXPECT_EQ(chosen({"Q", "u"}).name, "QU");
  EXPECT_EQ(chosen({"SIGNAL", "QUADRUPOLE", "UNIFORM"}).name, "T");
  EXPECT_EQ(chosen({"SIGNAL", "N_OBS", "SERROR"}).name, "T");
}

TEST(FieldChoice, QAndUAreFoundInAnyColumns) {
  EXPECT_EQ(chosen({"T", "N_OBS", "U_POL", "Q_POL"}, "TQU").columns, (Columns{0, 3, 2}));
  EXPECT_EQ(chosen({"T", "N_OBS", "U_POL", "Q_POL"}, "QU").columns, (Columns{3, 2}));
  EXPECT_EQ(chosen({"A", "B", "C"}, "TQU").columns, (Columns{0, 1, 2}));
  EXPECT_EQ(chosen({"A", "B", "C"}, "QU").columns, (Columns{1, 2}));
  EXPECT_EQ(chosen({"A", "B"}, "QU").columns, (Columns{0, 1}));
}

TEST(FieldChoice, AllColumnsAreScalarFields) {
  const FieldChoice all = chosen({"A", "Q", "U", "D"}, "all");
  EXPECT_EQ(all.columns, (Columns{0, 1, 2, 3}));
  EXPECT_EQ(all.components, (std::vector<std::string>{"A", "Q", "U", "D"}));
  EXPECT_EQ(all.fields.n_components(), 4);
}

TEST(FieldChoice, AMissingColumnIsAnErrorOfTheFile) {
  const auto choose = [](const std::vector<std::string>& names, const char* asked) {
    return [names, asked] { chosen(names, asked); };
  };
  expect_error(ErrorKind::data, "sky.fits: holds 1 column, --fields TQU needs 3",
               choose({"TEMPERATURE"}, "TQU"));
  expect_error(ErrorKind::data, "holds 2 columns", choose({"Q", "U"}, "TQU"));
  expect_error(ErrorKind::data, "holds 0 columns", choose({}, "T"));
}

TEST(FieldChoice, AnUnknownNameIsRefused) {
  expect_error(ErrorKind::usage, "--fields TEB: expected T, TQU or QU",
               [] { fields_named("TEB"); });
}

Columns components(const std::vector<std::string>& names, const std::string& asked = "") {
  AlmHeader header;
  header.components = names;
  return choose_components("alm.fits", header, asked).columns;
}

TEST(FieldChoice, ComponentsOfAlmAreFoundByTheirNames) {
  EXPECT_EQ(components({"T", "E", "B"}), (Columns{0, 1, 2}));
  EXPECT_EQ(components({"E", "B"}), (Columns{0, 1}));
  EXPECT_EQ(components({"B", "E"}), (Columns{1, 0}));
  EXPECT_EQ(components({"T", "E", "B"}, "QU"), (Columns{1, 2}));
  EXPECT_EQ(components({"E", "B", "T"}, "T"), (Columns{2}));
  EXPECT_EQ(components({"E"}), (Columns{0}));
  EXPECT_EQ(components({"T", "E"}, "T"), (Columns{0}));
  for (const std::vector<std::string>& others :
       {std::vector<std::string>{"one", "two", "three"}, {"one", "two", "three", "four"}}) {
    EXPECT_EQ(components(others), (Columns{0, 1, 2}));
    EXPECT_EQ(components(others, "QU"), (Columns{1, 2}));
  }
  EXPECT_EQ(components({"one", "two"}), (Columns{0, 1}));
}

TEST(FieldChoice, ComponentsOfAlmThatLackOneAreRefused) {
  const auto choose = [](std::vector<std::string> names, const char* asked) {
    return [names, asked] { components(names, asked); };
  };
  expect_error(ErrorKind::data, "alm.fits: holds a_lm of T, E, a file of 2 components needs E, B",
               choose({"T", "E"}, ""));
  expect_error(ErrorKind::data, "--fields QU needs E, B", choose({"T", "B"}, "QU"));
  expect_error(ErrorKind::data, "--fields T needs T", choose({"E", "B"}, "T"));
  expect_error(ErrorKind::data, "needs T, E, B", choose({"T", "E", "V"}, ""));
  expect_error(ErrorKind::data, "holds 2 component(s), --fields TQU needs 3",
               choose({"E", "B"}, "TQU"));
}

TEST(FieldChoice, FieldsOfAlmFollowFromTheirNames) {
  const auto fields = [](std::vector<std::string> names) {
    AlmHeader header;
    header.components = std::move(names);
    return fields_of("alm.fits", header).n_components();
  };
  EXPECT_EQ(fields({"P"}), 1);
  EXPECT_EQ(fields({"E", "B"}), 2);
  EXPECT_EQ(fields({"T", "E", "B"}), 3);
  EXPECT_EQ(fields({"a", "b", "c", "d"}), 4);
  expect_error(ErrorKind::data, "needs E, B", [&] { fields({"T", "E"}); });
  expect_error(ErrorKind::data, "in the order T, E, B", [&] { fields({"B", "E"}); });
}

TEST(FieldChoice, ColumnsOfTheOutputHaveStandardNames) {
  const std::vector<MapColumn> three = standard_columns(fields_named("TQU"), "uK");
  ASSERT_EQ(three.size(), 3u);
  EXPECT_EQ(three[0].name, "TEMPERATURE");
  EXPECT_EQ(three[1].name, "Q_POLARISATION");
  EXPECT_EQ(three[2].unit, "uK");
  EXPECT_EQ(standard_columns(fields_named("T"), "").size(), 1u);
  EXPECT_EQ(standard_columns(fields_named("QU"), "").front().name, "Q_POLARISATION");
}

}  // namespace
}  // namespace ringweave::detail::test
