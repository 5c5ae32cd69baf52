// SPDX-License-Identifier: GPL-3.0-or-later
// Instructions that a lane does alone, on registers: PTX ISA, sections 9.7.1 to 9.7.9. Arithmetic
// of numbers is that of IEEE 754, as a device does it.
#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstring>
#include <limits>
#include <type_traits>
#include <unordered_map>

#include "softdevice/machine/meanings.hpp"
#include "softdevice/machine/warp.hpp"

namespace softdevice {
namespace {

using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using f32 = float;
using f64 = double;

template <class T>
T value(u64 bits) {
  T number;
  std::memcpy(&number, &bits, sizeof number);
  return number;
}
template <class T>
u64 bits(T number) {
  u64 all = 0;
  std::memcpy(&all, &number, sizeof number);
  return all;
}

/// to = F(from...), a function of numbers of types A.
template <auto F, class R, class... A>
void elementwise(Warp& warp, const Instruction& in, Lanes lanes) {
  [&]<std::size_t... n>(std::index_sequence<n...>) {
    Row& to = warp.row(in.operands[0]);
    const std::array<const Row*, sizeof...(A)> from{&warp.row(in.operands[n + 1])...};
    const Lanes unknown = (warp.undefined(in.operands[n + 1]) | ...);
    const auto one = [&](std::size_t lane) {
      to[lane] = bits<R>(static_cast<R>(F(value<A>((*from[n])[lane])...)));
    };
    if (lanes == all_lanes) {
      for (std::size_t lane = 0; lane < n_lanes; ++lane) one(lane);
    } else {
      for_each_lane(lanes, [&](int lane) { one(static_cast<std::size_t>(lane)); });
    }
    Lanes& undefined = warp.undefined(in.operands[0]);
    undefined = (undefined & ~lanes) | (unknown & lanes);
  }
  (std::index_sequence_for<A...>());
}

void set_predicate(Warp& warp, u32 index, Lanes lanes, Lanes truth, Lanes unknown) {
  Lanes& predicate = warp.predicate(index);
  predicate = (predicate & ~lanes) | (truth & lanes);
  Lanes& undefined = warp.undefined_predicate(index);
  undefined = (undefined & ~lanes) | (unknown & lanes);
}

/// predicate = F(a, b)
template <auto F, class T>
void compare(Warp& warp, const Instruction& in, Lanes lanes) {
  const Row& a = warp.row(in.operands[1]);
  const Row& b = warp.row(in.operands[2]);
  Lanes truth = 0;
  for (std::size_t lane = 0; lane < n_lanes; ++lane)
    truth |= static_cast<Lanes>(F(value<T>(a[lane]), value<T>(b[lane]))) << lane;
  set_predicate(warp, in.operands[0], lanes, truth,
                warp.undefined(in.operands[1]) | warp.undefined(in.operands[2]));
}

template <class T>
void select(Warp& warp, const Instruction& in, Lanes lanes) {
  Row& to = warp.row(in.operands[0]);
  const Row& a = warp.row(in.operands[1]);
  const Row& b = warp.row(in.operands[2]);
  const Lanes truth = warp.predicate(in.operands[3]);
  const Lanes unknown = (warp.undefined(in.operands[1]) & truth) |
                        (warp.undefined(in.operands[2]) & ~truth) |
                        warp.undefined_predicate(in.operands[3]);
  for_each_lane(lanes, [&](int l) {
    const auto lane = static_cast<std::size_t>(l);
    to[lane] = bits(value<T>((truth >> lane & 1U) != 0 ? a[lane] : b[lane]));
  });
  Lanes& undefined = warp.undefined(in.operands[0]);
  undefined = (undefined & ~lanes) | (unknown & lanes);
}

template <auto F>
void combine_predicates(Warp& warp, const Instruction& in, Lanes lanes) {
  const u32 a = in.operands[1];
  const u32 b = in.operands[2];
  set_predicate(warp, in.operands[0], lanes, F(warp.predicate(a), warp.predicate(b)),
                warp.undefined_predicate(a) | warp.undefined_predicate(b));
}
template <auto F>
void turn_predicate(Warp& warp, const Instruction& in, Lanes lanes) {
  const u32 a = in.operands[1];
  set_predicate(warp, in.operands[0], lanes, F(warp.predicate(a)), warp.undefined_predicate(a));
}

/// Two numbers of 32 bits to one of 64, and back.
void unpack(Warp& warp, const Instruction& in, Lanes lanes) {
  const Row from = warp.row(in.operands[2]);
  const Lanes unknown = warp.undefined(in.operands[2]);
  for (u32 part = 0; part < 2; ++part) {
    Row& to = warp.row(in.operands[part]);
    for_each_lane(lanes, [&](int l) {
      const auto lane = static_cast<std::size_t>(l);
      to[lane] = from[lane] >> 32 * part & 0xffffffffU;
    });
    Lanes& undefined = warp.undefined(in.operands[part]);
    undefined = (undefined & ~lanes) | (unknown & lanes);
  }
}

template <class T>
T divided(T a, T b) {
  if (b == 0) return static_cast<T>(-1);
  if constexpr (std::signed_integral<T>) {
    if (b == -1) return static_cast<T>(u64{0} - static_cast<u64>(a));
  }
  return static_cast<T>(a / b);
}
template <class T>
T remainder_of(T a, T b) {
  if (b == 0) return a;
  if constexpr (std::signed_integral<T>) {
    if (b == -1) return 0;
  }
  return static_cast<T>(a % b);
}

/// Puts the lowest `count` bits of a into b, from bit `first` on; those beyond its width are left
/// out.
template <class U>
U inserted(U a, U b, u32 first, u32 count) {
  const u64 field = (count & 0xffU) < 64 ? (u64{1} << (count & 0xffU)) - 1 : ~u64{0};
  const u32 shift = first & 0xffU;
  if (shift >= 8 * sizeof(U)) return b;
  return static_cast<U>((b & ~(field << shift)) | (a & field) << shift);
}

/// Rounds to an integer of another type: the nearest one that exists, 0 for NaN.
template <class T, class F>
T saturated(F number) {
  if (std::isnan(number)) return 0;
  // Doubles hold the limits, or the next number beyond.
  const F end = std::ldexp(F{1}, std::numeric_limits<T>::digits);
  if (number >= end) return std::numeric_limits<T>::max();
  if (number < (std::signed_integral<T> ? -end : F{0})) return std::numeric_limits<T>::min();
  return static_cast<T>(number);
}

/// Opcodes and their meanings, as they are entered.
class Table {
 public:
  void add(const std::string& opcode, Handler handler, Pipe pipe, const std::string& operands) {
    meanings_[opcode] = {handler, Flow::next, pipe, operands};
  }
  template <auto F, class R, class A>
  void one(const std::string& opcode, Pipe pipe) {
    add(opcode, elementwise<F, R, A>, pipe, "rR");
  }
  template <auto F, class T>
  void two(const std::string& opcode, Pipe pipe) {
    add(opcode, elementwise<F, T, T, T>, pipe, "rRR");
  }
  template <auto F, class T>
  void three(const std::string& opcode, Pipe pipe) {
    add(opcode, elementwise<F, T, T, T, T>, pipe, "rRRR");
  }
  template <auto F, class T>
  void comparison(const std::string& opcode, Pipe pipe) {
    add(opcode, compare<F, T>, pipe, "pRR");
  }
  std::unordered_map<std::string, Meaning> take() { return std::move(meanings_); }

