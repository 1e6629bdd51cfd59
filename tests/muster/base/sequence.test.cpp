// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <muster/base/sequence.hpp>
#include <muster/testing/random.hpp>
#include <support/settings.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace base_sequence_test {

namespace {

using muster::detail::sequence;

/// Like a leaf of an index: aligned to lines of the cache.
struct alignas(64) line {
    std::uint32_t number = 0;
    friend bool operator==(const line&, const line&) = default;
};

template<class T>
T made(std::uint32_t number);
template<>
std::int64_t made<std::int64_t>(std::uint32_t number) {
    return number;
}
template<>
std::string made<std::string>(std::uint32_t number) {
    return std::string(number % 40, static_cast<char>('a' + number % 26));
}
template<>
line made<line>(std::uint32_t number) {
    return {number};
}

template<class T>
bool same(const sequence<T>& left, const std::vector<T>& right) {
    return left.size() == right.size() && left.empty() == right.empty() &&
           left.capacity() >= left.size() && std::equal(left.begin(), left.end(), right.begin());
}

} // namespace

TEST_CASE_TEMPLATE("a sequence does what a vector does", T, std::int64_t, std::string, line) {
    const std::uint64_t seed = muster::testing::random_seed();
    for (std::size_t round = 0; round < muster::testing::case_count(50); ++round) {
        CAPTURE(seed + round);
        muster::testing::random draw(seed + round);
        sequence<T> ours;
        std::vector<T> theirs;
        for (int step = 0; step < 60; ++step) {
            const auto value = made<T>(static_cast<std::uint32_t>(draw.below(1000)));
            const auto at = draw.below(theirs.size() + 1);
            const auto till = at + draw.below(theirs.size() + 1 - at);
            const auto place = static_cast<std::ptrdiff_t>(at);
            const auto end = static_cast<std::ptrdiff_t>(till);
            const auto count = draw.below(12);
            switch (draw.below(15)) {
            case 0:
            case 1:
                ours.push_back(value);
                theirs.push_back(value);
                break;
            case 2:
                CHECK(ours.emplace_back(value) == theirs.emplace_back(value));
                break;
            case 3:
                if (!theirs.empty()) {
                    ours.pop_back();
                    theirs.pop_back();
                }
                break;
            case 4:
                ours.resize(count);
                theirs.resize(count);
                break;
            case 5:
                ours.resize(count, value);
                theirs.resize(count, value);
                break;
            case 6:
                ours.assign(count, value);
                theirs.assign(count, value);
                break;
            case 7: {
                const std::vector<T> from(count, value);
                ours.assign(from.begin(), from.end());
                theirs.assign(from.begin(), from.end());
                break;
            }
            case 8:
                REQUIRE(*ours.insert(ours.begin() + place, value) == value);
                theirs.insert(theirs.begin() + place, value);
                break;
            case 9: {
                const std::vector<T> from(count, value);
                ours.insert(ours.begin() + place, from.begin(), from.end());
                theirs.insert(theirs.begin() + place, from.begin(), from.end());
                break;
            }
            case 10:
                CHECK(ours.erase(ours.begin() + place, ours.begin() + end) == ours.begin() + place);
                theirs.erase(theirs.begin() + place, theirs.begin() + end);
                break;
            case 11:
                if (at < theirs.size()) {
                    ours.erase(ours.begin() + place);
                    theirs.erase(theirs.begin() + place);
                }
                break;
            case 12: {
                const auto equal = [&](const T& each) { return each == value; };
                CHECK(erase_if(ours, equal) == std::erase_if(theirs, equal));
                break;
            }
            case 13: {
                sequence<T> copy(ours);
                CHECK(copy == ours);
                copy.push_back(value);
                CHECK_FALSE(copy == ours);
                ours = copy;
                theirs.push_back(value);
                break;
            }
            default: {
                ours.reserve(theirs.size() + count);
                sequence<T> other(std::move(ours));
                ours = std::move(other);
            }
            }
            REQUIRE(same(ours, theirs));
        }
    }
}

TEST_CASE("an element of a full sequence can be added to it") {
    sequence<std::string> words{"a word that is too long to be kept in place"};
    for (int each = 0; each < 9; ++each) {
        words.push_back(words.front());
        words.insert(words.begin(), words.back());
        words.emplace_back(words.front());
        words.resize(words.size() + 1, words.front());
    }
    CHECK(std::all_of(words.begin(), words.end(),
                      [&](const std::string& each) { return each == words.front(); }));
    words.assign(3, words.back());
    CHECK(words == sequence<std::string>(3, "a word that is too long to be kept in place"));
}

TEST_CASE("a sequence that is emptied keeps its room, one that is moved from has none") {
    sequence<std::int64_t> numbers(100);
    const std::int64_t* room = numbers.data();
    numbers.clear();
    CHECK(numbers.empty());
    CHECK(numbers.capacity() == 100);
    numbers.resize(100, 7);
    CHECK(numbers.data() == room);
    const sequence<std::int64_t> taken(std::move(numbers));
    CHECK(taken.data() == room);
    CHECK(numbers.capacity() == 0); // NOLINT: what a moved sequence holds is promised
}

TEST_CASE("elements that only move can be kept") {
    sequence<std::unique_ptr<int>> owners;
    for (int each = 0; each < 20; ++each)
        owners.emplace_back(std::make_unique<int>(each));
    erase_if(owners, [](const std::unique_ptr<int>& each) { return *each % 2 == 1; });
    owners.insert(owners.begin(), std::make_unique<int>(-2));
    REQUIRE(owners.size() == 11);
    for (std::size_t at = 0; at < owners.size(); ++at)
        CHECK(*owners[at] == 2 * static_cast<int>(at) - 2);
}

TEST_CASE("elements stand where their alignment asks") {
    sequence<line> lines;
    for (std::uint32_t each = 0; each < 100; ++each) {
        lines.push_back({each});
        CHECK(reinterpret_cast<std::uintptr_t>(lines.data()) % alignof(line) == 0);
    }
}

} // namespace base_sequence_test
