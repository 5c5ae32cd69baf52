// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/text_share.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "distribute/mpi/exchange_mpi.hpp"
#include "io/equal_parts.hpp"
#include "io/header_json.hpp"
#include "io/input_file.hpp"
#include "io/text_table.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline io {
namespace {

constexpr std::int64_t most_line_bytes = std::int64_t{1} << 20;
constexpr std::int64_t most_comment_bytes = std::int64_t{1} << 24;

/// Reads a text file line by line.
class LineReader {
 public:
  /// Goes to the first line that begins at byte `from` or behind it. Error  ResourceError.
  LineReader(const std::string& path, std::int64_t from)
      : path_(path), file_(path, std::ios::binary), buffer_(to_size(most_line_bytes + 2)) {
    if (!file_) throw ResourceError(fmt::format("{}: cannot be opened", path));
    if (from == 0) return;
    file_.seekg(from - 1);
    file_.ignore(std::numeric_limits<std::int64_t>::max(), '\n');
    next_ = from - 1 + file_.gcount();
  }

  /// Returns false at the end of the file. Error  DataError for a file that is no text.
  bool next() {
    begin_ = next_;
    file_.getline(buffer_.data(), ssize64(buffer_));
    const std::int64_t count = file_.gcount();
    if (file_.bad()) throw DataError(path_, "cannot be read to its end");
    if (file_.fail() && count == 0) return false;
    next_ += count;
    line_ = {buffer_.data(), to_size(file_.eof() || file_.fail() ? count : count - 1)};
    if (file_.fail() || line_.find('\0') != std::string_view::npos) {
      throw DataError(path_, fmt::format("is not text: the line that begins at byte {} {}", begin_,
                                         file_.fail() ? "has more than a million characters"
                                                      : "has characters that no text has"));
    }
    return true;
  }

  std::int64_t begin() const { return begin_; }  ///< byte of the file
  std::string_view line() const { return line_; }
  /// The line without its comment; empty for blank lines.
  std::string_view numbers() const {
    const std::string_view text = line_.substr(0, line_.find('#'));
    const std::size_t first = text.find_first_not_of(text_separators);
    return first == std::string_view::npos ? std::string_view() : text.substr(first);
  }

 private:
  std::string path_;
  std::ifstream file_;
  std::vector<char> buffer_;
  std::string_view line_;
  std::int64_t begin_ = 0;
  std::int64_t next_ = 0;
};

/// A line of the file, and the bytes, rows and lines before it.
struct Mark {
  std::int64_t byte = 0;
  std::int64_t rows = 0;
  std::int64_t lines = 0;
};

/// Counts of rows and lines in a rank's part of the file, and its first row.
struct Part {
  std::int64_t rows = 0;
  std::int64_t lines = 0;
  std::int64_t n_columns = 0;   ///< of its first row
  std::int64_t first_line = 0;  ///< of its first row, from 1 in this part
  std::vector<Mark> marks;      ///< counted from the begin of the part
};

Part count_rows(const std::string& path, std::int64_t begin, std::int64_t end,
                const TextLimits& limits) {
  Part part;
  LineReader reader(path, begin);
  while (reader.next() && reader.begin() < end) {
    if (part.marks.empty() || reader.begin() - part.marks.back().byte >= limits.bytes_between_marks)
      part.marks.push_back({reader.begin(), part.rows, part.lines});
    ++part.lines;
    const std::string_view numbers = reader.numbers();
    if (numbers.empty()) continue;
    if (part.rows++ > 0) continue;
    part.first_line = part.lines;
    for_each_word(numbers, [&](std::string_view) { ++part.n_columns; });
  }
  return part;
}

/// Sends every rank the mark before its first row; the mark of byte -1 where it has no rows.
/// Collective.
Mark mark_of_own_rows(const Communicator& comm, const Part& part, std::int64_t rows_before,
                      std::int64_t lines_before, std::int64_t n_rows) {
  std::vector<std::int64_t> sent(to_size(3 * std::int64_t{comm.size()}), -1);
  for (std::int64_t rank = 0; rank < comm.size(); ++rank) {
    const std::int64_t first = part_begin(n_rows, rank, comm.size()) - rows_before;
    const bool has_rows = part_begin(n_rows, rank + 1, comm.size()) > first + rows_before;
    if (!has_rows || first < 0 || first >= part.rows) continue;
    const auto after =
        std::upper_bound(part.marks.begin(), part.marks.end(), first,
                         [](std::int64_t row, const Mark& mark) { return row < mark.rows; });
    const Mark& mark = *(after - 1);
    const std::int64_t numbers[] = {mark.byte, mark.rows + rows_before, mark.lines + lines_before};
    std::copy_n(numbers, 3, sent.begin() + 3 * rank);
  }
  const std::vector<std::int64_t> received = comm.size() == 1 ? sent : all_to_all(comm, sent);
  for (std::size_t at = 0; at < received.size(); at += 3) {
    if (received[at] >= 0) return {received[at], received[at + 1], received[at + 2]};
  }
  return {-1, 0, 0};
}

void read_rows(const std::string& path, Mark mark, TextShare& share) {
  LineReader reader(path, mark.byte);
  const std::int64_t end = share.first + share.columns.size();
  const std::int64_t n_columns = share.columns.n_components();
  const ComponentView<double> columns = share.columns.view();
  while (mark.rows < end) {
    if (!reader.next()) throw DataError(path, "ends before its last row; wait until it is written");
    ++mark.lines;
    const std::string_view numbers = reader.numbers();
    if (numbers.empty() || mark.rows++ < share.first) continue;
    const std::int64_t row = mark.rows - 1 - share.first;
    std::int64_t column = 0;
    for_each_word(numbers, [&](std::string_view word) {
      if (column < n_columns)
        columns.component(column)[row] = parse_any_number(std::string(word), path, mark.lines);
      ++column;
    });
    if (column != n_columns) {
      throw DataError(path, fmt::format("line {}: has {} columns, the first row (line {}) {}",
                                        mark.lines, column, share.extent.first_line, n_columns));
    }
  }
}

}  // namespace

