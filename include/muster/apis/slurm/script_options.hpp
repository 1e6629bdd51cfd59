// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/slurm/directive_words.hpp>
#include <muster/apis/slurm/option_table.hpp>
#include <muster/apis/slurm/script_lines.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/document/nearest.hpp>
#include <muster/document/source_text.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace slurm {

/// How many components Slurm lets a job have.
inline constexpr std::size_t most_components = 128;

/// An option as a script states it.
struct script_option {
    const option_spec* spec = nullptr;
    std::string value; ///< empty if the option has no argument
    bool has_value = false;
    std::size_t offset = 0; ///< of the option in the text
};

/// A component of a heterogeneous job; any other job is one component. Each option stands once: the
/// last one of a script counts.
struct job_component {
    std::vector<script_option> options;
    std::size_t offset = 0; ///< of the directive that begins it

    /// nullptr if the option is absent.
    [[nodiscard]] const script_option* find(std::string_view name) const {
        for (const script_option& each : options)
            if (each.spec->name == name)
                return &each;
        return nullptr;
    }
    void set(script_option option) {
        const auto known = std::ranges::find(options, option.spec, &script_option::spec);
        if (known == options.end())
            options.push_back(std::move(option));
        else
            *known = std::move(option);
    }
};

/// Reports findings about options at their places.
class option_report {
public:
    /// Both must outlive this.
    option_report(const source_text& source, diagnostics& out) : source_(&source), out_(&out) {}

    /// The same without findings about options before `offset`: those that a component has from the
    /// one before are reported there.
    [[nodiscard]] option_report from(std::size_t offset) const {
        option_report made = *this;
        made.first_ = offset;
        return made;
    }

    void error(const script_option& option, std::string message) const {
        add(severity::error, option, std::move(message));
    }
    void warning(const script_option& option, std::string message) const {
        add(severity::warning, option, std::move(message));
    }
    /// `VALUE is not WHAT (expected EXPECTED)`.
    void refuse(const script_option& option, std::string_view what,
                std::string_view expected) const {
        error(option, in_quotes(option.value) + " is not " + std::string(what) + " (expected " +
                          std::string(expected) + ")");
    }
    void add_at(severity level, std::size_t offset, std::string message,
                std::string path = {}) const {
        add_written(level, offset, std::move(path), [&] { return std::move(message); });
    }
    /// The same with the text that `write()` returns, which is called only if the finding is kept.
    template<class Write>
    void add_written(severity level, std::size_t offset, std::string path,
                     const Write& write) const {
        out_->add_made(level, [&] {
            return diagnostic{level, source_->at(offset), std::move(path), write()};
        });
    }
    [[nodiscard]] std::size_t errors() const { return out_->errors(); }

private:
    void add(severity level, const script_option& option, std::string message) const {
        if (option.offset >= first_)
            add_at(level, option.offset, std::move(message), "--" + std::string(option.spec->name));
    }

    const source_text* source_;
    diagnostics* out_;
    std::size_t first_ = 0;
};

namespace detail {

/// Reads the words of directives as getopt_long() does for sbatch.
class option_parser {
public:
    explicit option_parser(const option_report& report) : report_(&report) {
        components_.emplace_back();
    }

    void read(const directive_line& line) {
        words_.clear();
        if (const auto wrong = split_directive(line, words_))
            return report_->add_at(severity::error, wrong->offset, std::string(wrong->message));
        next_ = 0;
        if (!words_.empty() && is_separator(words_.front().text))
            begin_component(words_[next_++].offset);
        while (next_ < words_.size())
            read_word(words_[next_++]);
    }

    [[nodiscard]] std::vector<job_component> take() && { return std::move(components_); }

private:
    [[nodiscard]] static bool is_separator(std::string_view word) {
        const auto is = [&](std::string_view name) {
            return std::ranges::equal(word, name, [](char a, char b) {
                return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
            });
        };
        return is("hetjob") || is("packjob");
    }

