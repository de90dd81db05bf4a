// How cuDNN would run attention on GPUs that are not here.
#include "backend/cuda/fused_attention.hpp"
#include "model/plan/partition.hpp"
#include "model/sextant.hpp"
#include "tests/backend/told_gpus.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sextant::cuda {
namespace {

using testing::HasSubstr;

using FusedAttentionChoice = TellsCudnnOfGpus;

Attention attention(std::int64_t batch, std::int64_t heads, std::int64_t kv_heads, std::int64_t length, std::int64_t width, bool causal) {
    return {.batch = batch,
            .heads = heads,
            .kv_heads = kv_heads,
            .query_len = length,
            .key_len = length,
            .head_dim = width,
            .value_dim = width,
            .causal = causal};
}

std::vector<Attention> usual() {
    std::vector<Attention> list;
    for (const std::int64_t width : {64, 128})
        for (const std::int64_t length : {512, 1024, 2048, 4096})
            for (const std::int64_t kv_heads : {16, 4})
                for (const bool causal : {true, false}) list.push_back(attention(1, 16, kv_heads, length, width, causal));
    for (const bool causal : {true, false}) list.push_back(attention(3, 6, 2, 197, 64, causal));  // no power of two
    Attention window = attention(2, 16, 4, 2048, 128, true), last_queries = window;
    window.window = 512;
    last_queries.query_len = 512;
    list.insert(list.end(), {window, last_queries});
    last_queries.window = 100;
    list.push_back(last_queries);
    return list;
}

std::string name(const Attention& a) {
    return std::to_string(a.heads) + "/" + std::to_string(a.kv_heads) + " heads of " + std::to_string(a.head_dim) + ", " +
           std::to_string(a.query_len) + (a.causal ? " causal" : "");
}

std::optional<FusedAttentionConfig> config_of(AttentionPass pass, const Attention& a, Element element, const Descriptor& gpu) {
    return choose_fused_attention(pass, kernels::parts_of(a, {}).front(), element, gpu);
}

constexpr AttentionPass attention_passes[] = {AttentionPass::forward, AttentionPass::backward};

TEST_F(FusedAttentionChoice, RunsTheUsualShapesOnAmpereAndHopper) {
    for (const Descriptor& gpu : {a100(), h200()})
        for (const Element element : {Element::bf16, Element::fp16})
            for (const AttentionPass pass : attention_passes)
                for (const Attention& a : usual()) {
                    const std::optional<FusedAttentionConfig> config = config_of(pass, a, element, gpu);
                    ASSERT_TRUE(config) << name(a);
                    EXPECT_EQ(config->samples, a.batch) << name(a);
                    EXPECT_EQ(config->kv_heads, a.kv_heads) << name(a);
                    EXPECT_LE(config->engine.workspace_bytes, most_workspace_bytes) << name(a);
                    if (pass == AttentionPass::forward) {
                        EXPECT_LT(config->engine.workspace_bytes, 1024) << name(a) << ": no scores are written";
                    }
                }
}

// Of 2048 positions, of which three ranks have two slices each: one sees as far as itself, the other nearly to the end.
TEST_F(FusedAttentionChoice, RunsBothSlicesOfAContextRank) {
    Attention a = attention(2, 16, 4, 2046 / 3, 128, true);
    a.key_len = 2046;
    a.balanced = true;
    for (const Descriptor& gpu : {a100(), h200()})
        for (const AttentionPass pass : attention_passes)
            for (const kernels::AttentionPart& part : kernels::parts_of(a, {1, 3, true}))
                EXPECT_TRUE(choose_fused_attention(pass, part, Element::bf16, gpu)) << part.keys;
}

TEST_F(FusedAttentionChoice, CompilesWhatItChose) {
    for (const Descriptor& gpu : {a100(), h200()})
        for (const AttentionPass pass : attention_passes)
            for (const Attention& a : {usual().front(), usual().back(), attention(2, 8, 8, 512, 64, false)}) {
                const std::optional<FusedAttentionConfig> config = config_of(pass, a, Element::bf16, gpu);
                ASSERT_TRUE(config) << name(a);
                try {
                    ExecutionPlan(config->graph, config->engine);
                } catch (const BackendError& e) {  // made, but there is no GPU to load it
                    EXPECT_THAT(e.what(), HasSubstr("CUDNN_STATUS_EXECUTION_FAILED_CUDA_DRIVER")) << name(a);
                }
            }
}

// 4 x 32 x 4096^2 gradients of scores in 16 bits are four times what there is room for.
TEST_F(FusedAttentionChoice, TakesLargeAttentionInPieces) {
    const std::optional<FusedAttentionConfig> config =
        config_of(AttentionPass::backward, attention(4, 32, 8, 4096, 128, true), Element::bf16, h200());
    ASSERT_TRUE(config);
    EXPECT_EQ(config->samples, 1);
    EXPECT_EQ(config->kv_heads, 4);
    EXPECT_LE(config->engine.workspace_bytes, most_workspace_bytes);
    EXPECT_FALSE(config_of(AttentionPass::backward, attention(1, 8, 1, 65536, 128, true), Element::bf16, h200()))
        << "more than there is for one";
}

TEST_F(FusedAttentionChoice, IsKnownToTakeRoomBeforeItRuns) {
    Library library = open_library();
    const auto room = [&](const std::vector<std::string>& plan, Element element, bool backward) {
        std::vector<std::string> overrides{"workload.transformer.seq_len=4096", "plan.flash_attention=true", "plan.global_batch=32"};
        overrides.insert(overrides.end(), plan.begin(), plan.end());
        const Network network = cut_network(load_scenario(library, SEXTANT_SOURCE_DIR "/scenarios/default.json", overrides));
        return fused_workspace(network, element, backward, h200()) / units::B;
    };
    // 4 x 4096^2 gradients of scores, in 16 bits.
    const std::vector<std::string> one{"plan.micro_batch=1"};
    EXPECT_NEAR(room(one, Element::bf16, true), 4 * 4096.0 * 4096 * 2, 1e6);
    EXPECT_LE(room({"plan.micro_batch=16"}, Element::bf16, true), most_workspace_bytes);
    EXPECT_LT(room(one, Element::bf16, false), 1024);
    EXPECT_EQ(room(one, Element::real, true), 0);
    EXPECT_EQ(room({"plan.flash_attention=false"}, Element::bf16, true), 0);
}

TEST_F(FusedAttentionChoice, RefusesWhatItCannotRun) {
    const Attention usual = attention(2, 8, 4, 512, 64, true), odd = attention(2, 8, 4, 512, 20, true),
                    wide = attention(2, 8, 4, 512, 256, true);
    Attention both_sides = usual, first_keys = usual;
    both_sides.causal = false;
    both_sides.window = 128;
    first_keys.key_len = 256;
    for (const AttentionPass pass : attention_passes) {
        EXPECT_FALSE(config_of(pass, usual, Element::real, h200())) << "fp32";
        EXPECT_FALSE(config_of(pass, odd, Element::bf16, h200())) << "heads that are no multiple of eight wide";
        EXPECT_FALSE(config_of(pass, both_sides, Element::bf16, h200())) << "a window that is not causal";
        EXPECT_FALSE(config_of(pass, first_keys, Element::bf16, h200())) << "queries that see nothing";
        EXPECT_FALSE(config_of(pass, usual, Element::fp16, t4())) << "a GPU older than Ampere";
        EXPECT_TRUE(config_of(pass, wide, Element::bf16, h200()));
    }
    EXPECT_FALSE(config_of(AttentionPass::backward, wide, Element::bf16, a100())) << "Ampere has no backward of wide heads";
}

}  // namespace
}  // namespace sextant::cuda
