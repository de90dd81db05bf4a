#include "backend/rank/rank_training.hpp"

#include "backend/exec/loader_spans.hpp"
#include "backend/exec/server_runner.hpp"
#include "model/base/ceil_divide.hpp"
#include "model/base/failure.hpp"
#include "model/plan/virtual_stages.hpp"

#include <iostream>
#include <thread>

namespace sextant {
namespace {

// Whole walks, until there are as many steps as asked for. One process tells how far they are.
template <class Runner>
std::vector<StepRecord> walk(Runner& runner, const ExecArguments& a, const Job& job, bool tells) {
    const int walks = ceil_divide(a.steps, job.rounds());
    std::vector<StepRecord> records;
    for (int i = 0; i < walks; ++i) {
        records.push_back(runner.step(i));
        thin_out(records);
        if (tells) std::cout << "step " << (i + 1) * job.rounds() << " of " << walks * job.rounds() << std::endl;
    }
    return records;
}

RankPlace place_of(const Job& job, int rank) { return layout_of(job.scenario).place_of(rank); }

// The ends of a pipeline are fed: inputs go in at the one, labels at the other.
bool is_fed(const ExecArguments& a, const Job& job, const RankPlace& place) {
    const VirtualStages stages(job.scenario.plan);
    const auto last = static_cast<int>(stages.stage_of(stages.size() - 1));
    return !a.data.empty() && (place.pipeline == 0 || place.pipeline == last);
}

// What the rank was fed, and its loads among the spans of each walk that has some.
void tell_feed(const MpiWorld& world, const Job& job, const DatasetFeed& feed, const RankPlace& place, RankOutcome& outcome) {
    // Stages behind the first one meet the same bad samples.
    if (place.pipeline == 0)
        for (const std::string& why : feed.skipped()) std::cerr << "rank " << world.rank() << " skipped " << why << '\n';
    outcome.inputs = {input_of(feed, place)};
    const std::vector<BatchLoad> loads = feed.loads();
    for (StepRecord& walk : outcome.walks) {
        if (!walk.details) continue;
        for (const RecordedSpan& span : loader_spans(job.graph, static_cast<GraphRank>(world.rank()), loads, walk.begin, walk.end))
            walk.details->spans.push_back(span);
    }
}

}  // namespace

void end_all(const MpiWorld& world, const RankActivity& activity, const std::exception_ptr& thrown) {
    const Failure failure = failure_of(thrown);
    world.abort("at " + activity.text() + ": " + failure.why, failure.code);
}

FeedSettings feed_settings(const ExecArguments& a) {
    return {a.data, a.data_workers, a.skip_bad_samples ? BadSamples::skip : BadSamples::fail};
}

RankOutcome run_worker(const MpiWorld& world, const ExecArguments& a, const Job& job, RankResources& resources, RankActivity& activity) {
    activity.at("the opening of the dataset");
    std::optional<DatasetFeed> feed;
    const RankPlace place = place_of(job, world.rank());
    if (is_fed(a, job, place)) feed.emplace(job, place, feed_settings(a));
    activity.at("the start of training");
    RankRunner runner(job, static_cast<GraphRank>(world.rank()), *resources.device, resources.host.get(), *resources.transport, activity,
                      feed ? &*feed : nullptr, a.operators);
    std::exception_ptr failure;
    std::jthread communicating([&] {
        try {
            runner.exchanges().serve();
        } catch (...) {
            failure = std::current_exception();
        }
    });
    RankOutcome outcome;
    try {
        outcome.walks = walk(runner, a, job, world.rank() == 0);
        activity.at("the end of training");
        if (a.parameters) runner.gather_weights();
        runner.exchanges().stop({});
    } catch (...) {
        runner.exchanges().stop(std::current_exception());
    }
    communicating.join();
    if (failure) end_all(world, activity, failure);
    if (feed && feed->reads()) tell_feed(world, job, *feed, place, outcome);
    if (a.parameters) outcome.weights = fingerprints(job, runner.memory(), *resources.device);
    outcome.pushed = runner.pushed();
    outcome.loss_scale = runner.loss_scale();
    return outcome;
}

RankOutcome run_server(const MpiWorld& world, const ExecArguments& a, const Job& job, RankResources& resources, RankActivity& activity) {
    ServerRunner runner(job, world.rank() - job.workers(), *resources.device, *resources.transport, activity);
    RankOutcome outcome;
    try {
        outcome.walks = walk(runner, a, job, false);
        activity.at("the end of training");
        if (a.parameters) runner.send_weights();
    } catch (...) {
        end_all(world, activity, std::current_exception());
    }
    if (a.parameters) outcome.weights = fingerprints(job, runner.memory(), *resources.device);
    outcome.applied = runner.applied();
    outcome.staleness = runner.staleness();
    return outcome;
}

}  // namespace sextant
