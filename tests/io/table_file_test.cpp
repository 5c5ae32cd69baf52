// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <numbers>
#include <sstream>

#include "base/checked_cast.hpp"
#include "io/text_table.hpp"
#include "io_support.hpp"
#include "ringweave/files.hpp"
#include "support/address_space_limit.hpp"

namespace ringweave::detail {
namespace {

using test::expect_error;
using test::ScratchFolder;

class TableFile : public testing::Test {
 protected:
  Communicator comm_ = Communicator::world();
  ScratchFolder folder_{comm_};

  std::string file(const std::string& name, const std::string& text) {
    test::on_root(comm_, [&] { test::write_text(folder_ / name, text); });
    return folder_ / name;
  }
  SpectraFile spectra_file(const std::string& text,
                           SpectrumKind kind = SpectrumKind::stated_or_c_l) {
    return read_spectra(comm_, file("cl.txt", text), kind);
  }
  Spectra spectra(const std::string& text) { return spectra_file(text).spectra; }
  void expect_bad_spectra(const std::string& text, const std::string& words) {
    const std::string path = file("cl.txt", text);
    expect_error(ErrorKind::data, words, [&] { read_spectra(comm_, path); });
    expect_error(ErrorKind::data, path, [&] { read_spectra(comm_, path); });
  }
};

TEST_F(TableFile, SpectraWithoutAHeaderAreCl) {
  const Spectra cl = spectra("0 5.0\n1 4.0\n2 3.0\n");
  EXPECT_EQ(cl.lmax(), 2);
  EXPECT_EQ(cl(Spectra::TT, 0), 5);
  EXPECT_EQ(cl(Spectra::TT, 2), 3);
  EXPECT_FALSE(cl.is_polarised());
}

TEST_F(TableFile, FourColumnsAreTtEeBbTe) {
  const Spectra cl = spectra("2, 1, 2, 3, 4\n3, 5, 6, 7, 8\n");
  EXPECT_EQ(cl(Spectra::TT, 1), 0);
  EXPECT_EQ(cl(Spectra::TT, 2), 1);
  EXPECT_EQ(cl(Spectra::EE, 3), 6);
  EXPECT_EQ(cl(Spectra::BB, 2), 3);
  EXPECT_EQ(cl(Spectra::TE, 3), 8);
}

TEST_F(TableFile, AHeaderThatNamesColumnsIsHonoured) {
  const Spectra cl = spectra("#  L    TT   TE   EE  BB  PP\n 2 1.D+0 2 3 4 5\n 3 +5e0 6 7 8 9\n");
  EXPECT_EQ(cl(Spectra::TT, 2), 1);
  EXPECT_EQ(cl(Spectra::TE, 2), 2);
  EXPECT_EQ(cl(Spectra::EE, 3), 7);
  EXPECT_EQ(cl(Spectra::BB, 3), 8);
  EXPECT_FALSE(cl.has(Spectra::EB));
}

TEST_F(TableFile, AHeaderThatSaysSoMakesThemDl) {
  for (const char* header :
       {"# l(l+1)C_l/2pi in muK^2", "# D_l = l(l+1) C_l / 2 pi", "# D_l [uK^2]", "# l Dl_TT",
        "# L(L+1) C_L / (2 pi)", "# columns: D_ell", "# $\\ell(\\ell+1)C_\\ell/2\\pi$"}) {
    const Spectra cl = spectra(std::string(header) + "\n0 7\n1 1\n2 6\n");
    EXPECT_EQ(cl(Spectra::TT, 0), 0) << header;
    EXPECT_DOUBLE_EQ(cl(Spectra::TT, 1), std::numbers::pi) << header;
    EXPECT_DOUBLE_EQ(cl(Spectra::TT, 2), 2 * std::numbers::pi) << header;
  }
  for (const char* header :
       {"# C_l = 2 pi D_l / (l(l+1))", "# C_l in K^2", "# middle of the Dlouhy file, Delta",
        "# command: ringweave D_l.txt", "# HISTORY ringweave D_l.txt", "# COMMENT D_l",
        "# KEYWORD NAME = \"D_l\""}) {
    EXPECT_EQ(spectra(std::string(header) + "\n0 7\n1 1\n")(Spectra::TT, 0), 7) << header;
  }
}

TEST_F(TableFile, TheKindThatIsAskedForOverrulesTheHeader) {
  const std::string stated = "# D_l in muK^2\n1 1\n2 6\n";
  const std::string silent = "# L TT\n1 1\n2 6\n";
  struct Case {
    std::string text;
    SpectrumKind kind;
    bool held_d_l;
    bool warns;
  };
  for (const Case& of :
       {Case{stated, SpectrumKind::stated_or_c_l, true, false},
        Case{stated, SpectrumKind::c_l, false, true}, Case{stated, SpectrumKind::d_l, true, false},
        Case{silent, SpectrumKind::stated_or_c_l, false, false},
        Case{silent, SpectrumKind::stated_or_d_l, true, false},
        Case{silent, SpectrumKind::d_l, true, false}}) {
    const SpectraFile read = spectra_file(of.text, of.kind);
    EXPECT_EQ(read.held_d_l, of.held_d_l) << of.text;
    EXPECT_EQ(read.is_stated, of.text == stated && !of.warns) << of.text;
    EXPECT_EQ(!read.warnings.empty(), of.warns) << of.text;
    EXPECT_DOUBLE_EQ(read.spectra(Spectra::TT, 2), of.held_d_l ? 2 * std::numbers::pi : 6);
  }
}

TEST_F(TableFile, TheUnitOfSpectraIsReadFromComments) {
  for (const auto& [comment, unit] : std::vector<std::pair<std::string, std::string>>{
           {"C_l in uK^2", "uK^2"},
           {"D_l [muK^2]", "uK^2"},
           {"C_l [$\\mu K^2$]", "uK^2"},
           {"C_l in \xc2\xb5K\xc2\xb2", "uK^2"},
           {"(K_CMB)^2", "K_CMB^2"},
           {"units K**2", "K^2"},
           {"TT EE BB TE: thermodynamic temperature, uK^2; PP: lensing", "uK^2"},
           {"command: ringweave --unit uK^2", ""},
           {" HISTORY ringweave --unit uK^2", ""},
           {"AMK^2", ""},
           {"l TT", ""}}) {
    EXPECT_EQ(spectra_file("#" + std::string(comment.starts_with("command") ? " " : "") + comment +
                           "\n0 1\n")
                  .unit,
              unit)
        << comment;
  }
}

TEST_F(TableFile, ColumnsThatAreNoSpectraAreNamed) {
  EXPECT_EQ(spectra_file("# l TT XX EE\n0 1 2 3\n").ignored_columns,
            (std::vector<std::string>{"XX"}));
}

TEST_F(TableFile, NamesInSmallLettersAndOfHealpixCount) {
  for (const char* header : {"# l tt te bb ee", "# l TEMPERATURE G-T CURL GRADIENT"}) {
    const Spectra cl = spectra(std::string(header) + "\n0 1 2 3 4\n1 5 6 7 8\n");
    EXPECT_EQ(cl(Spectra::TT, 1), 5) << header;
    EXPECT_EQ(cl(Spectra::TE, 1), 6) << header;
    EXPECT_EQ(cl(Spectra::BB, 1), 7) << header;
    EXPECT_EQ(cl(Spectra::EE, 1), 8) << header;
  }
  const SpectraFile binned = spectra_file("# l Dl -dDl +dDl BestFit\n2 1 2 3 4\n3 5 6 7 8\n");
  EXPECT_FALSE(binned.spectra.is_polarised());
  EXPECT_EQ(binned.ignored_columns, (std::vector<std::string>{"-dDl", "+dDl", "BestFit"}));
  expect_bad_spectra("# l TT EE TT\n0 1 2 3\n", "its columns TT and TT are both TT");
}

TEST_F(TableFile, DlOfThePotentialAreSpectraOfItsGradient) {
  const Spectra cl = read_spectra(comm_, file("pp.txt", "# l TT PP TP EP\n1 1 2 3 4\n2 5 6 7 8\n"),
                                  SpectrumKind::d_l)
                         .spectra;
  const double two_pi = 2 * std::numbers::pi;
  EXPECT_DOUBLE_EQ(cl(Spectra::PP, 1), two_pi * 2 / 4);
  EXPECT_DOUBLE_EQ(cl(Spectra::TP, 1), two_pi * 3 / std::pow(2, 1.5));
  EXPECT_DOUBLE_EQ(cl(Spectra::PP, 2), two_pi * 6 / 36);
  EXPECT_DOUBLE_EQ(cl(Spectra::EP, 2), two_pi * 8 / std::pow(6, 1.5));
}

TEST_F(TableFile, BrokenSpectraAreErrorsThatNameTheLine) {
  expect_bad_spectra("0 1\n1 2\n3 4\n", "line 3: l = 3 where 2");
  expect_bad_spectra("# l TT\n\n0 1\n1 nan\n", "line 4: 'nan' is not finite");
  expect_bad_spectra("0 1\n1 inf\n", "line 2: 'inf' is not finite");
  expect_bad_spectra("0 1\n1 two\n", "line 2: 'two' is not a number");
  expect_bad_spectra("0 1\n1 2 3\n", "line 2: has 3 columns");
  expect_bad_spectra("5 1\n6 2\n", "line 1: begins with l = 5");
  expect_bad_spectra("0 1 2 3\n1 1 2 3\n", "no header line that names them");
  expect_bad_spectra("0\n1\n", "has one column");
  expect_bad_spectra("# nothing\n", "holds no numbers");
  expect_bad_spectra("", "is empty");
  expect_bad_spectra(std::string("0 1\n\0 2\n", 8), "is not text");
  expect_error(ErrorKind::data, "No such file",
               [&] { read_spectra(comm_, folder_ / "missing.txt"); });
  expect_error(ErrorKind::usage, "spectra are read",
               [&] { read_spectra(comm_, folder_ / "missing.png"); });
}

TEST_F(TableFile, SpectraComeBackFromEveryKindOfFile) {
  Spectra cl(5);
  for (const Spectra::Name name : {Spectra::TT, Spectra::EE, Spectra::BB, Spectra::TE}) {
    for (int l = 0; l <= 5; ++l)
      cl.values(name)[to_size(l)] = std::exp(-l - 7.0 * static_cast<int>(name));
  }
  Provenance provenance = test::sample_provenance();
  provenance.command_line = "ringweave convert D_l.txt\nx";
  for (const char* name : {"cl.txt", "cl.h5", "cl.fits", "cl.fits.gz"}) {
    write_spectra(comm_, folder_ / name, IfExists::fail, provenance, cl, "K^2");
    const SpectraFile stored = read_spectra(comm_, folder_ / name);
    EXPECT_TRUE(stored.is_stated && !stored.held_d_l) << name;
    EXPECT_EQ(stored.unit, "K^2") << name;
    const Spectra& read = stored.spectra;
    ASSERT_EQ(read.lmax(), 5) << name;
    for (int n = 0; n < Spectra::n_names; ++n) {
      const auto which = static_cast<Spectra::Name>(n);
      EXPECT_EQ(read.has(which), cl.has(which)) << name << " " << n;
      for (int l = 0; l <= 5; ++l) EXPECT_EQ(read(which, l), cl(which, l)) << name;
    }
    expect_error(ErrorKind::usage, "--overwrite", [&] {
      write_spectra(comm_, folder_ / name, IfExists::fail, provenance, cl, "K^2");
    });
  }
}

TEST_F(TableFile, TextsOfHeadersMakeNoLinesOfTheirOwn) {
  Spectra cl(2);
  cl.values(Spectra::TT)[2] = 1;
  Provenance provenance = test::sample_provenance();
  provenance.origin.history = {"a\n0 1e9\r1 1e9"};
  provenance.origin.comments = {"b\n0 1e9"};
  provenance.origin.keywords = {{"NAME", "c\n0 1e9\x1b[31m", "d\n0 1e9"}};
  write_spectra(comm_, folder_ / "cl.txt", IfExists::fail, provenance, cl, "uK\n0 1e9\n#^2");
  const std::string text = test::bytes_of(folder_ / "cl.txt");
  std::istringstream lines(text);
  int n_rows = 0;
  for (std::string line; std::getline(lines, line);) n_rows += line.starts_with('#') ? 0 : 1;
  EXPECT_EQ(n_rows, 3) << text;
  EXPECT_EQ(text.find_first_of("\r\x1b"), std::string::npos) << text;
  EXPECT_EQ(read_spectra(comm_, folder_ / "cl.txt").spectra(Spectra::TT, 2), 1);
}

TEST_F(TableFile, SpectraOfThePotentialComeBackFromEveryKindOfFile) {
  Spectra cl(3);
  for (const Spectra::Name name : {Spectra::TT, Spectra::PP, Spectra::TP, Spectra::EP}) {
    for (int l = 0; l <= 3; ++l) cl.values(name)[to_size(l)] = l + 10.0 * static_cast<int>(name);
  }
  for (const char* name : {"cl.txt", "cl.h5", "cl.fits"}) {
    write_spectra(comm_, folder_ / name, IfExists::fail, test::sample_provenance(), cl, "uK^2");
    const SpectraFile stored = read_spectra(comm_, folder_ / name);
    EXPECT_EQ(stored.unit, "uK^2") << name;
    for (int n = 0; n < Spectra::n_names; ++n) {
      const auto which = static_cast<Spectra::Name>(n);
      for (int l = 0; l <= 3; ++l) EXPECT_EQ(stored.spectra(which, l), cl(which, l)) << name;
    }
  }
}

TEST_F(TableFile, MissingBeamColumnsAreTheOnesBefore) {
  const Beam one = read_beam(comm_, file("b.txt", "# l b\n0 1\n1 0.5\n")).beam;
  EXPECT_EQ(one.t, (std::vector<double>{1, 0.5}));
  EXPECT_EQ(one.e, one.t);
  EXPECT_EQ(one.b, one.t);
  const Beam two = read_beam(comm_, file("b.txt", "0 1 0.9\n1 0.5 0.4\n")).beam;
  EXPECT_EQ(two.e, (std::vector<double>{0.9, 0.4}));
  EXPECT_EQ(two.b, two.e);
  const Beam three = read_beam(comm_, file("b.txt", "0 1 0.95 0.9\n1 0.5 0.4 0.3\n")).beam;
  EXPECT_EQ(three.b, (std::vector<double>{0.9, 0.3}));
  const Beam alone = read_beam(comm_, file("b.txt", "1\n0.5\n")).beam;
  EXPECT_EQ(alone.b, (std::vector<double>{1, 0.5}));
}

TEST_F(TableFile, BeamsBeginAtTheMonopole) {
  expect_error(ErrorKind::data, "begins with l = 1",
               [&] { read_beam(comm_, file("b.txt", "1 1\n2 1\n")); });
  expect_error(ErrorKind::data, "up to 3", [&] { read_beam(comm_, file("b.txt", "0 1 1 1 1\n")); });
  expect_error(ErrorKind::usage, "text (.txt) or FITS",
               [&] { read_beam(comm_, folder_ / "b.h5"); });
}

TEST_F(TableFile, ColumnsOfABeamCountByTheirNames) {
  const BeamFile named = read_beam(comm_, file("b.txt", "# l B E T\n0 3 2 1\n1 6 5 4\n"));
  EXPECT_EQ(named.beam.t, (std::vector<double>{1, 4}));
  EXPECT_EQ(named.beam.b, (std::vector<double>{3, 6}));
  EXPECT_TRUE(named.warnings.empty());
  const BeamFile error = read_beam(comm_, file("b.txt", "# l Bl error\n0 1 1\n1 0.5 1\n"));
  EXPECT_EQ(error.beam.e, (std::vector<double>{1, 0.5}));
  EXPECT_EQ(error.warnings.size(), 1u);
}

TEST_F(TableFile, ColumnsWithoutNamesCountWhereTheyBeginLikeTheBeam) {
  const BeamFile error = read_beam(comm_, file("b.txt", "0 1 0.002 1\n1 0.5 0.1 0.5\n"));
  EXPECT_EQ(error.beam.e, error.beam.t);
  EXPECT_EQ(error.beam.b, error.beam.t);
  EXPECT_EQ(error.warnings.size(), 1u);
  const BeamFile zero_below = read_beam(comm_, file("b.txt", "0 1 0\n1 1 0\n2 1 1\n"));
  EXPECT_EQ(zero_below.beam.e, (std::vector<double>{0, 0, 1}));
  EXPECT_EQ(read_beam(comm_, file("b.txt", "0 0\n1 1\n")).warnings.size(), 1u);
}

TEST_F(TableFile, BrokenBeamsAreErrorsThatNameTheLine) {
  const auto expect_bad_beam = [&](const std::string& text, const std::string& words) {
    const std::string path = file("b.txt", text);
    expect_error(ErrorKind::data, words, [&] { read_beam(comm_, path); });
    expect_error(ErrorKind::data, path, [&] { read_beam(comm_, path); });
  };
  expect_bad_beam("these are\nno numbers\n", "line 1");
  expect_bad_beam("0 1\n1 nan\n", "line 2: 'nan' is not finite");
  expect_bad_beam("0 1\n1 inf\n", "line 2: 'inf' is not finite");
  expect_bad_beam("0 1\n2 0.5\n", "line 2: l = 2 where 1");
}

TEST_F(TableFile, KernelsAscendFromTheCentre) {
  const KernelProfile kernel =
      read_kernel_profile(comm_, file("k.txt", "# theta K\n0 2\n0.01 1\n0.03 0\n"));
  EXPECT_EQ(kernel.theta, (std::vector<double>{0, 0.01, 0.03}));
  EXPECT_EQ(kernel.value, (std::vector<double>{2, 1, 0}));
  const auto bad = [&](const std::string& text) {
    return [this, text] { read_kernel_profile(comm_, file("k.txt", text)); };
  };
  expect_error(ErrorKind::data, "line 1: theta = 0.1", bad("0.1 1\n0.2 1\n"));
  expect_error(ErrorKind::data, "line 3: theta = 0.1", bad("0 1\n0.1 1\n0.1 1\n"));
  expect_error(ErrorKind::data, "at most pi", bad("0 1\n4 1\n"));
  expect_error(ErrorKind::data, "has 3 columns", bad("0 1 1\n0.1 1 1\n"));
  expect_error(ErrorKind::data, "line 2: 'inf' is not finite", bad("0 1\n0.1 inf\n"));
  expect_error(ErrorKind::data, "rows", bad("0 1\n"));
}

TEST_F(TableFile, CoefficientsOfADegreeBeyondTheMemoryAreRefused) {
  const std::string path = file("a.gfc", "end_of_head\ngfc 2 0 1 0\ngfc 65535 0 1 0\n");
  const test::AddressSpaceLimit limit(std::int64_t{1} << 31);
  expect_error(ErrorKind::resource, "line 3: coefficients up to l = 65535",
               [&] { open_alm(comm_, path); });
}

TEST_F(TableFile, TheExampleSpectrumIsRead) {
  const Spectra cl = read_spectra(comm_, RINGWEAVE_SOURCE_DIR "/examples/lcdm_cl.txt").spectra;
  EXPECT_GT(cl.lmax(), 1000);
  EXPECT_GT(cl(Spectra::TT, 2), 0);
  EXPECT_TRUE(cl.has(Spectra::EE) && cl.has(Spectra::BB) && cl.has(Spectra::TE));
}

TEST_F(TableFile, SampleWindowsAndWeightsAreRead) {
  const std::filesystem::path data = RINGWEAVE_TEST_DATA;
  if (!std::filesystem::exists(data)) GTEST_SKIP() << "RINGWEAVE_TEST_DATA names no folder";
  const std::string windows = (data / "windows").string();
  const Beam window = read_pixel_window(comm_, windows + "/pixel_window_n0032.fits", 32);
  EXPECT_EQ(window.t.size(), 129u);
  EXPECT_EQ(window.e[1], 0);
  EXPECT_NEAR(window.t[0], 1, 1e-12);
  const std::vector<double> ring =
      read_ring_weights(comm_, windows + "/weight_ring_n00032.fits", 32);
  EXPECT_EQ(ring.size(), 64u);
  EXPECT_NEAR(ring[10], 1, 0.5);
  EXPECT_EQ(read_pixel_weights(comm_, windows + "/healpix_full_weights_nside_0032.fits", 32).size(),
            800u);
  expect_error(ErrorKind::data, "are 128",
               [&] { read_ring_weights(comm_, windows + "/weight_ring_n00032.fits", 64); });
  expect_error(ErrorKind::data, "nside = 64",
               [&] { read_pixel_window(comm_, windows + "/pixel_window_n0032.fits", 64); });
  const BeamFile beam_file =
      read_beam(comm_, (data / "healpix-suite" / "gaussbeam_10arcmin_lmax512_pol.fits").string());
  EXPECT_TRUE(beam_file.warnings.empty());
  const Beam& beam = beam_file.beam;
  EXPECT_EQ(beam.t.size(), 513u);
  EXPECT_NEAR(beam.t[0], 1, 1e-6);
  EXPECT_EQ(read_spectra(comm_, (data / "edge-cases" / "Cltest.fits").string()).spectra.lmax(), 20);
  const Spectra camb =
      read_spectra(comm_, (data / "spectra" / "FFP10_wdipole_lenspotentialCls.dat").string())
          .spectra;
  EXPECT_EQ(camb(Spectra::TE, 2), 2.8063);
  EXPECT_EQ(camb(Spectra::TP, 2), 3.0157e-3);
  const Spectra planck =
      read_spectra(comm_, (data / "spectra" / "planck2018_lcdm_cl_v3.fits").string()).spectra;
  EXPECT_EQ(planck.lmax(), 5000);
  EXPECT_TRUE(planck.has(Spectra::TE));
}

}  // namespace
}  // namespace ringweave::detail
