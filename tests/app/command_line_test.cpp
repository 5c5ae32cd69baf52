// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/command_line.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "support/expect_error.hpp"

namespace ringweave::detail::test {
namespace {

using Words = std::vector<std::string>;

ParsedCommand parsed(const Words& words) {
  std::vector<const char*> argv{"ringweave"};
  for (const std::string& word : words) argv.push_back(word.c_str());
  return parse_command_line(static_cast<int>(argv.size()), argv.data());
}

void expect_refused(const std::string& said, const Words& words) {
  std::string line;
  for (const std::string& word : words) line += ' ' + word;
  SCOPED_TRACE("ringweave" + line);
  expect_error(ErrorKind::usage, said, [&] { parsed(words); });
}

Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

const Words smooth{"smooth", "in.fits", "out.fits", "--fwhm", "1deg"};
const Words synthesize{"synthesize", "--cl", "cl.txt", "out.fits"};
const Words smooth_on_rings = smooth + Words{"--method", "ring"};

/// A configuration file of this process.
class Configuration : public testing::Test {
 protected:
  ~Configuration() override { std::remove(path_.c_str()); }
  Words with(const std::string& text) const {
    std::ofstream(path_) << text;
    return {"--config", path_};
  }
  Words with_pipe() const {
    EXPECT_EQ(::mkfifo(path_.c_str(), 0600), 0);
    return {"--config", path_};
  }

