// SPDX-License-Identifier: Apache-2.0
#include "churn_run.hpp"

namespace bench {

template churn_report run_churn<4, placement_rule::best_fit>(const churn_options& options);

churn_report run_uniform(const uniform_shape& shape, std::size_t repeats) {
    churn_options options;
    options.work.nodes = shape.nodes;
    options.gangs = shape.gangs;
    options.repeats = repeats;
    options.naive_gangs = shape.gangs;
    options.flat_gangs = shape.gangs;
    churn_record<4> record;
    double reached = 0.0;
    for (std::size_t round = 0; round < repeats; ++round) {
        churn_run<4, muster::best_fit> run(make_nodes<4>(shape));
        record.begin(run.accounts());
        for (std::size_t asked = 0; asked < shape.gangs; ++asked)
            record.add(run.ask(make_gang<4>(shape)));
        reached = run.accounts().utilisation();
        while (!run.empty())
            run.release_oldest();
        record.end(run);
    }
    churn_report report = record.report(options, placement_rule::best_fit);
    report.utilisation = reached;
    return report;
}

} // namespace bench
