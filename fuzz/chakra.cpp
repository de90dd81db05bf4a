#include "fuzz/targets.hpp"
#include "model/io/chakra/chakra_reader.hpp"
#include "model/lower/execution_trace.hpp"

namespace sextant::fuzz {

// The files of two ranks, one behind the other: the first byte says how long the first is. What is accepted must become a graph or be
// refused.
void chakra(std::string_view input) {
    if (input.empty()) return;
    const std::string_view files = input.substr(1);
    const std::size_t first = files.size() * static_cast<unsigned char>(input.front()) / 256;
    Diagnostics diagnostics;
    ExecutionTrace trace;
    trace.ranks.push_back(read_chakra(files.substr(0, first), "t.0.et", 0, 2, diagnostics));
    trace.ranks.push_back(read_chakra(files.substr(first), "t.1.et", 1, 2, diagnostics));
    if (!diagnostics.empty()) return;
    try {
        lower(trace);
    } catch (const InputError&) {
    }
}

}  // namespace sextant::fuzz
