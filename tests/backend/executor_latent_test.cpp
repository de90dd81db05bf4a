// Multi-head latent attention as it is used: processes under mpirun. A plan trains what one rank trains.
#include "tests/backend/mpi_test.hpp"

namespace sextant {
namespace {

using ExecutorLatentAttention = MpiTest;
using ExecutorAttention = MpiTest;

// Heads of 8 columns, of which 4 are rotated; those of the keys are shared by all heads.
json latent(const json& more = as_usual, const json& attention = as_usual) {
    json mla{{"q_rank", 12}, {"kv_rank", 16}, {"qk_nope_dim", 4}, {"qk_rope_dim", 4}, {"value_dim", 6}};
    mla.update(attention);
    json workload = transformer(false);
    workload["transformer"].update(
        {{"mla", mla}, {"position", "rotary"}, {"mlp", "swiglu"}, {"ffn_hidden", 48}, {"norm", "rms"}, {"bias", false}});
    workload["transformer"].update(more);
    return workload;
}

const std::vector<json> in_every_dimension{{{"dp", 2}, {"data_parallel", "zero3"}},
                                           {{"tp", 2}},
                                           {{"tp", 4}, {"sequence_parallel", true}},
                                           {{"cp", 2}, {"tp", 2}},
                                           {{"pp", 2}, {"dp", 2}},
                                           {{"dp", 2}, {"recompute", "full"}}};

TEST_F(ExecutorLatentAttention, ComputesTheSameInEveryDimension) {
    expect_serial_results(latent(), in_every_dimension);
    expect_serial_results(latent(), {{{"dp", 2}, {"recompute", "selective"}, {"recompute_modules", {"mla_up_proj"}}}});
    expect_serial_results(latent(as_usual, {{"q_rank", 0}}), {{{"tp", 2}, {"sequence_parallel", true}}, {{"dp", 2}, {"pp", 2}}});
}

TEST_F(ExecutorLatentAttention, ComputesTheSameWithItsScoresWrittenOut) {
    expect_serial_results(latent(), {{{"tp", 2}, {"flash_attention", false}}, {{"cp", 2}, {"flash_attention", false}}},
                          {{"flash_attention", false}});
}

// Norms of the heads' queries and keys, whose gain all heads share however they are cut, and a gate on what attention makes (Qwen3-Next).
TEST_F(ExecutorAttention, WithNormsOfItsHeadsAndAGateComputesTheSameInEveryDimension) {
    json workload = transformer(false);
    workload["transformer"].update({{"qk_norm", true}, {"attention_gate", true}, {"position", "rotary"}});
    expect_serial_results(workload, in_every_dimension);
    workload["transformer"]["kv_heads"] = 1;  // two tensor ranks have the same
    expect_serial_results(workload, {{{"tp", 2}}, {{"tp", 2}, {"sequence_parallel", true}, {"dp", 2}}});
}

// As Falcon and GPT-NeoX have it, as Gemma 2, and as OLMo 2, whose norms of queries and keys are not cut.
TEST_F(ExecutorAttention, BesideItsMlpComputesTheSameInEveryDimension) {
    for (const bool shared : {true, false}) {
        json workload = transformer(false);
        workload["transformer"].update({{"parallel_residual", true}, {"shared_norm", shared}, {"position", "rotary"}});
        expect_serial_results(workload, in_every_dimension);
    }
}

TEST_F(ExecutorAttention, WithNormsBehindItComputesTheSameInEveryDimension) {
    json workload = transformer(true);
    workload["transformer"].update({{"norm_placement", "both"}, {"norm", "rms"}, {"sliding_window", 5}, {"full_attention_every", 2}});
    workload["transformer"]["logit_softcap"] = 2;
    expect_serial_results(workload,
                          {{{"tp", 2}}, {{"tp", 4}, {"sequence_parallel", true}}, {{"pp", 2}, {"dp", 2}}, {{"cp", 2}, {"tp", 2}}});
    workload = transformer(false);
    workload["transformer"].update({{"norm_placement", "output"}, {"qk_norm", true}, {"qk_norm_whole", true}});
    expect_serial_results(workload, {{{"dp", 2}, {"data_parallel", "zero3"}}, {{"pp", 2}, {"dp", 2}}, {{"cp", 2}, {"recompute", "full"}}});
}

// As BART and Marian have it.
TEST_F(ExecutorAttention, OfAnEncoderWithADecoderComputesTheSameInEveryDimension) {
    for (const char* position : {"learned", "sinusoidal"}) {
        json workload = transformer(true);
        workload["transformer"].update(
            {{"kind", "encoder_decoder"}, {"norm_placement", "sum"}, {"position", position}, {"embedding_norm", true}, {"mlp", "silu"}});
        workload["transformer"].update({{"layers", 2}, {"decoder_seq_len", 8}});
        expect_serial_results(workload, {{{"dp", 2}, {"data_parallel", "zero3"}},
                                         {{"tp", 2}},
                                         {{"tp", 4}, {"sequence_parallel", true}},
                                         {{"pp", 2}, {"dp", 2}},
                                         {{"dp", 2}, {"recompute", "full"}}});
    }
}

// As ModernBERT has it, and as ELECTRA.
TEST_F(ExecutorAttention, OfEncodersArrangedOtherwiseComputesTheSameInEveryDimension) {
    json workload = transformer(true);
    workload["transformer"].update({{"kind", "encoder"}, {"head", "masked_lm_nsp"}, {"norm_placement", "input"}, {"bias", false}});
    workload["transformer"].update({{"position", "rotary"}, {"mlp", "geglu"}, {"ffn_hidden", 48}});
    workload["transformer"].update({{"sliding_window", 5}, {"full_attention_every", 3}, {"full_attention_offset", 0}});
    expect_serial_results(workload, in_every_dimension);
    workload = transformer(true);
    workload["transformer"].update({{"kind", "encoder"}, {"head", "token_classifier"}, {"pooler", true}, {"classes", 7}});
    workload["transformer"].update({{"embedding_width", 12}, {"type_vocab", 2}});
    expect_serial_results(workload, in_every_dimension);
}

// As DeepSeek-V2 has it: a dense layer first, then routed experts beside a shared one.
TEST_F(ExecutorLatentAttention, ComputesTheSameWithExperts) {
    const json mixture{{"experts", 4}, {"topk", 2}, {"ffn_hidden", 24}, {"shared_ffn_hidden", 16}, {"dense_layers", 1}};
    expect_serial_results(latent({{"moe", mixture}}), {{{"dp", 2}, {"ep", 2}},
                                                       {{"dp", 2}, {"tp", 2}, {"ep", 2}, {"sequence_parallel", true}},
                                                       {{"dp", 2}, {"pp", 2}, {"ep", 2}, {"data_parallel", "zero1"}}});
}

TEST_F(ExecutorLatentAttention, ComputesNearlyTheSameIn16Bits) {
    loss_tolerance_ = 2e-3;
    weight_tolerance_ = 1e-2;
    expect_serial_results(latent(), {{{"dp", 2}, {"precision", "bf16"}}, {{"tp", 2}, {"precision", "bf16"}}}, {{"precision", "bf16"}});
}

}  // namespace
}  // namespace sextant
