// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/core/volumes/volume_mismatch.hpp>

#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace codec_volume_mismatch_test {

using namespace muster::codec;

namespace {

struct storage {
    std::vector<volume_object> volumes;
    claim_request asks;

    storage() {
        asks.bytes = std::int64_t{10} << 30;
        asks.access = read_write_many;
    }
    /// A volume that matches.
    volume_object& add() {
        volume_object& made = volumes.emplace_back();
        made.metadata.key.name = "pv-" + std::to_string(volumes.size());
        made.storage_class = "fast";
        made.bytes = asks.bytes;
        made.access = read_write_once + read_write_many;
        return made;
    }
    std::string text() const {
        volume_demand claim;
        claim.key = {"team", "data"};
        claim.asks = &asks;
        std::vector<const volume_object*> of_class;
        for (const volume_object& each : volumes)
            of_class.push_back(&each);
        CHECK(candidates_for(claim, of_class, "fast").empty());
        return mismatch_text(claim, of_class, "fast");
    }
};

} // namespace

TEST_CASE("without any volume of the class, that is said") {
    CHECK(storage().text() == "there is no volume of class \"fast\"");
}

TEST_CASE("volumes are counted by the first property that rules them out") {
    storage of;
    for (int each = 0; each < 3; ++each)
        of.add().bytes = 1;
    of.add().access = read_write_once;
    of.add().block = true;
    of.add().claim = volume_object::claim_reference{{"team", "other"}, ""};
    of.add().available = false;
    CHECK(of.text() ==
          "no free volume of class \"fast\" matches: 3 are smaller than 10Gi, 1 lacks access mode "
          "ReadWriteMany, 1 does not have volumeMode Filesystem, 1 is not Available, 1 is bound to "
          "or kept for another claim");
}

TEST_CASE("labels, attributes and deletion rule volumes out, too") {
    storage of;
    of.asks.labels = muster::label_selector{};
    of.asks.labels->requirements.push_back({"disk", muster::label_operator::in, {"ssd"}});
    of.add();
    of.add();
    of.add().attributes_class = "gold";
    of.add().metadata.terminating = true;
    CHECK(of.text() ==
          "no free volume of class \"fast\" matches: 1 has another volumeAttributesClassName, 2 do "
          "not match the claim's selector, 1 is being deleted");
}

TEST_CASE("a volume that is kept for the claim and too small is one that is too small") {
    storage of;
    volume_object& kept = of.add();
    kept.bytes = 1;
    kept.claim = volume_object::claim_reference{{"team", "data"}, ""};
    CHECK(of.text() == "no free volume of class \"fast\" matches: 1 is smaller than 10Gi");
}

} // namespace codec_volume_mismatch_test