    void begin_component(std::size_t offset) {
        if (components_.size() == most_components)
            return report_->add_at(severity::error, offset,
                                   "the job has more than 128 components (expected at most that "
                                   "many)");
        job_component next;
        next.offset = offset;
        for (const script_option& each : components_.back().options)
            if (!each.spec->own)
                next.options.push_back(each);
        components_.push_back(std::move(next));
    }

    void read_word(const directive_word_text& word) {
        const std::string_view text = word.text;
        if (text.starts_with("--") && text.size() > 2)
            read_long(word);
        else if (text.starts_with('-') && text.size() > 1 && text != "--")
            read_letters(word);
        else
            report_->add_at(severity::error, word.offset,
                            in_quotes(text) + " is no option (expected e.g. --nodes=2)");
    }

    void read_long(const directive_word_text& word) {
        const std::string_view text = std::string_view(word.text).substr(2);
        const std::string_view name = text.substr(0, text.find('='));
        const std::vector<const option_spec*> found =
            name.empty() ? std::vector<const option_spec*>{} : options_named(name);
        if (found.size() != 1)
            return report_->add_written(severity::error, word.offset, "--" + printable(name), [&] {
                return found.empty() ? "unknown option" + suggestion(name, names_)
                                     : ambiguous(found);
            });
        script_option option{found.front(), {}, false, word.offset};
        if (name.size() < text.size()) {
            option.has_value = true;
            option.value = text.substr(name.size() + 1);
            if (option.spec->argument == option_argument::none)
                return report_->error(option, "the option has the value " +
                                                  in_quotes(option.value) + " (expected none)");
        }
        finish(std::move(option));
    }

    [[nodiscard]] static std::string ambiguous(const std::vector<const option_spec*>& found) {
        std::string text = "the option is ambiguous (expected ";
        for (std::size_t at = 0; at < found.size(); ++at)
            text += (at == 0                 ? "--"
                     : at + 1 < found.size() ? ", --"
                                             : " or --") +
                    std::string(found[at]->name);
        return text + ")";
    }

    /// Letters without a value, then at most one with a value.
    void read_letters(const directive_word_text& word) {
        for (std::size_t at = 1; at < word.text.size(); ++at) {
            script_option option{option_of_letter(word.text[at]), {}, false, word.offset};
            if (!option.spec)
                return report_->add_at(severity::error, word.offset,
                                       "unknown option (expected one of sbatch, e.g. -N, -n, -c)",
                                       "-" + printable(std::string_view(word.text).substr(at, 1)));
            const bool ends = option.spec->argument != option_argument::none;
            if (ends && at + 1 < word.text.size()) {
                option.has_value = true;
                option.value = word.text.substr(at + 1);
            }
            finish(std::move(option));
            if (ends)
                return;
        }
    }

    /// Takes the value of an option from the next word if it needs one.
    void finish(script_option option) {
        if (option.spec->argument == option_argument::required && !option.has_value) {
            if (next_ == words_.size())
                return report_->error(option, "the value is missing (expected it on this line)");
            option.value = words_[next_++].text;
            option.has_value = true;
        }
        if (option.has_value && option.value.empty())
            return report_->error(option, "the value is empty (expected one)");
        // Another name of the same option.
        if (option.spec->name == "tasks-per-node")
            option.spec = options_named("ntasks-per-node").front();
        components_.back().set(std::move(option));
    }

    [[nodiscard]] static std::string printable(std::string_view text) {
        const std::string quoted = in_quotes(text);
        return quoted.substr(1, quoted.size() - 2);
    }

    const option_report* report_;
    std::vector<std::string> names_ = option_names();
    std::vector<directive_word_text> words_;
    std::size_t next_ = 0;
    std::vector<job_component> components_;
};

} // namespace detail

/// Returns the components of a script, at least one. What is wrong goes to `report`. O(lines +
/// words × options).
[[nodiscard]] inline std::vector<job_component>
read_script_options(const std::vector<directive_line>& lines, const option_report& report) {
    detail::option_parser parser(report);
    for (const directive_line& each : lines)
        parser.read(each);
    return std::move(parser).take();
}

} // namespace slurm
} // namespace codec
} // namespace v0_1
} // namespace muster
