// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <charconv>
#include <optional>
#include <unordered_map>
#include <utility>

#include "softdevice/ptx/module.hpp"

namespace softdevice::ptx {
namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$' || c == '%' || c == '.';
}

/// Words, numbers and signs of a text, one after the other.
class Tokens {
 public:
  explicit Tokens(std::string_view text) : text_(text) { advance(); }

  std::string_view next() const { return token_; }
  bool at_end() const { return token_.empty(); }
  int line() const { return line_; }
  std::string_view take() {
    const std::string_view taken = token_;
    advance();
    return taken;
  }
  bool take_if(std::string_view wanted) {
    if (token_ != wanted) return false;
    advance();
    return true;
  }
  void expect(std::string_view wanted) {
    if (take_if(wanted)) return;
    throw UnknownText(
        line_, "'" + std::string(wanted) + "' expected, found '" + std::string(token_) + "'");
  }
  std::int64_t take_integer() {
    const std::string_view token = take();
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), value);
    if (error != std::errc() || end != token.data() + token.size())
      throw UnknownText(line_, "an integer expected, found '" + std::string(token) + "'");
    return value;
  }
  void skip_behind(std::string_view sign) {
    while (!at_end() && take() != sign) {
    }
  }

 private:
  void advance() {
    line_ = next_line_;
    skip_blanks();
    line_ = next_line_;
    const std::size_t begin = place_;
    if (place_ < text_.size() && text_[place_] == '"') {
      place_ = text_.find('"', place_ + 1);
      place_ = place_ == std::string_view::npos ? text_.size() : place_ + 1;
    } else if (place_ < text_.size()) {
      ++place_;
      while (is_word(text_[begin]) && place_ < text_.size()) {
        if (text_.substr(place_, 2) == "::") {
          ++place_;
        } else if (!is_word(text_[place_])) {
          break;
        }
        ++place_;
      }
    }
    token_ = text_.substr(begin, place_ - begin);
  }
  void skip_blanks() {
    while (place_ < text_.size()) {
      if (text_.substr(place_, 2) == "//") {
        place_ = std::min(text_.find('\n', place_), text_.size());
      } else if (text_[place_] == '\n') {
        ++next_line_;
        ++place_;
      } else if (text_[place_] == ' ' || text_[place_] == '\t' || text_[place_] == '\r' ||
                 text_[place_] == '\0') {
        ++place_;
      } else {
        return;
      }
    }
  }

  std::string_view text_;
  std::string_view token_;
  std::size_t place_ = 0;
  int line_ = 1;
  int next_line_ = 1;
};

/// Returns the bits of a literal (decimal, hexadecimal, 0d and 0f with the bits of a number), or
/// nothing for a name.
std::optional<std::uint64_t> literal(std::string_view token) {
  int base = 10;
  if (token.size() > 2 && token[0] == '0' &&
      std::string_view("xXdDfF").find(token[1]) != token.npos) {
    base = 16;
    token.remove_prefix(2);
  } else if (token.ends_with('U')) {
    token.remove_suffix(1);
  }
  std::uint64_t bits = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), bits, base);
  if (error != std::errc() || end != token.data() + token.size()) return std::nullopt;
  return bits;
}

const std::unordered_map<std::string_view, std::uint32_t> special_registers{{"%tid.x", tid_x},
                                                                            {"%ntid.x", ntid_x},
                                                                            {"%ctaid.x", ctaid_x},
                                                                            {"%nctaid.x", nctaid_x},
                                                                            {"%laneid", laneid}};

/// Reads one kernel, from behind ".entry".
class KernelReader {
 public:
  explicit KernelReader(Tokens& tokens) : tokens_(tokens) {}

  Kernel read() {
    kernel_.name = tokens_.take();
    if (tokens_.take_if("(")) read_parameters();
    while (!tokens_.take_if("{")) read_limit();
    scopes_.emplace_back();
    while (!scopes_.empty()) read_item();
    for (auto& [statement, name] : branches_) {
      const auto label = labels_.find(name);
      if (label == labels_.end()) fail("no label " + std::string(name));
      kernel_.statements[statement].target = label->second;
    }
    return std::move(kernel_);
  }

 private:
  struct Registers {
    OperandKind kind;
    std::uint32_t first;
    std::uint32_t count;
    bool is_numbered;
    bool is_wide;
  };
  using Scope = std::unordered_map<std::string_view, Registers>;

  [[noreturn]] void fail(const std::string& problem) const {
    throw UnknownText(tokens_.line(), problem + " in " + kernel_.name);
  }

  static std::int64_t bytes_of_type(std::string_view type) {
    if (type.ends_with("64")) return 8;
    if (type.ends_with("32")) return 4;
    if (type.ends_with("16")) return 2;
    return type.ends_with("8") ? 1 : 0;
  }

  /// Reads [.align N] .TYPE NAME [[SIZE]], and places it behind `bytes`. Returns offset and size.
  std::pair<std::int64_t, std::int64_t> read_variable(std::int64_t& bytes) {
    std::int64_t alignment = 1;
    if (tokens_.take_if(".align")) alignment = tokens_.take_integer();
    std::int64_t size = bytes_of_type(tokens_.take());
    if (size == 0) fail("a type expected");
    alignment = std::max(alignment, size);
    const std::string_view name = tokens_.take();
    if (tokens_.take_if("[")) {
      size *= tokens_.take_integer();
      tokens_.expect("]");
    }
    bytes = (bytes + alignment - 1) / alignment * alignment;
    symbols_[name] = static_cast<std::uint64_t>(bytes);
    bytes += size;
    return {bytes - size, size};
  }

