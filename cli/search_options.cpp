#include "cli/search_options.hpp"

#include "cli/verdict.hpp"
#include "model/base/enum_names.hpp"
#include "model/base/quantity_text.hpp"
#include "model/io/profile/processor_info.hpp"
#include "model/io/scenario/pin_reader.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>

namespace sextant {

void SearchOptions::add_to(CLI::App& command) {
    scenario.add_to(command);
    const auto repeatable = [&](const char* name, std::vector<std::string>& into, const char* type, const char* help) {
        command.add_option(name, into, help)->take_all()->allow_extra_args(false)->type_name(type);
    };
    const auto objectives = enumerator_names(all_objectives);
    command.add_option("--objective", objective, "what to optimize")
        ->check(CLI::IsMember(std::vector<std::string>(objectives.begin(), objectives.end())));
    repeatable("--pin", pins, "FIELD[=VALUE]", "keep a field of the plan, or fix it at a value: tp=8 (repeatable)");
    repeatable("--where", where, "CONDITION", "only plans for which this holds: 'memory < 70 GiB' (repeatable)");
    command.add_option("--threads", threads, "search threads; default: one per core")->check(CLI::Range(1, 1024));
}

SearchRequest SearchOptions::request(const std::optional<Scenario>& job, Diagnostics& problems) const {
    SearchRequest request;
    request.job = job.value_or(Scenario{});
    request.pinned = pinned_fields(request.job);
    request.devices = {request.job.plan.devices()};
    std::set<PlanField> asked;
    for (const std::string& pin : pins)
        problems.collect([&] {
            const PlanField field = read_pin(pin, request.job.plan);
            if (!asked.insert(field).second) problems.add({"--pin " + pin, "", "this field is pinned already", "one --pin for each field"});
            request.pinned.insert(field);
        });
    follow_pins(request.job.plan, request.pinned, request.devices.front());
    request.global_batches = batches;
    request.objective = *sextant::objective(objective);
    request.where = read_conditions(where, "--where", known_of(job, searched_quantities), problems);
    request.threads = threads > 0 ? threads : usable_cores();
    return request;
}

bool SearchWatch::show(const PlanProgress& p) {
    static constexpr const char* stages[] = {"searching", "simulating the best", "asking what else could be done"};
    const double passed = std::chrono::duration<double>(Clock::now() - start_).count();
    if (p.stage == PlanProgress::Stage::search) searched_ = Seconds::from_si(passed);
    return show(stages[static_cast<std::size_t>(p.stage)], p.done, p.search);
}

bool SearchWatch::show(const std::string& what, double done, const SearchProgress* found) {
    using namespace std::chrono_literals;
    constexpr std::size_t hundredths = 100;
    if (interrupt_.came()) {
        bar_.reset();
        return false;
    }
    const auto now = Clock::now();
    if (what == what_ && now - drawn_ < 100ms) return true;
    drawn_ = now;
    if (what != what_) {
        bar_.reset();
        bar_.emplace(what, hundredths);
        what_ = what;
    }
    std::string note;
    if (found) {
        const double passed = std::chrono::duration<double>(now - start_).count();
        note = number_text(static_cast<double>(found->counts.all()) / std::max(passed, 1e-3)) + " plans/s";
        if (done > 0.01) note += ", " + to_text(Seconds::from_si(passed * (1 - done) / done), 2) + " left";
        if (found->best) note += ", best " + to_text(found->best->step);
    }
    bar_->show(static_cast<std::size_t>(done * hundredths), note);
    return true;
}

}  // namespace sextant
