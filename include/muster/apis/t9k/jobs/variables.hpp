// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include <boost/json/object.hpp>
#include <boost/json/string.hpp>
#include <boost/json/value.hpp>

#include <muster/apis/t9k/jobs/containers.hpp>
#include <muster/apis/t9k/jobs/job.hpp>
#include <muster/apis/t9k/jobs/names.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

/// The text with each `$(name)` replaced for which `find(name)` has a value; others stay, and so
/// does
/// `$$(name)`, which the kubelet takes apart. O(text).
template<class Find>
[[nodiscard]] std::string substitute(std::string_view text, Find&& find) {
    std::string out;
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t dollar = text.find('$', at);
        if (dollar == std::string_view::npos || dollar + 1 == text.size())
            break;
        out += text.substr(at, dollar - at);
        at = dollar;
        const std::size_t end = text[dollar + 1] == '(' ? text.find(')', dollar) : dollar + 1;
        if (end == std::string_view::npos)
            break;
        std::optional<std::string> value;
        if (text[dollar + 1] == '(')
            value = find(text.substr(dollar + 2, end - dollar - 2));
        // Of a pair of dollars the second opens nothing.
        const bool whole = value || text[dollar + 1] == '$';
        if (value)
            out += *value;
        else
            out += text.substr(dollar, whole ? 2 : 1);
        at = whole ? end + 1 : dollar + 1;
    }
    return out += text.substr(at);
}

/// The variables of a GenericJob as one of its replicas sees them: `type`, `rank`, `replicas[T]`
/// and, when the job exposes a service, `service.T[R].host` and `service.port[NAME]`.
class t9k_variables {
public:
    t9k_variables(const t9k_job& job, t9k_replica of, const t9k_options& options = {})
        : job_(&job), of_(of), options_(options) {}

    /// Nothing for a name that is no variable.
    [[nodiscard]] std::optional<std::string> operator()(std::string_view name) const {
        if (name == "type")
            return std::string(job_->replica_specs[of_.spec].type);
        if (name == "rank")
            return std::to_string(of_.rank);
        if (const auto type = between(name, "replicas[", "]"))
            if (const auto spec = find_type(*job_, *type))
                return std::to_string(replica_counts(*job_)[*spec]);
        if (!job_->service)
            return std::nullopt;
        if (const auto port = between(name, "service.port[", "]"))
            return port_number(*port);
        if (const auto replica = between(name, "service.", "].host"))
            return host(*replica);
        return std::nullopt;
    }

private:
    static std::optional<std::string_view> between(std::string_view name, std::string_view first,
                                                   std::string_view last) {
        if (name.size() < first.size() + last.size() || !name.starts_with(first) ||
            !name.ends_with(last))
            return std::nullopt;
        return name.substr(first.size(), name.size() - first.size() - last.size());
    }

    std::optional<std::string> port_number(std::string_view name) const {
        for (const t9k_port& port : *job_->service)
            if (port.name == name)
                return std::to_string(port.number);
        return std::nullopt;
    }

    /// `replica` is `T[R`.
    std::optional<std::string> host(std::string_view replica) const {
        const std::size_t bracket = replica.find('[');
        if (bracket == std::string_view::npos)
            return std::nullopt;
        const auto spec = find_type(*job_, replica.substr(0, bracket));
        const std::string_view digits = replica.substr(bracket + 1);
        std::int64_t rank = -1;
        const auto [end, error] =
            std::from_chars(digits.data(), digits.data() + digits.size(), rank);
        if (!spec || error != std::errc{} || end != digits.data() + digits.size() || rank < 0 ||
            rank >= replica_counts(*job_)[*spec])
            return std::nullopt;
        return pod_name(*job_, {*spec, rank}, options_);
    }

    const t9k_job* job_;
    t9k_replica of_;
    t9k_options options_;
};

namespace detail {

template<class Find>
void substitute_string(boost::json::value& in, Find& find) {
    boost::json::string* const text = in.if_string();
    if (text != nullptr && text->find('$') != boost::json::string::npos)
        *text = substitute(std::string_view(text->data(), text->size()), find);
}

template<class Find>
void substitute_strings(boost::json::object& container, std::string_view key, Find& find) {
    boost::json::value* const list = container.if_contains(key);
    if (list == nullptr || !list->is_array())
        return;
    for (boost::json::value& each : list->get_array())
        substitute_string(each, find);
}

/// In command, args and values of env of all containers of a pod's spec.
template<class Find>
void substitute_in_containers(boost::json::object& spec, Find& find) {
    for (const std::string_view list : {"initContainers", "containers"}) {
        boost::json::value* const containers = spec.if_contains(list);
        if (containers == nullptr || !containers->is_array())
            continue;
        for (boost::json::value& each : containers->get_array()) {
            boost::json::object* const container = each.if_object();
            if (container == nullptr)
                continue;
            substitute_strings(*container, "command", find);
            substitute_strings(*container, "args", find);
            boost::json::value* const env = container->if_contains("env");
            if (env == nullptr || !env->is_array())
                continue;
            for (boost::json::value& variable : env->get_array())
                if (variable.is_object())
                    if (boost::json::value* const value =
                            variable.get_object().if_contains("value"))
                        substitute_string(*value, find);
        }
    }
}

} // namespace detail

} // namespace translate
} // namespace v0_1
} // namespace muster
