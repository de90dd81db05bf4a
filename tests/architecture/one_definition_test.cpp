// Two types of one name would be one type to the linker: which of their destructors a program then gets is anybody's guess.
#include "tests/architecture/source_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <regex>

namespace sextant {
namespace {

// Names of the types that a header defines at the level of its namespace (where nothing is indented), with the namespace if it is not
// sextant itself.
std::vector<std::string> types_defined(const SourceFile& file) {
    static const std::regex line(R"re(^(?:namespace ([\w:]+) \{|(?:struct|class|enum class|enum) (\w+)(?: final)?(?: : [^;\n]*)? \{))re",
                                 std::regex::multiline);
    const std::string text = without_comments(file.text);
    std::vector<std::string> names;
    std::string space;
    for (auto it = std::sregex_iterator(text.begin(), text.end(), line); it != std::sregex_iterator(); ++it) {
        if ((*it)[1].matched)
            space = (*it)[1];
        else
            names.push_back(space + "::" + (*it)[2].str());
    }
    return names;
}

std::vector<std::string> defined_twice(const std::vector<SourceFile>& files) {
    std::map<std::string, std::string> defined_in;
    std::vector<std::string> twice;
    for (const SourceFile& file : files)
        for (const std::string& name : types_defined(file))
            if (const auto [at, is_new] = defined_in.try_emplace(name, file.path); !is_new)
                twice.push_back(name + " in " + at->second + " and " + file.path);
    return twice;
}

TEST(OneDefinition, HeadersDefineNoNameTwice) {
    std::vector<SourceFile> headers;
    for (const char* folder : {"model", "backend", "cli", "gui"})
        for (SourceFile& file : cpp_files(folder))
            if (file.path.ends_with(".hpp")) headers.push_back(std::move(file));
    ASSERT_GT(headers.size(), 50U);
    EXPECT_THAT(defined_twice(headers), testing::IsEmpty());
}

TEST(OneDefinition, SeesTheSecondOne) {
    const SourceFile a{"a.hpp", "namespace sextant {\nstruct Route {\n    int x;\n};\n}"};
    const SourceFile b{"b.hpp", "namespace sextant {\nstruct Route;\nenum class Route : char { ring };\n}"};
    const SourceFile c{"c.hpp", "namespace sextant::svg {\nstruct Route {};\n}"};
    EXPECT_THAT(defined_twice({a, b}), testing::ElementsAre("sextant::Route in a.hpp and b.hpp"));
    EXPECT_THAT(defined_twice({a, c}), testing::IsEmpty());
}

}  // namespace
}  // namespace sextant
