#include "model/report/roofline.hpp"

#include "model/predict/block_price.hpp"
#include "model/predict/state.hpp"

#include <algorithm>

namespace sextant {
namespace {

KernelBound bound_of(const Kernel& k, const DeviceRates& rates) {
    const Seconds times[] = {kernel_time(k, rates, {.compute = 2}), kernel_time(k, rates, {.memory = 2}),
                             kernel_time(k, rates, {.overhead = 2})};
    return static_cast<KernelBound>(std::ranges::min_element(times) - std::begin(times));
}

// How often a block of each template runs in a step of the stage: in forward, and recomputed for backward.
struct Runs {
    double once = 0, recomputed = 0;
};
std::vector<Runs> runs_of(const Prepared::State& job, std::size_t stage) {
    std::vector<Runs> runs(job.templates.size());
    const double micro_batches = static_cast<double>(job.micro_batches);
    for (const ChunkBlocks& chunk : job.chunks[stage])
        for (const ChunkBlocks::Block& block : chunk.blocks) {
            Runs& of = runs[static_cast<std::size_t>(block.block_template)];
            of.once += micro_batches;
            if (block.is_recomputed(job.stages[stage])) of.recomputed += micro_batches;
        }
    return runs;
}

void add(Roofline& all, const std::vector<Kernel>& kernels, Term phase, double runs, const Prepared::State& job) {
    if (!(runs > 0)) return;
    const DeviceRates& rates = job.rates;
    for (const Kernel& kernel : kernels) {
        const Kernel k = as_run(kernel, job);
        const RooflineKernel& added = all.kernels.emplace_back(RooflineKernel{k, phase, runs, kernel_time(k, rates), bound_of(k, rates)});
        all.by_bound[added.bound] += added.in_step();
    }
}

std::vector<Roof> roofs_of(const Device& device, const Roofline& all, const DeviceRates& rates) {
    std::vector<Roof> roofs;
    for (const PeakRate& peak : device.peaks) {
        const MatrixRate& rate = rates.matrix[peak.input];
        const bool known = std::ranges::any_of(roofs, [&](const Roof& r) { return r.type == peak.input; });
        // Where a type has two ways, the one that libraries take.
        if (known || rate.peak != peak.rate.value) continue;
        const bool used = std::ranges::any_of(all.kernels, [&](const RooflineKernel& k) {
            return k.kernel.flops > Flops{} && rates.matrix[k.kernel.type].peak == rate.peak;
        });
        roofs.push_back({peak.input, rate.peak, rate.sustained, used});
    }
    std::ranges::stable_sort(roofs, std::greater<>(), &Roof::peak);
    return roofs;
}

}  // namespace

std::string_view to_text(KernelBound b) {
    static constexpr std::string_view names[] = {"compute", "memory bandwidth", "start of kernels"};
    return names[static_cast<std::size_t>(b)];
}

std::string_view to_text(KernelKind k) {
    static constexpr std::string_view names[] = {"matrix product", "convolution", "fused attention", "no matrix work"};
    return names[static_cast<std::size_t>(k)];
}

std::optional<double> RooflineKernel::intensity() const {
    if (!(kernel.flops > Flops{}) || !(kernel.bytes > Bytes{})) return {};
    return kernel.flops.si() / kernel.bytes.si();
}

Roofline roofline(const Prepared& prepared) {
    const Prepared::State& job = prepared.state();
    const Device& device = job.scenario.cluster.node.device;
    Roofline all;
    all.stage = estimate(prepared).last_stage;
    all.memory = device.memory_bandwidth.value;
    all.stream = streaming_bandwidth(job.rates);
    const std::vector<Runs> runs = runs_of(job, static_cast<std::size_t>(all.stage));
    for (std::size_t t = 0; t < job.templates.size(); ++t) {
        const BlockKernels& block = job.templates[t];
        add(all, block.forward, Term::forward, runs[t].once, job);
        if (job.scenario.plan.forward_only) continue;
        add(all, block.backward, Term::backward, runs[t].once, job);
        add(all, block.recompute, Term::recompute, runs[t].recomputed, job);
    }
    all.roofs = roofs_of(device, all, job.rates);
    std::ranges::stable_sort(all.kernels, std::greater<>(), &RooflineKernel::in_step);
    return all;
}

bool passes_a_roof(const Roofline& all) {
    return std::ranges::any_of(all.kernels, [&](const RooflineKernel& k) {
        const auto roof = std::ranges::find(all.roofs, k.kernel.type, &Roof::type);
        return k.kernel.window == Window::winograd && roof != all.roofs.end() && k.kernel.flops / k.time > roof->peak;
    });
}

std::string shape_text(const Kernel& k) {
    const auto n = [](std::int64_t x) { return std::to_string(x); };
    switch (k.kind) {
        case KernelKind::gemm: return (k.batch > 1 ? n(k.batch) + " x " : "") + "GEMM m " + n(k.m) + ", n " + n(k.n) + ", k " + n(k.k);
        case KernelKind::convolution: return "convolution as GEMM m " + n(k.m) + ", n " + n(k.n) + ", k " + n(k.k);
        case KernelKind::attention:
            return "attention " + n(k.batch) + " heads, " + n(k.m) + " queries, " + n(k.n) + " keys, width " + n(k.k);
        case KernelKind::memory: break;
    }
    return "no matrix work";
}

}  // namespace sextant
