// What each scenario answers stands in tests/golden/NAME.json. A change of the model moves some of these numbers: the failure says which
// and by how much. UPDATE_GOLDEN=1 in the environment writes the files anew.
#include "tests/golden/bundled_scenarios.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <fstream>

namespace sextant {
namespace {

using Json = nlohmann::ordered_json;

constexpr double tolerance = 1e-6;  // relative: beyond what compilers and mathematical libraries may differ by

const std::filesystem::path golden_folder = std::filesystem::path(SEXTANT_SOURCE_DIR) / "tests/golden";

Json answer_of(const Report& r) {
    Json terms = Json::object();
    for (const Term t : all_terms)
        if (r.estimate.terms[t] > Seconds{}) terms[std::string(to_text(t))] = r.estimate.terms[t].si();
    return {{"step_time_s", r.estimate.step.si()},
            {"memory_bytes", r.estimate.peak_memory.si()},
            {"fits", r.estimate.fits()},
            {"bottleneck", to_text(r.bottleneck.kind)},
            {"terms", std::move(terms)}};
}

// "" when both are the same, else "step_time_s: 1.2 was 1.1 (+9.09 %)".
std::string movement(const std::string& quantity, const Json& was, const Json& is) {
    if (!was.is_number() || !is.is_number()) return was == is ? "" : quantity + ": " + is.dump() + " was " + was.dump();
    const double before = was.get<double>(), now = is.get<double>();
    if (std::abs(now - before) <= tolerance * std::max(std::abs(now), std::abs(before))) return "";
    char change[64];
    std::snprintf(change, sizeof change, " (%+.3g %%)", 100 * (now / before - 1));
    return quantity + ": " + is.dump() + " was " + was.dump() + (before == 0 ? "" : change);
}

std::vector<std::string> movements(const Json& was, const Json& is) {
    std::vector<std::string> list;
    const Json before = was.flatten(), now = is.flatten();
    for (const auto& [quantity, value] : now.items())
        list.push_back(movement(quantity, before.contains(quantity) ? before[quantity] : Json(nullptr), value));
    for (const auto& [quantity, value] : before.items())
        if (!now.contains(quantity)) list.push_back(quantity + ": gone, was " + value.dump());
    std::erase(list, "");
    return list;
}

TEST_P(EveryScenario, AnswersWhatItAnsweredLastTime) {
    const std::filesystem::path file = golden_folder / (GetParam() + ".json");
    const Json answer = answer_of(predict(bundled_scenario(GetParam())));
    if (std::getenv("UPDATE_GOLDEN") != nullptr) {
        std::ofstream(file) << answer.dump(2) << '\n';
        return;
    }
    ASSERT_TRUE(std::filesystem::exists(file)) << file << " is missing: UPDATE_GOLDEN=1 writes it";
    for (const std::string& moved : movements(Json::parse(std::ifstream(file)), answer)) ADD_FAILURE() << moved;
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
    std::string name = info.param;
    std::ranges::replace_if(
        name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
    return name;
}

INSTANTIATE_TEST_SUITE_P(Bundled, EveryScenario, testing::ValuesIn(bundled_scenario_names()), test_name);

TEST(Golden, EveryAnswerBelongsToAScenario) {
    const std::vector<std::string> names = bundled_scenario_names();
    for (const auto& entry : std::filesystem::directory_iterator(golden_folder)) {
        if (entry.path().extension() != ".json") continue;
        EXPECT_TRUE(std::ranges::binary_search(names, entry.path().stem().string())) << entry.path() << " has no scenario";
    }
}

TEST(Golden, AQuantityThatMovedIsNamedWithItsChange) {
    const Json was = {{"step_time_s", 2.0}, {"fits", true}, {"terms", {{"forward", 1.0}, {"bubble", 1.0}}}};
    const Json is = {{"step_time_s", 2.5}, {"fits", true}, {"terms", {{"forward", 1.0 + 1e-9}, {"launch", 1.5}}}};
    const std::vector<std::string> expected = {"/step_time_s: 2.5 was 2.0 (+25 %)", "/terms/launch: 1.5 was null",
                                               "/terms/bubble: gone, was 1.0"};
    EXPECT_EQ(movements(was, is), expected);
}

}  // namespace
}  // namespace sextant
