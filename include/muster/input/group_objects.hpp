// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <muster/apis/core/objects.hpp>
#include <muster/apis/gang_apis.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/gangs/gang_api.hpp>
#include <muster/input/gang_book.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

[[nodiscard]] inline bool is_pod_gang(std::string_view version, std::string_view kind) {
    return apis::grove_api::is_group(version, kind);
}

/// Whose groups such objects are; PodGangs, of which other groups are made, are not among them.
[[nodiscard]] inline translate::gang_api group_api(std::string_view version,
                                                   std::string_view kind) {
    translate::gang_api found = translate::gang_api::none;
    apis::find_api([&]<class Api>() {
        if constexpr (
            requires { Api::is_group(version, kind); } && !requires { Api::makes_groups; }) {
            if (!Api::is_group(version, kind))
                return false;
            found = Api::facts.api;
            return true;
        }
        return false;
    });
    return found;
}

namespace detail {

/// What a record of a gang API gets to read one object, and where it puts the gang.
struct group_reading {
    object_reader& object;
    std::string_view version;
    std::string_view kind;
    reading_context& context;
    const object_place& where;
    gang_book& book;
    diagnostics& out;

    std::size_t define(translate::gang_api api, gang_definition made) const {
        return book.define(api, std::move(made), book.reserve());
    }
};

/// The reader of an API whose objects are read one by one.
template<class Api>
struct lone_reader {};

template<class Api>
[[nodiscard]] constexpr auto reader_of() {
    if constexpr (requires { typename Api::group_reader; })
        return std::type_identity<typename Api::group_reader>{};
    else
        return std::type_identity<lone_reader<Api>>{};
}

template<class List>
struct readers_of;
template<class... Api>
struct readers_of<std::tuple<Api...>> {
    using type = std::tuple<typename decltype(reader_of<Api>())::type...>;
};

} // namespace detail

/// Reads objects that are gangs of any API into a book.
class group_objects {
public:
    group_objects(gang_book& book, reading_context& context, diagnostics& out)
        : book_(&book), context_(&context), out_(&out) {}

    /// False, and nothing was read, when such objects are no gangs.
    bool take(object_reader& object, std::string_view version, std::string_view kind,
              const object_place& where) {
        return apis::find_api([&]<class Api>() {
            if constexpr (requires { Api::is_group(version, kind); }) {
                if (!Api::is_group(version, kind))
                    return false;
                if constexpr (requires { typename Api::group_reader; })
                    std::get<typename Api::group_reader>(readers_).read(
                        object, version, kind, *context_, where, book_->reserve());
                else
                    Api::read_group(detail::group_reading{object, version, kind, *context_, where,
                                                          *book_, *out_});
                return true;
            }
            return false;
        });
    }

    /// Hands those over that wait for others.
    void finish() {
        apis::find_api([&]<class Api>() {
            if constexpr (requires { typename Api::group_reader; })
                std::get<typename Api::group_reader>(readers_).finish(*book_, *out_);
            return false;
        });
    }

private:
    gang_book* book_;
    reading_context* context_;
    diagnostics* out_;
    detail::readers_of<apis::gang_apis>::type readers_;
};

} // namespace codec
} // namespace v0_1
} // namespace muster
