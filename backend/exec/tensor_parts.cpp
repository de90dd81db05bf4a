#include "backend/exec/tensor_parts.hpp"

#include <algorithm>

namespace sextant {
namespace {

constexpr std::size_t most_of_an_operator = 3;

// Room for the tensors of any block.
std::size_t tensors_of_block(const Network& network) {
    std::size_t most = 0;
    for (const Block& b : network.templates) most = std::max(most, most_of_an_operator * b.graph.operators().size());
    return most;
}

}  // namespace

std::size_t tensor_numbers(const Network& network) { return shared_matrix_count + network.sequence.size() * tensors_of_block(network); }

std::vector<TensorPart> tensor_parts(RankMemory& memory, const Network& network, Counted counted) {
    const std::size_t of_block = tensors_of_block(network);
    std::vector<TensorPart> parts;
    const auto add = [&](ParameterRun& run, std::int64_t begin, std::int64_t end, bool counts, std::size_t tensor) {
        const std::int64_t here = run.shard.rank * run.sums.elements;  // of shards; a run that is in none is the first
        const std::int64_t first = std::max(here, begin), last = std::min(here + run.sums.elements, end);
        if (first < last) parts.push_back({&run, first - here, last - first, counts, tensor});
    };
    for (auto& [b, held] : memory.blocks()) {
        for (std::size_t i = 0; i < held.program.parameters().size(); ++i) {
            const ParameterTensor& p = held.program.parameters()[i];
            if (p.frozen || p.run == RunKind::tied) continue;
            const std::size_t tensor =
                p.matrix ? static_cast<std::size_t>(*p.matrix) : shared_matrix_count + static_cast<std::size_t>(b) * of_block + i;
            const bool counts = p.run == RunKind::experts ? counted.experts : counted.dense;
            for (const RowSection& s : p.sections)
                add(held.run_of(p), p.offset + s.local * p.columns, p.offset + (s.local + s.count) * p.columns, counts && !s.repeated,
                    tensor);
        }
        // What lies here as a copy counts with the block of another stage whose it is.
        for (const SharedMatrix m : all_shared_matrices) {
            const std::optional<SharedHome>& home = memory.home(m);
            if (home && home->block == b && home->copied && home->run == &HeldBlock::dense)
                add(held.dense, home->offset, home->offset + home->elements, false, static_cast<std::size_t>(m));
        }
    }
    return parts;
}

}  // namespace sextant
