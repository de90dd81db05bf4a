#include "model/lower/rank_writer.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace sextant {

// Every server keeps an equal share of all parameters, so that all of them do the same at the same time: one rank of the graph stands for
// them.
void add_servers(LoweredJob& job) {
    const Plan& plan = job.plan;
    if (!job.plan.has_servers()) return;
    const int servers = parameter_server_count(job.scenario);
    const GraphRank server = job.builder.add(RankInfo{0, 0, servers, true, {}});
    job.to_server.resize(server);
    for (int worker = 0; worker < plan.dp; ++worker) {
        const GraphRank r = job.fold == Fold::alike ? 0 : static_cast<GraphRank>(worker);
        if (!job.to_server[r]) job.to_server[r] = job.builder.add(Communicator{ParallelGroup::data, {r, server}, {}, true});
        for (int v = 0; v < servers; ++v) job.builder.communicator(*job.to_server[r]).sets.push_back({worker, v});
    }
}

void RankWriter::push(const Bucket& bucket, Stream stream, std::optional<SegmentIndex> after) {
    const double share = (bucket.dense + bucket.expert) / parameter_server_count(job_.scenario);
    const SegmentIndex segment =
        put(stream, TransferWork{Payload::gradients, share, job_.precision.reduction_type()}, job_.to_server[rank_]);
    if (after) job_.builder.wait(segment, *after);
    if (stream == Stream::communication) last_collective_ = segment;
    job_.pushes.push_back({rank_, round_, segment, share * job_.builder.rank(rank_).multiplicity});
}

// New weights, when the servers have updated them with the whole gradients.
void RankWriter::pull() {
    double updated = 0;
    for (const BlockParameters& p : job_.parameters) updated += p.trained.total();
    updated /= parameter_server_count(job_.scenario);
    const TransferWork stored{Payload::weights, updated * (1 - job_.plan.pruned_fraction), job_.precision.parameter};
    job_.pulls.push_back({rank_, round_, put(Stream::compute, stored, job_.to_server[rank_]), updated});
}

// What the servers do. Synchronous: they add what comes and update once they have everything. Asynchronous: each worker's gradients
// are applied as they come, and that worker alone waits for it.
void serve(LoweredJob& job) {
    if (job.pulls.empty()) return;
    const auto server = static_cast<GraphRank>(job.builder.so_far().ranks().size() - 1);
    const bool together = !job.plan.is_asynchronous();
    const auto add = [&](const ServedTransfer& for_this, double elements, bool update) {
        Segment segment{job.builder.work(ServeWork{elements, update}), server};
        segment.micro_batch = static_cast<std::uint32_t>(for_this.round);
        segment.worker = for_this.worker;
        segment.stream = Stream::server;
        return job.builder.add(segment);
    };
    std::vector<ServedTransfer>& pushes = job.pushes;
    std::stable_sort(pushes.begin(), pushes.end(), [](const ServedTransfer& a, const ServedTransfer& b) { return a.round < b.round; });
    std::map<std::pair<GraphRank, int>, std::vector<SegmentIndex>> served;  // by worker and round
    for (const ServedTransfer& push : pushes) {
        const SegmentIndex serves = add(push, push.elements, !together);
        job.builder.wait(serves, push.segment);
        served[{push.worker, push.round}].push_back(serves);
    }
    std::optional<SegmentIndex> update;
    if (together) {
        update = add(job.pulls.front(), job.pulls.front().elements, true);
        for (const auto& [whose, all] : served)
            for (const SegmentIndex s : all) job.builder.wait(*update, s);
    }
    for (const ServedTransfer& pull : job.pulls) {
        if (update)
            job.builder.wait(pull.segment, *update);
        else
            for (const SegmentIndex s : served[{pull.worker, pull.round}]) job.builder.wait(pull.segment, s);
    }
}

}  // namespace sextant
