// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/core/claims/claim_text.hpp>

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <muster/apis/core/claims/device_catalog.hpp>
#include <muster/apis/core/claims/device_sets.hpp>

namespace codec_claim_text_test {

using namespace muster;
using namespace muster::codec;

namespace {

device_alternative selecting(const std::string& first, const std::string& second = "") {
    device_alternative made;
    made.class_name = "gpu";
    made.selectors.push_back(read_request_selector(first));
    if (!second.empty())
        made.selectors.push_back(read_request_selector(second));
    return made;
}

} // namespace

TEST_CASE("the name of selected devices has the class and the start of the selectors") {
    device_alternative plain;
    plain.class_name = "gpu";
    CHECK(set_name(plain) == "devices of class gpu");
    CHECK(set_name(selecting("true", "1 == 1")) == "devices of class gpu where true and 1 == 1");
    const std::string name = set_name(selecting("true && " + std::string(9000, ' ') + "true"));
    CHECK(name.size() == std::string("devices of class gpu where ").size() + 200);
    CHECK(name.ends_with(" ..."));
}

TEST_CASE("a selector that cannot be decided is shortened, and said to be of the class or not") {
    const device one;
    const device_nodes nodes;
    const std::vector<pooled_device> devices{{{"x.com", "p", "d"}, &one, &nodes}};
    const std::string wrong = "device.attributes['x.com'].none == '" + std::string(9000, 'x') + "'";
    device_class of_class;
    of_class.selectors = selecting("true").selectors;
    const device_alternative asked = selecting(wrong);
    const selected_devices of_request = select_devices(devices, of_class, &asked);
    CHECK_FALSE(of_request.is_of_class);
    CHECK(of_request.undecided.starts_with("device d of pool p ("));
    CHECK(of_request.undecided.ends_with("): " + wrong.substr(0, 197) + "..."));
    of_class.selectors = asked.selectors;
    const selected_devices of_both = select_devices(devices, of_class, &asked);
    CHECK(of_both.is_of_class);
    CHECK(of_both.undecided == of_request.undecided);
}

} // namespace codec_claim_text_test
