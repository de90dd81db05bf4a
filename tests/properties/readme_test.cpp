// scenarios/README.md lists every scenario, and what it tells a reader to change can be changed.
#include "model/io/profile/profile_reader.hpp"
#include "model/sextant.hpp"
#include "tests/golden/bundled_scenarios.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

namespace sextant {
namespace {

using Words = std::vector<std::string>;

struct Row {
    Words scenarios;
    std::vector<Words> changes;  // each is a list of assignments
};

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts;
    std::istringstream in(text);
    for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
    return parts;
}

// What stands between backticks.
Words quoted(const std::string& cell) {
    Words words;
    const std::vector<std::string> parts = split(cell, '`');
    for (std::size_t i = 1; i < parts.size(); i += 2) words.push_back(parts[i]);
    return words;
}

// "plan.dp=1 hardware.network=InfiniBand HDR 4x" are two assignments.
Words assignments(const std::string& text) {
    Words list;
    for (const std::string& word : split(text, ' ')) {
        if (word.find('=') != std::string::npos)
            list.push_back(word);
        else if (!list.empty())  // else it is no assignment
            (list.back() += ' ') += word;
    }
    return list;
}

std::vector<Row> rows_of_readme() {
    std::vector<Row> rows;
    std::ifstream readme(SEXTANT_SOURCE_DIR "/scenarios/README.md");
    for (std::string line; std::getline(readme, line);) {
        const std::vector<std::string> cells = split(line, '|');
        if (cells.size() < 4 || quoted(cells[1]).empty()) continue;
        Row row{quoted(cells[1]), {}};
        for (const std::string& change : quoted(cells[3])) row.changes.push_back(assignments(change));
        rows.push_back(std::move(row));
    }
    return rows;
}

TEST(ScenariosReadme, ListsEveryScenarioOnceAndNoOther) {
    Words listed;
    for (const Row& row : rows_of_readme()) listed.insert(listed.end(), row.scenarios.begin(), row.scenarios.end());
    std::ranges::sort(listed);
    EXPECT_EQ(listed, bundled_scenario_names());
}

std::string readme() {
    std::ostringstream text;
    text << std::ifstream(SEXTANT_SOURCE_DIR "/README.md").rdbuf();
    return text.str();
}

TEST(Readme, CountsTheScenarios) {
    EXPECT_NE(readme().find(": " + std::to_string(bundled_scenario_names().size()) + " small scenarios"), std::string::npos);
}

TEST(Readme, CountsTheProfiles) {
    Library library = open_library();
    std::map<std::string, std::size_t> count;
    for (const NamesOfKind& kind : all_names(library.catalog)) count[kind.kind] = kind.names.size();
    const std::string text = std::to_string(count["devices"]) + " devices, " + std::to_string(count["links"]) + " links, " +
                             std::to_string(count["storage"]) + " storage classes, " + std::to_string(count["clusters"]) + " clusters";
    EXPECT_NE(readme().find(text), std::string::npos) << text;
}

TEST(ScenariosReadme, SuggestsOnlyChangesThatCanBeMade) {
    int changes = 0;
    for (const Row& row : rows_of_readme()) {
        for (const std::string& scenario : row.scenarios) {
            for (const Words& change : row.changes) {
                ++changes;
                EXPECT_NO_THROW(predict(bundled_scenario(scenario, change))) << scenario << ": " << testing::PrintToString(change);
            }
        }
    }
    EXPECT_GE(changes, 40);
}

}  // namespace
}  // namespace sextant
