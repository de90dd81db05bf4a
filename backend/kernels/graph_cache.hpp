// Graphs of the stretches of work that come again and again, launched in the place of their calls.
//
// A stretch that was never seen is run call by call, which lets libraries load what they need; when it comes a second time it is captured.
// Later it finds its graph by its key. Kernels have other arguments then where those are of a step, as the key of dropout and the number of
// an update, or where the memory of an array is another: such nodes are given theirs before the graph is launched.
//
// What a device offers, as `Stream`:
//   Graph                            copies of it are the same graph
//   run(stretch)                     call by call
//   capture(stretch)                 a Graph of it; runs nothing
//   set(graph, index, stretch)       the arguments of the call of that index, a kernel's; for launches to come
//   launch(graph)
#pragma once

#include "backend/kernels/stretch.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace sextant::kernels {

// How a step was launched.
struct GraphUse {
    std::size_t calls = 0, in_graphs = 0;    // of kernels and libraries
    std::size_t launches = 0, captures = 0;  // of graphs
    std::size_t changed = 0;                 // kernels in graphs that were given other arguments
};
inline std::string to_text(const GraphUse& use) {
    return std::to_string(use.in_graphs) + " of " + std::to_string(use.calls) + " calls of the last step in " +
           std::to_string(use.launches) + " graphs, " + std::to_string(use.changed) + " of them with other arguments than before";
}

template <class Stream>
class GraphCache {
public:
    static constexpr int kept_steps = 8;  // a graph that was not launched for more steps than these is forgotten

    void run(Stream& stream, Stretch& stretch) {
        use_.calls += stretch.calls().size();
        if (stretch.calls().size() < 2) return stream.run(stretch);  // a graph of one kernel is launched no faster
        Entry& e = entries_[stretch.key()];
        const bool is_new = std::exchange(e.last_step, step_) < 0;
        if (is_new) return stream.run(stretch);
        if (!e.graph) {
            e.graph = stream.capture(stretch);
            e.arguments = stretch.bytes();
            ++use_.captures;
        } else {
            give_arguments(stream, e, stretch);
        }
        stream.launch(*e.graph);
        use_.in_graphs += stretch.calls().size();
        ++use_.launches;
    }

    void begin_step() {
        ++step_;
        std::erase_if(entries_, [&](const auto& e) { return e.second.last_step + kept_steps < step_; });
        use_ = {};
    }
    [[nodiscard]] const GraphUse& use() const { return use_; }  // since the step began
    [[nodiscard]] std::size_t size() const { return entries_.size(); }

private:
    struct Entry {
        int last_step = -1;
        std::optional<typename Stream::Graph> graph;
        std::vector<std::byte> arguments;  // those that the graph has
    };

    void give_arguments(Stream& stream, Entry& e, Stretch& stretch) {
        const std::vector<Stretch::Call>& calls = stretch.calls();
        for (std::size_t i = 0; i < calls.size(); ++i) {
            const auto of = [&](const std::vector<std::byte>& bytes) { return bytes.data() + calls[i].begin; };
            const std::size_t size = calls[i].end - calls[i].begin;
            if (size == 0 || std::memcmp(of(e.arguments), of(stretch.bytes()), size) == 0) continue;
            stream.set(*e.graph, i, stretch);
            ++use_.changed;
        }
        e.arguments.swap(stretch.bytes());
    }

    std::unordered_map<std::string, Entry> entries_;
    int step_ = 0;
    GraphUse use_;
};

}  // namespace sextant::kernels
