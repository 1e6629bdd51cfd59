// SPDX-License-Identifier: Apache-2.0
#include <muster/kube/reflector.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <muster/testing/random.hpp>
#include <support/settings.hpp>

namespace kube_reflector_test {

using namespace muster::kube;
using muster::codec::object_key;

namespace {

/// Keeps what it is told as "namespace/name" -> "uid@version".
struct cache {
    std::map<std::string, std::string> objects;
    std::vector<std::string> told;
    std::vector<std::string> faults;

    void upsert(const arrived& object) {
        const listed_object& who = object.who();
        const std::string name = who.key.name_space + "/" + who.key.name;
        // A name that is another's now was gone before.
        for (const std::string& fault : object.faults())
            faults.push_back(name + " " + fault);
        if (const auto at = objects.find(name); at != objects.end())
            CHECK(at->second.substr(0, at->second.find('@')) == who.uid);
        CHECK(objects[name] != who.uid + "@" + who.version);
        objects[name] = who.uid + "@" + who.version;
        told.push_back("+" + name);
    }
    void gone(const listed_object& who) {
        const std::string name = who.key.name_space + "/" + who.key.name;
        CHECK(objects.erase(name) == 1);
        told.push_back("-" + name);
    }
};

std::string object(const std::string& name, const std::string& uid, std::int64_t version) {
    return R"({"metadata":{"namespace":"n","name":")" + name + R"(","uid":")" + uid +
           R"(","resourceVersion":")" + std::to_string(version) + R"("}})";
}

std::string event(const std::string& type, const std::string& what) {
    return R"({"type":")" + type + R"(","object":)" + what + "}\n";
}

std::string bookmark(std::int64_t version) {
    return event("BOOKMARK",
                 R"({"metadata":{"resourceVersion":")" + std::to_string(version) + "\"}}");
}

http_answer page(const std::vector<std::string>& items, std::int64_t version,
                 const std::string& more = {}) {
    http_answer made;
    made.status = 200;
    made.body = R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":")" +
                std::to_string(version) + R"(","continue":")" + more + R"("},"items":[)";
    for (std::size_t at = 0; at < items.size(); ++at)
        made.body += (at > 0 ? "," : "") + items[at];
    made.body += "]}";
    return made;
}

http_answer refusal(int status) {
    http_answer made;
    made.status = status;
    made.body = R"({"kind":"Status","code":)" + std::to_string(status) + "}";
    return made;
}

http_answer closed() {
    http_answer made;
    made.status = 200;
    return made;
}

http_answer broken_off() {
    http_answer made;
    made.status = 200;
    made.fault = http_fault::no_answer;
    made.what = "reset";
    return made;
}

std::string field(const http_request& of, std::string_view key) {
    const std::string query = "&" + of.query;
    const std::size_t at = query.find("&" + std::string(key) + "=");
    if (at == std::string::npos)
        return {};
    const std::size_t from = at + key.size() + 2;
    return query.substr(from, query.find('&', from) - from);
}

bool is_watch(const reflector::wish& what) {
    return what.start && field(*what.start, "watch") == "true";
}

reflector_options pods() {
    reflector_options how;
    how.path = "/api/v1/pods";
    how.page = 2;
    return how;
}

/// Listed with one object "a" at version 5, and watching since `now`.
reflector watching(cache& sink, std::int64_t now, reflector_options how = pods()) {
    reflector made(std::move(how));
    CHECK(made.next(now).start);
    made.done(page({object("a", "u1", 3)}, 5), now, sink);
    CHECK(is_watch(made.next(now)));
    return made;
}

} // namespace

