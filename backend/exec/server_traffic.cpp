#include "backend/exec/server_traffic.hpp"

#include "backend/exec/reals.hpp"
#include "model/base/ceil_divide.hpp"

#include <bit>
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

Array sampled(ComputeDevice& device, const Array& gradients) {
    constexpr std::int64_t every = 1009;  // prime, so that no column of a matrix is always left out
    Array samples = device.allocate(ceil_divide(gradients.elements, every), Element::real);
    device.copy_columns(gradients, every, samples, 1, 1, samples.elements);
    return samples;
}

void UpdateChecksum::add(ComputeDevice& device, const Array& samples) {
    ++updates;
    for (const float sample : downloaded(device, samples)) bits += std::bit_cast<std::uint32_t>(sample);
}

ServerLink::ServerLink(const Job& job, GraphRank worker, RankMemory& memory) : job_(job), memory_(memory) {
    for (const ServedRound& round : served_rounds(job.graph, worker))
        for (const Push& push : round.pushes) blocks_[push.segment] = push.block;
}

Array ServerLink::part_of(int server, const Array& run) const {
    const std::int64_t part = run.elements / job_.servers();
    return run.part(server * part, part);
}

MessageCall ServerLink::message(int server, int tag, bool receives, const Array& run) const {
    return {job_.workers() + server, tag, receives, part_of(server, run)};
}

std::vector<Call> ServerLink::push(SegmentIndex s) const {
    const Array& gradients = memory_.block(blocks_.at(s)).dense.gradients;
    std::vector<Call> calls;
    for (int v = 0; v < job_.servers(); ++v) calls.emplace_back(message(v, message_tag::pushed_gradients, false, gradients));
    return calls;
}

void ServerLink::sample(ComputeDevice& device, int block) {
    const Array& gradients = memory_.block(block).dense.gradients;
    for (int v = 0; v < job_.servers(); ++v) samples_.push_back(sampled(device, part_of(v, gradients)));
}

void ServerLink::count_samples(ComputeDevice& device) {
    for (const Array& samples : std::exchange(samples_, {})) pushed_.add(device, samples);
}

std::vector<Call> ServerLink::pull() const {
    std::vector<Call> calls;
    for (auto& [b, held] : memory_.blocks())
        for (int v = 0; v < job_.servers(); ++v) calls.emplace_back(message(v, message_tag::pulled_weights, true, held.dense.weights));
    return calls;
}

}  // namespace sextant
