// public_headers.txt is what Architecture.EveryPublicHeaderCompilesAlone compiles; here it is held against the folders.
#include "tests/architecture/source_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace sextant {
namespace {

TEST(Architecture, TheListOfPublicHeadersIsComplete) {
    std::vector<std::string> listed;
    std::ifstream list(repository_root() / "tests/architecture/public_headers.txt");
    for (std::string line; std::getline(list, line);) listed.push_back(line);
    std::vector<std::string> present;
    for (const SourceFile& file : cpp_files("model"))
        if (file.path.ends_with(".hpp")) present.push_back(file.path);
    EXPECT_THAT(listed, testing::UnorderedElementsAreArray(present))
        << "to renew it: find model -name '*.hpp' | LC_ALL=C sort > tests/architecture/public_headers.txt";
}

}  // namespace
}  // namespace sextant
