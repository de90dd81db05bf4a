#include "tests/cli/process.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sextant {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TEST(ValidateCommand, PrintsJsonForEveryRowOfAFile) {
    const ProcessResult r = run_sextant({"validate", "measurements/transformer/korthikanti2022.json", "--format", "json"});
    ASSERT_EQ(r.exit_code, 0) << r.err;
    EXPECT_THAT(r.err, IsEmpty());  // no progress in a pipe
    const auto json = nlohmann::json::parse(r.out);
    const auto& file = json.at("files").at(0);
    EXPECT_EQ(file.at("rows"), 10);
    EXPECT_EQ(file.at("predicted"), 10);
    EXPECT_EQ(file.at("results").size(), 10U);
    EXPECT_EQ(json.at("total").at("rows"), 8);  // those that are complete
    EXPECT_LT(file.at("step_time").at("mape"), 1);
}

TEST(ValidateCommand, AFileThatIsNotThereIsWrongInput) {
    const ProcessResult r = run_sextant({"validate", "measurements/none.json"});
    EXPECT_EQ(r.exit_code, 2);
    EXPECT_THAT(r.err, HasSubstr("measurements/none.json"));
    EXPECT_THAT(r.out, IsEmpty());
}

TEST(ValidateCommand, TheSameInputGivesTheSameBytes) {
    const std::vector<std::string> arguments{"validate", "measurements/transformer/megatron_sc21.json", "--rows", "--group-by", "gpu"};
    EXPECT_EQ(run_sextant(arguments).out, run_sextant(arguments).out);
}

}  // namespace
}  // namespace sextant
