// sextant-exec-cuda: one rank of a job on a GPU. Ranks of a host take its GPUs in turn. --devices says which there are.
#include "backend/cpu/cpu_engine.hpp"
#include "backend/cuda/check.hpp"
#include "backend/cuda/convolutions.hpp"
#include "backend/cuda/cuda_device.hpp"
#include "backend/cuda/fused_attention.hpp"
#include "backend/cuda/gpu.hpp"
#include "backend/cuda/nccl_transport.hpp"
#include "backend/cuda/pinned_copies.hpp"
#include "backend/cuda/products.hpp"
#include "backend/exec/staged_transport.hpp"
#include "backend/kernels/state_space.hpp"
#include "backend/rank/launcher.hpp"
#include "backend/rank/mpi_transport.hpp"
#include "backend/rank/rank_process.hpp"
#include "model/base/diagnostics.hpp"
#include "model/base/failure.hpp"
#include "model/io/calibration/device_facts.hpp"
#include "model/plan/partition.hpp"

#include <cublasLt.h>
#include <cudnn.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string_view>

namespace sextant {
namespace {

constexpr int ampere = 80;  // the first with TF32 and bf16

bool uses_tf32(const Precision& p) { return p.tf32 && p.compute == DataType::fp32; }

int gpu_of(const MpiWorld& world) { return world.rank_on_host() % cuda::gpu_count(); }

std::string version_text(int number, int major, int minor) {
    return std::to_string(number / major) + "." + std::to_string(number % major / minor) + "." + std::to_string(number % minor);
}

Bytes most_of_scans(const Network& network, Element element, bool backward) {
    std::int64_t most = 0;
    for (const Block& block : network.templates)
        for (const Operator& op : block.graph.operators())
            if (const auto* scan = std::get_if<StateSpaceScan>(&op.kind))
                most = std::max(most, kernels::scan_workspace(*scan, element, backward));
    return static_cast<double>(most) * units::B;
}

class CudaEngine final : public RankEngine {
public:
    [[nodiscard]] std::string name() const override { return "cuda"; }
    [[nodiscard]] Abilities abilities() const override { return {.captures = true, .offloads = true}; }
    [[nodiscard]] const RankEngine& of_servers() const override { return servers_; }
    void check_machine() const override { (void)cuda::gpu_count(); }
    [[nodiscard]] SharedMemory memory(const MpiWorld& world) const override {
        const cuda::GpuFacts facts = cuda::facts_of(gpu_of(world));  // a launcher may show each rank another GPU as its number 0
        return {"GPU " + facts.bus + " of " + world.host(), static_cast<double>(facts.free_bytes) * units::B};
    }
    [[nodiscard]] Bytes beside_arrays(const MpiWorld& world, const Scenario& s) const override {
        const cuda::WorkStream stream(gpu_of(world));
        const auto library = cuda::cudnn_on(stream.get());
        const cuda::Descriptor properties = cuda::properties_of(library.get());
        const Network network = cut_network(s);
        const Element element = element_of(s.plan.precision.compute);
        const bool backward = !s.plan.forward_only;
        const Bytes of_convolutions = cuda::convolution_workspace(network, element, uses_tf32(s.plan.precision), backward, properties);
        const Bytes of_attention = cuda::fused_workspace(network, element, backward, properties);
        // One operator runs at a time, and what was room for one goes back where others lack it. That of products stays.
        return static_cast<double>(cuda::product_workspace_bytes) * units::B +
               max(max(of_attention, of_convolutions), most_of_scans(network, element, backward));
    }
    [[nodiscard]] std::unique_ptr<ComputeDevice> make_device(const MpiWorld& world, const Job& job, int) const override {
        const int gpu = gpu_of(world);
        const cuda::GpuFacts facts = cuda::facts_of(gpu);
        const Precision& precision = job.scenario.plan.precision;
        const bool tf32 = uses_tf32(precision);
        if ((tf32 || precision.compute == DataType::bf16) && facts.capability < ampere)
            throw BackendError(std::string(tf32 ? "TF32 takes" : "bf16 takes") +
                               " a GPU of compute capability 8.0 (Ampere) or later, and this is a " + facts.name +
                               ": \"precision\": \"fp32\" runs");
        return cuda::make_device(gpu, tf32, job.scenario.plan.cuda_graph);
    }
    [[nodiscard]] std::unique_ptr<ComputeDevice> make_host(const MpiWorld& world, int threads) const override {
        return make_cpu_device(threads, cuda::pinned_memory(gpu_of(world)));
    }
    [[nodiscard]] std::unique_ptr<Transport> make_transport(const MpiWorld& world, const Job& job, ComputeDevice&) const override {
        const int gpu = gpu_of(world);
        auto staged = std::make_unique<StagedTransport>(std::make_unique<MpiTransport>(job.graph, world.rank()),
                                                        std::make_unique<cuda::PinnedCopies>(gpu));
        if (job.servers() > 0) return staged;  // messages alone: who serves makes no communicators of NCCL
        return std::make_unique<cuda::NcclTransport>(job.graph, world.rank(), gpu, world.host(), cuda::facts_of(gpu).bus,
                                                     std::move(staged));
    }
    [[nodiscard]] std::vector<LibraryVersion> libraries(ComputeDevice& device) const override {
        const std::string attention = cuda::fused_attention(device);
        const auto graphs = cuda::graph_use(device);
        int cuda_version = 0, nccl = 0;
        cuda::check(cudaRuntimeGetVersion(&cuda_version), "cudaRuntimeGetVersion");
        if (ncclGetVersion(&nccl) != ncclSuccess) throw BackendError("ncclGetVersion failed");
        return {{"CUDA", version_text(cuda_version, 1000, 10) + (graphs ? " (" + to_text(*graphs) + ")" : "")},
                {"cuBLASLt", version_text(static_cast<int>(cublasLtGetVersion()), 10000, 100)},
                {"cuDNN", version_text(static_cast<int>(cudnnGetVersion()), 10000, 100) +
                              (attention.empty() ? "" : " (attention " + attention + ")")},
                {"NCCL", version_text(nccl, 10000, 100)}};
    }
    [[nodiscard]] ProcessorFacts processor() const override {
        int gpu = 0;
        cuda::check(cudaGetDevice(&gpu), "cudaGetDevice");
        const cuda::GpuFacts facts = cuda::facts_of(gpu);
        return {facts.name, facts.clock > Frequency{} ? std::optional(facts.clock) : std::nullopt};
    }

private:
    CpuEngine servers_;
};

// They exchange through the host then: no kernel waits for another rank's.
bool ranks_share_gpus() {
    const std::optional<int> ranks = ranks_on_host();
    return ranks && std::getenv("CUDA_VISIBLE_DEVICES") == nullptr && *ranks > cuda::gpu_files();
}

// What a calibration asks for: the GPUs of this machine, on stdout.
int tell_devices() {
    try {
        const int gpus = cuda::gpu_count();
        std::vector<DeviceFacts> devices;
        devices.reserve(static_cast<std::size_t>(gpus));
        for (int gpu = 0; gpu < gpus; ++gpu) devices.push_back(cuda::described(gpu));
        std::cout << device_facts_to_json(devices);
        return 0;
    } catch (const BackendError& e) {
        std::cerr << e.what() << '\n';
        return static_cast<int>(ExitCode::machine_refused);
    }
}

}  // namespace
}  // namespace sextant

int main(int argc, char** argv) {
    // Else NCCL connects the ranks of a group when they call for the first exchange of a kind, and waits for them meanwhile: two ranks that
    // start exchanges of two groups in another order each would wait for ever.
    setenv("NCCL_RUNTIME_CONNECT", "0", 0);
    if (!sextant::ranks_share_gpus()) {
        // Streams that share a queue of the GPU wait for each other, which is as bad. By default there are eight queues. Where ranks share
        // a GPU there is no more room than that: four of 32 each found none on an H200 ("cudaSetDevice: out of memory").
        setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
        // A kernel that is loaded when it is first launched waits for all others on its GPU, exchanges too: the thread that communicates
        // must not come to that. To load all of them beforehand takes seconds, and gigabytes of the GPU.
        if (sextant::may_have_other_ranks()) setenv("CUDA_MODULE_LOADING", "EAGER", 0);
    }
    if (argc == 2 && std::string_view(argv[1]) == "--devices") return sextant::tell_devices();
    return sextant::run_rank(argc, argv, sextant::CudaEngine());
}
