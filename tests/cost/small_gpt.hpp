// A small network whose kernels and exchanges can be counted by hand.
#pragma once

#include "model/cost/kernel.hpp"
#include "model/workload/workload.hpp"
#include "tests/cost/round_machine.hpp"

#include <array>

namespace sextant {

// A GPT of hidden size h = 64 with 4 heads of 16, s = 16, b = 2: 32 tokens, 2048 elements of the residual stream, 4096 bytes in BF16.
inline Workload small_gpt() {
    TransformerSpec gpt;
    gpt.layers = 2;
    gpt.hidden = 64, gpt.ffn_hidden = 256;
    gpt.heads = gpt.kv_heads = 4;
    gpt.vocab = 1000, gpt.seq_len = 16;
    return {.name = "small gpt", .title = {}, .spec = gpt, .source = {}};
}

constexpr double stream = 4096;  // bytes of the residual stream

struct Cut {
    Plan plan{};
    Framework framework = round_machine::framework();
    int tensor = 1, context = 1;
    bool sequence_parallel = false, flash = true;
    MlpKind mlp = MlpKind::gelu;
    double logit_softcap = 0;
    std::optional<LowRankAdapters> adapters{};
    ComputeUnit unit = ComputeUnit::vector;

    [[nodiscard]] BlockKernels block(BlockRole role) const {
        Shard shard;
        shard.micro_batch = 2;
        shard.tensor = tensor;
        shard.context = context;
        shard.sequence_parallel = sequence_parallel;
        shard.flash_attention = flash;
        Workload workload = small_gpt();
        auto& spec = std::get<TransformerSpec>(workload.spec);
        spec.mlp = mlp;
        spec.logit_softcap = logit_softcap;
        spec.adapters = adapters;
        for (const Block& b : build_network(workload, shard).templates)
            if (b.role == role) return block_kernels(b.graph, role, plan, framework, false, unit);
        return {};
    }
    [[nodiscard]] BlockKernels layer() const { return block(BlockRole::layer); }
};

// Rows, columns and depth of each product.
using Shape = std::array<std::int64_t, 3>;
inline std::vector<Shape> products(const std::vector<Kernel>& kernels) {
    std::vector<Shape> shapes;
    for (const Kernel& k : kernels)
        if (k.kind == KernelKind::gemm) shapes.push_back({k.m, k.n, k.k});
    return shapes;
}

inline std::vector<Kernel> named(const std::vector<Kernel>& kernels, std::string_view name, KernelKind kind = KernelKind::memory) {
    std::vector<Kernel> found;
    for (const Kernel& k : kernels)
        if (k.name == name && k.kind == kind) found.push_back(k);
    return found;
}

// Bytes of the only memory kernel of that name; -1 where there is none or more than one.
inline double bytes_of(const std::vector<Kernel>& kernels, std::string_view name) {
    const auto found = named(kernels, name);
    return found.size() == 1 ? found.front().bytes.si() : -1;
}

}  // namespace sextant