 private:
  std::unordered_map<std::string, Meaning> meanings_;
};

template <class T>
void add_moves(Table& table, const std::string& type) {
  table.one<[](T a) { return a; }, T, T>("mov." + type, Pipe::integer);
  table.add("selp." + type, select<T>, Pipe::integer, "rRRP");
}

template <class T>
void add_orders(Table& table, const std::string& type, Pipe pipe) {
  table.comparison<[](T a, T b) { return a == b; }, T>("setp.eq." + type, pipe);
  table.comparison<[](T a, T b) { return b < a || a < b; }, T>("setp.ne." + type, pipe);
  table.comparison<[](T a, T b) { return a < b; }, T>("setp.lt." + type, pipe);
  table.comparison<[](T a, T b) { return a <= b; }, T>("setp.le." + type, pipe);
  table.comparison<[](T a, T b) { return b < a; }, T>("setp.gt." + type, pipe);
  table.comparison<[](T a, T b) { return b <= a; }, T>("setp.ge." + type, pipe);
}

template <class S>
void add_integers(Table& table, const std::string& digits) {
  using U = std::make_unsigned_t<S>;
  const auto both = [&](const std::string& name, auto enter) {
    enter(name + ".s" + digits);
    enter(name + ".u" + digits);
  };
  both("add", [&](const std::string& o) {
    table.two<[](U a, U b) { return static_cast<U>(a + b); }, U>(o, Pipe::integer);
  });
  both("sub", [&](const std::string& o) {
    table.two<[](U a, U b) { return static_cast<U>(a - b); }, U>(o, Pipe::integer);
  });
  both("mul.lo", [&](const std::string& o) {
    table.two<[](U a, U b) { return static_cast<U>(u64{a} * b); }, U>(o, Pipe::integer);
  });
  both("mad.lo", [&](const std::string& o) {
    table.three<[](U a, U b, U c) { return static_cast<U>(u64{a} * b + c); }, U>(o, Pipe::integer);
  });
  table.two<divided<S>, S>("div.s" + digits, Pipe::integer);
  table.two<divided<U>, U>("div.u" + digits, Pipe::integer);
  table.two<remainder_of<S>, S>("rem.s" + digits, Pipe::integer);
  table.two<remainder_of<U>, U>("rem.u" + digits, Pipe::integer);
  table.two<[](S a, S b) { return std::min(a, b); }, S>("min.s" + digits, Pipe::integer);
  table.two<[](S a, S b) { return std::max(a, b); }, S>("max.s" + digits, Pipe::integer);
  table.two<[](U a, U b) { return std::min(a, b); }, U>("min.u" + digits, Pipe::integer);
  table.two<[](U a, U b) { return std::max(a, b); }, U>("max.u" + digits, Pipe::integer);
  table.one<[](U a) { return static_cast<U>(U{0} - a); }, U, U>("neg.s" + digits, Pipe::integer);
  table.one<[](U a) { return static_cast<S>(a) < 0 ? static_cast<U>(U{0} - a) : a; }, U, U>(
      "abs.s" + digits, Pipe::integer);
  table.two<[](U a, U b) { return static_cast<U>(a & b); }, U>("and.b" + digits, Pipe::integer);
  table.two<[](U a, U b) { return static_cast<U>(a | b); }, U>("or.b" + digits, Pipe::integer);
  table.two<[](U a, U b) { return static_cast<U>(a ^ b); }, U>("xor.b" + digits, Pipe::integer);
  table.one<[](U a) { return static_cast<U>(~a); }, U, U>("not.b" + digits, Pipe::integer);
  table.add("bfi.b" + digits, elementwise<inserted<U>, U, U, U, u32, u32>, Pipe::integer, "rRRRR");
  // The second operand of shifts has 32 bits; all bits leave beyond the width.
  table.add(
      "shl.b" + digits,
      elementwise<[](U a, u32 n) { return n < 8 * sizeof(U) ? static_cast<U>(a << n) : U{0}; }, U,
                  U, u32>,
      Pipe::integer, "rRR");
  table.add(
      "shr.u" + digits,
      elementwise<[](U a, u32 n) { return n < 8 * sizeof(U) ? static_cast<U>(a >> n) : U{0}; }, U,
                  U, u32>,
      Pipe::integer, "rRR");
  table.add("shr.s" + digits,
            elementwise<[](S a, u32 n) {
              return static_cast<S>(a >> std::min<u32>(n, 8 * sizeof(S) - 1));
            },
                        S, S, u32>,
            Pipe::integer, "rRR");
  for (const char kind : {'s', 'u', 'b'}) {
    const std::string type = kind + digits;
    add_moves<U>(table, type);
    if (kind == 's') add_orders<S>(table, type, Pipe::integer);
    if (kind != 's') add_orders<U>(table, type, Pipe::integer);
  }
}

template <class F>
void add_numbers(Table& table, const std::string& type) {
  const Pipe pipe = sizeof(F) == 8 ? Pipe::other64 : Pipe::integer;
  for (const char* rounding : {".", ".rn."}) {
    table.two<[](F a, F b) { return a + b; }, F>("add" + std::string(rounding) + type, pipe);
    table.two<[](F a, F b) { return a - b; }, F>("sub" + std::string(rounding) + type, pipe);
    table.two<[](F a, F b) { return a * b; }, F>("mul" + std::string(rounding) + type, pipe);
  }
  table.two<[](F a, F b) { return a / b; }, F>("div.rn." + type, pipe);
  table.three<[](F a, F b, F c) { return std::fma(a, b, c); }, F>(
      "fma.rn." + type, sizeof(F) == 8 ? Pipe::fma64 : Pipe::integer);
  table.one<[](F a) { return F{1} / a; }, F, F>("rcp.rn." + type, pipe);
  table.one<[](F a) { return std::sqrt(a); }, F, F>("sqrt.rn." + type, pipe);
  table.one<[](F a) { return -a; }, F, F>("neg." + type, pipe);
  table.one<[](F a) { return std::fabs(a); }, F, F>("abs." + type, pipe);
  // Of a number and NaN the number.
  table.two<[](F a, F b) { return std::fmin(a, b); }, F>("min." + type, pipe);
  table.two<[](F a, F b) { return std::fmax(a, b); }, F>("max." + type, pipe);
  add_moves<F>(table, type);
  add_orders<F>(table, type, pipe);
  // True also where one of both is NaN.
  table.comparison<[](F a, F b) { return !(a < b || b < a); }, F>("setp.equ." + type, pipe);
  table.comparison<[](F a, F b) { return !(a == b); }, F>("setp.neu." + type, pipe);
  table.comparison<[](F a, F b) { return !(b <= a); }, F>("setp.ltu." + type, pipe);
  table.comparison<[](F a, F b) { return !(b < a); }, F>("setp.leu." + type, pipe);
  table.comparison<[](F a, F b) { return !(a <= b); }, F>("setp.gtu." + type, pipe);
  table.comparison<[](F a, F b) { return !(a < b); }, F>("setp.geu." + type, pipe);
  table.comparison<[](F a, F b) { return std::isnan(a) || std::isnan(b); }, F>("setp.nan." + type,
                                                                               pipe);
  // To integral numbers of the same type: to the nearest (even), down, up, towards zero.
  table.one<[](F a) { return std::nearbyint(a); }, F, F>("cvt.rni." + type + "." + type, pipe);
  table.one<[](F a) { return std::floor(a); }, F, F>("cvt.rmi." + type + "." + type, pipe);
  table.one<[](F a) { return std::ceil(a); }, F, F>("cvt.rpi." + type + "." + type, pipe);
  table.one<[](F a) { return std::trunc(a); }, F, F>("cvt.rzi." + type + "." + type, pipe);
}

template <class From>
void add_conversions_from(Table& table, const std::string& from) {
  const auto to = [&]<class To>(To, const std::string& type) {
    if (type != from)
      table.one<[](From a) { return static_cast<To>(a); }, To, From>("cvt." + type + "." + from,
                                                                     Pipe::integer);
  };
  to(u16(), "u16");
  to(s16(), "s16");
  to(u32(), "u32");
  to(s32(), "s32");
  to(u64(), "u64");
  to(s64(), "s64");
  table.one<[](From a) { return static_cast<f64>(a); }, f64, From>("cvt.rn.f64." + from,
                                                                   Pipe::other64);
  table.one<[](From a) { return static_cast<f32>(a); }, f32, From>("cvt.rn.f32." + from,
                                                                   Pipe::integer);
  table.one<[](f64 a) { return saturated<From>(std::trunc(a)); }, From, f64>(
      "cvt.rzi." + from + ".f64", Pipe::other64);
  table.one<[](f64 a) { return saturated<From>(std::nearbyint(a)); }, From, f64>(
      "cvt.rni." + from + ".f64", Pipe::other64);
}

}  // namespace

std::unordered_map<std::string, Meaning> register_meanings() {
  Table table;
  add_integers<s16>(table, "16");
  add_integers<s32>(table, "32");
  add_integers<s64>(table, "64");
  add_numbers<f32>(table, "f32");
  add_numbers<f64>(table, "f64");
  add_conversions_from<u16>(table, "u16");
  add_conversions_from<s16>(table, "s16");
  add_conversions_from<u32>(table, "u32");
  add_conversions_from<s32>(table, "s32");
  add_conversions_from<u64>(table, "u64");
  add_conversions_from<s64>(table, "s64");
  table.one<[](f32 a) { return f64{a}; }, f64, f32>("cvt.f64.f32", Pipe::other64);
  table.one<[](f64 a) { return static_cast<f32>(a); }, f32, f64>("cvt.rn.f32.f64", Pipe::other64);
  const auto wide = [&]<class Wide, class Narrow>(Wide, Narrow, const std::string& type) {
    table.add("mul.wide." + type,
              elementwise<[](Narrow a, Narrow b) { return static_cast<Wide>(Wide{a} * Wide{b}); },
                          Wide, Narrow, Narrow>,
              Pipe::integer, "rRR");
    table.two<[](Narrow a, Narrow b) {
      return static_cast<Narrow>(static_cast<Wide>(Wide{a} * Wide{b}) >> 32);
    },
              Narrow>("mul.hi." + type, Pipe::integer);
    table.add("mad.wide." + type,
              elementwise<[](Narrow a, Narrow b, Wide c) {
                return static_cast<Wide>(static_cast<u64>(Wide{a} * Wide{b}) + static_cast<u64>(c));
              },
                          Wide, Narrow, Narrow, Wide>,
              Pipe::integer, "rRRR");
  };
  wide(s64(), s32(), "s32");
  wide(u64(), u32(), "u32");
  // Generic addresses are those of global memory.
  table.one<[](u64 a) { return a; }, u64, u64>("cvta.to.global.u64", Pipe::integer);
  table.add("mov.b64 unpacked", unpack, Pipe::integer, "rrR");
  table.add("mov.b64 packed",
            elementwise<[](u32 low, u32 high) { return u64{high} << 32 | low; }, u64, u32, u32>,
            Pipe::integer, "rRR");
  table.add("mov.pred", turn_predicate<[](Lanes a) { return a; }>, Pipe::integer, "pP");
  table.add("not.pred", turn_predicate<[](Lanes a) { return ~a; }>, Pipe::integer, "pP");
  const auto logic = [&]<auto F>(const std::string& name) {
    table.add(name + ".pred", combine_predicates<F>, Pipe::integer, "pPP");
  };
  logic.operator()<[](Lanes a, Lanes b) { return a & b; }>("and");
  logic.operator()<[](Lanes a, Lanes b) { return a | b; }>("or");
  logic.operator()<[](Lanes a, Lanes b) { return a ^ b; }>("xor");
  return table.take();
}

}  // namespace softdevice
