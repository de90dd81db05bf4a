// Does the order in which a search ranks plans agree with the order in which they really run? Plans spread evenly over a ranking are
// trained on this machine's cores, and Spearman's rank correlation of predicted and measured step times is printed.
//
//     build/release/bin/sextant_plan_order scenarios/cpu-data-parallel.json 2 12
//
// SCENARIO [DEVICES [PLANS [STEPS]]]. What the executor cannot run is passed over: sharding of other than plain kinds, offload, context
// parallelism. Plans that are predicted alike within 5 % are one choice: of each such bunch one is run.
#include "model/io/scenario/scenario_writer.hpp"
#include "model/io/search/plan_columns.hpp"
#include "model/io/trace/run_reader.hpp"
#include "model/report/plan_ranking.hpp"
#include "model/sextant.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>

#include <unistd.h>

namespace {

using namespace sextant;
namespace fs = std::filesystem;

struct Measured {
    Plan plan;
    Seconds predicted, measured;
};

std::vector<PlanChoice> ranking(const Scenario& job, int devices) {
    SearchRequest request;
    request.job = job;
    request.devices = {devices};
    request.top = 100'000;
    request.prune = false;
    request.job.plan.offload = Offload::none;
    request.job.plan.cp = 1;
    request.pinned = {PlanField::offload, PlanField::cp, PlanField::shard_group};
    std::vector<PlanChoice> apart;
    for (const PlanChoice& c : search(request).best)
        if (apart.empty() || c.step / apart.back().step > 1.05) apart.push_back(c);
    return apart;
}

// None where the executor refuses the plan.
std::optional<Seconds> trained(const fs::path& scenario, const Scenario& job, const Plan& plan, int steps) {
    const fs::path folder = fs::temp_directory_path() / ("sextant_plan_order_" + std::to_string(::getpid()));
    fs::create_directories(folder);
    const fs::path file = folder / "scenario.json", record = folder / "run.json";
    std::ofstream(file) << text_of(document_with_plan(open_document(scenario), job, plan));
    const std::string command = std::string(SEXTANT_BINARY) + " run " + file.string() + " --steps " + std::to_string(steps) + " --out " +
                                record.string() + " >/dev/null 2>&1";
    std::optional<Seconds> step;
    // The fastest step after the first: others may use the machine too.
    if (std::system(command.c_str()) == 0) {
        const std::vector<Seconds> all = load_run(record).steps;
        step = *std::min_element(all.begin() + (all.size() > 1 ? 1 : 0), all.end());
    }
    fs::remove_all(folder);
    return step;
}

double spearman(const std::vector<Measured>& all) {
    std::vector<double> predicted, measured;
    for (const Measured& m : all) predicted.push_back(m.predicted.si()), measured.push_back(m.measured.si());
    return rank_correlation(predicted, measured);
}

int argument(int argc, char** argv, int at, int usual) { return argc > at ? std::max(1, std::atoi(argv[at])) : usual; }

int run(int argc, char** argv) {
    const fs::path file = argc > 1 ? argv[1] : SEXTANT_SOURCE_DIR "/scenarios/default.json";
    Library library = open_library();
    const Scenario job = load_scenario(library, file);
    const std::vector<PlanChoice> choices = ranking(job, argument(argc, argv, 2, job.plan.devices()));
    const std::size_t wanted = static_cast<std::size_t>(argument(argc, argv, 3, 12));
    const int steps = argument(argc, argv, 4, 10);
    std::vector<Measured> all;
    const double stride = std::max(1.0, static_cast<double>(choices.size()) / static_cast<double>(wanted));
    double next = 0;
    for (std::size_t i = 0; i < choices.size() && all.size() < wanted; ++i) {
        if (static_cast<double>(i) < next) continue;
        const PlanChoice& c = choices[i];
        const std::optional<Seconds> step = trained(file, job, c.plan, steps);
        if (!step) continue;  // the executor refuses: the next one that it does not
        next += stride;
        all.push_back({c.plan, c.step, *step});
        std::cout << to_text(c.step) << " predicted, " << to_text(*step) << " measured: " << plan_line(c.plan) << std::endl;
    }
    if (all.size() < 3) {
        std::cerr << "fewer than three of these plans can be run here\n";
        return 2;
    }
    std::cout << "Spearman's rank correlation over " << all.size() << " plans: " << number_text(spearman(all)) << '\n';
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& e) {
        std::cerr << e.what() << '\n';
        return 2;
    }
}
