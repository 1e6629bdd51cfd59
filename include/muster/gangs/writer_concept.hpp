// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>

#include <muster/gangs/check_manifest.hpp>
#include <muster/gangs/expressiveness.hpp>
#include <muster/gangs/writing.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

/// A target: what it can say, and how it says it. `write` adds manifests, the losses that `can`
/// does not tell of, and violations; `check` looks at every manifest that was written as the
/// target's API server would. A backend of one's own is another such value.
template<class Writer>
concept gang_writer = requires(const Writer& writer, writing& out, manifest_check& manifest) {
    { writer.can() } -> std::same_as<expressiveness>;
    writer.write(out);
    writer.check(manifest);
};

} // namespace translate
} // namespace v0_1
} // namespace muster
