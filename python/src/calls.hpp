// SPDX-License-Identifier: GPL-3.0-or-later
// Calls of plans that take one array and give another.
#pragma once

#include "arrays.hpp"
#include "plan.hpp"
#include "transform_plan.hpp"

namespace ringweave::python {

/// An array that a call takes or gives, as this rank has it.
struct Argument {
  const char* name;           ///< for messages
  Numbers numbers;            ///< of its elements
  std::int64_t n_components;  ///< rows
  std::int64_t size;          ///< elements of a row
};

/// Input and output of a call.
struct ArrayCall {
  Rows in;            ///< is read
  Rows out;           ///< is written
  nb::object result;  ///< the array of `out`
};

/// Tells whether the output must have been given, because it is added to.
enum class OutputIs { any, given };

/// Checks the arrays of a call on all ranks, and makes the output where it is None. arguments(plan)
/// returns those of the input and of the output; `whose` says for messages what has their shapes.
/// Collective.
template <class Object, class Arguments>
ArrayCall agreed_call(Plan<Object>& plan, nb::handle in, nb::handle out, const char* whose,
                      const Arguments& arguments, OutputIs output = OutputIs::any) {
  ArrayCall call;
  agree(plan.comm(), "precision and number of arrays of a call", [&] {
    const auto [from, to] = arguments(plan.get());
    call.in = borrow_rows(in, from.name, from.numbers, Access::read);
    require_shape(call.in, from.name, from.n_components, from.size, whose);
    if (output == OutputIs::given && out.is_none())
      throw UsageError("accumulate=True adds to `out`, which is None");
    call.result = output_for(call.in, from.name, from.numbers, out, to.numbers, to.n_components,
                             to.size, whose, call.out);
    return call.in.digest();
  });
  return call;
}

/// Runs work(plan, type, array of the batch) without the GIL for every array of a call, with
/// `type` a float or a double. Collective.
template <class Object, class Work>
void run_each(Plan<Object>& plan, const ArrayCall& call, const Work& work) {
  plan.run([&](Object& object) {
    with_type(call.in, [&](auto type) {
      for (std::int64_t i = 0; i < call.in.n_batch; ++i) work(object, type, i);
    });
  });
}

}  // namespace ringweave::python
