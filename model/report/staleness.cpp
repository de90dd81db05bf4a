#include "model/report/staleness.hpp"

#include <algorithm>
#include <map>

namespace sextant {

Staleness staleness_of(const TaskGraph& graph, const Trace& trace) {
    struct Step {
        Seconds updated;              // last update with its gradients
        std::optional<Seconds> left;  // weights for the worker's next step leave the servers
    };
    std::map<std::pair<GraphRank, std::uint32_t>, Step> steps;  // by worker and step
    std::map<GraphRank, std::uint32_t> pulls;
    for (const Span& span : trace.spans) {
        const Segment& segment = graph.segments()[span.segment];
        const Work& work = graph.works()[segment.work];
        if (const auto* serve = std::get_if<ServeWork>(&work); serve && serve->update) {
            Step& step = steps[{segment.worker, segment.micro_batch}];
            step.updated = max(step.updated, span.end);
        } else if (const auto* transfer = std::get_if<TransferWork>(&work); transfer && transfer->payload == Payload::weights) {
            steps[{segment.rank, pulls[segment.rank]++}].left = span.start;
        }
    }
    std::vector<Seconds> updates;
    updates.reserve(steps.size());
    for (const auto& [key, step] : steps) updates.push_back(step.updated);
    std::ranges::sort(updates);
    const auto made_until = [&](Seconds t) { return static_cast<int>(std::ranges::upper_bound(updates, t) - updates.begin()); };

    Staleness s;
    double sum = 0;
    for (const auto& [key, step] : steps) {
        const auto before = key.second == 0 ? steps.end() : steps.find({key.first, key.second - 1});
        if (before == steps.end() || !before->second.left) continue;
        const int stale = made_until(step.updated) - 1 - made_until(*before->second.left);
        sum += stale;
        s.largest = std::max(s.largest, stale);
        ++s.updates;
    }
    if (s.updates > 0) s.mean = sum / s.updates;
    return s;
}

double expected_staleness(int workers) { return workers - 1; }

}  // namespace sextant
