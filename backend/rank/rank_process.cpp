#include "backend/rank/rank_process.hpp"

#include "backend/exec/memory_check.hpp"
#include "backend/rank/exec_arguments.hpp"
#include "backend/rank/heartbeat.hpp"
#include "backend/rank/rank_record.hpp"
#include "backend/rank/rank_training.hpp"
#include "backend/storage/loader.hpp"
#include "backend/storage/stage_dataset.hpp"
#include "model/base/failure.hpp"
#include "model/io/format/replace_file.hpp"
#include "model/io/trace/run_writer.hpp"
#include "model/plan/offload.hpp"
#include "model/sextant.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>

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

void run(const RankEngine& engine, const MpiWorld& world, const ExecArguments& a, const Job& job, RankActivity& activity) {
    ExecArguments nearby = a;  // its dataset is where it is read
    std::optional<StagedDataset> staged;
    if (!a.stage.empty()) {
        activity.at("the staging of the dataset");
        if (world.rank_on_host() == 0) staged.emplace(a.data, a.stage, a.unpack ? StageMode::untar : StageMode::copy);
        nearby.data = world.from_first_on_host(staged ? staged->path().string() : "");
    }
    activity.at("the making of communicators, weights and states");
    const int threads = a.threads.value_or(1);
    RankResources resources;
    resources.device = engine.make_device(world, job, threads);
    if (updates_on_host(job.scenario.plan)) resources.host = engine.make_host(world, threads);
    resources.transport = engine.make_transport(world, job, *resources.device);
    const auto does = job.is_server(world.rank()) ? run_server : run_worker;
    RankOutcome outcome = does(world, nearby, job, resources, activity);

    activity.at("the gathering of what the ranks found");
    if (staged) outcome.inputs.push_back(remove_staged(*staged));
    const RunRecord record = gather_record(engine, world, a, job, resources, std::move(outcome));
    if (world.rank() != 0) return;
    activity.at("the writing of the results");
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

// What a rank finds of a memory, as it is sent: names are cut.
struct FoundMemory {
    char name[80];
    double available, beside_arrays;
};
std::vector<std::vector<FoundMemory>> gather_memory(const MpiWorld& world, const SharedMemory& memory, Bytes beside_arrays) {
    FoundMemory mine{{}, memory.available.si(), beside_arrays.si()};
    memory.name.copy(mine.name, sizeof mine.name - 1);
    return gather(world, std::vector{mine});
}

// By rank: `devices`, what it found where it computes, and `hosts`, where it offloads; the latter is empty where nobody does.
std::vector<RankNeed> needs_of(const Scenario& scenario, const std::vector<std::vector<FoundMemory>>& devices,
                               const std::vector<std::vector<FoundMemory>>& hosts) {
    const std::vector<Bytes> peaks = predicted_peaks(scenario);
    const Bytes offloaded = hosts.empty() ? Bytes{} : predicted_offload(scenario);
    std::vector<RankNeed> needs;
    const auto add = [&](const FoundMemory& found, Bytes arrays, bool on_host) {
        needs.push_back({found.name, found.available * units::B, arrays + found.beside_arrays * units::B, on_host});
    };
    for (std::size_t r = 0; r < devices.size(); ++r) {
        add(devices[r][0], peaks[r], false);
        if (!hosts.empty()) add(hosts[r][0], offloaded, true);
    }
    return needs;
}

// Rank 0 judges for all, from what each finds where it is.
bool fits(const RankEngine& engine, const MpiWorld& world, const Scenario& scenario) {
    const auto devices = gather_memory(world, engine.memory(world), engine.beside_arrays(world, scenario));
    std::vector<std::vector<FoundMemory>> hosts;
    if (updates_on_host(scenario.plan)) hosts = gather_memory(world, engine.of_servers().memory(world), {});
    std::string refusal;
    if (world.rank() == 0) {
        refusal = memory_refusal(scenario, needs_of(scenario, devices, hosts));
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
    RankActivity activity;
    std::optional<Heartbeat> heartbeat;  // goes on while a failure is told
    try {
        activity.at("the first sign of life");
        heartbeat.emplace(world, a.hang_timeout, activity);
        activity.at("the reading of the scenario");
        const std::optional<Job> job = job_of(engine, world, a);
        if (!job) return ExitCode::wrong_input;
        const RankEngine& mine = job->is_server(world.rank()) ? engine.of_servers() : engine;
        if (!all_are_equipped(mine, world)) return ExitCode::machine_refused;
        if (!fits(mine, world, job->scenario)) return ExitCode::does_not_fit;
        run(mine, world, a, *job, activity);
        world.barrier();
        return ExitCode::done;
    } catch (...) {
        end_all(world, activity, std::current_exception());
    }
}

// Whether it runs, without MPI and without anybody else. Throws why not.
ExitCode check(const RankEngine& engine, const ExecArguments& a) {
    const Scenario scenario = scenario_to_run(engine, a);
    if (!a.data.empty()) DatasetFeed(Job(scenario, a.seed, a.training), RankPlace{}, feed_settings(a));
    if (a.runs_here) engine.check_machine();
    return ExitCode::done;
}

// Before another process can copy from a rank's memory the system looks up every page of it: from small pages a copy takes two to three
// times as long as from huge ones. glibc asks for these where the environment says so when a program begins: so it begins anew.
void begin_with_huge_pages(char** argv) {
#ifdef __GLIBC__
    constexpr auto settings = "GLIBC_TUNABLES";
    if (std::getenv(settings) != nullptr) return;
    setenv(settings, "glibc.malloc.hugetlb=1", 1);
    std::error_code unknown;
    execv(std::filesystem::read_symlink("/proc/self/exe", unknown).c_str(), argv);  // where this comes back, pages are small
#endif
}

ExitCode run_with_others(const RankEngine& engine, const std::vector<std::string>& words, int argc, char** argv) {
    begin_with_huge_pages(argv);
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
