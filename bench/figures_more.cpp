// SPDX-License-Identifier: Apache-2.0
#include "figures.hpp"

namespace bench {

void add_more_admission(report& to) {
    for (const request_regime requests : headline_requests) {
        for (const std::size_t nodes : headline_sizes) {
            churn_options options = headline(requests, nodes, false);
            options.naive_gangs = 7000 / (nodes / 1000 + 6);
            options.flat_gangs = 50000 / (nodes / 1000 + 24);
            for (const double utilisation : {0.5, 0.99}) {
                options.utilisation = utilisation;
                add_churn_detail(to, run_churn<4>(options), 4);
            }
            for (const double utilisation : {0.5, 0.8, 0.99}) {
                options.utilisation = utilisation;
                add_churn_detail(to, run_churn<8>(options), 8);
            }
        }
    }
}

} // namespace bench
