// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/base/short_text.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

enum class severity : std::uint8_t { error, warning };

/// A place in an input. Lines and columns count from 1, columns in bytes of UTF-8; line 0 means the
/// input as a whole.
struct location {
    std::string file;
    std::uint32_t line = 0;
    std::uint32_t column = 0;

    friend bool operator==(const location&, const location&) = default;
};

/// One finding about an input.
struct diagnostic {
    severity level = severity::error;
    location where;
    std::string path; ///< the field, such as spec.containers[0].image; empty for a whole document
    std::string message; ///< what is wrong and what was expected
};

using muster::in_quotes;
using muster::more_text;
using muster::shortened;

/// `FILE:LINE:COLUMN`, or only the file when no line is known.
[[nodiscard]] inline std::string to_text(const location& where) {
    if (where.line == 0)
        return where.file;
    return where.file + ':' + std::to_string(where.line) + ':' + std::to_string(where.column);
}

/// One line without a line end: `FILE:LINE:COLUMN: path: message`; a warning says `warning: `
/// before its path, and an empty path is left out.
[[nodiscard]] inline std::string to_text(const diagnostic& finding) {
    std::string out = to_text(finding.where) + ": ";
    if (finding.level == severity::warning)
        out += "warning: ";
    if (!finding.path.empty())
        out += finding.path + ": ";
    return out += finding.message;
}

/// Collects findings in the order in which they are made. Of each severity the first `kept` are
/// stored and the rest only counted, so that a hostile or hopeless input cannot fill the memory and
/// many warnings do not hide the errors.
class diagnostics {
public:
    explicit diagnostics(std::size_t kept = 1000) : kept_(kept) {}

    void add(diagnostic finding) {
        if (room_for(finding.level))
            findings_.push_back(std::move(finding));
    }

    /// Calls `make() -> diagnostic` only when its result will be stored.
    template<class Make>
    void add_made(severity level, Make&& make) {
        if (room_for(level))
            findings_.push_back(std::forward<Make>(make)());
    }

    void error(location where, std::string message, std::string path = {}) {
        add({severity::error, std::move(where), std::move(path), std::move(message)});
    }

    [[nodiscard]] const std::vector<diagnostic>& findings() const noexcept { return findings_; }
    [[nodiscard]] std::size_t errors() const noexcept { return errors_; }
    [[nodiscard]] std::size_t warnings() const noexcept { return warnings_; }
    [[nodiscard]] bool ok() const noexcept { return errors_ == 0; }
    /// How many findings were counted but not stored.
    [[nodiscard]] std::size_t dropped() const noexcept {
        return errors_ + warnings_ - findings_.size();
    }

private:
    bool room_for(severity level) {
        std::size_t& count = level == severity::error ? errors_ : warnings_;
        return ++count <= kept_;
    }

    std::vector<diagnostic> findings_;
    std::size_t kept_;
    std::size_t errors_ = 0;
    std::size_t warnings_ = 0;
};

} // namespace codec
} // namespace v0_1
} // namespace muster
