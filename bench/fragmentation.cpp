// SPDX-License-Identifier: Apache-2.0
// Replays the traces of FGD (USENIX ATC'23) with the rules of the paper and one of ours.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "gpu_sharing.hpp"
#include "openb.hpp"
#include "statistics.hpp"

namespace {

using namespace bench;
using namespace bench::gpu_sharing;

constexpr std::string_view usage =
    "fragmentation DATA_DIR [--seeds N] [--workload NAME]\n"
    "  DATA_DIR         directory with openb/openb_node_list_gpu_node.csv and\n"
    "                   openb/openb_pod_list_*.csv, plain or .gz; with\n"
    "                   fgd_expected/analysis_allo_discrete.csv also compares with the published\n"
    "                   means\n"
    "  --seeds N        runs of each rule (default: 10, seeds 42, 43, ...)\n"
    "  --workload NAME  replays only this workload (default: all that are there)\n";
constexpr std::uint64_t first_seed = 42;
/// Of the published means. More is a miss.
constexpr double allowed_difference = 0.5;
constexpr std::int64_t typical_percent = 95;

struct named_rule {
    placement_rule rule;
    const char* name;
    /// Empty for ours.
    const char* published;
};

constexpr named_rule rules[] = {
    {placement_rule::random, "Random", "01-Random"},
    {placement_rule::dot_product, "DotProd", "02-DotProd"},
    {placement_rule::gpu_clustering, "GpuClustering", "03-GpuClustering"},
    {placement_rule::gpu_packing, "GpuPacking", "04-GpuPacking"},
    {placement_rule::best_fit, "BestFit", "05-BestFit"},
    {placement_rule::fgd, "FGD", "06-FGD"},
    {placement_rule::fewest_places_lost, "ours", ""},
};

[[noreturn]] void fail(const std::string& message) {
    std::fprintf(stderr, "fragmentation: %s\n", message.c_str());
    std::exit(EXIT_FAILURE);
}

/// The file, or the output of `gzip -dc` for FILE.gz; absent if neither is there.
std::optional<std::string> read_file(const std::filesystem::path& path) {
    const bool plain = std::filesystem::exists(path);
    const std::filesystem::path packed(path.string() + ".gz");
    if (!plain && !std::filesystem::exists(packed))
        return std::nullopt;
    std::string command = "gzip -dc -- '";
    for (const char letter : packed.string())
        command += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
    command += "'";
    std::FILE* file = plain ? std::fopen(path.c_str(), "r") : ::popen(command.c_str(), "r");
    if (!file)
        fail("cannot read " + path.string());
    std::string text;
    char buffer[1U << 16U];
    while (const std::size_t count = std::fread(buffer, 1, sizeof buffer, file))
        text.append(buffer, count);
    if ((plain ? std::fclose(file) : ::pclose(file)) != 0)
        fail("cannot read " + (plain ? path : packed).string());
    return text;
}

template<class T>
T or_fail(muster::result<T, openb::trace_error> read, const std::filesystem::path& path) {
    if (!read)
        fail(path.string() + ":" + std::to_string(read.error().line) + ": " + read.error().message);
    return std::move(*read);
}

/// Names of the workloads that are there, sorted; `default` first.
std::vector<std::string> list_workloads(const std::filesystem::path& directory) {
    constexpr std::string_view prefix = "openb_pod_list_";
    std::vector<std::string> names;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(directory, ignored)) {
        std::string name = entry.path().filename().string();
        if (name.ends_with(".gz"))
            name.resize(name.size() - 3);
        if (name.starts_with(prefix) && name.ends_with(".csv"))
            names.push_back(name.substr(prefix.size(), name.size() - prefix.size() - 4));
    }
    std::sort(names.begin(), names.end(), [](const std::string& lhs, const std::string& rhs) {
        return std::pair(lhs != "default", lhs) < std::pair(rhs != "default", rhs);
    });
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

/// Published curves by workload and rule, one per seed.
using published_curves =
    std::map<std::pair<std::string, std::string>, std::vector<allocation_curve>>;

published_curves parse_published(const std::string& text) {
    constexpr std::string_view prefix = "openb_pod_list_";
    constexpr std::size_t first_percent = 5;
    published_curves found;
    std::size_t line = 0;
    for (const std::string_view row : openb::detail::split(text, '\n')) {
        if (++line == 1 || row.empty())
            continue;
        const auto cells = openb::detail::split(row, ',');
        if (cells.size() <= first_percent || !cells[0].starts_with(prefix))
            fail("analysis_allo_discrete.csv:" + std::to_string(line) + ": not a row of results");
        allocation_curve curve;
        for (std::size_t cell = first_percent; cell < cells.size(); ++cell)
            curve.push_back(std::strtod(std::string(cells[cell]).c_str(), nullptr));
        found[{std::string(cells[0].substr(prefix.size())), std::string(cells[1])}].push_back(
            curve);
    }
    return found;
}

std::vector<double> at_percent(const std::vector<allocation_curve>& curves, std::size_t percent) {
    std::vector<double> values;
    for (const allocation_curve& curve : curves)
        if (percent < curve.size())
            values.push_back(curve[percent]);
    return values;
}

/// Of a sample; 0 of fewer than two values.
double deviation(const std::vector<double>& values) {
    if (values.size() < 2)
        return 0.0;
    double sum = 0.0;
    for (const double value : values)
        sum += (value - mean(values)) * (value - mean(values));
    return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

class comparison {
public:
    explicit comparison(published_curves published) : published_(std::move(published)) {}

    void print(const std::string& name, const named_rule& rule,
               const std::vector<allocation_curve>& curves, std::size_t percent) {
        const auto values = at_percent(curves, percent);
        std::printf("%-12s %-14s %4zu%% %8.2f ± %4.2f", name.c_str(), rule.name, percent,
                    mean(values), deviation(values));
        const auto known = published_.find({name, rule.published});
        if (known != published_.end()) {
            const auto expected = at_percent(known->second, percent);
            const double difference = mean(values) - mean(expected);
            const bool missed = std::abs(difference) > allowed_difference;
            missed_ += missed ? 1 : 0;
            std::printf(" %10.2f ± %4.2f %+8.2f%s", mean(expected), deviation(expected), difference,
                        missed ? "  MISSED" : "");
        }
        std::printf("\n");
    }

    /// Our rule less FGD, on the same arrivals.
    static void print_gain(const std::string& name, const std::vector<allocation_curve>& fgd,
                           const std::vector<allocation_curve>& ours) {
        const auto before = at_percent(fgd, 100);
        const auto after = at_percent(ours, 100);
        std::vector<double> gains;
        for (std::size_t seed = 0; seed < std::min(before.size(), after.size()); ++seed)
            gains.push_back(after[seed] - before[seed]);
        std::printf("%-12s %-14s %4d%% %+8.2f ± %4.2f\n", name.c_str(), "ours - FGD", 100,
                    mean(gains), deviation(gains));
    }

    [[nodiscard]] std::size_t missed() const { return missed_; }

private:
    published_curves published_;
    std::size_t missed_ = 0;
};

} // namespace

int main(int argc, char** argv) {
    std::optional<std::filesystem::path> data;
    std::uint64_t seeds = 10;
    std::string only;
    for (int index = 1; index < argc; ++index) {
        const std::string_view argument = argv[index];
        const bool has_value = index + 1 < argc;
        if (argument == "--seeds" && has_value) {
            const std::string_view text = argv[++index];
            const auto parsed = std::from_chars(text.data(), text.data() + text.size(), seeds);
            if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size() || seeds == 0)
                fail("--seeds must be an integer from 1, found '" + std::string(text) + "'");
        } else if (argument == "--workload" && has_value) {
            only = argv[++index];
        } else if (!data && !argument.starts_with('-')) {
            data = argument;
        } else {
            data.reset();
            break;
        }
    }
    if (!data) {
        std::fputs(usage.data(), stderr);
        return 2;
    }