TEST_CASE("a list is read page by page, and a watch goes on where it ended") {
    cache sink;
    reflector of(pods());
    auto wanted = of.next(0);
    REQUIRE(wanted.start);
    CHECK(wanted.start->path == "/api/v1/pods");
    CHECK(field(*wanted.start, "limit") == "2");
    CHECK(field(*wanted.start, "resourceVersion").empty());
    CHECK_FALSE(of.next(0).start);
    of.done(page({object("a", "u1", 3), object("b", "u2", 4)}, 9, "t/1"), 0, sink);
    CHECK_FALSE(of.synced());
    wanted = of.next(0);
    REQUIRE(wanted.start);
    CHECK(field(*wanted.start, "continue") == "t%2F1");
    of.done(page({object("c", "u3", 1)}, 9), 0, sink);
    CHECK(of.synced());
    CHECK(sink.objects.size() == 3);
    wanted = of.next(0);
    REQUIRE(is_watch(wanted));
    CHECK(wanted.start->stream);
    CHECK(field(*wanted.start, "resourceVersion") == "9");
    CHECK(field(*wanted.start, "allowWatchBookmarks") == "true");
    const int span = std::stoi(field(*wanted.start, "timeoutSeconds"));
    CHECK(span >= 300);
    CHECK(span < 600);
}

TEST_CASE("an expired page starts the list over, and what was told is not told again") {
    cache sink;
    reflector of(pods());
    CHECK(of.next(0).start);
    of.done(page({object("a", "u1", 3), object("b", "u2", 4)}, 9, "t"), 0, sink);
    CHECK(of.next(0).start);
    of.done(refusal(410), 0, sink);
    CHECK_FALSE(of.next(0).start);
    const auto wanted = of.next(of.wakes());
    REQUIRE(wanted.start);
    CHECK(field(*wanted.start, "continue").empty());
    of.done(page({object("b", "u2", 7)}, 12), minute, sink);
    CHECK(of.synced());
    CHECK(sink.told == std::vector<std::string>{"+n/a", "+n/b", "+n/b", "-n/a"});
}

TEST_CASE("a busy server is asked for the same page again, when it said so") {
    cache sink;
    reflector of(pods());
    CHECK(of.next(0).start);
    of.done(page({object("a", "u1", 3), object("b", "u2", 4)}, 9, "t"), 0, sink);
    CHECK(of.next(0).start);
    http_answer busy = refusal(429);
    busy.retry_after = 20 * second;
    of.done(busy, 0, sink);
    CHECK(of.wakes() >= 20 * second);
    CHECK(field(*of.next(of.wakes()).start, "continue") == "t");
}

TEST_CASE("events come in lines, however they are cut") {
    const std::string text = event("ADDED", object("b", "u2", 6)) +
                             event("MODIFIED", object("a", "u1", 7)) +
                             event("DELETED", object("b", "u2", 8)) + bookmark(20);
    for (std::size_t cut = 1; cut < 40; cut += 3) {
        cache sink;
        reflector of = watching(sink, 0);
        for (std::size_t at = 0; at < text.size(); at += cut)
            of.bytes(std::string_view(text).substr(at, cut), 0, sink);
        CHECK(sink.objects == std::map<std::string, std::string>{{"n/a", "u1@7"}});
        of.done(closed(), 2 * second, sink);
        CHECK(field(*of.next(of.wakes()).start, "resourceVersion") == "20");
    }
}

TEST_CASE("half a line before the end of a watch is not an event") {
    cache sink;
    reflector of = watching(sink, 0);
    const std::string text = event("MODIFIED", object("a", "u1", 7));
    of.bytes(text.substr(0, text.size() - 1), 0, sink);
    of.done(broken_off(), 0, sink);
    CHECK(sink.objects["n/a"] == "u1@3");
    const auto again = of.next(of.wakes());
    REQUIRE(is_watch(again));
    CHECK(field(*again.start, "resourceVersion") == "5");
    of.bytes(text, 1, sink);
    CHECK(sink.objects["n/a"] == "u1@7");
}

