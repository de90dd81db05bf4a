// Every input of fuzz/corpus/ through its fuzz target: once a crash, for ever a test.
#include "fuzz/targets.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>

namespace sextant::fuzz {

void PrintTo(const Target& target, std::ostream* out) { *out << target.name; }

}  // namespace sextant::fuzz

namespace sextant {
namespace {

namespace fs = std::filesystem;

const fs::path corpus = fs::path(SEXTANT_SOURCE_DIR) / "fuzz/corpus";

class FuzzCorpus : public testing::TestWithParam<fuzz::Target> {};

TEST_P(FuzzCorpus, IsReplayedWithoutACrash) {
    int replayed = 0;
    for (const auto& entry : fs::directory_iterator(corpus / GetParam().name)) {
        std::ostringstream text;
        text << std::ifstream(entry.path(), std::ios::binary).rdbuf();
        std::cout << "replaying " << entry.path().filename() << std::endl;  // a crash is explained by the last line
        EXPECT_NO_THROW(GetParam().run(text.str()));
        ++replayed;
    }
    EXPECT_GT(replayed, 0) << "the fuzzer needs something to begin with";
}

INSTANTIATE_TEST_SUITE_P(Readers, FuzzCorpus, testing::ValuesIn(fuzz::targets),
                         [](const auto& target) { return std::string(target.param.name); });

TEST(FuzzCorpusFolders, EachBelongsToATarget) {
    std::set<std::string> folders, targets;
    for (const auto& entry : fs::directory_iterator(corpus)) folders.insert(entry.path().filename().string());
    for (const fuzz::Target& target : fuzz::targets) targets.insert(std::string(target.name));
    EXPECT_EQ(folders, targets);
}

}  // namespace
}  // namespace sextant
