// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include <muster/codec/job_reader.hpp>
#include <muster/codec/kubeflow_reader.hpp>
#include <muster/codec/volcano_job_reader.hpp>
#include <muster/translate/kubeflow_job.hpp>

namespace muster::inline v0_1 {
namespace codec {

/// A kind of jobs of others and who reads it.
struct job_kind {
    std::string_view api_version;
    std::string_view kind;
    job_reader read;
};

/// The kinds that one object describes wholly. Earlier versions of an API stand here where they
/// write the same fields.
inline constexpr std::array job_kinds{
    job_kind{"kubeflow.org/v1", "TFJob", read_kubeflow<translate::kubeflow_kind::tensorflow>},
    job_kind{"kubeflow.org/v1beta2", "TFJob", read_kubeflow<translate::kubeflow_kind::tensorflow>},
    job_kind{"kubeflow.org/v1", "PyTorchJob", read_kubeflow<translate::kubeflow_kind::pytorch>},
    job_kind{"kubeflow.org/v1beta2", "PyTorchJob",
             read_kubeflow<translate::kubeflow_kind::pytorch>},
    job_kind{"kubeflow.org/v1", "MPIJob", read_kubeflow<translate::kubeflow_kind::mpi>},
    job_kind{"kubeflow.org/v1alpha2", "MPIJob", read_kubeflow<translate::kubeflow_kind::mpi>},
    job_kind{"kubeflow.org/v2beta1", "MPIJob", read_kubeflow<translate::kubeflow_kind::mpi_v2>},
    job_kind{"kubeflow.org/v1", "XGBoostJob", read_kubeflow<translate::kubeflow_kind::xgboost>},
    job_kind{"kubeflow.org/v1", "PaddleJob", read_kubeflow<translate::kubeflow_kind::paddle>},
    job_kind{"kubeflow.org/v1", "JAXJob", read_kubeflow<translate::kubeflow_kind::jax>},
    job_kind{"batch.volcano.sh/v1alpha1", "Job", read_volcano},
};

/// nullptr for a kind that is none of them.
[[nodiscard]] inline const job_kind* find_job_kind(std::string_view api_version,
                                                   std::string_view kind) noexcept {
    for (const job_kind& each : job_kinds)
        if (each.api_version == api_version && each.kind == kind)
            return &each;
    return nullptr;
}

} // namespace codec
} // namespace muster::inline v0_1