TEST_CASE("410 relists, as status and as event") {
    for (const bool as_event : {false, true}) {
        cache sink;
        reflector of = watching(sink, 0);
        if (as_event) {
            of.bytes(event("ERROR", R"({"kind":"Status","code":410,"reason":"Expired"})") +
                         event("MODIFIED", object("a", "u1", 99)),
                     0, sink);
            CHECK(sink.objects["n/a"] == "u1@3");
            CHECK(of.next(0).cancel);
        } else {
            of.done(refusal(410), 0, sink);
        }
        const auto wanted = of.next(of.wakes());
        REQUIRE(wanted.start);
        CHECK_FALSE(is_watch(wanted));
        CHECK(of.synced());
        of.done(page({object("b", "u2", 8)}, 30), minute, sink);
        CHECK(sink.objects == std::map<std::string, std::string>{{"n/b", "u2@8"}});
        CHECK(field(*of.next(of.wakes()).start, "resourceVersion") == "30");
    }
}

TEST_CASE("429 on a watch waits and keeps its place") {
    cache sink;
    reflector of = watching(sink, 0);
    http_answer busy = refusal(429);
    busy.retry_after = 11 * second;
    of.done(busy, 0, sink);
    CHECK(of.wakes() >= 11 * second);
    const auto wanted = of.next(of.wakes());
    REQUIRE(is_watch(wanted));
    CHECK(field(*wanted.start, "resourceVersion") == "5");
}

TEST_CASE("a watch that always ends well without a word is not begun in a busy loop") {
    cache sink;
    reflector of = watching(sink, 0);
    std::int64_t now = 0;
    int watches = 0;
    while (now < 10 * minute) {
        of.done(closed(), now, sink);
        now = of.wakes();
        CHECK(is_watch(of.next(now)));
        ++watches;
    }
    CHECK(watches < 40);
    // And one that does say something is begun no more than once a second.
    cache other;
    reflector talks = watching(other, 0);
    watches = 0;
    for (now = 0; now < minute; ++watches) {
        talks.bytes(bookmark(50 + watches), now, other);
        talks.done(closed(), now, other);
        now = talks.wakes();
        CHECK(is_watch(talks.next(now)));
    }
    CHECK(watches <= 60);
    CHECK(watches >= 55);
}

TEST_CASE("a silent watch is given up and begun again where it was") {
    cache sink;
    reflector of = watching(sink, 0);
    of.bytes(bookmark(8), 100 * second, sink);
    CHECK_FALSE(of.next(249 * second).cancel);
    CHECK(of.wakes() == 250 * second);
    const auto wanted = of.next(250 * second);
    CHECK(wanted.cancel);
    REQUIRE(is_watch(wanted));
    CHECK(field(*wanted.start, "resourceVersion") == "8");
}

TEST_CASE("all is listed anew now and then, although nothing went wrong") {
    cache sink;
    reflector of = watching(sink, 0);
    std::int64_t now = 0;
    while (of.lists() == 1 && now < 61 * minute) {
        now += minute;
        of.bytes(bookmark(now), now, sink);
        const auto wanted = of.next(now);
        if (!wanted.cancel)
            continue;
        CHECK(now >= 30 * minute);
        REQUIRE(wanted.start);
        CHECK_FALSE(is_watch(wanted));
        CHECK(of.synced());
        of.done(page({}, now), now, sink);
    }
    CHECK(of.lists() == 2);
    CHECK(sink.objects.empty());
}

TEST_CASE("failures wait longer and longer, with an end, and soon again after a while of peace") {
    cache sink;
    reflector of(pods());
    std::int64_t now = 0;
    std::int64_t longest = 0;
    for (int i = 0; i < 12; ++i) {
        CHECK(of.next(now).start);
        of.done(refusal(500), now, sink);
        CHECK_FALSE(of.trouble().empty());
        const std::int64_t wait = of.wakes() - now;
        CHECK(wait >= 800 * millisecond);
        if (i == 0)
            CHECK(wait < 1600 * millisecond);
        longest = std::max(longest, wait);
        now = of.wakes();
    }
    CHECK(longest >= 30 * second);
    CHECK(longest <= 45 * second);
    now += 3 * minute;
    CHECK(of.next(now).start);
    of.done(refusal(500), now, sink);
    CHECK(of.wakes() - now < 1600 * millisecond);
}

