// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/fits/checksum.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace ringweave::detail::inline io {
namespace {

constexpr std::int64_t card_length = 80;
constexpr std::int64_t word_length = 4;
constexpr const char* no_sum = "0000000000000000";

/// Adds the words of text whose length is a multiple of four.
std::uint64_t sum_of_text(std::string_view text) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < text.size(); i += 4) {
    for (std::size_t k = 0; k < 4; ++k)
      sum += std::uint64_t{static_cast<unsigned char>(text[i + k])} << (24 - 8 * k);
  }
  return sum;
}

/// Returns the sum of the header, from its cards: it does not depend on their places.
std::uint32_t header_sum(const FitsFile& file) {
  int n_cards = 0;
  int status = 0;
  LONGLONG begin = 0;
  LONGLONG end = 0;
  fits_get_hdrspace(file.handle(), &n_cards, nullptr, &status);
  std::string cards;
  for (int i = 1; i <= n_cards && status == 0; ++i) {
    std::array<char, FLEN_CARD> card{};
    fits_read_record(file.handle(), i, card.data(), &status);
    cards += card.data();
    cards.resize(static_cast<std::size_t>(i * card_length), ' ');
  }
  fits_get_hduaddrll(file.handle(), &begin, &end, nullptr, &status);
  file.check(status, "read its header again");
  cards += "END ";
  const std::int64_t n_blank = (end - begin) / word_length - std::ssize(cards) / word_length;
  const std::uint64_t blanks = static_cast<std::uint64_t>(n_blank) * sum_of_text("    ");
  return ones_complement(sum_of_text(cards) + blanks);
}

void put(const FitsFile& file, const char* name, const std::string& value, const char* comment) {
  int status = 0;
  fits_update_key_str(file.handle(), name, value.c_str(), comment, &status);
  file.check(status, std::string("write keyword ") + name);
}

}  // namespace

void reserve_checksum(const FitsFile& file) {
  put(file, "CHECKSUM", no_sum, "of this HDU");
  put(file, "DATASUM", "0", "of its data");
}

void put_checksum(const FitsFile& file, std::uint32_t data_sum) {
  put(file, "CHECKSUM", no_sum, "of this HDU");
  put(file, "DATASUM", std::to_string(data_sum), "of its data");
  std::array<char, 17> text{};
  fits_encode_chksum(ones_complement(std::uint64_t{header_sum(file)} + data_sum), 1, text.data());
  put(file, "CHECKSUM", text.data(), "of this HDU");
}

}  // namespace ringweave::detail::inline io
