#include "backend/exec/server_traffic.hpp"

#include <cstring>
#include <set>
#include <utility>

namespace sextant {
namespace {

const TransferWork* transfer_of(const TaskGraph& graph, SegmentIndex s) {
    return std::get_if<TransferWork>(&graph.works()[graph.segments()[s].work]);
}

std::map<SegmentIndex, SegmentIndex> served_pushes(const TaskGraph& graph) {
    std::map<SegmentIndex, SegmentIndex> served;
    for (SegmentIndex s = 0; s < graph.segments().size(); ++s) {
        if (!std::holds_alternative<ServeWork>(graph.works()[graph.segments()[s].work])) continue;
        for (const SegmentIndex before : graph.waits_for(s))
            if (transfer_of(graph, before) != nullptr) served[before] = s;
    }
    return served;
}

}  // namespace

std::vector<ServedRound> served_rounds(const TaskGraph& graph, GraphRank worker) {
    const std::map<SegmentIndex, SegmentIndex> served = served_pushes(graph);
    std::vector<ServedRound> rounds;
    ServedRound round;
    std::set<int> differentiated;  // and not pushed yet: blocks go in the order of backward, the last first
    for (SegmentIndex s = 0; s < graph.segments().size(); ++s) {
        if (graph.segments()[s].rank != worker) continue;
        const Work& work = graph.works()[graph.segments()[s].work];
        if (const auto* pass = std::get_if<ComputeWork>(&work); pass != nullptr && pass->phase != Phase::forward)
            for (int b = pass->first_block; b < pass->first_block + pass->count; ++b) differentiated.insert(b);
        const auto* transfer = std::get_if<TransferWork>(&work);
        if (transfer == nullptr) continue;
        if (transfer->payload == Payload::gradients) {
            const auto last = std::prev(differentiated.end());
            round.pushes.push_back({s, served.at(s), *last});
            differentiated.erase(last);
        } else if (transfer->payload == Payload::weights) {
            round.pull = s;
            rounds.push_back(std::exchange(round, {}));
        }
    }
    return rounds;
}

// A look at all of them would be one more pass over memory.
void Tally::add(const Array& gradients) {
    constexpr std::int64_t every = 1009;  // prime, so that no column of a matrix is always left out
    ++updates;
    const float* from = gradients.reals();
    for (std::int64_t i = 0; i < gradients.elements; i += every) {
        std::uint32_t word = 0;
        std::memcpy(&word, from + i, sizeof word);
        bits += word;
    }
}

ServerLink::ServerLink(const Job& job, GraphRank worker, RankMemory& memory) : job_(job), memory_(memory) {
    for (const ServedRound& round : served_rounds(job.graph, worker))
        for (const Push& push : round.pushes) blocks_[push.segment] = push.block;
}

MessageCall ServerLink::message(int server, int tag, bool receives, const Array& run) const {
    const std::int64_t part = run.elements / job_.servers();
    return {job_.workers() + server, tag, receives, run.part(server * part, part)};
}

std::vector<Call> ServerLink::push(SegmentIndex s) {
    const Array& gradients = memory_.block(blocks_.at(s)).dense.gradients;
    std::vector<Call> calls;
    for (int v = 0; v < job_.servers(); ++v) {
        const MessageCall call = message(v, message_tag::pushed_gradients, false, gradients);
        pushed_.add(call.data);
        calls.emplace_back(call);
    }
    return calls;
}

std::vector<Call> ServerLink::pull() const {
    std::vector<Call> calls;
    for (auto& [b, held] : memory_.blocks())
        for (int v = 0; v < job_.servers(); ++v) calls.emplace_back(message(v, message_tag::pulled_weights, true, held.dense.weights));
    return calls;
}

}  // namespace sextant
