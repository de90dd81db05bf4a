// What a search for plans is told, whatever is made of its answer: which plans, on how many devices, by what they are ranked.
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
    // For the scenario, with its plan's values where a pin states none. Adds what is wrong with pins and conditions; where the scenario
    // cannot be read, what is wrong with them whatever it is.
    [[nodiscard]] SearchRequest request(const std::optional<Scenario>&, Diagnostics&) const;
};

// A bar with the plans a second, the time left and the best plan so far; listens to Ctrl-C.
class SearchWatch {
public:
    bool show(const PlanProgress&);  // false after Ctrl-C
    bool show(const std::string& what, double done, const SearchProgress*);
    [[nodiscard]] bool interrupted() { return interrupt_.came(); }
    [[nodiscard]] Seconds searched() const { return searched_; }  // how long it took

private:
    using Clock = std::chrono::steady_clock;

    Interrupt interrupt_;
    std::string what_;
    std::optional<Progress> bar_;
    Clock::time_point start_ = Clock::now(), drawn_;
    Seconds searched_;
};

}  // namespace sextant