TEST_CASE("a name with another uid is first gone and then new") {
    cache sink;
    reflector of = watching(sink, 0);
    of.bytes(event("ADDED", object("a", "u9", 8)), 0, sink);
    CHECK(sink.told == std::vector<std::string>{"+n/a", "-n/a", "+n/a"});
    // The end of the old one that comes late takes nothing away.
    of.bytes(event("DELETED", object("a", "u1", 9)), 0, sink);
    CHECK(sink.objects["n/a"] == "u9@8");
}

TEST_CASE("what cannot be understood is listed, and never crashes") {
    for (const std::string& text :
         {std::string("{\n"), std::string("[]\n"), std::string(70'000, '[') + "\n",
          event("PAINTED", object("a", "u1", 9)), event("", object("a", "u1", 9)),
          std::string(R"({"type":"ADDED"})") + "\n", event("BOOKMARK", R"({"metadata":{}})"),
          std::string("\x00\xff\n", 3)}) {
        cache sink;
        reflector of = watching(sink, 0);
        of.bytes(text, 0, sink);
        CHECK_FALSE(of.trouble().empty());
        CHECK(of.next(0).cancel);
        const auto wanted = of.next(of.wakes());
        REQUIRE(wanted.start);
        CHECK_FALSE(is_watch(wanted));
    }
    for (const std::string body : {"", "{}", "[]", R"({"metadata":{"resourceVersion":"1"}})",
                                   R"({"metadata":{"resourceVersion":"1"},"items":[{})",
                                   R"({"metadata":{"resourceVersion":"1"},"items":{}})"}) {
        cache sink;
        reflector of(pods());
        CHECK(of.next(0).start);
        http_answer odd = closed();
        odd.body = body;
        of.done(odd, 0, sink);
        CHECK_FALSE(of.synced());
        CHECK(of.wakes() > 0);
    }
}

namespace {

/// An object whose spec has a member of this text.
std::string object_with(const std::string& name, std::int64_t version, const std::string& odd,
                        const std::string& part = "spec") {
    return R"({"metadata":{"namespace":"n","name":")" + name + R"(","uid":"u-)" + name +
           R"(","resourceVersion":")" + std::to_string(version) + R"("},")" + part +
           R"(":{"fine":1,"odd":)" + odd + "}}";
}

const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');

} // namespace

TEST_CASE("an object that cannot be read affects no other object of its page") {
    for (const std::string& odd : {deep, std::string(R"("\ud800")"), std::string("1e999"),
                                   std::string("nope"), std::string(R"({"a":1,"a":2})")}) {
        cache sink;
        reflector of(pods());
        CHECK(of.next(0).start);
        of.done(
            page({object("a", "u1", 3), object_with("b", 4, odd), object("c", "u3", 3)}, 5, "more"),
            0, sink);
        CHECK(of.next(0).start);
        of.done(page({object("d", "u4", 3)}, 5), 0, sink);
        CHECK(of.is_whole());
        CHECK(of.trouble().empty());
        CHECK(sink.told == std::vector<std::string>{"+n/a", "+n/b", "+n/c", "+n/d"});
        REQUIRE(sink.faults.size() == 1);
        CHECK(sink.faults.front().starts_with("n/b spec.odd: "));
    }
}

TEST_CASE("an object that cannot be read affects no other event of its watch") {
    cache sink;
    reflector of = watching(sink, 0);
    of.bytes(event("ADDED", object_with("b", 6, deep)) + event("ADDED", object("c", "u3", 7)), 0,
             sink);
    of.bytes(event("MODIFIED", object_with("b", 8, "2")), 0, sink);
    CHECK(sink.faults ==
          std::vector<std::string>{"n/b spec.odd: nested too deeply (expected at most 64 levels)"});
    CHECK(sink.objects["n/b"] == "u-b@8");
    CHECK(sink.objects["n/c"] == "u3@7");
    of.bytes(event("DELETED", object_with("b", 9, deep)), 0, sink);
    CHECK_FALSE(sink.objects.contains("n/b"));
    CHECK_FALSE(of.next(0).cancel);
    CHECK(of.trouble().empty());
}

