// SPDX-License-Identifier: Apache-2.0
#include "churn_run.hpp"

namespace bench {

template churn_report run_churn<8, placement_rule::best_fit>(const churn_options& options);

} // namespace bench
