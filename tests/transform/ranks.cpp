// SPDX-License-Identifier: GPL-3.0-or-later
#include "support/rank_groups.hpp"

namespace ringweave::detail::test {

INSTANTIATE_TEST_SUITE_P(Ranks, OnEveryRankCount, every_rank_count(), name_of_rank_groups);

}  // namespace ringweave::detail::test
