#include "model/io/workload/hf_import.hpp"

#include "model/io/workload/hf_families.hpp"
#include "model/io/workload/workload_reader.hpp"
#include "model/io/workload/workload_writer.hpp"
#include "tests/base/refusal.hpp"
#include "tests/io/read_back_workload.hpp"
#include "tests/io/scenario_fixture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant::fixtures {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Imported {
    Workload workload;
    std::vector<Diagnostic> problems;
    std::int64_t positions = 0;
};

Imported import(JsonFile file, Diagnostics& diagnostics, const std::vector<std::string>& assignments = {},
                std::optional<std::int64_t> seq_len = {}) {
    for (const std::string& assignment : assignments) file.set(assignment);
    HfModel model = import_hf_config(file, seq_len);
    return {std::move(model.workload), diagnostics.list(), model.positions};
}

Imported import_family(std::string_view type, const std::vector<std::string>& assignments = {}, std::optional<std::int64_t> seq_len = {}) {
    Diagnostics diagnostics;
    const std::string path = SEXTANT_SOURCE_DIR "/tests/io/hf_configs/" + std::string(type) + ".json";
    return import(JsonFile::load(path, diagnostics), diagnostics, assignments, seq_len);
}

// A released model of each family, and its parameters as its weights have them.
struct Released {
    std::string model_type, name;
    double parameters;
};
void PrintTo(const Released& r, std::ostream* out) { *out << r.name; }