TEST_CASE("managed fields may be nested at any depth") {
    cache sink;
    reflector of = watching(sink, 0);
    const std::string managed = object("b", "u2", 6);
    of.bytes(event("ADDED",
                   managed.substr(0, managed.size() - 2) + R"(,"managedFields":)" + deep + "}}"),
             0, sink);
    CHECK(sink.objects["n/b"] == "u2@6");
    CHECK(sink.faults.empty());
    // Readers that use them see that they are lost.
    for (const std::string& fields :
         {"\"managedFields\":" + deep, "\"managedFields\":[],\"managedFields\":" + deep}) {
        const auto sent =
            muster::kube::read_sent_object("o", R"({"metadata":{"name":"b",)" + fields + "}}");
        REQUIRE(sent);
        CHECK(sent->faults.empty());
        const auto& metadata = sent->document.root().get_object().at("metadata").get_object();
        REQUIRE(metadata.contains("managedFields"));
        CHECK(metadata.at("managedFields").is_null());
    }
}

TEST_CASE("an object without identity is left out and reported, and the known one stays") {
    cache sink;
    reflector of = watching(sink, 0);
    of.bytes(event("ADDED", "{}") + event("ADDED", R"({"metadata":{"name":7}})") +
                 event("ADDED", R"({"metadata":{"namespace":"n","name":"a"}})") +
                 event("ADDED", object("c", "u3", 7)),
             0, sink);
    CHECK_FALSE(of.next(0).cancel);
    CHECK(sink.told == std::vector<std::string>{"+n/a", "+n/c"});
    CHECK(of.trouble() == "/api/v1/pods: an object of the watch \"n/a\" is left out (expected "
                          "metadata with name, uid and resourceVersion)");
    of.relist();
    CHECK(of.next(0).start);
    of.done(page({R"({"metadata":{"namespace":"n","name":"a","uid":7}})", "7"}, 9), 0, sink);
    CHECK(of.is_whole());
    CHECK(sink.objects["n/a"] == "u1@3");
    CHECK_FALSE(sink.objects.contains("n/c"));
    CHECK(of.trouble().find("items[1] is left out") != std::string::npos);
    of.relist();
    CHECK(of.next(0).start);
    of.done(page({object("a", "u1", 10)}, 11), 0, sink);
    CHECK(of.trouble().empty());
}

TEST_CASE("if a page is too large, pages with fewer objects are requested, at least one") {
    cache sink;
    reflector_options how = pods();
    how.page = 500;
    reflector of(how);
    http_answer large;
    large.status = 200;
    large.fault = http_fault::too_large;
    std::int64_t now = 0;
    CHECK(field(*of.next(now).start, "limit") == "500");
    of.done(page({object("a", "u1", 3)}, 5, "more"), now, sink);
    for (const std::string limit : {"500", "62", "7", "1", "1"}) {
        const auto wanted = of.next(now = std::max(now, of.wakes()));
        REQUIRE(wanted.start);
        CHECK(field(*wanted.start, "limit") == limit);
        CHECK(field(*wanted.start, "continue") == "more");
        if (limit != "1")
            of.done(large, now, sink);
        else
            of.done(page({object("b" + std::to_string(of.size()), "u2", 3)}, 5, "more"), now, sink);
    }
    REQUIRE(of.next(now).start);
    of.done(page({}, 5), now, sink);
    CHECK(of.is_whole());
    CHECK(sink.objects.size() == 3);
}

TEST_CASE("an event beyond the longest line is not gathered up") {
    cache sink;
    reflector_options how = pods();
    how.longest_line = 1000;
    reflector of = watching(sink, 0, how);
    of.bytes(std::string(1001, 'x'), 0, sink);
    CHECK(of.next(0).cancel);
}

