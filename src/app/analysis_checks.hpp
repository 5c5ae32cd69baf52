// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/cli/field_choice.hpp"
#include "app/run.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/files.hpp"
#include "ringweave/grid.hpp"

namespace ringweave::detail::inline app {

/// Tells whether the grid's quadrature is exact for an analysis to lmax, so that there is nothing
/// to correct.
bool is_exact(const RingGrid& grid, int lmax);

/// Returns the corrections of an analysis to lmax without --iter.
int usual_iterations(const RingGrid& grid, int lmax);

/// Tells whether rings of a grid say by a quadrature weight how large their pixels are.
bool has_weights(const RingGrid& grid);

/// Throws a DataError where the grid of the map `path` has no quadrature weights.
void require_weights(const std::string& path, const RingGrid& grid);

/// Warns of an analysis beyond the degrees that the grid of the map `path` holds.
void warn_beyond_grid(Run& run, const std::string& path, const RingGrid& grid, int lmax);

/// Throws a DataError where the residuals of Jacobi iterations grow from pass to pass: they
/// diverge, and the a_lm are worse than without iterations. Collective.
void require_converging(const Communicator& comm, const std::string& path, const RingGrid& grid,
                        int lmax, const std::vector<double>& residuals);

/// Explains a large residual that the last pass did not reduce: power above lmax.
void note_what_remains(Run& run, const std::string& path, int lmax,
                       const std::vector<double>& residuals);

/// Returns the names of a choice's fields, one for each component: T, Q, U, or those of columns.
std::vector<std::string> names_of_fields(const FieldChoice& choice, const MapHeader& header);

/// Returns "12 UNSEEN pixels", where all fields have as many, or "12 UNSEEN pixels of Q, 3 of U";
/// empty without any.
std::string unseen_text(const std::vector<std::int64_t>& n_pixels,
                        const std::vector<std::string>& fields, bool is_masked);

/// Names the columns of a map that a command does not use.
void note_columns_left_out(Run& run, const std::string& path, const MapHeader& header,
                           const FieldChoice& choice);

/// Warns where two maps that go together say that their coordinates differ.
void warn_of_coordinates(Run& run, const std::string& path, const MapHeader& map,
                         const std::string& other_path, const MapHeader& other);

}  // namespace ringweave::detail::inline app