TextBegin read_text_begin(const std::string& path) {
  check_input_file(path);
  TextBegin begin;
  LineReader reader(path, 0);
  for (std::int64_t line = 1; begin.first_row.empty() && reader.next(); ++line) {
    if (reader.begin() > most_comment_bytes)
      throw DataError(path, "holds no numbers in its first 16 MiB");
    if (const std::size_t comment = reader.line().find('#'); comment != std::string_view::npos)
      begin.comments.emplace_back(reader.line().substr(comment + 1));
    for_each_word(reader.numbers(), [&](std::string_view word) {
      begin.first_row.push_back(parse_any_number(std::string(word), path, line));
    });
  }
  return begin;
}

TextShare read_text_share(const Communicator& comm, const std::string& path,
                          const std::function<void(const TextExtent&)>& check,
                          const TextLimits& limits) {
  TextShare share;
  std::optional<InputStamp> stamp;
  std::int64_t bytes = 0;
  agree(comm, [&] {
    if (comm.is_root()) bytes = stamp.emplace(path).size();
  });
  comm.broadcast(&bytes, sizeof bytes, 0);
  share.comments = share_from_root(comm, [&] { return read_text_begin(path).comments; });
  const Part part = agreed(comm, [&] {
    if (!comm.is_root()) {
      require_size_of_root(path, check_input_of_other_rank(path), bytes);
      stamp.emplace(path);
    }
    return count_rows(path, part_begin(bytes, comm.rank(), comm.size()),
                      part_begin(bytes, comm.rank() + std::int64_t{1}, comm.size()), limits);
  });

  const std::vector<std::int64_t> rows = comm.all_gather(part.rows);
  const std::vector<std::int64_t> lines = comm.all_gather(part.lines);
  const std::vector<std::int64_t> n_columns = comm.all_gather(part.n_columns);
  const std::vector<std::int64_t> first_lines = comm.all_gather(part.first_line);
  std::int64_t rows_before = 0;
  std::int64_t lines_before = 0;
  std::int64_t all_lines = 0;
  for (std::size_t rank = 0; rank < rows.size(); ++rank) {
    if (rank == to_size(comm.rank())) {
      rows_before = share.extent.n_rows;
      lines_before = all_lines;
    }
    if (share.extent.n_rows == 0 && rows[rank] > 0) {
      share.extent.n_columns = n_columns[rank];
      share.extent.first_line = all_lines + first_lines[rank];
    }
    share.extent.n_rows += rows[rank];
    all_lines += lines[rank];
  }
  check(share.extent);

  share.first = part_begin(share.extent.n_rows, comm.rank(), comm.size());
  const std::int64_t end =
      part_begin(share.extent.n_rows, comm.rank() + std::int64_t{1}, comm.size());
  const Mark mark = mark_of_own_rows(comm, part, rows_before, lines_before, share.extent.n_rows);
  agree(comm, [&] {
    share.columns = ComponentBuffer<double>(share.extent.n_columns, end - share.first);
    try {
      if (end > share.first) read_rows(path, mark, share);
    } catch (const DataError&) {
      stamp->require_same();  // else that is the reason
      throw;
    }
    stamp->require_same();
  });
  return share;
}

}  // namespace ringweave::detail::inline io
