// A framework or a device acts through its parameters, never through its name: so that a new one is a file of data.
#include "tests/architecture/source_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <regex>
#include <set>

namespace sextant {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// "A100-SXM4_80GB" and "a100 sxm4 80gb" are one name.
std::string normalized(const std::string& name) {
    std::string out;
    for (const char c : name) {
        const bool separates = c == '-' || c == '_' || c == '/';
        out += separates ? ' ' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    return out;
}

// What a profile calls itself: its file's name, its "name", its "aliases".
void add_names(const std::filesystem::path& file, const std::string& text, std::set<std::string>& names) {
    const auto document = nlohmann::json::parse(text, nullptr, false);
    if (!document.is_object()) return;
    names.insert(normalized(file.stem().string()));
    if (const auto name = document.find("name"); name != document.end() && name->is_string())
        names.insert(normalized(name->get<std::string>()));
    if (const auto aliases = document.find("aliases"); aliases != document.end() && aliases->is_array())
        for (const auto& alias : *aliases)
            if (alias.is_string()) names.insert(normalized(alias.get<std::string>()));
}

std::set<std::string> profile_names() {
    std::set<std::string> names;
    for (const SourceFile& file : text_files())
        if ((file.path.starts_with("frameworks/") || file.path.starts_with("hardware_profiles/")) && file.path.ends_with(".json"))
            add_names(file.path, file.text, names);
    return names;
}

// "a100" stands for "a100 sxm4 80gb", but "a" for nothing.
bool means_a_profile(const std::string& literal, const std::set<std::string>& names) {
    const std::string word = normalized(literal);
    return word.size() > 2 &&
           std::ranges::any_of(names, [&](const std::string& name) { return name == word || name.starts_with(word + " "); });
}

// What a device or a framework is called, or who made it: "name", "device.name", "d->architecture".
bool is_a_name(const std::string& operand) {
    static const std::regex names(R"((?:.*[.>])?(?:name|architecture|vendor))");
    return std::regex_match(operand, names);
}

// Comparisons of any such name with a literal, and of anything with the name of a profile.
std::vector<std::string> branches_on_names(const SourceFile& file, const std::set<std::string>& names) {
    static const std::regex comparison(
        R"re(([\w.>\-]*)(?:\(\))?\s*(?:[=!]=\s*|\.(?:find|starts_with|ends_with|contains|compare)\(\s*)"([^"\n]*)")re"
        R"re(|"([^"\n]*)"\s*[=!]=\s*([\w.>\-]*))re");
    std::vector<std::string> found;
    const std::string code = without_comments(file.text);
    for (auto it = std::sregex_iterator(code.begin(), code.end(), comparison); it != std::sregex_iterator(); ++it) {
        const bool literal_last = (*it)[2].matched;
        const std::string operand = literal_last ? (*it)[1] : (*it)[4];
        const std::string literal = literal_last ? (*it)[2] : (*it)[3];
        if (is_a_name(operand) || means_a_profile(literal, names)) found.push_back(file.path + ": " + it->str());
    }
    return found;
}

TEST(Architecture, NoCostDependsOnTheNameOfAFrameworkOrDevice) {
    const std::set<std::string> names = profile_names();
    ASSERT_GT(names.size(), 100U);  // there are some hundred devices alone
    for (const char* folder : {"model/cost", "model/predict", "model/simulate"})
        for (const SourceFile& file : cpp_files(folder)) EXPECT_THAT(branches_on_names(file, names), IsEmpty());
}

TEST(Architecture, ABranchOnANameIsFound) {
    const std::set<std::string> names = {"a100 sxm4 80gb", "megatron lm 2021"};
    const auto in = [&](const std::string& code) { return branches_on_names({"x.cpp", code}, names); };
    EXPECT_THAT(in("if (device.name == \"whatever\") f();"), SizeIs(1));
    EXPECT_THAT(in("if (\"whatever\" != s->framework.name) f();"), SizeIs(1));
    EXPECT_THAT(in("if (d.name.starts_with(\"A\")) f();"), SizeIs(1));
    EXPECT_THAT(in("if (kind == \"A100\") f();"), SizeIs(1));
    EXPECT_THAT(in("if (which == \"Megatron-LM\") f();"), SizeIs(1));
    EXPECT_THAT(in("if (device.architecture == \"whatever\") f();"), SizeIs(1));
    EXPECT_THAT(in("if (d->vendor != \"whatever\") f();"), SizeIs(1));
}

TEST(Architecture, WordsThatAreNoBranchOnANameAreLeftAlone) {
    const std::set<std::string> names = {"a100 sxm4 80gb", "megatron lm 2021"};
    const auto in = [&](const std::string& code) { return branches_on_names({"x.cpp", code}, names); };
    EXPECT_THAT(in("if (a.name == b.name) merge();"), IsEmpty());
    EXPECT_THAT(in("if (algorithm == \"ring\") f();"), IsEmpty());
    EXPECT_THAT(in("return \"measured on A100 SXM4 80GB by Megatron-LM\";"), IsEmpty());
    EXPECT_THAT(in("// device.name == \"A100\" would be wrong\n"), IsEmpty());
    EXPECT_THAT(in("f(\"see http://x\"); g(\"a\");"), IsEmpty());
}

TEST(Architecture, TestsHaveNamesOfOneStyle) {
    static const std::regex test(R"(\n(?:TYPED_)?TEST(?:_[FP])?\(\w+,\s*(\w+)\))");
    int tests = 0;
    for (const SourceFile& file : cpp_files("tests"))
        for (auto it = std::sregex_iterator(file.text.begin(), file.text.end(), test); it != std::sregex_iterator(); ++it, ++tests) {
            const std::string name = (*it)[1];
            EXPECT_TRUE(std::isupper(static_cast<unsigned char>(name[0])) && name.find('_') == std::string::npos)
                << file.path << ": " << name;
        }
    EXPECT_GT(tests, 1000);
}

TEST(Architecture, ProfilesAreKnownByFileNameNameAndAliases) {
    std::set<std::string> names;
    add_names("hardware_profiles/devices/x-1.json", R"({"name": "X One", "aliases": ["xo"]})", names);
    EXPECT_EQ(names, (std::set<std::string>{"x 1", "x one", "xo"}));
}

}  // namespace
}  // namespace sextant
