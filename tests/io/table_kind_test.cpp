// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/table_kind.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace ringweave::detail {
namespace {

using enum TableKind;

struct Names {
  TableKind kind;
  std::vector<std::string> columns;
};

TEST(TableKind, ColumnsAreOfABeamOrOfSpectraWhereTheirNamesTell) {
  for (const Names& names :
       {Names{spectra, {"TT", "EE", "BB", "TE"}}, Names{spectra, {"C_TT"}},
        Names{spectra, {"TT[uK^2]"}}, Names{spectra, {"C_l"}},
        Names{spectra, {"TEMPERATURE", "GRADIENT", "CURL", "G-T"}},
        Names{spectra, {"TEMPERATURE", "GRADIENT", "CURL", "TG", "TC", "GC"}},
        Names{beam, {"INT_BEAM", "POL_BEAM"}}, Names{beam, {"Bl", "error"}},
        Names{beam, {"b_T", "b_E"}}, Names{unknown, {"T", "E", "B"}}, Names{unknown, {"TT", "EE"}},
        Names{unknown, {"TEMPERATURE", "GRADIENT", "CURL"}}, Names{unknown, {"BT", "BE"}},
        Names{unknown, {"CT", "COUNTS"}}, Names{unknown, {}}}) {
    EXPECT_EQ(kind_of_columns(names.columns), names.kind) << names.columns.size();
  }
}

TEST(TableKind, ColumnsAreNamedAfterASpectrumInManyWays) {
  using enum Spectra::Name;
  for (const auto& [name, spectrum] :
       std::vector<std::pair<std::string, Spectra::Name>>{{"TT", TT},
                                                          {"te", TE},
                                                          {"D_l^EE", EE},
                                                          {"GRADIENT", EE},
                                                          {"G-T", TE},
                                                          {"TG", TE},
                                                          {"T-G", ET},
                                                          {"GT", ET},
                                                          {"C-T", TB},
                                                          {"TC", TB},
                                                          {"T-B cross-corr.", TB},
                                                          {"Temperature C_l", TT},
                                                          {"P-T", TP}}) {
    EXPECT_EQ(spectrum_of_column(name), spectrum) << name;
  }
  for (const char* name : {"", "T", "ERROR", "C_l", "POLARISATION"})
    EXPECT_FALSE(spectrum_of_column(name)) << name;
}

TEST(TableKind, TheHeaderOfATableTellsWhatItHolds) {
  const auto kind = [](std::string extension, std::vector<std::string> columns,
                       std::int64_t nside = 0, std::int64_t rows = 0) {
    TableHead head;
    head.extension = std::move(extension);
    head.column_names = std::move(columns);
    head.nside = nside;
    head.rows = rows;
    return kind_of(head);
  };
  const std::vector<std::string> two{"TEMPERATURE", "POLARIZATION"};
  EXPECT_EQ(kind("PIXEL WINDOW", two), pixel_window);
  EXPECT_EQ(kind("", two, 32, 129), pixel_window);
  EXPECT_EQ(kind("", two, 32, 128), unknown);
  EXPECT_EQ(kind("BEAM", two, 32, 129), beam);
  EXPECT_EQ(kind("BEAMTF", {"INT_BEAM"}), beam);
  EXPECT_EQ(kind("ANALYSED AUTO POWER SPECTRUM", {"TEMPERATURE"}, 32, 129), spectra);
  EXPECT_EQ(kind("", {"TEMPERATURE WEIGHTS", "Q-POLARISATION WEIGHTS"}, 32, 64), ring_weights);
  EXPECT_EQ(kind("xtension", {"COMPRESSED PIXEL WEIGHTS"}), pixel_weights);
  EXPECT_EQ(kind("", {"INDEX", "REAL", "IMAG"}), alm);
  EXPECT_EQ(kind("alm", {"Index", "Re[alm]", "Im[alm]"}), alm);
  EXPECT_EQ(kind("", {"RESIDUAL", "IMAGE"}), unknown);
  EXPECT_EQ(kind("", {"I"}, 8, 768), map);
  EXPECT_EQ(kind("", {"TEMPERATURE"}, 64, 768), map);
  EXPECT_EQ(kind("", {"TEMPERATURE"}, 0, 768), unknown);
  EXPECT_EQ(kind("", {"TEMPERATURE"}, 64, 192), unknown);  // to lmax = 3 nside - 1
  EXPECT_EQ(kind("ANALYSED AUTO POWER SPECTRUM", {"TEMPERATURE"}, 8, 768), spectra);
  TableHead head;
  head.is_map = true;
  head.extension = "BEAM";
  EXPECT_EQ(kind_of(head), map);
}

}  // namespace
}  // namespace ringweave::detail
