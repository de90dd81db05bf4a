// Options of every search for plans: which plans, on how many devices, and how they are ranked.
#pragma once

#include "cli/interrupt.hpp"
#include "cli/progress.hpp"
#include "cli/scenario_options.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace sextant {

struct SearchOptions {
    ScenarioOptions scenario;
    std::string objective = "throughput";
    std::vector<std::string> pins, where;
    std::vector<std::int64_t> batches;
    int threads = 0;  // 0: as many as there are cores

    void add_to(CLI::App& command);
    // The request for this scenario; a pin without a value takes that of the scenario's plan. Adds what is wrong with pins and conditions.
    // Where the scenario could not be read (none), it adds what is wrong with them for any scenario.
    [[nodiscard]] SearchRequest request(const std::optional<Scenario>&, Diagnostics&) const;
};

// Shows plans per second, the time left and the best plan so far, and checks for Ctrl-C.
class SearchWatch {
public:
    bool show(const PlanProgress&);  // false after Ctrl-C
    bool show(const std::string& what, double done, const SearchProgress*);
    [[nodiscard]] bool interrupted() { return interrupt_.came(); }
    [[nodiscard]] Seconds searched() const { return searched_; }  // the time that the search took

private:
    using Clock = std::chrono::steady_clock;

    Interrupt interrupt_;
    std::string what_;
    std::optional<Progress> bar_;
    Clock::time_point start_ = Clock::now(), drawn_;
    Seconds searched_;
};

}  // namespace sextant