 private:
  std::string path_ = std::filesystem::temp_directory_path() /
                      ("ringweave_" + std::to_string(::getpid()) + ".toml");
};

TEST(CommandLine, WhatIsGivenAndWhatStandsByDefaultIsKnown) {
  const ParsedCommand command = parsed(smooth + Words{"--lmax", "8", "--overwrite"});
  EXPECT_TRUE(command.execute);
  EXPECT_TRUE(command.text.empty());
  EXPECT_TRUE(command.common.overwrite);
  EXPECT_FALSE(command.resumes);
  EXPECT_EQ(command.command_line,
            "ringweave smooth in.fits out.fits --fwhm 1deg --lmax 8 --overwrite");
  for (const char* line :
       {"fwhm=\"1deg\"\n", "lmax=8\n", "compat=\"healpy\"\n", "overwrite=true\n"})
    EXPECT_NE(command.used_configuration.find(line), std::string::npos)
        << line << command.used_configuration;
  EXPECT_TRUE(parsed(smooth + Words{"--resume"}).resumes);
}

TEST(CommandLine, HelpAndVersionAreTextAndRunNothing) {
  for (const Words& words :
       {Words{"--help"}, Words{"smooth", "--help"}, Words{"--version"}, Words{"-V"}, Words{}}) {
    const ParsedCommand command = parsed(words);
    EXPECT_FALSE(command.text.empty());
    EXPECT_FALSE(command.execute);
  }
}

TEST(CommandLine, HelpBeforeACommandIsItsHelp) {
  EXPECT_EQ(parsed({"help", "smooth"}).text, parsed({"smooth", "--help"}).text);
  EXPECT_EQ(parsed({"help"}).text, parsed({"--help"}).text);
}

TEST(CommandLine, UnknownWordsAreRefusedWithWhatIsNear) {
  expect_refused("--fwhn: no option of this name; did you mean --fwhm?",
                 smooth + Words{"--fwhn", "5deg"});
  expect_refused("--fwmh: no option of this name; did you mean --fwhm?",
                 {"smooth", "in.fits", "out.fits", "--fwmh=5deg"});
  expect_refused("--overwrit: no option of this name; did you mean --overwrite?",
                 smooth + Words{"--overwrit"});
  expect_refused("--xyz: no option of this name\nRun", smooth + Words{"--xyz"});
  expect_refused("smoothe: no command of this name; did you mean smooth?", {"smoothe"});
  expect_refused("smoth: no command of this name; did you mean smooth? `ringweave",
                 {"smoth", "in.fits"});
  expect_refused("smoth: no command of this name; did you mean smooth?", {"help", "smoth"});
  expect_refused("paint: no command of this name; `ringweave", {"paint"});
  expect_refused("--method", smooth + Words{"--method", "fast"});
  expect_refused("--fields", smooth + Words{"--fields", "TEB"});
  expect_refused("--precision", smooth + Words{"--precision", "half"});
  expect_refused("normalize", {"analyze", "in.fits", "--cl", "out.txt", "--unseen", "normalize"});
}

TEST(CommandLine, NumbersOutOfRangeAreRefusedByAShortMessage) {
  for (const char* nside : {"0", "-8", "many"})
    expect_refused("--nside", synthesize + Words{"--nside", nside});
  expect_refused("--lmax", smooth + Words{"--lmax", "-3"});
  expect_refused("--lmax", smooth + Words{"--lmax", "99999999999"});
  expect_refused("--mmax", smooth + Words{"--mmax", "-3"});
  expect_refused("--iter", smooth + Words{"--iter", "-1"});
  expect_refused("--tol: 2 is not a number from 1e-15 to 1", smooth + Words{"--tol", "2"});
  expect_refused("--tol", smooth + Words{"--tol", "0"});
  expect_refused("--threads", smooth + Words{"--threads", "0"});
  expect_refused("--threads", smooth + Words{"--threads", "100000"});
  expect_refused("--batch", smooth + Words{"--batch", "0"});
  expect_refused("--nside: 20000000 is not a number from 1 to 131072",
                 synthesize + Words{"--nside", "20000000"});
  expect_refused("--iter: 2147483647 is not a number from 0 to 1000000",
                 smooth + Words{"--iter", "2147483647"});
  expect_refused("--lmax", smooth + Words{"--lmax", "2147483647"});
  expect_refused("--error", smooth_on_rings + Words{"--error", "-1"});
  const Thrown thrown = thrown_by([] { parsed(synthesize + Words{"--nside", "0"}); });
  EXPECT_LT(thrown.message.size(), 200u) << thrown.message;
}

TEST(CommandLine, OptionsThatExcludeEachOtherAreRefused) {
  expect_refused("--alm", synthesize + Words{"--alm", "alm.fits"});
  expect_refused("--tol", smooth + Words{"--iter", "1", "--tol", "1e-3"});
  expect_refused("--iter", smooth + Words{"--iter", "1", "--tol", "1e-3"});
  expect_refused("--beam", smooth + Words{"--beam", "beam.txt"});
  expect_refused("--kernel", smooth_on_rings + Words{"--kernel", "kernel.txt"});
}

TEST(CommandLine, ArgumentsThatMustBeThereAreAskedFor) {
  expect_refused("OUT", {"synthesize", "--cl", "cl.txt", "--nside", "8"});
  expect_refused("MAP", {"analyze"});
  expect_refused("--fwhm", {"smooth", "in.fits", "out.fits", "--fwhm"});
}

TEST(CommandLine, WithoutACommandItNamesTheCommandsAndWhatIsUnknown) {
  const std::string expected = "a command comes first";
  for (const Words& words : {Words{"--fwmh", "5deg"}, Words{"--fwmh=5deg"}, Words{"--threads", "2"},
                             Words{"--fwhm", "5deg"}, Words{"--verbos"}})
    expect_refused(expected, words);
  expect_refused("--fwmh: no option of this name; did you mean --fwhm?", {"--fwmh", "5deg"});
  expect_refused("the commands are synthesize, analyze, smooth", {"--fwmh", "5deg"});
  expect_refused("--weights is an option of analyze, smooth", {"--weights", "ring"});
  expect_refused("--bogus: no option of this name; a command comes first", {"--bogus"});
  expect_refused("no command is given", {"--threads", "2"});
  expect_refused("smoth: no command of this name; did you mean smooth?",
                 {"--threads", "2", "smoth", "in.fits", "out.fits"});
}

TEST_F(Configuration, IsWhatTheCommandLineWouldSayAndIsOverruledByIt) {
  const Words without{"smooth", "in.fits", "out.fits"};
  const Words file = with("fwhm = \"2deg\"\nlmax = 512\noverwrite = true\n");
  const ParsedCommand command = parsed(without + Words{"--lmax", "8"} + file);
  EXPECT_TRUE(command.common.overwrite);
  EXPECT_NE(command.used_configuration.find("fwhm=\"2deg\"\n"), std::string::npos);
  EXPECT_NE(command.used_configuration.find("lmax=8\n"), std::string::npos);
}

TEST_F(Configuration, HasKeysOutsideOfTablesOrInThatOfTheCommand) {
  for (const char* text : {"lmax = 3\noverwrite = true\n", "smooth.lmax = 3\noverwrite = true\n",
                           "[smooth]\nlmax = 3\noverwrite = true\n[analyze]\nlmax = 5\n"}) {
    const ParsedCommand command = parsed(smooth + with(text));
    EXPECT_TRUE(command.common.overwrite) << text;
    EXPECT_NE(command.used_configuration.find("lmax=3\n"), std::string::npos) << text;
  }
  expect_refused("line 2: unknown key smooth.lmax; did you mean lmax?",
                 smooth + with("[smooth]\nsmooth.lmax = 3\n"));
  expect_refused("line 3: unknown key beam.lmax", smooth + with("lmax = 3\n\nbeam.lmax = 4\n"));
  expect_refused(
      "line 2: unknown table [smoth]; expected the name of a command; did you mean smooth?",
      smooth + with("lmax = 3\n[smoth] # mistyped\nmmax = 2\n"));
  expect_refused("line 1: unknown table [smooth.more]", smooth + with("[smooth.more]\nlmax = 3\n"));
  expect_refused("line 2: unknown key analyze.fwhm", smooth + with("[analyze]\nfwhm = \"1deg\"\n"));
}

TEST_F(Configuration, SetsNoKeyTwice) {
  expect_refused("lines 1 and 2: both set lmax", smooth + with("lmax = 3\nlmax = 4\n"));
  expect_refused("lines 1 and 4: both set lmax",
                 smooth + with("lmax = 3 # low\n\n[smooth]\nlmax = 4\n"));
  expect_refused("lines 1 and 5: both set overwrite",
                 smooth + with("overwrite = true\n[smooth]\nfields = [\n\"T\"]\noverwrite\n"));
  const Words plot{"plot", "sky.h5", "sky.png"};
  expect_refused("lines 1 and 2: both set colours",
                 plot + with("colours = \"grey\"\ncolors = \"viridis\"\n"));
}

TEST_F(Configuration, MayHaveCommentSignsInQuotes) {
  const Words plot{"plot", "sky.h5", "sky.png"};
  for (const char* text :
       {"title = \"a # b\"\n", "# first\ntitle = 'a # b'  # last, \"in quotes\"\n",
        "[plot] # of plot\ntitle = \"a # b\"#\n"}) {
    EXPECT_NE(parsed(plot + with(text)).used_configuration.find("title=\"a # b\"\n"),
              std::string::npos)
        << text;
  }
  const std::string used =
      parsed(plot + with("theory = [\"run#1.txt\", # one\n 'run#2.txt'] # two\n"))
          .used_configuration;
  EXPECT_NE(used.find("theory=[\"run#1.txt\", \"run#2.txt\"]\n"), std::string::npos) << used;
  // Only within double quotes a backslash escapes what follows, also another one.
  for (const char* text : {"title = \"a\\\\\" # \"b\"\n", "title = 'a\\' # 'b'\n"}) {
    const std::string title = parsed(plot + with(text)).used_configuration;
    EXPECT_NE(title.find("title="), std::string::npos) << text << title;
    EXPECT_EQ(title.find('#'), std::string::npos) << text << title;
  }
  // A quote after a number is a unit.
  const ParsedCommand command =
      parsed(Words{"smooth", "in.fits", "out.fits"} + with("fwhm = 5' # \"narrow\n"));
  EXPECT_NE(command.used_configuration.find("fwhm=\"5'\"\n"), std::string::npos);
  expect_refused("line 2: a text in quotes does not end",
                 smooth + with("lmax = 3\nreport = \"run#1.json\n"));
}

TEST_F(Configuration, OfOneCommandMayHaveCommonOptionsOfAnother) {
  const ParsedCommand command =
      parsed(smooth + with("[smooth]\nthreads = 2\n[analyze]\nthreads = 1\n"));
  EXPECT_EQ(command.common.threads, 2);
}

TEST_F(Configuration, MayComeFromAPipe) {
  const Words pipe = with_pipe();
  std::thread writer([&] { std::ofstream(pipe.back()) << "fwhm = \"2deg\"\nlmax = many\n"; });
  expect_refused("line 2: --lmax: ", Words{"smooth", "in.fits", "out.fits"} + pipe);
  writer.join();
  expect_refused("is a pipe from which nothing came for 2 s", smooth + pipe);
}

TEST_F(Configuration, IsATextOfOptionsAndNoOtherFile) {
  expect_refused("--config /dev/zero: is neither a file nor a pipe",
                 smooth + Words{"--config", "/dev/zero"});
  expect_refused("--config /: is a folder", smooth + Words{"--config=/"});
  expect_refused("has more than 256 KiB", smooth + with("title = \"" + std::string(300000, 'a')));
  expect_refused("--config: is given twice", smooth + with("") + with(""));
  EXPECT_FALSE(parsed(smooth + Words{"--config", "none.toml", "--help"}).text.empty());
}

TEST_F(Configuration, NamesOfManyPartsAreRefusedAtOnce) {
  std::string many = "a";
  for (int i = 0; i < 20000; ++i) many += ".a";
  expect_refused("line 1: unknown table [a.a.a.", smooth + with('[' + many + "]\nlmax = 3\n"));
  expect_refused("line 2: unknown key a.a.a.", smooth + with("lmax = 3\n" + many + " = 3\n"));
  const Thrown thrown = thrown_by([&] { parsed(smooth + with('[' + many + "]\n")); });
  EXPECT_LT(thrown.message.size(), 400u);
}

TEST_F(Configuration, WithUnknownKeysOrBadValuesIsRefused) {
  expect_refused("line 2: unknown key fwhn; did you mean fwhm?",
                 smooth + with("lmax = 8\nfwhn = \"2deg\"\n"));
  expect_refused("line 2: --lmax: ", smooth + with("mmax = 3\nlmax = many\n"));
  expect_refused("tol", smooth + with("tol = 2\n"));
  expect_refused("line 2: a configuration file cannot name another",
                 smooth + with("lmax = 3\nconfig = \"other.toml\"\n"));
  expect_refused("--config none.toml: ", smooth + Words{"--config", "none.toml"});
}

}  // namespace
}  // namespace ringweave::detail::test