    const std::filesystem::path traces = *data / "openb";
    const std::filesystem::path node_list = traces / "openb_node_list_gpu_node.csv";
    openb::model_names models;
    const auto node_text = read_file(node_list);
    if (!node_text)
        fail("there is no " + node_list.string() + ", plain or .gz");
    const auto nodes = or_fail(openb::read_nodes(*node_text, models), node_list);
    const auto expected = read_file(*data / "fgd_expected" / "analysis_allo_discrete.csv");
    comparison results(expected ? parse_published(*expected) : published_curves{});

    std::printf("%-12s %-14s %5s %15s %17s %8s\n", "workload", "rule", "arr.", "allocated, %",
                "published", "diff.");
    bool any = false;
    for (const std::string& name : list_workloads(traces)) {
        if (!only.empty() && name != only)
            continue;
        any = true;
        const std::filesystem::path path = traces / ("openb_pod_list_" + name + ".csv");
        const auto tasks = or_fail(openb::read_tasks(read_file(path).value_or(""), models), path);
        const workload load = make_workload(tasks, typical_percent);
        std::map<placement_rule, std::vector<allocation_curve>> curves;
        for (std::uint64_t seed = first_seed; seed < first_seed + seeds; ++seed) {
            const arrival_order order = arrive(load, nodes, seed);
            for (const named_rule& rule : rules)
                curves[rule.rule].push_back(replay(load, order, rule.rule, seed).run());
        }
        for (const named_rule& rule : rules)
            for (const std::size_t percent : {80U, 85U, 90U, 95U, 100U, 105U, 110U, 120U, 130U})
                if (percent == 100 || name == "default")
                    results.print(name, rule, curves[rule.rule], percent);
        comparison::print_gain(name, curves[placement_rule::fgd],
                               curves[placement_rule::fewest_places_lost]);
        std::fflush(stdout);
    }
    if (!any)
        fail("there is no such workload in " + traces.string());
    std::printf("\n%zu differences from published means above %.1f points\n", results.missed(),
                allowed_difference);
    return results.missed() == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
