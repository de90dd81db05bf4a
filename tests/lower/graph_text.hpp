// A task graph in words, short enough to be written down in a test.
//
//   F0 B0 I0 W0    forward, backward, backward of inputs, of weights; of micro-batch 0
//   F0.1           of chunk 1, where stages have several
//   B0[2] B0[1-2]  of these blocks, where a test asks for them
//   >0 <0          transfers of activations to the next stage, of their gradients to the previous one
//   AR[1-2] AG RS  collectives over the gradients or weights of these blocks; AR[1]x3 in three calls
//   push0 pull0     to and from a parameter server; S, U there: gradients added up, weights updated
//   U D w g        optimizer step; with offload the step in host memory, weights that come for a pass, gradients that go down
//   o =            what the framework does for each micro-batch, for each step
//   L0 c0 t0       samples of micro-batch 0 that are loaded, copied to the device, taken
#pragma once

#include "model/lower/lower.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace sextant::graph_text {

struct Words {
    explicit Words(const TaskGraph& g, bool blocks = false) : graph(g), show_blocks(blocks) {
        for (const Segment& s : g.segments()) chunks = std::max(chunks, s.chunk + 1);
    }

    [[nodiscard]] std::string word(SegmentIndex index) const {
        const Segment& s = graph.segments()[index];
        const std::string micro_batch = std::to_string(s.micro_batch) + (chunks > 1 ? "." + std::to_string(s.chunk) : "");
        const Work& work = graph.works()[s.work];
        if (const auto* w = std::get_if<ComputeWork>(&work)) {
            static constexpr const char* phases[] = {"F", "B", "I", "W"};
            return phases[static_cast<int>(w->phase)] + micro_batch + (show_blocks ? range(w->first_block, w->count) : "");
        }
        if (const auto* w = std::get_if<CollectiveWork>(&work)) {
            static constexpr const char* kinds[] = {"AR", "AG", "RS", "AA", "none"};
            std::string text = kinds[static_cast<int>(w->kind)];
            if (w->count > 0) text += range(w->first_block, w->count);
            return text + (w->calls > 1 ? "x" + std::to_string(w->calls) : "");
        }
        if (const auto* w = std::get_if<TransferWork>(&work)) {
            static constexpr const char* payloads[] = {"push", "pull", ">", "<"};
            return payloads[static_cast<int>(w->payload)] + micro_batch;
        }
        if (const auto* w = std::get_if<ServeWork>(&work)) return w->update ? "U" : "S";
        if (const auto* w = std::get_if<OffloadWork>(&work))
            return w->what == Offloaded::weights ? "w" : w->what == Offloaded::gradients ? "g" : "D";
        if (const auto* w = std::get_if<OverheadWork>(&work)) return w->of_step ? "=" : "o";
        if (std::holds_alternative<LoadWork>(work)) return "L" + micro_batch;
        if (std::holds_alternative<CopyWork>(work)) return "c" + micro_batch;
        if (std::holds_alternative<TakeWork>(work)) return "t" + micro_batch;
        return "U";
    }
    // One stream of one rank.
    [[nodiscard]] std::string stream(GraphRank rank, Stream stream = Stream::compute) const {
        std::string text;
        for (SegmentIndex s = 0; s < graph.segments().size(); ++s)
            if (graph.segments()[s].rank == rank && graph.segments()[s].stream == stream) text += (text.empty() ? "" : " ") + word(s);
        return text;
    }
    // Everything that waits for something beside its own stream: "1 F0 after 0 >0".
    [[nodiscard]] std::vector<std::string> waits() const {
        std::vector<std::string> list;
        const auto named = [&](SegmentIndex s) { return std::to_string(graph.segments()[s].rank) + " " + word(s); };
        for (SegmentIndex s = 0; s < graph.segments().size(); ++s)
            for (const SegmentIndex d : graph.waits_for(s)) list.push_back(named(s) + " after " + named(d));
        return list;
    }
    static std::string range(int first, int count) {
        return "[" + std::to_string(first) + (count > 1 ? "-" + std::to_string(first + count - 1) : "") + "]";
    }

    const TaskGraph& graph;
    bool show_blocks;
    int chunks = 1;
};

}  // namespace sextant::graph_text
