// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <complex>

#include "base/checked_cast.hpp"
#include "io/hdf5/fields.hpp"
#include "io_support.hpp"
#include "ringweave/files.hpp"

namespace ringweave::detail {
namespace {

using test::ScratchFolder;

/// Orders dealt round robin, so that every rank's rows are scattered over the file.
AlmLayout deal_orders(int lmax, int mmax, const Communicator& comm) {
  std::vector<int> orders;
  for (int m = comm.rank(); m <= mmax; m += comm.size()) orders.push_back(m);
  return {lmax, mmax, orders};
}

std::complex<double> coefficient(std::int64_t component, int l, int m) {
  return {static_cast<double>(1000 * component + l) + 0.25, static_cast<double>(m)};
}

template <class T>
std::vector<std::complex<T>> coefficients(const AlmLayout& layout, std::int64_t n_components,
                                          int file_lmax, int file_mmax) {
  std::vector<std::complex<T>> alm(to_size(n_components * layout.size()));
  for (std::int64_t c = 0; c < n_components; ++c) {
    for (std::int64_t row = 0; row < layout.n_orders(); ++row) {
      const int m = layout.order(row);
      for (int l = m; l <= layout.lmax(); ++l) {
        if (l > file_lmax || m > file_mmax) continue;
        alm[to_size(c * layout.size() + layout.index(row, l))] =
            std::complex<T>(coefficient(c, l, m));
      }
    }
  }
  return alm;
}

AlmHeader header_of(int lmax, int mmax, Precision precision) {
  AlmHeader header;
  header.lmax = lmax;
  header.mmax = mmax;
  header.components = {"T", "E", "B"};
  header.precision = precision;
  header.unit = "K_CMB";
  return header;
}

template <class T>
void write_coefficients(const Communicator& comm, const std::string& path, int lmax, int mmax,
                        Precision precision, const Hdf5Limits& limits = {}) {
  const AlmLayout layout = deal_orders(lmax, mmax, comm);
  const auto alm = coefficients<T>(layout, 3, lmax, mmax);
  write_hdf5_alm<T>(comm, path, header_of(lmax, mmax, precision), test::sample_provenance(), layout,
                    AlmView<const T>(alm.data(), 3, layout.size()), limits);
}

template <class T>
void expect_coefficients(const Communicator& comm, const std::string& path, int lmax, int mmax,
                         const Hdf5Limits& limits = {}) {
  const auto reader = open_hdf5_alm(comm, path, limits);
  const AlmLayout layout = deal_orders(lmax, mmax, comm);
  std::vector<std::complex<T>> alm(to_size(3 * layout.size()), {-1, -1});
  reader->read(std::vector<int>{0, 1, 2}, layout, AlmView<T>(alm.data(), 3, layout.size()));
  EXPECT_EQ(alm, coefficients<T>(layout, 3, reader->header().lmax, reader->header().mmax));
}

constexpr Hdf5Limits tiny{29, 2};

TEST(Hdf5Alm, CoefficientsComeBackOnAnyRank) {
  const Communicator comm = Communicator::world();
  const ScratchFolder folder(comm);
  for (const Precision precision : {Precision::double_, Precision::single_}) {
    write_coefficients<double>(comm, folder / "alm.h5", 17, 12, precision);
    expect_coefficients<double>(comm, folder / "alm.h5", 17, 12);
    expect_coefficients<float>(comm, folder / "alm.h5", 17, 12, tiny);
    write_coefficients<float>(comm, folder / "alm.h5", 17, 12, precision, tiny);
    expect_coefficients<double>(comm, folder / "alm.h5", 17, 12, tiny);
  }
}

TEST(Hdf5Alm, OtherBandLimitsCutOrFillWithZeros) {
  const Communicator comm = Communicator::world();
  const ScratchFolder folder(comm);
  write_coefficients<double>(comm, folder / "alm.h5", 10, 8, Precision::double_);
  for (const auto& [lmax, mmax] :
       std::vector<std::pair<int, int>>{{6, 6}, {10, 3}, {15, 15}, {15, 2}, {0, 0}}) {
    expect_coefficients<double>(comm, folder / "alm.h5", lmax, mmax);
    expect_coefficients<double>(comm, folder / "alm.h5", lmax, mmax, tiny);
  }
}

TEST(Hdf5Alm, BytesDependOnNeitherRanksNorTransferSize) {
  const Communicator comm = Communicator::world();
  const ScratchFolder folder(comm);
  write_coefficients<double>(comm, folder / "together.h5", 20, 20, Precision::double_);
  write_coefficients<double>(comm, folder / "split.h5", 20, 20, Precision::double_, tiny);
  test::on_root(comm, [&] {
    write_coefficients<double>(Communicator::self(), folder / "alone.h5", 20, 20,
                               Precision::double_);
    EXPECT_TRUE(test::bytes_of(folder / "together.h5") == test::bytes_of(folder / "alone.h5"));
    EXPECT_TRUE(test::bytes_of(folder / "split.h5") == test::bytes_of(folder / "alone.h5"));
  });
}

TEST(Hdf5Alm, HeaderComesBack) {
  const Communicator comm = Communicator::world();
  const ScratchFolder folder(comm);
  write_coefficients<float>(comm, folder / "alm.h5", 5, 4, Precision::single_);
  const AlmHeader header = open_hdf5_alm(comm, folder / "alm.h5")->header();
  EXPECT_EQ(header.lmax, 5);
  EXPECT_EQ(header.mmax, 4);
  EXPECT_EQ(header.components, (std::vector<std::string>{"T", "E", "B"}));
  EXPECT_EQ(header.precision, Precision::single_);
  EXPECT_EQ(header.unit, "K_CMB");
  EXPECT_TRUE(header.warnings.empty());
}

TEST(Hdf5Alm, ComponentsAreChosenInAnyOrder) {
  const Communicator comm = Communicator::world();
  const ScratchFolder folder(comm);
  write_coefficients<double>(comm, folder / "alm.h5", 5, 5, Precision::double_);
  const AlmLayout layout = deal_orders(5, 5, comm);
  std::vector<std::complex<double>> alm(to_size(layout.size()));
  open_hdf5_alm(comm, folder / "alm.h5")
      ->read(std::vector<int>{2}, layout, AlmView<double>(alm.data(), 1, layout.size()));
  for (std::int64_t row = 0; row < layout.n_orders(); ++row) {
    for (int l = layout.order(row); l <= 5; ++l) {
      EXPECT_EQ(alm[to_size(layout.index(row, l))], coefficient(2, l, layout.order(row)));
    }
  }
}

TEST(Hdf5Alm, AnOrderThatNoRankHoldsIsAnError) {
  const Communicator comm = Communicator::world();
  const ScratchFolder folder(comm);
  std::vector<int> orders;
  const AlmLayout complete = deal_orders(6, 6, comm);
  for (const int m : complete.orders()) {
    if (m != 4) orders.push_back(m);
  }
  const AlmLayout layout(6, 6, orders);
  const auto alm = coefficients<double>(layout, 3, 6, 6);
  test::expect_error(ErrorKind::usage, "no rank holds order 4", [&] {
    write_hdf5_alm<double>(comm, folder / "alm.h5", header_of(6, 6, Precision::double_), {}, layout,
                           AlmView<const double>(alm.data(), 3, layout.size()));
  });
}

}  // namespace
}  // namespace ringweave::detail
