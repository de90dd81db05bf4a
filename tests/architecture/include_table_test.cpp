#include "tests/architecture/include_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

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
