// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <muster/vocabulary/device_rule.hpp>

namespace muster {
inline namespace v0_1 {

/// The request of a pod for shared GPUs, as scores need it.
struct gpu_part {
    std::int64_t gpus = 0;
    /// Thousandths of each GPU, from 0 to 1000; the largest, if the requests of the pod differ.
    std::int64_t milli = 0;
};

/// Reads GPUs that pods share, for scores. It refers to an object with
///
///     std::size_t gpus_left(device_stock has, std::span<const device_demand> held,
///                           std::span<std::int32_t> milli) const
///     gpu_part part(device_stock has, device_demand more) const
///
/// `gpus_left` returns the number of GPUs that a node shares, at most the size of `milli`. It
/// writes the free thousandths of each GPU beside the demands to `milli`. `part` returns the
/// request of a pod on such a node.
class gpu_reader {
public:
    /// Refers to no object: no node shares GPUs.
    gpu_reader() = default;
    /// The object must outlive the reader and every copy of it.
    template<class Object>
    [[nodiscard]] static gpu_reader of(const Object& object) noexcept {
        gpu_reader made;
        made.of_ = &object;
        made.left_ = [](const void* from, device_stock has, std::span<const device_demand> held,
                        std::span<std::int32_t> milli) {
            return static_cast<const Object*>(from)->gpus_left(has, held, milli);
        };
        made.part_ = [](const void* from, device_stock has, device_demand more) {
            return static_cast<const Object*>(from)->part(has, more);
        };
        return made;
    }
    /// A temporary would not outlive the reader.
    template<class Object>
    static gpu_reader of(const Object&&) = delete;

    [[nodiscard]] std::size_t gpus_left(device_stock has, std::span<const device_demand> held,
                                        std::span<std::int32_t> milli) const {
        return left_ && has != device_stock::none ? left_(of_, has, held, milli) : 0;
    }
    [[nodiscard]] gpu_part part(device_stock has, device_demand more) const {
        return part_ && has != device_stock::none && more != device_demand::none
                   ? part_(of_, has, more)
                   : gpu_part{};
    }

    [[nodiscard]] friend bool operator==(const gpu_reader&, const gpu_reader&) = default;

private:
    const void* of_ = nullptr;
    std::size_t (*left_)(const void*, device_stock, std::span<const device_demand>,
                         std::span<std::int32_t>) = nullptr;
    gpu_part (*part_)(const void*, device_stock, device_demand) = nullptr;
};

} // namespace v0_1
} // namespace muster