const Released released[] = {
    // 2 x 128004 x 2560; 36 layers of 2 x 2560 x (2560 + 512) + 2 x 2560 x 18432 and two norms; a norm
    {"arcee", "AFM-4.5B", 4'619'184'640},
    // 50265 x 1024, tied; two tables of 1026 positions; 12 layers of 12 x 1024^2 + 13 x 1024 and 12 of 16 x 1024^2 + 19 x 1024; a norm
    // behind the embeddings of either half (arXiv 1910.13461; 406 million)
    {"bart", "bart-large", 406'291'456},
    {"bert", "bert-base-uncased for pre-training", 110'106'428},
    {"bloom", "bloom-560m", 559'214'592},
    // as roberta-base, with 32005 rows of embeddings and biases
    {"camembert", "camembert-base for masked words", 124'697'433 - (50265 - 32005) * 769},
    // 256000 x 8192, tied; 40 layers of 4 x 8192^2 + 3 x 8192 x 22528 and one norm; a norm
    {"cohere", "c4ai-command-r-v01", 34'980'831'232},
    // 256000 x 4096, tied; 32 layers of 2 x 4096 x (4096 + 1024) + 3 x 4096 x 14336 and one norm; a norm
    {"cohere2", "c4ai-command-r7b", 8'028'033'024},
    {"deepseek_v2", "DeepSeek-V2-Lite", 15'706'484'224},
    // 671,026,419,200 of the main model, and of the multi-token prediction module what it does not share: a layer of 11,507,286,272
    // (attention 187,107,328; 256 experts of 3 x 7168 x 2048; one shared; router and its bias 1,835,264; two norms),
    // the projection 2 x 7168 x 7168, three norms of 7168.
    {"deepseek_v3", "DeepSeek-V3", 671'026'419'200 + 11'507'286'272 + 2.0 * 7168 * 7168 + 3 * 7168},
    {"distilbert", "distilbert-base-uncased for masked words", 66'985'530},
    // 2 x 152064 x 4096; 62 layers of 4 x 4096^2, two gains of heads of 128 and two norms, the first with 3 x 4096 x 10944, the others with
    // 130 experts of 3 x 4096 x 1408 and a router of 128 with its biases; a norm (arXiv 2506.05767; 142 billion)
    {"dots1", "dots.llm1", 142'774'381'696},
    // 334,092,288 and the discriminator's head, 1024^2 + 1024 and 1024 + 1; beside these a second output (arXiv 2003.10555; 335 million)
    {"electra", "electra-large-discriminator", 334'092'288 + 1'049'600 + 2 * 1025},
    // 103424 x 1024, tied; 18 layers of 1024 x (2048 + 2 x 256) + 2048 x 1024 + 3 x 1024 x 3072 and two norms; a norm
    {"ernie4_5", "ERNIE-4.5-0.3B", 360'748'032},
    // 21,825,437,888, of which biases of 27 routers of 64 are left out
    {"ernie4_5_moe", "ERNIE-4.5-21B-A3B", 21'825'437'888 - 27 * 64},
    // 651,043,254, of which the head that predicts contacts, 33 x 20 + 1, is left out
    {"esm", "esm2_t33_650M for masked tokens", 651'043'254 - 661},
    // 102400 x 2048, tied; 30 layers of 2 x 2048 x (2048 + 512) + 3 x 2048 x 4096, two norms and two gains of heads of 64; a norm
    {"exaone4", "EXAONE-4.0-1.2B", 1'279'391'488},
    // 65024 x 4544, tied; 32 layers of 4544 (4544 + 128) + 4544^2 + 8 x 4544^2 and one norm with a shift; another
    {"falcon", "falcon-7b", 6'921'720'704},
    {"gemma", "gemma-2b", 2'506'172'416},
    // 256000 x 3584, tied; 42 layers of 3584 x (4096 + 2 x 2048) + 4096 x 3584 + 3 x 3584 x 14336 and four norms; a norm
    {"gemma2", "gemma-2-9b", 9'241'705'984},
    // 27,432,406,640, of which what reads images, 416,866,032, and brings it to this width, 1152 x 5376 + 1152, is left out. 262208 x 5376,
    // tied; 62 layers of 5376 x (4096 + 2 x 2048) + 4096 x 5376 + 3 x 5376 x 21504, four norms and two gains of heads of 128; a norm
    {"gemma3", "gemma-3-27b", 27'432'406'640 - 416'866'032 - 1152 * 5376 - 1152},
    // 262144 x 1152, tied; 26 layers of 1152 x (1024 + 2 x 256) + 1024 x 1152 + 3 x 1152 x 6912, four norms and two gains of heads of 256
    {"gemma3_text", "gemma-3-1b", 999'885'952},
    // 2 x 151552 x 4096; 40 layers of 4096 x (4096 + 512) + 4608 + 4096^2 + 3 x 4096 x 13696 and two norms; a norm
    {"glm", "glm-4-9b", 9'399'951'360},
    {"glm4", "GLM-4-9B-0414", 9'399'951'360 + 40 * 2 * 4096},
    // 106,852,251,264 of the main model: 2 x 151552 x 4096; a dense layer of 109,066,240 for attention, 3 x 4096 x 10944 and two norms; 45
    // of 128 experts of 3 x 4096 x 1408, a shared one, and a router with its biases instead. The module for prediction is such a layer, a
    // projection and three norms.
    {"glm4_moe", "GLM-4.5-Air", 106'852'251'264 + 2'341'492'864 + 2.0 * 4096 * 4096 + 3 * 4096},
    // 2 x 154880 x 2048; 47 layers of attention, 2048 x 768 + 768 x 20 x 256 + 2048 x 576 + 512 x 20 x 448 + 20 x 256 x 2048 and norms of
    // 768, 512 and twice 2048, the first with 3 x 2048 x 10240, the others with 65 experts of 3 x 2048 x 1536 and a router of 64 with its
    // biases; a norm. The module for prediction is such a layer, a projection and three norms.
    {"glm4_moe_lite", "GLM-4.7-Flash", 29'943'393'920 + 635'311'424 + 2.0 * 2048 * 2048 + 3 * 2048},
    {"gpt2", "gpt2", 124'439'808},
    {"gpt_bigcode", "starcoder", 15'517'456'384},
    {"gpt_neo", "gpt-neo-1.3B", 1'315'575'808},
    {"gpt_neox", "pythia-160m", 162'322'944},
    // 20,914,757,184, of which the sinks of attention, 24 layers x 64 heads, and the router's biases, 24 x 32, are left out
    {"gpt_oss", "gpt-oss-20b", 20'914'757'184 - 24 * 64 - 24 * 32},
    // 6,050,882,784, of which the biases of 28 MLPs and of the output matrix are left out
    {"gptj", "gpt-j-6b", 6'050'882'784 - 28 * (16384 + 4096) - 50400},
    // 49155 x 4096, tied; 40 layers of 2 x 4096 x (4096 + 1024) + 3 x 4096 x 12800 and two norms; a norm
    {"granite", "granite-3.0-8b", 8'170'848'256},
    // 49155 x 1536, tied; 32 layers of 2 x 1536 x (1536 + 512) + 40 x (3 x 1536 x 512 + 1536) and two norms; a norm
    {"granitemoe", "granite-3.0-3b-a800m", 3'298'793'472},
    // 100352 x 1536, tied; 40 layers of two norms, 64 experts of 3 x 1536 x 512, a router of 64 and 3 x 1536 x 1024, 4 of them with
    // attention,
    // 2 x 1536 x (1536 + 512), and 36 with a state space: 1536 x (2 x 3072 + 2 x 128 + 48), (3072 + 256) x (4 + 1), 3 x 48, a norm of 3072,
    // 3072 x 1536; a norm
    {"granitemoehybrid", "granite-4.0-h-tiny", 6'939'037'248},
    // 128167 x 4096, tied; 32 layers of 2 x 4096 x (4096 + 1024) + 3 x 4096 x 14336, two norms and two gains of heads of 128; a norm
    {"hunyuan_v1_dense", "Hunyuan-7B", 7'504'568'320},
    // 2 x 92544 x 4096; 32 layers as Mistral has them; a norm
    {"internlm2", "internlm2-7b", 7'737'708'544},
    // 2 x 163840 x 7168; 61 layers of 101,124,096 for attention and two norms, one of 3 x 7168 x 18432, the others of 385 experts of 3 x
    // 7168 x 2048 and a router of 384 with its biases; a norm.
    {"kimi_k2", "Kimi-K2-Base", 1'026'408'232'448},
    {"llama", "Llama-3.1-8B", 8'030'261'248},
    // 2 x 202048 x 5120; 48 layers of 2 x 5120 x (5120 + 1024), 17 experts of 3 x 5120 x 8192, a router of 16 and two norms; a norm.
    // Beside these the gains that norms of queries and keys do not have.
    {"llama4", "Llama-4-Scout-17B-16E", 107'769'861'120 + 48 * 2 * 128},
    // The same with 129 experts and a router of 128 in 24 of the layers, and 3 x 5120 x 16384 in the others.
    {"llama4_text", "Llama-4-Maverick-17B-128E", 400'711'848'960},
    // 615,073,792, and two tables of sinusoids
    {"m2m_100", "nllb-200-distilled-600M", 615'073'792 + 2 * 1024 * 1024},
    {"mamba2", "mamba2-2.7b", 2'702'599'680},
    // with two tables of sinusoids, as it is published: 512^2 each
    {"marian", "opus-mt-en-de", 74'410'496},
    {"mbart", "mbart-large-50", 610'879'488},
    // 2 x 200064 x 3072; 62 layers of 3072 x (6144 + 2 x 1024) + 6144 x 3072, 256 experts of 3 x 3072 x 1536, a router with its biases, two
    // norms and gains of 6144 and 1024 columns; a norm
    {"minimax_m2", "MiniMax-M2", 228'689'764'864},
    {"mistral", "Mistral-7B-v0.1", 7'241'732'096},
    {"mistral3", "Mistral-Small-3.1-24B", 23'572'403'200},
    {"mixtral", "Mixtral-8x7B-v0.1", 46'702'792'704},
    // 149,655,232, and the norm in front of the first attention (arXiv 2412.13663; 149 million without the head's 640,960)
    {"modernbert", "ModernBERT-base for masked words", 149'014'272 + 640'960 + 768},
    {"mpt", "mpt-7b", 6'649'286'656},
    {"mt5", "mt5-small", 300'176'768},
    // 2 x 256000 x 3072; 32 layers of 2 x 3072 x (3072 + 1024) + 2 x 3072 x 9216 and two norms with shifts; another
    {"nemotron", "Minitron-4B", 4'190'509'056},
    // beside these, the biases by which routers choose: 23 layers x 128
    {"nemotron_h", "Nemotron-3-Nano-30B-A3B", 31'577'937'344 + 23 * 128},
    // 6,888,095,744, whose 65 norms have no gains
    {"olmo", "OLMo-7B", 6'888'095'744 + 65 * 4096},
    // 2 x 100352 x 4096; 32 layers of 4 x 4096^2 + 3 x 4096 x 11008 and four norms, those of queries and keys too; a norm
    {"olmo2", "OLMo-2-7B", 7'298'617'344},
    {"olmo3", "Olmo-3-7B", 7'298'617'344 - 2 * (100352 - 100278) * 4096},
    // 2 x 50304 x 2048; 16 layers of 4 x 2048^2 + 64 x (3 x 2048 x 1024 + 2048) and four norms; a norm
    {"olmoe", "OLMoE-1B-7B", 6'919'161'856},
    {"opt", "opt-125m", 125'239'296},
    // with two tables of sinusoids, as it is published: 1024^2 each (arXiv 1912.08777; 568 million without)
    {"pegasus", "pegasus-large", 570'797'056},
    // 2,779,683,840, of which the biases of the output matrix are left out
    {"phi", "phi-2", 2'779'683'840 - 51200},
    {"phi3", "Phi-3-mini-4k", 3'821'079'552},
    {"qwen2", "Qwen2.5-7B", 7'615'616'512},
    // What reads text is as large as Qwen2.5-7B, Qwen2.5-1.5B and Qwen3-8B.
    {"qwen2_5_vl", "Qwen2.5-VL-7B", 7'615'616'512},
    {"qwen2_moe", "Qwen1.5-MoE-A2.7B", 14'315'784'192},
    {"qwen2_vl", "Qwen2-VL-2B", 1'543'714'304},
    {"qwen3", "Qwen3-8B", 8'190'735'360},
    // 2 x 248320 x 4096; 32 layers of two norms and 3 x 4096 x 12288, 8 of them with attention, 4096 x (2 x 4096 + 2 x 1024) + 4096^2 and
    // gains of heads of 256, and 24 with a delta rule: 4096 x (2 x 2048 + 2 x 4096 + 2 x 32), 8192 x 4, 2 x 32, a norm of 128, 4096^2; a
    // norm
    {"qwen3_5", "Qwen3.5-9B", 8'953'803'264},
    // 2 x 248320 x 2048; 40 layers of two norms, 257 experts of 3 x 2048 x 512, a router of 256 and a gate of 2048, 10 of them with
    // attention, 2048 x (2 x 4096 + 2 x 512) + 4096 x 2048 and gains of heads of 256, and 30 with a delta rule; a norm
    {"qwen3_5_moe", "Qwen3.5-35B-A3B", 34'660'610'688},
    {"qwen3_5_moe_text", "Qwen3.5-35B-A3B, its text", 34'660'610'688},
    {"qwen3_5_text", "Qwen3.5-9B, its text", 8'953'803'264},
    {"qwen3_moe", "Qwen3-30B-A3B", 30'532'122'624},
    {"qwen3_next", "Qwen3-Next-80B-A3B", 79'674'391'296},
    {"qwen3_vl", "Qwen3-VL-8B", 8'190'735'360},
    {"qwen3_vl_moe", "Qwen3-VL-30B-A3B", 30'532'122'624},
    {"roberta", "roberta-base for masked tokens", 124'697'433},
    // 2 x 155136 x 5120; 64 layers of 2 x 5120 x (10240 + 1024) + 10240 + 2 x 1024 + 3 x 5120 x 27648 and two norms; a norm
    {"seed_oss", "Seed-OSS-36B", 36'151'104'512},
    // 128256 x 2048, tied; 36 layers of 2 x 2048 x (2048 + 512) + 3 x 2048 x 11008 and two norms; a norm
    {"smollm3", "SmolLM3-3B", 3'075'098'624},
    // 2 x 50304 x 2560; 32 layers of 4 x 2560^2 + 3 x 2560 x 6912 and two norms with shifts; another
    {"stablelm", "stablelm-3b-4e1t", 2'795'443'200},
    // 2 x 49152 x 6144; 40 layers of 2 x 6144 x (6144 + 512) + 8 x 6144^2, of 5 x 6144 + 1024 + 24576 biases and two norms with shifts;
    // another
    {"starcoder2", "starcoder2-15b", 15'957'889'024},
    {"t5", "t5-small", 60'506'624},
    {"vit", "vit-base-patch16-224", 86'567'656},
    // (250002 + 514 + 1) x 768 and a norm; 12 layers of 12 x 768^2 + 13 x 768; a head of 768^2 + 768, a norm and 250002 biases
    {"xlm-roberta", "xlm-roberta-base for masked words", 278'295'186},
};

class HuggingFaceConfig : public ::testing::TestWithParam<Released> {};

TEST_P(HuggingFaceConfig, GivesTheParametersOfTheReleasedWeights) {
    const Imported imported = import_family(GetParam().model_type);
    ASSERT_EQ(all_of(imported.problems), "");
    EXPECT_EQ(size_of(imported.workload).parameters, GetParam().parameters);
}

TEST_P(HuggingFaceConfig, IsWrittenAsAWorkloadThatReadsBackTheSame) { expect_reads_back(import_family(GetParam().model_type).workload); }

TEST_P(HuggingFaceConfig, StandsWhereAWorkloadFileMay) {
    Diagnostics diagnostics;
    const std::string path = SEXTANT_SOURCE_DIR "/tests/io/hf_configs/" + GetParam().model_type + ".json";
    const auto read = read_workload_file(JsonFile::load(path, diagnostics), find_workload);
    ASSERT_TRUE(read) << all_of(diagnostics.list());
    EXPECT_EQ(write_workload(*read), write_workload(import_family(GetParam().model_type).workload));
}

INSTANTIATE_TEST_SUITE_P(Families, HuggingFaceConfig, ::testing::ValuesIn(released));

TEST(HuggingFaceImport, EveryFamilyHasAReleasedModelAmongTheseTests) {
    std::vector<std::string> tested;
    for (const Released& r : released) tested.push_back(r.model_type);
    EXPECT_THAT(hf_model_types(), ::testing::ElementsAreArray(tested));
}

TEST(HuggingFaceImport, TheSequenceIsAsLongAsThePositionsUpToWhatIsUsual) {
    const Imported mistral = import_family("mistral");
    EXPECT_EQ(std::get<TransformerSpec>(mistral.workload.spec).seq_len, longest_usual_sequence);
    EXPECT_EQ(mistral.positions, 32768);
    const auto gpt2 = std::get<TransformerSpec>(import_family("gpt2").workload.spec);
    EXPECT_EQ(gpt2.seq_len, 1024);
    EXPECT_EQ(gpt2.max_positions, 1024) << "as many stay where a scenario shortens the sequence";
    EXPECT_EQ(import_family("vit").positions, 0);
    // 514 rows, the first two of which no token uses
    const auto roberta = std::get<TransformerSpec>(import_family("roberta").workload.spec);
    EXPECT_EQ(roberta.seq_len, 512);
    EXPECT_EQ(roberta.max_positions, 514);
}

TEST(HuggingFaceImport, TheSequenceIsAsLongAsItIsToldToBe) {
    EXPECT_EQ(std::get<TransformerSpec>(import_family("mistral", {}, 32768).workload.spec).seq_len, 32768);
    EXPECT_EQ(std::get<TransformerSpec>(import_family("llama", {}, 1'000'000).workload.spec).seq_len, 1'000'000);  // positions are computed
    // What is learned is a table, which stays.
    for (const char* type : {"gpt2", "opt", "bert"}) {
        const Imported whole = import_family(type), shorter = import_family(type, {}, 128);
        EXPECT_EQ(std::get<TransformerSpec>(shorter.workload.spec).seq_len, 128) << type;
        EXPECT_EQ(size_of(shorter.workload).parameters, size_of(whole.workload).parameters) << type;
    }
    EXPECT_THAT(all_of(import_family("gpt2", {}, 2048).problems), HasSubstr("table of 1024 positions"));
    EXPECT_THAT(all_of(import_family("vit", {}, 128).problems), HasSubstr("leave out --seq-len"));
}

TEST(HuggingFaceImport, LayersOfAHybridAreLettersOrWords) {
    const auto words = import_family("nemotron_h", {R"(layers_block_type=["mamba","moe","attention","mlp"])"}).workload.spec;
    EXPECT_EQ(std::get<TransformerSpec>(words).layer_pattern, "ME*-");
    EXPECT_EQ(std::get<TransformerSpec>(words).layers, 4);
}

TEST(HuggingFaceImport, ALayerOfQwen3NextIsTwoOfAHybrid) {
    const auto every_second = import_family("qwen3_next", {"num_hidden_layers=4", "full_attention_interval=2"}).workload.spec;
    EXPECT_EQ(std::get<TransformerSpec>(every_second).layer_pattern, "GE*EGE*E");
    EXPECT_EQ(std::get<TransformerSpec>(every_second).layers, 8);
}

TEST(HuggingFaceImport, WhatAFamilyHasBeyondTheWorkloadIsNamed) {
    EXPECT_THAT(import_family("gpt_oss").workload.source, HasSubstr("sinks of attention"));
}

TransformerSpec spec_of_family(std::string_view type, const std::vector<std::string>& assignments = {}) {
    const Imported imported = import_family(type, assignments);
    EXPECT_EQ(all_of(imported.problems), "");
    return std::get<TransformerSpec>(imported.workload.spec);
}

TEST(HuggingFaceImport, OfAModelThatSeesTheTextIsRead) {
    EXPECT_EQ(spec_of_family("mistral3").hidden, 5120);
    EXPECT_EQ(spec_of_family("mistral3", {"text_config.model_type=ministral3"}).hidden, 5120);
    EXPECT_THAT(all_of(import_family("mistral3", {"text_config.model_type=phi3"}).problems), HasSubstr("read by a \"phi3\""));
    EXPECT_THAT(import_family("llama4").workload.source, HasSubstr("what reads images"));
}

TEST(HuggingFaceImport, ExpertsOfLlama4StandInEveryNThLayer) {
    const TransformerSpec maverick = spec_of_family("llama4_text");
    EXPECT_EQ(maverick.ffn_hidden, 16384);
    EXPECT_EQ(maverick.moe->ffn_hidden, 8192);
    EXPECT_EQ(maverick.moe->shared_ffn_hidden, 8192);
    EXPECT_EQ(maverick.moe->every, 2);
    EXPECT_FALSE(maverick.qk_norm);
    EXPECT_THAT(all_of(import_family("llama4_text", {"moe_layers=[1,3]"}).problems), HasSubstr("every n-th"));
}

TEST(HuggingFaceImport, WindowsStandInAllLayersButEveryNTh) {
    const TransformerSpec gemma2 = spec_of_family("gemma2"), gemma3 = spec_of_family("gemma3_text"), cohere2 = spec_of_family("cohere2");
    EXPECT_EQ(gemma2.full_attention_every, 2);
    EXPECT_EQ(gemma3.full_attention_every, 6);
    EXPECT_EQ(gemma3.sliding_window, 512);
    EXPECT_EQ(cohere2.full_attention_every, 4);
    EXPECT_EQ(spec_of_family("olmo3").full_attention_every, 4);  // layer by layer
    EXPECT_EQ(spec_of_family("cohere2", {"sliding_window_pattern=2"}).full_attention_every, 2);
    EXPECT_EQ(spec_of_family("cohere2", {"_sliding_window_pattern=3"}).full_attention_every, 3);
    const std::string three = "num_hidden_layers=3";
    EXPECT_EQ(
        spec_of_family("gemma2", {three, R"(layer_types=["sliding_attention","sliding_attention","full_attention"])"}).full_attention_every,
        3);
    EXPECT_EQ(spec_of_family("gemma2", {three, R"(layer_types=["sliding_attention","sliding_attention","sliding_attention"])"})
                  .full_attention_every,
              0);
}

TEST(HuggingFaceImport, NormsStandWhereTheFamilyHasThem) {
    EXPECT_EQ(norm_placement_of(spec_of_family("glm")), NormPlacement::input);
    for (const char* type : {"gemma2", "gemma3_text", "glm4"}) EXPECT_EQ(spec_of_family(type).norm_placement, NormPlacement::both) << type;
    for (const char* type : {"olmo2", "olmo3"}) {
        EXPECT_EQ(spec_of_family(type).norm_placement, NormPlacement::output);
        EXPECT_TRUE(spec_of_family(type).qk_norm_whole);
    }
    EXPECT_FALSE(spec_of_family("gemma3_text").qk_norm_whole);
}

TEST(HuggingFaceImport, EncodersWithDecodersDifferInNormsAndPositions) {
    const TransformerSpec bart = spec_of_family("bart"), mbart = spec_of_family("mbart"), marian = spec_of_family("marian");
    EXPECT_EQ(bart.norm_placement, NormPlacement::sum);
    EXPECT_EQ(bart.max_positions, 1026);
    EXPECT_EQ(bart.seq_len, 1024);
    EXPECT_EQ(bart.embedding_norm, true);
    EXPECT_EQ(mbart.norm_placement, NormPlacement::input);
    EXPECT_EQ(marian.position, PositionKind::sinusoidal);
    EXPECT_EQ(marian.mlp, MlpKind::silu);
    EXPECT_EQ(spec_of_family("bart", {"decoder_layers=6"}).decoder_layers, 6);  // as in DistilBART
    EXPECT_THAT(all_of(import_family("marian", {}, 1024).problems), HasSubstr("table of 512 positions"));
}

// A query sees 64 keys on either side, and its own.
TEST(HuggingFaceImport, WindowsOfModernBertReachToBothSides) {
    const TransformerSpec spec = spec_of_family("modernbert");
    EXPECT_EQ(spec.sliding_window, 129);
    EXPECT_EQ(spec.full_attention_every, 3);
    EXPECT_EQ(spec.full_attention_offset, 0);
    const std::string three = "num_hidden_layers=3";
    const TransformerSpec listed =
        spec_of_family("modernbert", {three, R"(layer_types=["full_attention","sliding_attention","full_attention"])"});
    EXPECT_EQ(listed.full_attention_every, 2);
    EXPECT_EQ(listed.full_attention_offset, 0);
}

TEST(HuggingFaceImport, WhatAnEncoderIsTrainedForStandsInItsClass) {
    const auto head = [](const char* type, const std::string& name) {
        return spec_of_family(type, {"architectures=[\"" + name + "\"]", R"(id2label={"0":"O","1":"B","2":"I"})"});
    };
    const TransformerSpec words = head("bert", "BertForTokenClassification");
    EXPECT_EQ(words.head, HeadKind::token_classifier);
    EXPECT_EQ(words.classes, 3);
    EXPECT_FALSE(words.pooler);
    EXPECT_EQ(head("modernbert", "ModernBertForSequenceClassification").head, HeadKind::classifier);
    EXPECT_TRUE(spec_of_family("electra").pooler);
    EXPECT_EQ(head("electra", "ElectraForMaskedLM").head, HeadKind::masked_lm_nsp);
    EXPECT_FALSE(head("electra", "ElectraForTokenClassification").pooler);
}

// Its embeddings have 128 columns, its layers 256: 13,483,008, and a head of 256^2 + 256 + 257 with a second output.
TEST(HuggingFaceImport, ElectraHasEmbeddingsOfTheirOwnWidth) {
    const std::vector<std::string> small{"embedding_size=128", "hidden_size=256", "intermediate_size=1024", "num_attention_heads=4",
                                         "num_hidden_layers=12"};
    EXPECT_EQ(size_of(import_family("electra", small).workload).parameters, 13'483'008 + 256 * 256 + 256 + 2 * 257);
}

// 102400 x 5120 twice; 64 layers of 2 x 5120 x (5120 + 1024) + 3 x 5120 x 27392, two norms and two gains of heads of 128; a norm
TEST(HuggingFaceImport, ExaoneNamesItsWindowsByLetters) {
    const Imported large = import_family(
        "exaone4", {"hidden_size=5120", "num_hidden_layers=64", "num_attention_heads=40", "head_dim=128", "intermediate_size=27392",
                    "tie_word_embeddings=false", "sliding_window=4096", "sliding_window_pattern=\"LLLG\"", "layer_types=null"});
    EXPECT_EQ(size_of(large.workload).parameters, 32'003'216'384);
    EXPECT_EQ(std::get<TransformerSpec>(large.workload.spec).full_attention_every, 4);
}

TEST(HuggingFaceImport, ALayerOfGraniteHybridsIsTwoOfAHybrid) {
    const TransformerSpec dense = spec_of_family("granitemoehybrid", {"num_local_experts=0", "position_embedding_type=\"rope\"",
                                                                      "num_hidden_layers=2", R"(layer_types=["mamba","attention"])"});
    EXPECT_EQ(dense.layer_pattern, "M-*-");
    EXPECT_EQ(dense.layers, 4);
    EXPECT_EQ(dense.ffn_hidden, 1024);
    EXPECT_EQ(dense.position, PositionKind::rotary);
    EXPECT_FALSE(dense.moe);
    EXPECT_EQ(spec_of_family("qwen3_5_text", {"num_hidden_layers=4"}).layer_pattern, "G-G-G-*-");
}

TEST(HuggingFaceImport, AFamilyThatNoWorkloadDescribesIsToldWhyAndWhatIsNearest) {
    const std::vector<std::string_view> read = hf_model_types();
    for (const OtherHfFamily& other : other_hf_families()) {
        EXPECT_THAT(read, ::testing::Not(::testing::Contains(other.model_type)));
        EXPECT_THAT(read, ::testing::Contains(other.nearest)) << other.model_type;
    }
    EXPECT_THAT(all_of(import_family("bert", {"model_type=deberta-v2"}).problems),
                ::testing::AllOf(HasSubstr("contents and distances"), HasSubstr("nearest is model_type \"bert\"")));
}

TEST(HuggingFaceImport, AttentionAndMlpStandSideBySideWhereTheFamilyHasThemSo) {
    for (const char* type : {"cohere", "cohere2", "falcon", "gptj", "phi"}) {
        EXPECT_TRUE(spec_of_family(type).parallel_residual) << type;
        EXPECT_TRUE(spec_of_family(type).shared_norm) << type;
    }
    EXPECT_TRUE(spec_of_family("gpt_neox").parallel_residual);
    EXPECT_FALSE(spec_of_family("gpt_neox").shared_norm);
    EXPECT_FALSE(spec_of_family("gpt_neox", {"use_parallel_residual=false"}).parallel_residual);
    EXPECT_FALSE(spec_of_family("stablelm").parallel_residual);
    EXPECT_TRUE(spec_of_family("stablelm", {"use_parallel_residual=true"}).shared_norm);
}

// Falcon 40B: 65024 x 8192, tied; 60 layers of 8192 x (8192 + 2 x 8 x 64) + 8192^2 + 8 x 8192^2 and two norms with shifts; another. 11B has
// one norm a layer. Falcon-RW 1B is what Falcon was before: 50304 x 2048, tied; 24 layers of 12 x 2048^2 + 13 x 2048; a norm; ALiBi.
TEST(HuggingFaceImport, FalconIsReadInEachOfItsArchitectures) {
    const std::vector<std::string> large{"hidden_size=8192", "num_attention_heads=128", "num_hidden_layers=60", "num_kv_heads=8",
                                         "new_decoder_architecture=true"};
    const Imported falcon_40b = import_family("falcon", large);
    EXPECT_EQ(size_of(falcon_40b.workload).parameters, 41'303'293'952);
    EXPECT_FALSE(std::get<TransformerSpec>(falcon_40b.workload.spec).shared_norm);
    std::vector<std::string> one_norm = large;
    one_norm.emplace_back("num_ln_in_parallel_attn=1");
    EXPECT_EQ(size_of(import_family("falcon", one_norm).workload).parameters, 41'303'293'952 - 60 * 2 * 8192);
    const Imported rw = import_family("falcon", {"hidden_size=2048", "num_attention_heads=32", "num_hidden_layers=24", "vocab_size=50304",
                                                 "multi_query=false", "parallel_attn=false", "bias=true", "alibi=true"});
    EXPECT_EQ(size_of(rw.workload).parameters, 1'311'625'216);
    EXPECT_EQ(std::get<TransformerSpec>(rw.workload.spec).position, PositionKind::alibi);
    EXPECT_FALSE(std::get<TransformerSpec>(rw.workload.spec).parallel_residual);
}

TEST(HuggingFaceImport, WhatAConfigLeavesOutOrStatesAsNullIsAsTheFamilyHasIt) {
    for (const char* type : {"llama", "mistral", "phi3", "granite", "internlm2", "olmo2", "stablelm"}) {
        const TransformerSpec spec = spec_of_family(
            type, {"num_key_value_heads=null", "head_dim=null", "rope_scaling=null", "sliding_window=null", "tie_word_embeddings=null"});
        EXPECT_EQ(spec.kv_heads, spec.heads) << type;
        EXPECT_EQ(spec.head_dim, 0) << type;
        EXPECT_EQ(spec.sliding_window, 0) << type;
        EXPECT_FALSE(spec.tied_embeddings) << type;
    }
    for (const char* type : {"cohere", "falcon", "gemma", "gemma2", "gemma3_text", "smollm3", "starcoder2"})
        EXPECT_TRUE(spec_of_family(type, {"tie_word_embeddings=null"}).tied_embeddings) << type;
    EXPECT_EQ(spec_of_family("gemma2").logit_softcap, 30);
    EXPECT_EQ(spec_of_family("gemma2", {"final_logit_softcapping=null"}).logit_softcap, 0);
    EXPECT_TRUE(spec_of_family("starcoder2").dropout);
    EXPECT_FALSE(spec_of_family("starcoder2", {"residual_dropout=0"}).dropout);
}

// What configs mean by null where transformers assumes a window.
TEST(HuggingFaceImport, AWindowThatIsNullIsNoneAndOneThatIsNotStatedTheFamilys) {
    const auto window = [](const std::string& stated) {
        Diagnostics diagnostics;
        const std::string text = R"({"model_type": "gemma3_text")" + stated + "}";
        return std::get<TransformerSpec>(import_hf_config(JsonFile::from_text(text, "config.json", diagnostics)).workload.spec)
            .sliding_window;
    };
    EXPECT_EQ(window(""), 4096);
    EXPECT_EQ(window(R"(, "sliding_window": 1024)"), 1024);
    EXPECT_EQ(window(R"(, "sliding_window": null)"), 0);
}

struct Broken {
    std::string what, model_type;
    std::vector<std::string> assignments;
    std::string pointer, fragment;
};
void PrintTo(const Broken& b, std::ostream* out) { *out << b.what; }

class BrokenConfig : public ::testing::TestWithParam<Broken> {};

TEST_P(BrokenConfig, HasOneProblemWithItsPlaceAndReason) {
    const Broken& b = GetParam();
    const auto problems = import_family(b.model_type, b.assignments).problems;
    ASSERT_EQ(problems.size(), 1u) << all_of(problems);
    EXPECT_EQ(problems[0].pointer, b.pointer);
    EXPECT_THAT(to_text(problems[0]), HasSubstr(b.fragment));
}

INSTANTIATE_TEST_SUITE_P(
    Cases, BrokenConfig,
    ::testing::Values(
        Broken{"no type", "llama", {"model_type=null"}, "", "\"model_type\" is missing"},
        Broken{"unknown type", "llama", {"model_type=lama"}, "/model_type", "did you mean \"llama\"?"},
        Broken{
            "the supported types are listed", "llama", {"model_type=reformer"}, "/model_type", "deepseek_v3, distilbert, dots1, electra"},
        Broken{"missing size", "llama", {"hidden_size=null"}, "", "\"hidden_size\" is missing"},
        Broken{"text as size", "bert", {"hidden_size=\"768\""}, "/hidden_size", "expected a whole number"},
        Broken{"negative", "mixtral", {"num_local_experts=-8"}, "/num_local_experts", "must be at least 1"},
        Broken{"absurd", "gpt2", {"n_layer=1000000"}, "/n_layer", "must be at most 10000"},
        Broken{"half a head", "vit", {"num_attention_heads=0.5"}, "/num_attention_heads", "must be at least 1"},
        Broken{"another activation", "llama", {"hidden_act=tanh"}, "/hidden_act", "\"tanh\" is not supported"},
        Broken{"half the biases", "llama", {"attention_bias=true"}, "/attention_bias", "one half of a layer"},
        Broken{"narrow embeddings", "opt", {"word_embed_proj_dim=512"}, "/word_embed_proj_dim", "narrower"},
        Broken{"half with other heads", "bart", {"decoder_attention_heads=8"}, "/decoder_attention_heads", "other than its encoder"},
        Broken{"norms in front in BART", "bart", {"normalize_before=true"}, "/normalize_before", "not supported when true"},
        Broken{"a layer of a third kind", "granitemoehybrid", {"layer_types=[\"conv\"]"}, "/layer_types", "no layer is called conv"},
        Broken{"experts that end", "ernie4_5_moe", {"moe_layer_end_index=9"}, "/moe_layer_end_index", "behind those that have them"},
        Broken{"a described but unsaid family", "vit", {"model_type=clip"}, "/model_type", "two towers"},
        Broken{"windows in other layers", "gpt_neo", {"attention_layers=[\"local\"]"}, "/attention_layers", "every second"},
        Broken{"other buckets", "t5", {"relative_attention_num_buckets=64"}, "/relative_attention_num_buckets", "only 32"},
        Broken{"window of some layers", "qwen2", {"use_sliding_window=true"}, "/use_sliding_window", "not supported when true"},
        Broken{"norms of each head by itself", "cohere", {"use_qk_norm=true"}, "/use_qk_norm", "not supported when true"},
        Broken{"windows here and there",
               "gemma2",
               {"num_hidden_layers=3", "layer_types=[\"sliding_attention\",\"full_attention\",\"full_attention\"]"},
               "/layer_types",
               "every n-th"},
        Broken{"layers without a kind", "olmo3", {"num_hidden_layers=33"}, "/layer_types", "there are 32 kinds"},
        Broken{"a layer of another kind",
               "nemotron_h",
               {"layers_block_type=[\"mamba\",\"mlq\"]"},
               "/layers_block_type/1",
               "no layer is called mlq"},
        Broken{"nested value of another type", "mpt", {"attn_config.alibi=1"}, "/attn_config/alibi", "expected true or false"}));

TEST(HuggingFaceImport, AConfigInThePlaceOfAWorkloadFileHasTheProblemsOfAConfig) {
    Diagnostics diagnostics;
    const auto file = JsonFile::from_text(R"({"model_type": "lama"})", "config.json", diagnostics);
    EXPECT_FALSE(read_workload_file(file, find_workload));
    EXPECT_THAT(all_of(diagnostics.list()), HasSubstr("llama"));
    EXPECT_EQ(diagnostics.list().size(), 1U);
}

TEST(HuggingFaceImport, AllProblemsOfAConfigAreReportedAtOnce) {
    const auto problems = import_family("llama", {"hidden_size=-1", "num_hidden_layers=\"x\"", "vocab_size=null"}).problems;
    EXPECT_THAT(pointers_of(problems), ElementsAre("/num_hidden_layers", "/hidden_size", "")) << all_of(problems);
}

TEST(HuggingFaceImport, AListOrATruncatedTextIsOneProblem) {
    for (const char* text : {"[1, 2]", "{\"model_type\": \"gpt2\", "}) {
        Diagnostics diagnostics;
        EXPECT_EQ(import(JsonFile::from_text(text, "config.json", diagnostics), diagnostics).problems.size(), 1u) << text;
    }
}

}  // namespace
}  // namespace sextant::fixtures
