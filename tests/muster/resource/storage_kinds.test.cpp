// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <muster/resource/storage_kinds.hpp>

namespace resource_storage_kinds_test {

namespace storage_kinds = muster::storage_kinds;

TEST_CASE("the name of a kind of storage says its driver or its class, and what it counts") {
    const auto attachments = storage_kinds::attachments_of("csi.x");
    CHECK(attachments == "attachable-volumes-csi-csi.x");
    CHECK(storage_kinds::driver_in(attachments) == "csi.x");
    CHECK(storage_kinds::counts_volumes(attachments));
    CHECK_FALSE(storage_kinds::counts_storage(attachments));

    const auto bytes = storage_kinds::bytes_of("fast");
    CHECK(bytes == "fast.storageclass.storage.k8s.io/requests.storage");
    CHECK(storage_kinds::counts_bytes(bytes));
    CHECK(storage_kinds::class_in(bytes) == "fast");

    const auto volumes = storage_kinds::volumes_of("local");
    CHECK(volumes == "local.storageclass.storage.k8s.io/persistentvolumeclaims");
    CHECK(storage_kinds::counts_storage(volumes));
    CHECK_FALSE(storage_kinds::counts_bytes(volumes));
    CHECK(storage_kinds::class_in(volumes) == "local");
}

TEST_CASE("a kind that pods request counts no volumes") {
    for (const char* kind : {"cpu", "memory", "requests.storage", "nvidia.com/gpu"}) {
        CHECK_FALSE(storage_kinds::counts_volumes(kind));
        CHECK(storage_kinds::driver_in(kind).empty());
    }
}

} // namespace resource_storage_kinds_test
