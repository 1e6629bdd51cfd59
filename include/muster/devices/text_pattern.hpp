// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/base/result.hpp>
#include <muster/devices/utf8.hpp>

namespace muster {
inline namespace v0_1 {
namespace cel {

/// A regular expression in a subset of RE2's syntax: literals, the dot, classes, `^ $ \b \B \A \z`,
/// groups, alternatives and repetitions. Matches code points without backtracking.
class text_pattern {
public:
    /// Instructions of a pattern; `a{1000}` has a thousand.
    static constexpr std::size_t max_size = 2000;

    /// Compiles a pattern. Returns the reason if the pattern is wrong or not in the subset.
    /// O(pattern + max_size).
    [[nodiscard]] static result<text_pattern, std::string> compile(std::string_view pattern) {
        text_pattern made;
        compiler work(pattern, made);
        if (auto error = work.compile())
            return failure<std::string>{"not supported in a pattern: " + *error};
        return made;
    }

    [[nodiscard]] std::size_t size() const noexcept { return program_.size(); }

    /// True if the pattern matches any part of the text. O(size() * text).
    [[nodiscard]] bool matches(std::string_view text) const {
        threads now(program_.size());
        threads next(program_.size());
        const auto take = [&] { return text.empty() ? no_code : take_code_point(text); };
        std::uint32_t before = no_code;
        std::uint32_t current = take();
        while (!follow(now, 0, before, current)) {
            if (current == no_code)
                return false;
            const std::uint32_t following = take();
            for (const std::size_t place : now.waiting)
                if (contains(program_[place], current) &&
                    follow(next, place + 1, current, following))
                    return true;
            std::swap(now, next);
            next.clear();
            before = current;
            current = following;
        }
        return true;
    }

private:
    static constexpr std::uint32_t no_code = 0xFFFFFFFF;

    enum class condition : std::uint8_t { none, begin, end, word_edge, no_word_edge };
    struct range {
        std::uint32_t first;
        std::uint32_t last;
    };
    /// Either consumes a code point of a set, or continues at one or two places.
    struct instruction {
        bool is_set = false;
        bool is_match = false;
        bool is_negated = false;
        condition when = condition::none;
        std::vector<range> set;
        std::vector<std::size_t> next;
    };
    struct threads {
        explicit threads(std::size_t places) : is_visited(places, false) {}
        void clear() {
            waiting.clear();
            is_visited.assign(is_visited.size(), false);
        }

        /// Places of sets.
        std::vector<std::size_t> waiting;
        std::vector<bool> is_visited;
    };

    [[nodiscard]] static bool contains(const instruction& each, std::uint32_t code) {
        bool is_inside = false;
        for (const range& part : each.set)
            is_inside = is_inside || (code >= part.first && code <= part.last);
        return is_inside != each.is_negated;
    }
    [[nodiscard]] static bool is_word(std::uint32_t code) {
        return (code >= '0' && code <= '9') || (code >= 'a' && code <= 'z') ||
               (code >= 'A' && code <= 'Z') || code == '_';
    }
    [[nodiscard]] static bool holds(condition when, std::uint32_t before, std::uint32_t after) {
        switch (when) {
        case condition::none:
            return true;
        case condition::begin:
            return before == no_code;
        case condition::end:
            return after == no_code;
        case condition::word_edge:
            return is_word(before) != is_word(after);
        case condition::no_word_edge:
            return is_word(before) == is_word(after);
        }
        return false;
    }

    /// Adds a place and what can be reached from it without a code point. True at a match.
    [[nodiscard]] bool follow(threads& state, std::size_t start, std::uint32_t before,
                              std::uint32_t after) const {
        std::vector<std::size_t> pending{start};
        while (!pending.empty()) {
            const std::size_t place = pending.back();
            pending.pop_back();
            if (state.is_visited[place])
                continue;
            state.is_visited[place] = true;
            const instruction& each = program_[place];
            if (each.is_match)
                return true;
            if (each.is_set)
                state.waiting.push_back(place);
            else if (holds(each.when, before, after))
                pending.insert(pending.end(), each.next.begin(), each.next.end());
        }
        return false;
    }

    class compiler {
    public:
        compiler(std::string_view text, text_pattern& made) : text_(text), made_(made) {}

        [[nodiscard]] std::optional<std::string> compile() {
            alternatives(0);
            if (!error_ && at_ < text_.size())
                fail("an unbalanced )");
            instruction match;
            match.is_match = true;
            emit(std::move(match));
            return error_;
        }

    private:
        static constexpr std::size_t max_groups = 50;

        void fail(std::string text) {
            if (!error_)
                error_ = std::move(text);
        }
        [[nodiscard]] bool more() const { return !error_ && at_ < text_.size(); }
        [[nodiscard]] bool accept(std::string_view wanted) {
            if (text_.substr(at_, wanted.size()) != wanted)
                return false;
            at_ += wanted.size();
            return true;
        }
        [[nodiscard]] std::size_t place() const { return made_.program_.size(); }
        void emit(instruction added) {
            if (place() > max_size)
                fail("more than 2000 steps");
            else
                made_.program_.push_back(std::move(added));
        }
        /// Emits a jump and returns its place.
        std::size_t jump(std::vector<std::size_t> next, condition when = condition::none) {
            instruction added;
            added.when = when;
            added.next = std::move(next);
            emit(std::move(added));
            return place() - 1;
        }

        void alternatives(std::size_t depth) {
            if (depth > max_groups)
                return fail("more than 50 nested groups");
            std::vector<std::size_t> ends;
            while (true) {
                const std::size_t split = jump({place() + 1});
                while (more() && text_[at_] != '|' && text_[at_] != ')')
                    repetition(depth);
                if (!more() || !accept("|"))
                    break;
                ends.push_back(jump({}));
                made_.program_[split].next.push_back(place());
            }
            if (error_)
                return;
            for (const std::size_t end : ends)
                made_.program_[end].next.push_back(place());
        }

        /// An atom and how often it occurs. Each copy parses the atom again.
        void repetition(std::size_t depth) {
            const std::size_t atom_text = at_;
            const std::size_t entry = jump({place() + 1});
            std::size_t last_copy = place();
            atom(depth);
            std::size_t least = 1;
            std::optional<std::size_t> most = 1;
            if (!more() || !count(least, most))
                return;
            (void)accept("?");
            const std::size_t rest = at_;
            auto further = most;
            if (std::size_t ignored = 0; count(ignored, further))
                return fail("a repetition of a repetition");
            std::vector<std::size_t> exits;
            if (least == 0)
                exits.push_back(entry);
            for (std::size_t copies = 1; copies < most.value_or(least) && !error_; ++copies) {
                if (copies >= least)
                    exits.push_back(jump({place() + 1}));
                last_copy = place();
                at_ = atom_text;
                atom(depth);
                at_ = rest;
            }
            if (!most)
                jump({least == 0 ? entry : last_copy, place() + 1});
            if (error_)
                return;
            for (const std::size_t exit : exits) {
                if (most == 0)
                    made_.program_[exit].next.clear();
                made_.program_[exit].next.push_back(place());
            }
        }

        /// Parses *, +, ?, {m}, {m,} or {m,n}.
        [[nodiscard]] bool count(std::size_t& least, std::optional<std::size_t>& most) {
            if (accept("*"))
                return least = 0, most = std::nullopt, true;
            if (accept("+"))
                return least = 1, most = std::nullopt, true;
            if (accept("?"))
                return least = 0, most = 1, true;
            const std::size_t start = at_;
            std::optional<std::size_t> upper;
            if (accept("{")) {
                const auto lower = number();
                const bool has_comma = accept(",");
                upper = has_comma ? number() : lower;
                const bool is_open = has_comma && !upper;
                if (lower && accept("}")) {
                    if (*lower > 1000 || (upper && (*upper > 1000 || *upper < *lower)))
                        fail("this repetition");
                    least = *lower;
                    most = is_open ? std::nullopt : upper;
                    return true;
                }
            }
            // A brace that starts no repetition is a literal.
            at_ = start;
            return false;
        }
        [[nodiscard]] std::optional<std::size_t> number() {
            std::optional<std::size_t> made;
            for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_)
                made = std::min<std::size_t>(
                    made.value_or(0) * 10 + static_cast<std::size_t>(text_[at_] - '0'), 10000);
            return made;
        }

        void atom(std::size_t depth) {
            if (accept("(")) {
                if (accept("?") && !accept(":"))
                    return fail("a group with flags or a name");
                alternatives(depth + 1);
                if (!error_ && !accept(")"))
                    fail("a group without an end");
                return;
            }
            if (accept("^"))
                return (void)jump({place() + 1}, condition::begin);
            if (accept("$"))
                return (void)jump({place() + 1}, condition::end);
            std::size_t least = 0;
            std::optional<std::size_t> most;
            if (count(least, most))
                return fail("a repetition of nothing");
            instruction set;
            set.is_set = true;
            if (accept("[")) {
                bracket(set);
            } else if (accept("\\")) {
                if (const auto when = edge())
                    return (void)jump({place() + 1}, *when);
                escape(set);
            } else if (accept(".")) {
                set.is_negated = true;
                set.set.push_back({'\n', '\n'});
            } else {
                const auto code = literal();
                set.set.push_back({code, code});
            }
            emit(std::move(set));
        }

        [[nodiscard]] std::uint32_t literal() {
            std::string_view rest = text_.substr(at_);
            const auto code = take_code_point(rest);
            at_ = text_.size() - rest.size();
            return code;
        }

        [[nodiscard]] std::optional<condition> edge() {
            if (accept("b"))
                return condition::word_edge;
            if (accept("B"))
                return condition::no_word_edge;
            if (accept("A"))
                return condition::begin;
            if (accept("z"))
                return condition::end;
            return std::nullopt;
        }

        /// The rest of an escape that stands for a set or for one code point.
        void escape(instruction& set) {
            if (at_ == text_.size())
                return fail("a backslash at the end");
            const char letter = text_[at_];
            if (const auto meaning = std::string_view("afnrtv").find(letter);
                meaning != std::string_view::npos) {
                ++at_;
                const std::uint32_t code = static_cast<unsigned char>("\a\f\n\r\t\v"[meaning]);
                return set.set.push_back({code, code});
            }
            if (std::string_view("dwsDWS").find(letter) != std::string_view::npos) {
                ++at_;
                return perl_class(set, letter);
            }
            const auto byte = static_cast<unsigned char>(letter);
            if (byte >= 0x80 || is_word(byte) || byte <= ' ')
                return fail("the escape \\" + std::string(1, letter));
            ++at_;
            set.set.push_back({byte, byte});
        }

        void perl_class(instruction& set, char letter) {
            std::vector<range> ranges;
            if (letter == 'd' || letter == 'D')
                ranges = {{'0', '9'}};
            else if (letter == 'w' || letter == 'W')
                ranges = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
            else
                ranges = {{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}};
            if (letter >= 'a')
                return (void)set.set.insert(set.set.end(), ranges.begin(), ranges.end());
            std::uint32_t first = 0;
            for (const range& each : ranges) {
                if (each.first > first)
                    set.set.push_back({first, each.first - 1});
                first = each.last + 1;
            }
            set.set.push_back({first, 0x10FFFF});
        }

        /// The rest of a class in brackets.
        void bracket(instruction& set) {
            set.is_negated = accept("^");
            for (bool is_first = true; is_first || !accept("]"); is_first = false) {
                const auto first = class_member(set);
                if (error_)
                    return;
                if (!first)
                    continue;
                auto last = first;
                const auto rest = text_.substr(at_);
                if (rest.size() > 1 && rest[0] == '-' && rest[1] != ']') {
                    ++at_;
                    last = class_member(set);
                }
                if (!last || *last < *first)
                    return fail("this range");
                set.set.push_back({*first, *last});
            }
        }
        /// Returns a code point, or adds a set such as \d and returns nullopt.
        [[nodiscard]] std::optional<std::uint32_t> class_member(instruction& set) {
            if (at_ == text_.size())
                return fail("a class without an end"), std::nullopt;
            if (text_.substr(at_, 2) == "[:")
                return fail("a named class"), std::nullopt;
            if (!accept("\\"))
                return literal();
            instruction escaped;
            escape(escaped);
            if (escaped.set.size() == 1 && escaped.set[0].first == escaped.set[0].last)
                return escaped.set[0].first;
            set.set.insert(set.set.end(), escaped.set.begin(), escaped.set.end());
            return std::nullopt;
        }

        std::string_view text_;
        text_pattern& made_;
        std::size_t at_ = 0;
        std::optional<std::string> error_;
    };

    std::vector<instruction> program_;
};

} // namespace cel
} // namespace v0_1
} // namespace muster
