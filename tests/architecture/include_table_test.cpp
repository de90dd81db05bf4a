#include "tests/architecture/include_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>

namespace sextant {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// By folder of model/io, the other folders there that it includes.
std::map<std::string, std::set<std::string>> includes_within_io() {
    static const std::regex folder(R"re(model/io/(\w+)/)re"), include(R"re(#include "model/io/(\w+)/)re");
    std::map<std::string, std::set<std::string>> included;
    for (const SourceFile& file : cpp_files("model/io")) {
        std::smatch own;
        if (!std::regex_search(file.path, own, folder)) continue;
        std::set<std::string>& others = included[own[1].str()];
        for (auto it = std::sregex_iterator(file.text.begin(), file.text.end(), include); it != std::sregex_iterator(); ++it)
            if ((*it)[1] != own[1]) others.insert((*it)[1].str());
    }
    return included;
}

TEST(IncludeTable, IsKeptByEveryFile) {
    std::size_t files = 0;
    for (const char* folder : {"model", "cli", "backend", "gui"}) {
        for (const SourceFile& file : cpp_files(folder)) {
            ++files;
            EXPECT_THAT(forbidden_includes(file), IsEmpty());
        }
    }
    EXPECT_GT(files, 10u) << "the test must have found the repository";
}

TEST(IncludeTable, HasNoCycleBelowTheFacade) {
    // A part is listed after everything that it may include, the programs and io's users apart.
    std::set<std::string_view> seen;
    for (const IncludeRow& row : include_table()) {
        for (const std::string_view other : row.may_include) EXPECT_TRUE(seen.contains(other)) << row.part << " may include " << other;
        seen.insert(row.part);
    }
}

TEST(FoldersOfIo, IncludeEachOtherInNoCycle) {
    auto left = includes_within_io();
    ASSERT_GT(left.size(), 10u) << "the test must have found the folders";
    // Folders that include none of those that are left go, until none is left.
    const auto includes_none_left = [&](const auto& folder) {
        return std::ranges::none_of(folder.second, [&](const std::string& other) { return left.contains(other); });
    };
    while (std::erase_if(left, includes_none_left) > 0) {
    }
    EXPECT_THAT(left, IsEmpty());
}

TEST(IncludeTable, FindsAForbiddenEdge) {
    EXPECT_THAT(forbidden_includes({"model/base/x.hpp", "#pragma once\n#include \"model/cost/gemm.hpp\"\n"}),
                ElementsAre(HasSubstr("model/base/x.hpp includes model/cost/gemm.hpp")));
    EXPECT_THAT(forbidden_includes({"model/lower/x.cpp", "#  include \"model/cost/gemm.hpp\""}), Not(IsEmpty()));
    EXPECT_THAT(forbidden_includes({"cli/x.cpp", "#include \"model/predict/estimate.hpp\""}), Not(IsEmpty()));
    EXPECT_THAT(forbidden_includes({"model/cost/x.cpp", "#include \"cli/progress.hpp\""}), Not(IsEmpty()));
    EXPECT_THAT(forbidden_includes({"model/predict/x.cpp", "#include \"model/cost/gemm.hpp\"\n#include \"model/predict/y.hpp\""}),
                IsEmpty());
    EXPECT_THAT(forbidden_includes({"model/sextant.cpp", "#include \"model/search/planner.hpp\"\n"}), IsEmpty());
}

TEST(IncludeTable, FindsAFolderThatItDoesNotKnow) {
    EXPECT_THAT(forbidden_includes({"model/util/strings.hpp", ""}), ElementsAre(HasSubstr("does not know")));
    EXPECT_THAT(forbidden_includes({"model/stray.hpp", ""}), ElementsAre(HasSubstr("does not know")));
    EXPECT_THAT(forbidden_includes({"model/base/x.cpp", "#include \"model/util/strings.hpp\""}), Not(IsEmpty()));
}

TEST(IncludeTable, FindsAPathThatWouldSlipBy) {
    EXPECT_THAT(forbidden_includes({"model/base/x.cpp", "#include \"../cost/gemm.hpp\""}), Not(IsEmpty()));
    EXPECT_THAT(forbidden_includes({"model/base/x.cpp", "#include \"ids.hpp\""}), Not(IsEmpty()));
}

TEST(IncludeTable, FindsALibraryOutOfPlace) {
    EXPECT_THAT(forbidden_includes({"model/cost/x.cpp", "#include <nlohmann/json.hpp>"}), ElementsAre(HasSubstr("only io")));
    EXPECT_THAT(forbidden_includes({"model/cost/x.cpp", "#include <chrono>"}), ElementsAre(HasSubstr("no clock")));
    EXPECT_THAT(forbidden_includes({"cli/x.cpp", "#include <QString>"}), Not(IsEmpty()));
    EXPECT_THAT(forbidden_includes({"model/io/x.cpp", "#include <nlohmann/json.hpp>\n#include <vector>"}), IsEmpty());
}

}  // namespace
}  // namespace sextant
