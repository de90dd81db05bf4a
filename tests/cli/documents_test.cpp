// What README.md and the pages of docs/ show beneath a command is what the command prints.
#include "tests/cli/process.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

namespace sextant {
namespace {

struct Example {
    std::string command, output;
};

// Of a page, in its blocks of code: "$ command", and the lines up to the next one.
std::vector<Example> examples(const std::filesystem::path& page) {
    std::vector<Example> list;
    std::ifstream in(page);
    bool in_block = false, in_example = false;
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with("```")) {
            in_block = !in_block;
            in_example = false;
        } else if (in_block && line.starts_with("$ ")) {
            list.push_back({line.substr(2), ""});
            in_example = true;
        } else if (in_example) {
            list.back().output += line + '\n';
        }
    }
    return list;
}

// How long a search took is another time each time.
std::string without_elapsed(const std::string& text) { return std::regex_replace(text, std::regex("; [0-9.]+ [mu]?s\n"), "\n"); }

// With the program that was built, and without pictures, which would be drawn into the repository.
std::string as_run_here(const std::string& command) {
    const std::string program = std::regex_replace(command, std::regex("^(sextant|\\./run) "), SEXTANT_BINARY " ");
    return std::regex_replace(program, std::regex(" --picture [^ ]+"), "");
}

// Some commands are of files that the reader has.
bool is_of_bundled_files(const std::string& command) {
    const std::regex file(R"([^ ']+\.(json|yaml))");
    return std::all_of(std::sregex_iterator(command.begin(), command.end(), file), {},
                       [](const std::smatch& name) { return std::filesystem::exists(SEXTANT_SOURCE_DIR "/" + name.str()); });
}

TEST(Documents, ShowWhatTheirCommandsPrint) {
    std::vector<std::filesystem::path> pages{SEXTANT_SOURCE_DIR "/README.md"};
    for (const auto& entry : std::filesystem::directory_iterator(SEXTANT_SOURCE_DIR "/docs"))
        if (entry.path().extension() == ".md") pages.push_back(entry.path());
    int compared = 0;
    for (const std::filesystem::path& page : pages)
        for (const Example& e : examples(page)) {
            if (e.output.empty() || !is_of_bundled_files(e.command)) continue;
            SCOPED_TRACE(page.string() + ": " + e.command);
            EXPECT_EQ(without_elapsed(run_program("/bin/sh", {"-c", as_run_here(e.command)}).out), without_elapsed(e.output));
            ++compared;
        }
    EXPECT_GE(compared, 4);  // README's, and three of docs/plan.md
}

}  // namespace
}  // namespace sextant
