// What a report shows, a condition can ask for: each number of the JSON is found by the path that it has there, with the same value.
#include "model/io/report/report_writer.hpp"
#include "model/io/report/simulation_writer.hpp"
#include "tests/golden/bundled_scenarios.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

namespace sextant {
namespace {

using Reported = nlohmann::ordered_json;
using Quantities = std::vector<NamedQuantity>;

// Lists whose members have no names.
const std::set<std::string> nameless = {"memory_by_stage",  "bottleneck.settings",   "inputs",
                                        "memory_over_time", "utilization_over_time", "critical_path.by_rank"};

class Walk {
public:
    explicit Walk(const Quantities& quantities) : quantities_(quantities) {}
    int numbers = 0;

    void look_at(const std::string& path, const Reported& value) {
        if (nameless.contains(path)) return;
        if (value.is_boolean()) ask(path, value.get<bool>() ? "true" : "false");
        if (value.is_number()) ask(path, value.dump());
        if (value.is_object())
            for (const auto& [key, child] : value.items()) look_at(path.empty() ? key : path + "." + key, child);
        if (value.is_array()) look_at_list(path, value);
    }

private:
    void look_at_list(const std::string& path, const Reported& list) {
        constexpr std::string_view interval = "_interval";
        if (const auto at = path.find(interval); at != std::string::npos) {
            const std::string before = path.substr(0, at), unit = path.substr(at + interval.size());
            ask(before + "_low" + unit, list.at(0).dump());
            ask(before + "_high" + unit, list.at(1).dump());
            return;
        }
        for (const Reported& member : list) {
            if (member.contains("seconds")) ask(path + "." + member.at("name").get<std::string>(), member.at("seconds").dump() + " s");
            if (!member.contains("resource")) continue;
            std::string name = "movers." + member.at("resource").get<std::string>();
            std::ranges::replace(name, ' ', '_');
            look_at(name, member);
        }
    }
    void ask(const std::string& name, const std::string& value) {
        ++numbers;
        EXPECT_NO_THROW(EXPECT_TRUE(holds(parse_condition(name + " == " + value), quantities_)) << name << " is not " << value) << name;
    }
    const Quantities& quantities_;
};

int numbers_found(const std::string& json, const Quantities& quantities) {
    Walk walk(quantities);
    walk.look_at("", Reported::parse(json));
    return walk.numbers;
}

const std::vector<std::string> everything = {
    R"(run={"epochs": 90, "price": "1 USD/h", "base_learning_rate": 0.1, "base_batch": 256,
        "failures": {"device_mtbf": "1000 h", "restart": "5 min"}, "sweep": {"tasks": 2000, "start_up": "1 min", "at_once": 2000}})",
    R"(data.checkpoints={"storage": "shared", "every": "1 h"})"};

TEST(ReportedQuantities, AreAllNumbersOfAPrediction) {
    const Report r = predict(bundled_scenario("input-nfs-staged", everything));
    ASSERT_TRUE(r.input && r.checkpoints && r.run && r.run->failing && r.run->cost && r.sweep && r.sweep->bound);
    EXPECT_GT(numbers_found(report_to_json(r), named_quantities(r)), 90);
}

TEST(ReportedQuantities, AreAllNumbersOfASweepOfShortTasks) {
    const Report r =
        predict(bundled_scenario("default", {R"(run={"samples": 100, "sweep": {"tasks": 2000, "start_up": "1 s", "at_once": 2000}})"}));
    ASSERT_TRUE(r.sweep && r.sweep->faster);
    EXPECT_GT(numbers_found(report_to_json(r), named_quantities(r)), 30);
}

TEST(ReportedQuantities, AreAllNumbersOfASimulation) {
    const SimulationReport s = simulate(bundled_scenario("parameter-server-async"));
    EXPECT_GT(numbers_found(simulation_to_json(s), named_quantities(s)), 40);
}

TEST_P(EveryScenario, HasEveryNumberWhereAConditionFindsIt) {
    const Report r = predict(bundled_scenario(GetParam()));
    EXPECT_GT(numbers_found(report_to_json(r), named_quantities(r)), 20);
}

TEST(ReportedQuantities, OfASimulationAreKnownBeforeItIsPlayed) {
    const Scenario scenario = bundled_scenario("parameter-server-async");
    const Quantities before = simulated_quantities(prepare(scenario)), after = named_quantities(simulate(scenario));
    EXPECT_TRUE(std::ranges::equal(before, after, {}, &NamedQuantity::name, &NamedQuantity::name));
}

}  // namespace
}  // namespace sextant
