#include "backend/exec/fingerprint.hpp"

#include "backend/exec/executable_graph.hpp"
#include "backend/exec/reals.hpp"

namespace sextant {
namespace {

// Rows that several ranks of the tensor group have count on the first.
void add(Fingerprint& sum, ParameterTensor p, const std::vector<float>& weights, RandomKey key) {
    std::erase_if(p.sections, [](const RowSection& s) { return s.repeated; });
    const auto whole = static_cast<std::size_t>(p.whole_rows * p.whole_columns);
    std::vector<float> serial(whole, 1), exists(weights.size()), probe(weights.size());
    cut(p, serial, exists);
    for (std::size_t i = 0; i < whole; ++i) serial[i] = 2 * key.uniform(i) - 1;
    cut(p, serial, probe);
    for (std::size_t i = 0; i < weights.size(); ++i) {
        const double w = weights[i];
        sum.held += exists[i];
        sum.product += w * probe[i];
        sum.squares += w * w * exists[i];
    }
}

}  // namespace

std::vector<Fingerprint> fingerprints(const Job& job, RankMemory& memory, ComputeDevice& device) {
    std::vector<Fingerprint> list;
    for (std::size_t b = 0; b < job.serial.sequence.size(); ++b) {
        const int block = static_cast<int>(b);
        const OperatorGraph graph = executable(job.serial.templates[static_cast<std::size_t>(job.serial.sequence[b])].graph);
        const std::vector<ParameterTensor> serial = parameters_of(graph, graph, {}, block);
        const auto held = memory.blocks().find(block);
        for (std::size_t i = 0; i < serial.size(); ++i) {
            if (serial[i].run == RunKind::tied) continue;
            Fingerprint f{block, serial[i].name, static_cast<double>(serial[i].elements())};
            if (held != memory.blocks().end()) {
                const ParameterTensor& p = held->second.program.parameters()[i];
                if (const Array& run = held->second.run_of(p).weights)
                    add(f, p, downloaded(device, run.part(p.offset, p.elements())), RandomKey(3).with(list.size()));
            }
            list.push_back(std::move(f));
        }
    }
    return list;
}

}  // namespace sextant
