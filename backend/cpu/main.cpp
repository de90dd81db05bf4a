// sextant-exec-cpu: one rank of a job on CPUs. mpirun or srun starts as many as the plan has devices; rank 0 writes what they found.
#include "backend/cpu/cpu_device.hpp"
#include "backend/cpu/exec_arguments.hpp"
#include "backend/cpu/mpi_transport.hpp"
#include "backend/cpu/mpi_world.hpp"
#include "backend/exec/fingerprint.hpp"
#include "backend/exec/rank_runner.hpp"
#include "backend/exec/run_report.hpp"
#include "backend/exec/supports.hpp"
#include "model/io/replace_file.hpp"
#include "model/io/run_writer.hpp"
#include "model/sextant.hpp"

#include <sys/resource.h>

#include <fstream>
#include <iostream>
#include <thread>

namespace {

using namespace sextant;

constexpr int wrong_input = 2, machine_refused = 3, defect = 70;  // as the command line's

Scenario scenario_to_run(const ExecArguments& a, int ranks) {
    Library library = open_library(a.profiles);
    Scenario scenario = load_scenario(library, a.scenario, a.overrides);
    if (auto problems = check_plan(scenario); !problems.empty()) throw InputError(std::move(problems));
    if (auto problems = unsupported(scenario); !problems.empty()) throw InputError(std::move(problems));
    if (scenario.plan.devices() != ranks)
        throw InputError(Diagnostic{
            scenario.file, "/plan",
            "the plan has " + std::to_string(scenario.plan.devices()) + " devices, and " + std::to_string(ranks) + " ranks were started",
            "mpirun -n " + std::to_string(scenario.plan.devices())});
    return scenario;
}

std::string processor_name() {
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);)
        if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
    return "unknown";
}

// Strings are cut; the rest of a rank's environment travels as it is.
struct EnvironmentBytes {
    char host[64], processor[64];
    int threads;
    double peak_memory, peak_resident;
};

EnvironmentBytes environment(const MpiWorld& world, int threads, std::int64_t peak_bytes) {
    EnvironmentBytes e{};
    world.host().copy(e.host, sizeof e.host - 1);
    processor_name().copy(e.processor, sizeof e.processor - 1);
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

// The steps, with a thread beside that communicates; it owns MPI until they are through. One rank tells how far they are.
std::vector<StepRecord> train(RankRunner& runner, const ExecArguments& a, bool tells) {
    std::exception_ptr failure;
    std::jthread communicating([&] {
        try {
            runner.exchanges().serve();
        } catch (...) {
            failure = std::current_exception();
        }
    });
    std::vector<StepRecord> steps;
    try {
        for (int i = 0; i < a.steps; ++i) {
            steps.push_back(runner.step(i));
            if (tells) std::cout << "step " << i + 1 << " of " << a.steps << std::endl;
        }
        if (a.parameters) runner.gather_weights();
        runner.exchanges().stop({});
    } catch (...) {
        runner.exchanges().stop(std::current_exception());
    }
    communicating.join();
    if (failure) std::rethrow_exception(failure);
    return steps;
}

Trace traced(const MpiWorld& world, const Job& job, StepRecord step) {
    const Seconds offset = world.clock_offset();
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
    for (std::size_t r = 0; r < spans.size(); ++r)
        records.push_back({std::move(spans[r]), std::move(arrivals[r]), times[r][0], times[r][1], {}});
    return assemble_trace(job.graph, std::move(records));
}

void run(const MpiWorld& world, const ExecArguments& a, const Job& job) {
    const int threads = a.threads.value_or(1);
    CpuDevice device(threads);
    MpiTransport transport(job.graph, world.rank());
    RankRunner runner(job, static_cast<GraphRank>(world.rank()), device, transport);
    std::vector<StepRecord> steps = train(runner, a, world.rank() == 0);

    RunRecord record = summarize(job, steps, [&](std::span<double> values) { world.sum(values); });
    record.overrides = a.overrides;
    record.libraries.push_back({"MPI", MpiWorld::library_version()});
    if (a.parameters) {
        std::vector<Fingerprint> found = fingerprints(job, runner.memory(), device);
        record.parameters = summarize(found, [&](std::span<double> values) { world.sum(values); });
    }
    const auto environments = gather(world, std::vector{environment(world, threads, steps.back().peak_bytes)});
    record.trace = traced(world, job, std::move(steps[static_cast<std::size_t>(record.traced_step)]));
    if (world.rank() != 0) return;
    for (std::size_t r = 0; r < environments.size(); ++r) {
        const EnvironmentBytes& e = environments[r][0];
        record.trace.ranks[r].host = e.host;
        record.ranks.push_back({static_cast<int>(r), e.host, e.processor, e.threads, e.peak_memory * units::B, e.peak_resident * units::B});
    }
    if (!a.out.empty()) replace_text_file(a.out, [&](std::ostream& out) { out << run_to_json(record); });
}

}  // namespace

int main(int argc, char** argv) {
    const MpiWorld world(argc, argv);
    try {
        const ExecArguments arguments = parse_exec_arguments({argv + 1, argv + argc});
        const Job job(scenario_to_run(arguments, world.size()), arguments.seed, arguments.learning_rate);
        run(world, arguments, job);
        return 0;
    } catch (const InputError& e) {  // every rank finds the same
        if (world.rank() == 0) std::cerr << e.what() << '\n';
        return wrong_input;
    } catch (const BackendError& e) {
        world.abort(e.what(), machine_refused);
    } catch (const std::bad_alloc&) {
        world.abort("out of memory", machine_refused);
    } catch (const std::exception& e) {
        world.abort(std::string("a defect in sextant itself, please report it: ") + e.what(), defect);
    }
}
