// docs/scenario_format.md must not drift from the reader.
#include "model/sextant.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace sextant {
namespace {

std::string documentation() {
    std::ostringstream text;
    text << std::ifstream(SEXTANT_SOURCE_DIR "/docs/scenario_format.md").rdbuf();
    return text.str();
}

bool names(const std::string& text, const char* key) { return text.find(std::string("`").append(key).append("`")) != std::string::npos; }

TEST(ScenarioFormat, TheDocumentedExampleIsReadAsDocumented) {
    const std::string text = documentation();
    const std::size_t begin = text.find("```json") + 7, end = text.find("```", begin);
    ASSERT_NE(end, std::string::npos);
    Library library = open_library(SEXTANT_SOURCE_DIR "/hardware_profiles");
    Diagnostics diagnostics;
    const JsonFile file = JsonFile::from_text(text.substr(begin, end - begin), "scenario_format.md", diagnostics);
    const Scenario scenario = read_scenario(file, sources(library), diagnostics);
    EXPECT_NO_THROW(diagnostics.throw_if_any());
    EXPECT_EQ(scenario.plan.dp, 8);
    EXPECT_EQ(scenario.plan.micro_batches(), 192);
    EXPECT_EQ(scenario.plan.schedule, Schedule::interleaved);
    EXPECT_EQ(scenario.framework.name, "megatron-core");
}

TEST(ScenarioFormat, EveryFieldThatAPlanHasIsDocumented) {
    const std::string text = documentation();
    for (const char* key : {"dp",
                            "tp",
                            "pp",
                            "cp",
                            "ep",
                            "vpp",
                            "expert_tp",
                            "sequence_parallel",
                            "micro_batch",
                            "global_batch",
                            "grad_accum",
                            "data_parallel",
                            "shard_group",
                            "parameter_servers",
                            "servers_on_workers",
                            "schedule",
                            "stage_blocks",
                            "recompute",
                            "recompute_modules",
                            "precision",
                            "optimizer",
                            "flash_attention",
                            "cuda_graph",
                            "forward_only",
                            "offload",
                            "offload_activations",
                            "pruned_fraction",
                            "gradient_overlap",
                            "gather_overlap",
                            "tensor_overlap",
                            "expert_overlap",
                            "token_deduplication",
                            "pipeline_overlap",
                            "reduce_every_micro_batch",
                            "placement",
                            "scattered"})
        EXPECT_TRUE(names(text, key)) << key;
}

TEST(ScenarioFormat, EveryFieldThatDataHasIsDocumented) {
    const std::string text = documentation();
    for (const char* key :
         {"storage", "sample_size", "samples", "encoding", "decoded_size", "format", "samples_per_file", "shuffle", "transform", "workers",
          "prefetch", "pinned", "copy_each_sample", "other_jobs", "page_cache", "staging", "checkpoints", "every_steps", "asynchronous"})
        EXPECT_TRUE(names(text, key)) << key;
}

}  // namespace
}  // namespace sextant
