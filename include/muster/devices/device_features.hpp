// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace muster {
inline namespace v0_1 {

/// The feature gates of Kubernetes that decide how devices are allocated.
struct device_features {
    /// DRAAdminAccess.
    bool admin_access = true;
    /// DRADeviceCompatibilityGroups. If not set, a slice with compatibility groups is ignored, so
    /// its pool is incomplete.
    bool compatibility_groups = true;
    /// DRAConsumableCapacity.
    bool consumable_capacity = true;
    /// DRADeviceBindingConditions with DRAResourceClaimDeviceStatus. If not set, a device with
    /// binding conditions matches no request.
    bool binding_conditions = true;
    /// DRADeviceTaints. If not set, taints have no effect.
    bool taints = true;
    /// DRAFractionalCapacityRange.
    bool fractional_capacity = true;
    /// DRAListTypeAttributes. If not set, constraints compare scalars only.
    bool list_attributes = true;
    /// DRAPartitionableDevices. If not set, slices with counter sets are ignored, and devices that
    /// consume counters are not allocated.
    bool partitionable_devices = true;
    /// DRAPrioritizedList.
    bool prioritized_list = true;
    /// DRADerivedAttributes. If not set, a request with derived attributes fails.
    bool derived_attributes = true;
};

} // namespace v0_1
} // namespace muster
