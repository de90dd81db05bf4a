#include "backend/rank/rank_record.hpp"

#include "backend/exec/run_report.hpp"

#include <sys/resource.h>

#include <span>
#include <utility>

namespace sextant {
namespace {

// Strings are cut; the rest of a rank's environment travels as it is.
struct EnvironmentBytes {
    char host[64], processor[64];
    int threads;
    double peak_memory, peak_resident, offloaded;
    double clock;  // zero: not told
};

EnvironmentBytes environment(const RankEngine& engine, const MpiWorld& world, int threads, std::int64_t peak_bytes,
                             const ComputeDevice* host) {
    EnvironmentBytes e{};
    world.host().copy(e.host, sizeof e.host - 1);
    const ProcessorFacts processor = engine.processor();
    processor.name.copy(e.processor, sizeof e.processor - 1);
    e.clock = processor.clock.value_or(Frequency{}).si();
    e.threads = threads;
    e.peak_memory = static_cast<double>(peak_bytes);
    e.offloaded = host != nullptr ? static_cast<double>(host->peak_bytes()) : 0;
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    e.peak_resident = static_cast<double>(usage.ru_maxrss) * 1024;  // counted in KiB
    return e;
}

Trace traced(const MpiWorld& world, const Job& job, StepRecord step, Seconds offset) {
    for (RecordedSpan& s : step.details->spans) {
        s.start += offset;
        s.end += offset;
    }
    for (RecordedArrival& arrival : step.details->arrivals) arrival.at += offset;
    auto spans = gather(world, step.details->spans);
    auto arrivals = gather(world, step.details->arrivals);
    const auto times = gather(world, std::vector<Seconds>{step.begin + offset, step.end + offset});
    if (world.rank() != 0) return {};
    std::vector<RankRecord> records;
    for (std::size_t r = 0; r < job.graph.ranks().size(); ++r)  // the first server stands for all
        records.push_back({std::move(spans[r]), std::move(arrivals[r]), times[r][0], times[r][1], {}});
    return assemble_trace(job.graph, std::move(records));
}

}  // namespace

RunRecord gather_record(const RankEngine& engine, const MpiWorld& world, const ExecArguments& a, const Job& job,
                        const RankResources& resources, RankOutcome outcome) {
    const auto sum = [&](std::span<double> values) { world.sum(values); };
    const auto largest = [&](std::span<double> values) { world.largest(values); };
    const Seconds offset = world.clock_offset();
    RunRecord record = summarize(job, outcome.walks, offset, sum, largest);
    record.backend = engine.name();
    record.overrides = a.overrides;
    record.libraries.push_back({"MPI", MpiWorld::library_version()});
    for (LibraryVersion& library : engine.libraries(*resources.device)) record.libraries.push_back(std::move(library));
    if (a.parameters) record.parameters = summarize(outcome.weights, sum);
    if (outcome.loss_scale) record.loss_scale = LossScaleSummary{outcome.loss_scale->value(), outcome.loss_scale->skipped()};
    const auto inputs = gather(world, outcome.inputs);
    if (job.servers() > 0) record.servers = summarize(outcome.pushed, outcome.applied, gather(world, outcome.staleness), sum);
    const auto environments = gather(
        world, std::vector{environment(engine, world, a.threads.value_or(1), outcome.walks.back().peak_bytes, resources.host.get())});
    StepRecord& median = outcome.walks[static_cast<std::size_t>(record.traced_step / job.rounds())];
    if (a.operators) record.operators = summarize(job.graph.network(), gather(world, median.details->operators));
    record.trace = traced(world, job, std::move(median), offset);
    if (world.rank() != 0) return record;
    if (!a.data.empty()) record.dataset = summarize(inputs, a.data);  // which opens it once more
    for (std::size_t r = 0; r < record.trace.ranks.size(); ++r) {
        const EnvironmentBytes& e = environments[r][0];
        record.trace.ranks[r].host = e.host;
        record.ranks.push_back({static_cast<int>(r), e.host, e.processor, e.threads, e.peak_memory * units::B, e.peak_resident * units::B,
                                e.offloaded * units::B, e.clock > 0 ? std::optional(Frequency::from_si(e.clock)) : std::nullopt});
    }
    return record;
}

}  // namespace sextant
