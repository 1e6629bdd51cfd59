// SPDX-License-Identifier: Apache-2.0
#include <muster/gangs/names.hpp>

#include <string>

#include <doctest/doctest.h>

namespace translate_names_test {

using namespace muster::translate;

TEST_CASE("a DNS label has lower case letters, digits and dashes inside, and no dots") {
    CHECK(is_legal("a", dns_label));
    CHECK(is_legal("a-1", dns_label));
    for (const char* wrong : {"", "-a", "a-", "a.b", "A", "a_b", "a b", "\xc3\xa4"})
        CHECK_FALSE(is_legal(wrong, dns_label));
    CHECK(is_legal(std::string(63, 'a'), dns_label));
    CHECK_FALSE(is_legal(std::string(64, 'a'), dns_label));
}

TEST_CASE("a DNS subdomain is names with dots between them") {
    CHECK(is_legal("a.b-c.1", dns_subdomain));
    for (const char* wrong : {".a", "a.", "a..b", "a.-b", "a-.b", "a_b"})
        CHECK_FALSE(is_legal(wrong, dns_subdomain));
    CHECK(is_legal(std::string(253, 'a'), dns_subdomain));
    CHECK_FALSE(is_legal(std::string(254, 'a'), dns_subdomain));
}

TEST_CASE("a label value may be empty, and has upper case letters and underscores too") {
    for (const char* right : {"", "A_b.C-d", "1", "a..b"})
        CHECK(is_label_value(right));
    for (const char* wrong : {"_a", "a_", "a/b", "[\"ns/a\"]", "a b"})
        CHECK_FALSE(is_label_value(wrong));
    CHECK_FALSE(is_label_value(std::string(64, 'a')));
}

TEST_CASE("a key is a name with the subdomain of its owner before a slash") {
    CHECK(is_qualified_name("app"));
    CHECK(is_qualified_name("a.b/C_d"));
    for (const char* wrong : {"", "/a", "a/", "A.b/c", "a/b/c"})
        CHECK_FALSE(is_qualified_name(wrong));
}

TEST_CASE("a legal name stays, any other becomes legal") {
    CHECK(fitted("worker", dns_label) == "worker");
    CHECK(fitted("A.b", label_value) == "A.b");
    for (const char* name : {"", "a.b", "Worker", "_", "-.-", "a..b", "a_b.C", "x.", "ns/a b"})
        for (const name_syntax& syntax : {dns_label, dns_subdomain, label_value, labelled_object})
            for (const std::size_t more : {std::size_t{0}, std::size_t{100}, std::size_t{300}}) {
                const std::string made = fitted(name + std::string(more, 'y'), syntax);
                INFO(made);
                CHECK(is_legal(made, syntax));
            }
}

TEST_CASE("names that only differ where it is forbidden stay different") {
    CHECK(fitted("a.b", dns_label) != fitted("a_b", dns_label));
    CHECK(fitted("a.b", dns_label) != fitted("a-b", dns_label));
    const std::string common(80, 'a');
    CHECK(fitted(common + "1", dns_label) != fitted(common + "2", dns_label));
}

TEST_CASE("a shortened name is as long as it may be, and always the same") {
    const std::string made = fitted(std::string(64, 'a'), dns_label);
    CHECK(made == std::string(57, 'a') + "-" + made.substr(58));
    CHECK(made.size() == 63);
    CHECK(made == fitted(std::string(64, 'a'), dns_label));
}

} // namespace translate_names_test