TEST_CASE("a kind that is not served is an empty list where that is allowed") {
    cache sink;
    reflector_options how = pods();
    how.may_be_absent = true;
    reflector of = watching(sink, 0, how);
    of.done(refusal(404), 0, sink);
    CHECK(of.next(of.wakes()).start);
    of.done(refusal(404), minute, sink);
    CHECK(of.synced());
    CHECK(sink.objects.empty());
    CHECK(of.wakes() < 2 * minute);
    reflector strict(pods());
    CHECK(strict.next(0).start);
    strict.done(refusal(404), 0, sink);
    CHECK_FALSE(strict.synced());
}

TEST_CASE("a kind that may not be read is an empty list where that is allowed, and says so") {
    cache sink;
    reflector_options how = pods();
    how.may_be_denied = true;
    reflector of(how);
    CHECK(of.next(0).start);
    of.done(refusal(403), 0, sink);
    CHECK(of.synced());
    CHECK(of.is_whole());
    CHECK(!of.trouble().empty());
    CHECK(of.next(of.wakes()).start);
    reflector strict(pods());
    CHECK(strict.next(0).start);
    strict.done(refusal(403), 0, sink);
    CHECK_FALSE(strict.synced());
}

TEST_CASE("what is known is as old as the last word of an open watch") {
    cache sink;
    reflector of = watching(sink, 10 * second);
    CHECK(of.is_whole());
    // It was asked for, and nobody has answered yet.
    CHECK(of.as_of(12 * second) == 10 * second);
    of.bytes("", 12 * second, sink);
    CHECK(of.as_of(13 * second) == 13 * second);
    of.done(broken_off(), 20 * second, sink);
    CHECK(of.as_of(40 * second) == 20 * second);
    CHECK(is_watch(of.next(of.wakes())));
    CHECK(of.as_of(41 * second) == 20 * second);
    of.bytes("", 41 * second, sink);
    CHECK(of.as_of(41 * second + 149 * second) == 190 * second);
    CHECK(of.as_of(41 * second + 150 * second) == 41 * second);
    // Half a list is not what there is.
    of.relist();
    CHECK(of.next(50 * second).start);
    of.done(page({object("b", "u2", 8)}, 30, "t"), 50 * second, sink);
    CHECK_FALSE(of.is_whole());
    CHECK(of.next(50 * second).start);
    of.done(page({}, 30), 51 * second, sink);
    CHECK(of.is_whole());
    CHECK(of.as_of(51 * second) == 51 * second);
}

TEST_CASE("distrust lists anew from a fresh read, whatever is under way") {
    cache sink;
    reflector of = watching(sink, 0);
    of.distrust();
    CHECK_FALSE(of.synced());
    auto wanted = of.next(0);
    CHECK(wanted.cancel);
    REQUIRE(wanted.start);
    of.distrust();
    wanted = of.next(0);
    CHECK(wanted.cancel);
    REQUIRE(wanted.start);
    of.done(page({object("a", "u1", 3)}, 8), 0, sink);
    CHECK(of.synced());
    CHECK(sink.told.size() == 1);
}

namespace {

/// An API server with one collection, that forgets old versions, lies in no answer, and breaks off
/// wherever it can.
class tiny_server {
public:
    explicit tiny_server(muster::testing::random& chance) : chance_(&chance) {}

    void change() {
        const std::string name(1, static_cast<char>('a' + chance_->below(5)));
        const auto at = objects_.find(name);
        ++version_;
        if (at == objects_.end()) {
            objects_[name] = {"u" + std::to_string(version_), version_};
            log_.push_back({version_, "ADDED", name, objects_[name].first});
        } else if (chance_->percent(50)) {
            at->second.second = version_;
            log_.push_back({version_, "MODIFIED", name, at->second.first});
        } else {
            log_.push_back({version_, "DELETED", name, at->second.first});
            objects_.erase(at);
        }
        if (chance_->percent(5))
            oldest_ = version_ - static_cast<std::int64_t>(chance_->below(3));
    }

