#include "backend/rank/rank_process.hpp"

#include "backend/exec/fed_ranks.hpp"
#include "backend/exec/fingerprint.hpp"
#include "backend/exec/loader_spans.hpp"
#include "backend/exec/memory_check.hpp"
#include "backend/exec/rank_runner.hpp"
#include "backend/exec/run_report.hpp"
#include "backend/exec/server_runner.hpp"
#include "backend/rank/exec_arguments.hpp"
#include "backend/rank/heartbeat.hpp"
#include "backend/storage/loader.hpp"
#include "backend/storage/stage_dataset.hpp"
#include "model/base/failure.hpp"
#include "model/io/format/replace_file.hpp"
#include "model/io/trace/run_writer.hpp"
#include "model/plan/partition.hpp"
#include "model/plan/virtual_stages.hpp"
#include "model/sextant.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <iostream>
#include <optional>
#include <thread>

namespace sextant {
namespace {

Scenario scenario_to_run(const RankEngine& engine, const ExecArguments& a) {
    Library library = open_library(a.profiles);
    Scenario scenario = load_scenario(library, a.scenario, a.overrides);
    if (auto problems = check_plan(scenario); !problems.empty()) throw InputError(std::move(problems));
    if (auto problems = unsupported(scenario, engine.abilities()); !problems.empty()) throw InputError(std::move(problems));
    if (a.operators && scenario.plan.cuda_graph)
        throw InputError(Diagnostic{scenario.file, "/plan/cuda_graph",
                                    "operators have no times of their own in a graph, which is launched as a whole",
                                    "\"cuda_graph\": false, or no --operators"});
    return scenario;
}

// Strings are cut; the rest of a rank's environment travels as it is.
struct EnvironmentBytes {
    char host[64], processor[64];
    int threads;
    double peak_memory, peak_resident;
    double clock;  // zero: not told
};

EnvironmentBytes environment(const RankEngine& engine, const MpiWorld& world, int threads, std::int64_t peak_bytes) {
    EnvironmentBytes e{};
    world.host().copy(e.host, sizeof e.host - 1);
    const ProcessorFacts processor = engine.processor();
    processor.name.copy(e.processor, sizeof e.processor - 1);
    e.clock = processor.clock.value_or(Frequency{}).si();
    e.threads = threads;
    e.peak_memory = static_cast<double>(peak_bytes);
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    e.peak_resident = static_cast<double>(usage.ru_maxrss) * 1024;  // counted in KiB
    return e;
}

template <class Value>
std::vector<std::vector<Value>> gather(const MpiWorld& world, const std::vector<Value>& mine) {
    static_assert(std::is_trivially_copyable_v<Value>);
    std::vector<std::vector<Value>> all;
    for (const std::vector<char>& bytes : world.gather({reinterpret_cast<const char*>(mine.data()), mine.size() * sizeof(Value)})) {
        const auto* first = reinterpret_cast<const Value*>(bytes.data());
        all.emplace_back(first, first + bytes.size() / sizeof(Value));
    }
    return all;
}

// Ends the job with what was thrown, where it was caught: arrays that messages are still to fill must not go before.
[[noreturn]] void fail(const MpiWorld& world, const Whereabouts& where, const std::exception_ptr& thrown) {
    const Failure failure = failure_of(thrown);
    world.abort("at " + where.text() + ": " + failure.why, failure.code);
}

// What a process did and found.
struct Outcome {
    std::vector<StepRecord> walks;  // through the graph
    std::vector<Fingerprint> weights;
    Tally pushed, applied;
    std::vector<int> staleness;
    std::vector<FedRank> fed;
    std::optional<LossScale> loss_scale;
};

// Whole walks, until there are as many steps as asked for. One process tells how far they are.
template <class Runner>
std::vector<StepRecord> walk(Runner& runner, const ExecArguments& a, const Job& job, bool tells) {
    const int walks = (a.steps + job.rounds() - 1) / job.rounds();
    std::vector<StepRecord> records;
    for (int i = 0; i < walks; ++i) {
        records.push_back(runner.step(i));
        if (tells) std::cout << "step " << (i + 1) * job.rounds() << " of " << walks * job.rounds() << std::endl;
    }
    return records;
}

FeedSettings feed_settings(const ExecArguments& a) {
    return {a.data, a.data_workers, a.skip_bad_samples ? BadSamples::skip : BadSamples::fail};
}

RankPlace place_of(const Job& job, int rank) {
    const Scenario& s = job.scenario;
    return RankLayout(s.plan, used_nodes(s), s.cluster.node.devices).place_of(rank);
}

// The ends of a pipeline are fed: inputs go in at the one, labels at the other.
bool is_fed(const ExecArguments& a, const Job& job, const RankPlace& place) {
    const VirtualStages stages(job.scenario.plan);
    const auto last = static_cast<int>(stages.stage_of(stages.size() - 1));
    return !a.data.empty() && (place.pipeline == 0 || place.pipeline == last);
}

// A worker's steps, with a thread beside that communicates.
Outcome work(const MpiWorld& world, const ExecArguments& a, const Job& job, ComputeDevice& device, Transport& transport,
             Whereabouts& where) {
    where.at("the opening of the dataset");
    std::optional<DatasetFeed> feed;
    const RankPlace place = place_of(job, world.rank());
    if (is_fed(a, job, place)) feed.emplace(job, place, feed_settings(a));
    where.at("the start of training");
    RankRunner runner(job, static_cast<GraphRank>(world.rank()), device, transport, where, feed ? &*feed : nullptr, a.operators);
    std::exception_ptr failure;
    std::jthread communicating([&] {
        try {
            runner.exchanges().serve();
        } catch (...) {
            failure = std::current_exception();
        }
    });
    Outcome outcome;
    try {
        outcome.walks = walk(runner, a, job, world.rank() == 0);
        where.at("the end of training");
        if (a.parameters) runner.gather_weights();
        runner.exchanges().stop({});
    } catch (...) {
        runner.exchanges().stop(std::current_exception());
    }
    communicating.join();
    if (failure) fail(world, where, failure);
    if (feed && feed->reads()) {
        // Stages behind the first one meet the same bad samples.
        if (place.pipeline == 0)
            for (const std::string& why : feed->skipped()) std::cerr << "rank " << world.rank() << " skipped " << why << '\n';
        outcome.fed = {fed_by(*feed, place)};
        for (StepRecord& walk : outcome.walks)
            for (const RecordedSpan& span :
                 loader_spans(job.graph, static_cast<GraphRank>(world.rank()), feed->loads(), walk.begin, walk.end))
                walk.spans.push_back(span);
    }
    if (a.parameters) outcome.weights = fingerprints(job, runner.memory(), device);
    outcome.pushed = runner.pushed();
    outcome.loss_scale = runner.loss_scale();
    return outcome;
}

Outcome serve(const MpiWorld& world, const ExecArguments& a, const Job& job, ComputeDevice& device, Transport& transport,
              Whereabouts& where) {
    ServerRunner runner(job, world.rank() - job.workers(), device, transport, where);
    Outcome outcome;
    try {
        outcome.walks = walk(runner, a, job, false);
        where.at("the end of training");
        if (a.parameters) runner.send_weights();
    } catch (...) {
        fail(world, where, std::current_exception());
    }
    if (a.parameters) outcome.weights = fingerprints(job, runner.memory(), device);
    outcome.applied = runner.applied();
    outcome.staleness = runner.staleness();
    return outcome;
}

Trace traced(const MpiWorld& world, const Job& job, StepRecord step, Seconds offset) {
    for (RecordedSpan& s : step.spans) {
        s.start += offset;
        s.end += offset;
    }
    for (RecordedArrival& arrival : step.arrivals) arrival.at += offset;
    auto spans = gather(world, step.spans);
    auto arrivals = gather(world, step.arrivals);
    const auto times = gather(world, std::vector<Seconds>{step.begin + offset, step.end + offset});
    if (world.rank() != 0) return {};
    std::vector<RankRecord> records;
    for (std::size_t r = 0; r < job.graph.ranks().size(); ++r)  // the first server stands for all
        records.push_back({std::move(spans[r]), std::move(arrivals[r]), times[r][0], times[r][1], {}});
    return assemble_trace(job.graph, std::move(records));
}

void run(const RankEngine& engine, const MpiWorld& world, const ExecArguments& a, const Job& job, Whereabouts& where) {
    const int threads = a.threads.value_or(1);
    ExecArguments nearby = a;  // its dataset is where it is read
    std::optional<StagedDataset> staged;
    if (!a.stage.empty()) {
        where.at("the staging of the dataset");
        if (world.rank_on_host() == 0) staged.emplace(a.data, a.stage, a.unpack ? StageMode::untar : StageMode::copy);
        nearby.data = world.from_first_on_host(staged ? staged->path().string() : "");
    }
    where.at("the making of communicators, weights and states");
    const std::unique_ptr<ComputeDevice> device = engine.make_device(world, job, threads);
    const std::unique_ptr<Transport> transport = engine.make_transport(world, job, *device);
    const auto does = job.is_server(world.rank()) ? serve : work;
    Outcome outcome = does(world, nearby, job, *device, *transport, where);

    where.at("the gathering of what the ranks found");
    const auto sum = [&](std::span<double> values) { world.sum(values); };
    const auto largest = [&](std::span<double> values) { world.largest(values); };
    const Seconds offset = world.clock_offset();
    RunRecord record = summarize(job, outcome.walks, offset, sum, largest);
    record.backend = engine.name();
    record.overrides = a.overrides;
    record.libraries.push_back({"MPI", MpiWorld::library_version()});
    for (LibraryVersion& library : engine.libraries(*device)) record.libraries.push_back(std::move(library));
    if (a.parameters) record.parameters = summarize(outcome.weights, sum);
    if (outcome.loss_scale) record.loss_scale = LossScaleSummary{outcome.loss_scale->value(), outcome.loss_scale->skipped()};
    if (staged) outcome.fed.push_back(staging_of(*staged));
    if (!a.data.empty()) record.dataset = summarize(gather(world, outcome.fed), a.data);
    if (job.servers() > 0) record.servers = summarize(outcome.pushed, outcome.applied, gather(world, outcome.staleness), sum);
    const auto environments = gather(world, std::vector{environment(engine, world, threads, outcome.walks.back().peak_bytes)});
    StepRecord& median = outcome.walks[static_cast<std::size_t>(record.traced_step / job.rounds())];
    if (a.operators) record.operators = summarize(job.graph.network(), gather(world, median.operators));
    record.trace = traced(world, job, std::move(median), offset);
    if (world.rank() != 0) return;
    for (std::size_t r = 0; r < record.trace.ranks.size(); ++r) {
        const EnvironmentBytes& e = environments[r][0];
        record.trace.ranks[r].host = e.host;
        record.ranks.push_back({static_cast<int>(r), e.host, e.processor, e.threads, e.peak_memory * units::B, e.peak_resident * units::B,
                                e.clock > 0 ? std::optional(Frequency::from_si(e.clock)) : std::nullopt});
    }
    where.at("the writing of the results");
    const std::string text = run_to_json(record);
    if (!a.out.empty()) replace_text_file(a.out, text);
}

void check_processes(const Job& job, int started) {
    if (job.processes() == started) return;
    const std::string servers = job.servers() == 0 ? "" : ", " + std::to_string(job.servers()) + " of them parameter servers";
    throw InputError(Diagnostic{
        job.scenario.file, "/plan",
        "the plan has " + std::to_string(job.processes()) + " ranks" + servers + ", and " + std::to_string(started) + " were started",
        "mpirun -n " + std::to_string(job.processes())});
}

// A scenario that one rank cannot read, on a host of its own, ends all of them.
std::optional<Job> job_of(const RankEngine& engine, const MpiWorld& world, const ExecArguments& a) {
    std::optional<Job> job;
    std::string problem;
    try {
        job.emplace(scenario_to_run(engine, a), a.seed, a.training);
        check_processes(*job, world.size());
    } catch (const InputError& e) {
        problem = e.what();
    }
    const std::optional<int> first = world.first_where(!problem.empty());
    if (!first) return job;
    if (*first == world.rank()) std::cerr << problem << '\n';
    return {};
}

// Rank 0 judges for all, from what each finds where it is.
bool fits(const RankEngine& engine, const MpiWorld& world, const Scenario& scenario) {
    struct Travelling {
        char of[80];
        double available, beside_arrays;
    };
    const SharedMemory memory = engine.memory(world);
    Travelling mine{{}, memory.available.si(), engine.beside_arrays(world, scenario).si()};
    memory.of.copy(mine.of, sizeof mine.of - 1);
    const auto found = gather(world, std::vector{mine});
    std::string refusal;
    if (world.rank() == 0) {
        const std::vector<Bytes> peaks = predicted_peaks(scenario);
        std::vector<RankNeed> needs;
        for (std::size_t r = 0; r < found.size(); ++r) {
            const Travelling& rank = found[r][0];
            needs.push_back({rank.of, rank.available * units::B, peaks[r] + rank.beside_arrays * units::B});
        }
        refusal = memory_refusal(scenario, needs);
        if (!refusal.empty()) std::cerr << refusal << '\n';
    }
    return !world.first_where(!refusal.empty());
}

// The first rank whose machine lacks something says so for all.
bool all_are_equipped(const RankEngine& engine, const MpiWorld& world) {
    std::string problem;
    try {
        engine.check_machine();
    } catch (const BackendError& e) {
        problem = e.what();
    }
    const std::optional<int> first = world.first_where(!problem.empty());
    if (first == world.rank()) world.say(problem);
    return !first;
}

ExitCode run(const RankEngine& engine, const MpiWorld& world, const ExecArguments& a) {
    Whereabouts where;
    std::optional<Heartbeat> heartbeat;  // goes on while a failure is told
    try {
        where.at("the first sign of life");
        heartbeat.emplace(world, a.hang_timeout, where);
        where.at("the reading of the scenario");
        const std::optional<Job> job = job_of(engine, world, a);
        if (!job) return ExitCode::wrong_input;
        if (!all_are_equipped(engine, world)) return ExitCode::machine_refused;
        if (!fits(engine, world, job->scenario)) return ExitCode::does_not_fit;
        run(engine, world, a, *job, where);
        world.barrier();
        return ExitCode::done;
    } catch (...) {
        fail(world, where, std::current_exception());
    }
}

// Whether it runs, without MPI and without anybody else. Throws why not.
ExitCode check(const RankEngine& engine, const ExecArguments& a) {
    const Scenario scenario = scenario_to_run(engine, a);
    if (!a.data.empty()) DatasetFeed(Job(scenario, a.seed, a.training), RankPlace{}, feed_settings(a));
    if (a.runs_here) engine.check_machine();
    return ExitCode::done;
}

ExitCode run_with_others(const RankEngine& engine, const std::vector<std::string>& words, int argc, char** argv) {
    Heartbeat::hold_signals();
    const MpiWorld world(argc, argv);
    try {
        return run(engine, world, parse_exec_arguments(words));
    } catch (const InputError& e) {  // in the arguments, which are everybody's
        if (world.rank() == 0) std::cerr << e.what() << '\n';
        return ExitCode::wrong_input;
    }
}

ExitCode run_or_check(int argc, char** argv, const RankEngine& engine) {
    std::vector<std::string> words(argv + 1, argv + argc);
    try {
        // What is wrong with the arguments is said by the first rank alone, so that MPI is there before they are read; but not for a check.
        if (std::erase(words, "--check") > 0) return check(engine, parse_exec_arguments(words));
        return run_with_others(engine, words, argc, argv);
    } catch (...) {
        const Failure failure = failure_of(std::current_exception());
        std::cerr << failure.why << '\n';
        return failure.code;
    }
}

}  // namespace

int run_rank(int argc, char** argv, const RankEngine& engine) {
    keep_freed_memory();
    return static_cast<int>(run_or_check(argc, argv, engine));
}

}  // namespace sextant
