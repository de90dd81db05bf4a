#include "model/io/workload/peft_import.hpp"

#include "tests/base/refusal.hpp"
#include "tests/io/read_back_workload.hpp"
#include "tests/io/scenario_fixture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant::fixtures {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Workload llama() { return *find_workload("llama-3-8b"); }

struct Adapted {
    std::optional<LowRankAdapters> adapters;
    std::string source;
    std::vector<Diagnostic> problems;
};
Adapted import_adapters(std::string_view text) {
    Diagnostics diagnostics;
    Workload workload = llama();
    import_peft_config(JsonFile::from_text(text, "adapter_config.json", diagnostics), workload);
    return {std::get<TransformerSpec>(workload.spec).adapters, workload.source, diagnostics.list()};
}

TEST(PeftImport, GivesAdaptersToTheProductsThatTheNamedModulesArePartsOf) {
    const Adapted some = import_adapters(
        R"({"peft_type": "LORA", "r": 32, "lora_alpha": 64, "target_modules": ["v_proj", "model.layers.0.self_attn.q_proj", "down_proj"],
            "lora_dropout": 0.05})");
    EXPECT_TRUE(some.problems.empty()) << all_of(some.problems);
    EXPECT_EQ(some.adapters, (LowRankAdapters{.rank = 32, .alpha = 64, .proj = false, .fc1 = false}));
    const Adapted all = import_adapters(R"({"peft_type": "LORA", "target_modules": "all-linear"})");
    EXPECT_EQ(all.adapters, LowRankAdapters{.rank = 8});
    EXPECT_THAT(some.source, HasSubstr("one adapter together, where some have none"));
    EXPECT_THAT(all.source, HasSubstr("gate and up have one adapter together"));
}

TEST(PeftImport, NamesWhatIsNotModelled) {
    const auto pointers = [](std::string_view text) { return pointers_of(import_adapters(text).problems); };
    EXPECT_THAT(pointers(R"({"peft_type": "IA3", "r": 0, "target_modules": ["q_proj", "lm_head", 5]})"),
                ElementsAre("/peft_type", "/r", "/target_modules/1", "/target_modules/2"));
    EXPECT_THAT(pointers(R"({"peft_type": "LORA", "target_modules": ".*self_attn.*"})"), ElementsAre("/target_modules"));
    EXPECT_THAT(pointers(R"({"peft_type": "LORA", "target_modules": ["o_proj"], "modules_to_save": ["lm_head"], "bias": "all",
                             "use_dora": true, "rank_pattern": {"down_proj": 4}, "layers_to_transform": [0, 1]})"),
                ElementsAre("/modules_to_save", "/bias", "/use_dora", "/rank_pattern", "/layers_to_transform"));
    EXPECT_THAT(pointers(R"({"peft_type": "LORA", "target_modules": ["o_proj"], "modules_to_save": null, "bias": "none", "use_dora": false,
                             "rank_pattern": {}, "layers_to_transform": null})"),
                ElementsAre());
    EXPECT_THAT(pointers("{}"), ElementsAre("", ""));
    EXPECT_THAT(pointers("[]"), ElementsAre(""));
}

TEST(PeftImport, IsReadBackFromWhatIsWritten) {
    Workload workload = llama();
    std::get<TransformerSpec>(workload.spec).adapters = LowRankAdapters{.rank = 4, .alpha = 8, .qkv = false};
    EXPECT_EQ(std::get<TransformerSpec>(expect_reads_back(workload).spec).adapters, std::get<TransformerSpec>(workload.spec).adapters);
}
}  // namespace
}  // namespace sextant::fixtures