    http_answer list(const http_request& asked) {
        const std::string more = field(asked, "continue");
        if (more.empty())
            listed_ = {objects_.begin(), objects_.end()}, listed_at_ = version_;
        else if (listed_at_ < oldest_ || chance_->percent(5))
            return refusal(410);
        const auto from = more.empty() ? 0 : static_cast<std::size_t>(std::stoul(more));
        std::vector<std::string> items;
        std::size_t at = from;
        for (; at < listed_.size() && at < from + 2; ++at)
            items.push_back(
                object(listed_[at].first, listed_[at].second.first, listed_[at].second.second));
        return page(items, listed_at_, at < listed_.size() ? std::to_string(at) : "");
    }

    /// What a watch from a version is sent now; nothing when the version is too old.
    std::optional<std::string> watch(std::int64_t& from) {
        if (from < oldest_)
            return std::nullopt;
        std::string text;
        for (const change_made& each : log_)
            if (each.version > from)
                text += event(each.type, object(each.name, each.uid, each.version));
        from = version_;
        if (chance_->percent(20))
            text += bookmark(version_);
        return text;
    }

    std::map<std::string, std::string> all() const {
        std::map<std::string, std::string> made;
        for (const auto& [name, what] : objects_)
            made["n/" + name] = what.first + "@" + std::to_string(what.second);
        return made;
    }

private:
    struct change_made {
        std::int64_t version;
        std::string type;
        std::string name;
        std::string uid;
    };
    muster::testing::random* chance_;
    std::map<std::string, std::pair<std::string, std::int64_t>> objects_;
    std::vector<change_made> log_;
    std::vector<std::pair<std::string, std::pair<std::string, std::int64_t>>> listed_;
    std::int64_t listed_at_ = 0;
    std::int64_t version_ = 1;
    std::int64_t oldest_ = 0;
};

} // namespace

TEST_CASE("when all is quiet the cache is what a listing says, whatever went wrong before") {
    const std::uint64_t cases = muster::testing::case_count(300);
    for (std::uint64_t seed = 1; seed <= cases; ++seed) {
        CAPTURE(seed);
        muster::testing::random chance(seed);
        tiny_server server(chance);
        cache sink;
        reflector_options how = pods();
        how.seed = seed;
        reflector of(how);
        std::int64_t now = 0;
        std::optional<http_request> asks;
        std::int64_t sent = 0; // up to where the watch under way was sent
        const auto turn = [&](bool calm) {
            now += calm ? 10 * second : static_cast<std::int64_t>(chance.below(3)) * second;
            const auto wanted = of.next(now);
            if (wanted.cancel)
                asks.reset();
            if (wanted.start) {
                REQUIRE_FALSE(asks);
                asks = wanted.start;
                sent = asks->stream ? std::stoll(field(*asks, "resourceVersion")) : 0;
            }
            if (!asks || (!calm && chance.percent(20)))
                return;
            if (!calm && chance.percent(10)) {
                const bool stream = asks->stream;
                asks.reset();
                of.done(chance.percent(50) ? refusal(chance.percent(50) ? 500 : 429)
                                           : (stream ? closed() : broken_off()),
                        now, sink);
            } else if (!asks->stream) {
                const http_answer answer = server.list(*std::exchange(asks, {}));
                of.done(answer, now, sink);
            } else if (const auto text = server.watch(sent)) {
                // Some of it may come, and then nothing more.
                const std::size_t part =
                    calm || chance.percent(80) ? text->size() : chance.below(text->size() + 1);
                of.bytes(std::string_view(*text).substr(0, part), now, sink);
                if (part < text->size()) {
                    asks.reset();
                    of.done(broken_off(), now, sink);
                }
            } else {
                asks.reset();
                if (chance.percent(50)) {
                    of.done(refusal(410), now, sink);
                } else {
                    of.bytes(event("ERROR", R"({"kind":"Status","code":410})"), now, sink);
                }
            }
        };
        for (int step = 0; step < 150; ++step) {
            if (chance.percent(40))
                server.change();
            turn(false);
        }
        for (int step = 0; step < 30; ++step)
            turn(true);
        REQUIRE(of.synced());
        REQUIRE(sink.objects == server.all());
        CHECK(of.size() == sink.objects.size());
    }
}

} // namespace kube_reflector_test