  void read_parameters() {
    while (!tokens_.take_if(")")) {
      tokens_.expect(".param");
      kernel_.parameters.push_back(read_variable(kernel_.parameter_bytes));
      tokens_.take_if(",");
    }
  }

  void read_limit() {
    const std::string_view name = tokens_.take();
    if (name != ".maxntid" && name != ".minnctapersm") fail("no directive " + std::string(name));
    std::int64_t product = tokens_.take_integer();
    while (tokens_.take_if(",")) product *= tokens_.take_integer();
    if (name == ".maxntid") kernel_.most_threads = static_cast<int>(product);
  }

  void read_item() {
    if (tokens_.at_end()) fail("the text ends");
    if (tokens_.take_if("{")) {
      scopes_.emplace_back();
    } else if (tokens_.take_if("}")) {
      scopes_.pop_back();
    } else if (tokens_.next().starts_with('.')) {
      read_directive();
    } else {
      read_statement();
    }
  }

  void read_directive() {
    const std::string_view name = tokens_.take();
    if (name == ".reg") {
      read_registers();
    } else if (name == ".shared") {
      read_variable(kernel_.shared_bytes);
    } else if (name != ".pragma") {
      fail("no directive " + std::string(name));
    }
    tokens_.skip_behind(";");
  }

  void read_registers() {
    const std::string_view type = tokens_.take();
    const bool is_predicate = type == ".pred";
    const std::string_view name = tokens_.take();
    Registers registers{is_predicate ? OperandKind::predicate : OperandKind::number, 0, 1, false,
                        type.ends_with("64")};
    if (tokens_.take_if("<")) {
      registers.is_numbered = true;
      registers.count = static_cast<std::uint32_t>(tokens_.take_integer());
    }
    std::uint32_t& n = is_predicate ? kernel_.n_predicates : kernel_.n_numbers;
    registers.first = n;
    n += registers.count;
    scopes_.back()[name] = registers;
  }

  std::optional<Operand> find_register(std::string_view name) const {
    if (const auto special = special_registers.find(name); special != special_registers.end())
      return Operand{OperandKind::number, special->second, 0};
    const std::size_t digits = name.find_last_not_of("0123456789") + 1;
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      if (const auto single = scope->find(name);
          single != scope->end() && !single->second.is_numbered)
        return Operand{single->second.kind, single->second.first, 0, single->second.is_wide};
      const auto several = scope->find(name.substr(0, digits));
      if (several == scope->end() || !several->second.is_numbered) continue;
      const auto number = literal(name.substr(digits));
      if (!number || *number >= several->second.count) continue;
      return Operand{several->second.kind,
                     several->second.first + static_cast<std::uint32_t>(*number), 0,
                     several->second.is_wide};
    }
    return std::nullopt;
  }

  Operand read_value() {
    const bool is_negative = tokens_.take_if("-");
    const std::string_view name = tokens_.take();
    if (const auto bits = literal(name))
      return {OperandKind::immediate, no_register, is_negative ? std::uint64_t{0} - *bits : *bits};
    if (const auto found = find_register(name)) return *found;
    if (const auto symbol = symbols_.find(name); symbol != symbols_.end())
      return {OperandKind::immediate, no_register, symbol->second};
    fail("no operand " + std::string(name));
  }

  Operand read_address() {
    Operand address = read_value();
    if (address.kind == OperandKind::predicate) fail("a predicate as address");
    if (address.kind == OperandKind::immediate) address.index = no_register;
    address.kind = OperandKind::address;
    if (tokens_.take_if("+")) address.bits += read_value().bits;
    tokens_.expect("]");
    return address;
  }

  std::uint32_t read_guard(bool& is_negated) {
    if (!tokens_.take_if("@")) return no_register;
    is_negated = tokens_.take_if("!");
    const Operand guard = read_value();
    if (guard.kind != OperandKind::predicate) fail("a predicate expected behind @");
    return guard.index;
  }

  void read_statement() {
    Statement statement;
    statement.line = tokens_.line();
    statement.guard = read_guard(statement.guard_is_negated);
    const std::string_view word = tokens_.take();
    if (tokens_.take_if(":")) {
      labels_[word] = static_cast<std::uint32_t>(kernel_.statements.size());
      return;
    }
    statement.opcode = word;
    if (word.starts_with("bra")) {
      branches_.emplace_back(kernel_.statements.size(), tokens_.take());
      tokens_.expect(";");
    }
    const bool has_operands = !word.starts_with("bra");
    statement.first_is_vector = tokens_.next() == "{";
    while (has_operands && !tokens_.take_if(";")) {
      if (tokens_.take_if(",") || tokens_.take_if("|") || tokens_.take_if("{") ||
          tokens_.take_if("}"))
        continue;
      statement.operands.push_back(tokens_.take_if("[") ? read_address() : read_value());
    }
    kernel_.statements.push_back(std::move(statement));
  }

  Tokens& tokens_;
  Kernel kernel_;
  std::vector<Scope> scopes_;
  std::unordered_map<std::string_view, std::uint64_t> symbols_;
  std::unordered_map<std::string_view, std::uint32_t> labels_;
  std::vector<std::pair<std::size_t, std::string_view>> branches_;
};

}  // namespace

Module read_module(std::string_view text) {
  Module module;
  Tokens tokens(text);
  while (!tokens.at_end()) {
    const std::string_view word = tokens.take();
    if (word == ".version" || word == ".target" || word == ".address_size") {
      tokens.take();
    } else if (word == ".entry") {
      Kernel kernel = KernelReader(tokens).read();
      module.emplace(kernel.name, std::move(kernel));
    } else if (word != ".visible") {
      throw UnknownText(tokens.line(), "no directive " + std::string(word));
    }
  }
  return module;
}

}  // namespace softdevice::ptx
