// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/fits/checksum.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

#include "io/output_part.hpp"

namespace ringweave::detail::inline io {
namespace {

constexpr std::int64_t card_length = 80;
constexpr std::int64_t word_length = 4;
constexpr const char* no_sum = "0000000000000000";

/// Returns the sum of the words of bytes, whose number is a multiple of four.
std::uint32_t sum_of_bytes(std::span<const std::byte> bytes) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < bytes.size(); i += sizeof(std::uint32_t)) {
    std::uint32_t word = 0;
    std::memcpy(&word, bytes.data() + i, sizeof word);
    sum += std::endian::native == std::endian::big ? word : __builtin_bswap32(word);
  }
  return ones_complement(sum);
}

std::uint64_t sum_of_text(std::string_view text) {
  return sum_of_bytes(std::as_bytes(std::span(text)));
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

void verify_checksums(const std::string& path, std::span<const WrittenHdu> hdus) {
  const RawFile file = open_again(path);
  const auto sum_of = [&](std::int64_t begin, std::int64_t end) {
    std::uint32_t sum = 0;
    read_again(file, begin, end, [&](std::span<const std::byte> bytes) {
      sum = ones_complement(std::uint64_t{sum} + sum_of_bytes(bytes));
    });
    return sum;
  };
  for (std::size_t i = 0; i < hdus.size(); ++i) {
    const std::uint32_t data = sum_of(hdus[i].data_begin, hdus[i].end);
    const std::uint32_t header = sum_of(hdus[i].begin, hdus[i].data_begin);
    constexpr std::uint32_t right = 0xffffffff;
    if (data != hdus[i].data_sum || ones_complement(std::uint64_t{header} + data) != right)
      refuse_as_lost(path, fmt::format(" (HDU {})", i + 1));
  }
  require_length(path, hdus.empty() ? 0 : hdus.back().end);
}

}  // namespace ringweave::detail::inline io
