#include "model/io/scenario/hf_import.hpp"

#include "model/io/scenario/peft_import.hpp"
#include "model/io/scenario/workload_reader.hpp"
#include "model/io/scenario/workload_writer.hpp"
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
};

Imported import(JsonFile file, Diagnostics& diagnostics, const std::vector<std::string>& assignments = {}) {
    for (const std::string& assignment : assignments) file.set(assignment);
    Workload workload = import_hf_config(file);
    return {std::move(workload), diagnostics.list()};
}

Imported import_family(std::string_view type, const std::vector<std::string>& assignments = {}) {
    Diagnostics diagnostics;
    const std::string path = SEXTANT_SOURCE_DIR "/tests/io/hf_configs/" + std::string(type) + ".json";
    return import(JsonFile::load(path, diagnostics), diagnostics, assignments);
}

// A released model of each family, and its parameters as its weights have them.
struct Released {
    std::string model_type, name;
    double parameters;
};
void PrintTo(const Released& r, std::ostream* out) { *out << r.name; }

const Released released[] = {
    {"bert", "bert-base-uncased for pre-training", 110'106'428},
    {"bloom", "bloom-560m", 559'214'592},
    {"deepseek_v2", "DeepSeek-V2-Lite", 15'706'484'224},
    // 671,026,419,200 of the main model, and of the multi-token prediction module what it does not share: a layer of 11,507,286,272
    // (attention 187,107,328; 256 experts of 3 x 7168 x 2048; one shared; router and its bias 1,835,264; two norms),
    // the projection 2 x 7168 x 7168, three norms of 7168.
    {"deepseek_v3", "DeepSeek-V3", 671'026'419'200 + 11'507'286'272 + 2.0 * 7168 * 7168 + 3 * 7168},
    {"gemma", "gemma-2b", 2'506'172'416},
    {"gpt2", "gpt2", 124'439'808},
    {"gpt_neox", "pythia-160m", 162'322'944},
    // 20,914,757,184, of which the sinks of attention, 24 layers x 64 heads, and the router's biases, 24 x 32, are left out
    {"gpt_oss", "gpt-oss-20b", 20'914'757'184 - 24 * 64 - 24 * 32},
    {"llama", "Llama-3.1-8B", 8'030'261'248},
    {"mamba2", "mamba2-2.7b", 2'702'599'680},
    {"mistral", "Mistral-7B-v0.1", 7'241'732'096},
    {"mixtral", "Mixtral-8x7B-v0.1", 46'702'792'704},
    {"mpt", "mpt-7b", 6'649'286'656},
    // beside these, the biases by which routers choose: 23 layers x 128
    {"nemotron_h", "Nemotron-3-Nano-30B-A3B", 31'577'937'344 + 23 * 128},
    {"opt", "opt-125m", 125'239'296},
    {"phi3", "Phi-3-mini-4k", 3'821'079'552},
    {"qwen2", "Qwen2.5-7B", 7'615'616'512},
    {"qwen2_moe", "Qwen1.5-MoE-A2.7B", 14'315'784'192},
    {"qwen3", "Qwen3-8B", 8'190'735'360},
    {"qwen3_moe", "Qwen3-30B-A3B", 30'532'122'624},
    {"qwen3_next", "Qwen3-Next-80B-A3B", 79'674'391'296},
    {"roberta", "roberta-base for masked tokens", 124'697'433},
    {"t5", "t5-small", 60'506'624},
    {"vit", "vit-base-patch16-224", 86'567'656},
};

class HuggingFaceConfig : public ::testing::TestWithParam<Released> {};

TEST_P(HuggingFaceConfig, gives_the_parameters_of_the_released_weights) {
    const Imported imported = import_family(GetParam().model_type);
    ASSERT_EQ(all_of(imported.problems), "");
    EXPECT_EQ(size_of(imported.workload).parameters, GetParam().parameters);
}

TEST_P(HuggingFaceConfig, is_written_as_a_workload_that_reads_back_the_same) {
    const Imported imported = import_family(GetParam().model_type);
    const std::string written = write_workload(imported.workload);
    Diagnostics diagnostics;
    const auto read = read_workload_file(JsonFile::from_text(written, "written.json", diagnostics), find_workload);
    ASSERT_TRUE(read) << all_of(diagnostics.list());
    EXPECT_EQ(write_workload(*read), written);
    EXPECT_EQ(size_of(*read).parameters, size_of(imported.workload).parameters);
    EXPECT_EQ(size_of(*read).forward, size_of(imported.workload).forward);
}

INSTANTIATE_TEST_SUITE_P(families, HuggingFaceConfig, ::testing::ValuesIn(released));

TEST(HuggingFaceImport, every_family_has_a_released_model_among_these_tests) {
    std::vector<std::string> tested;
    for (const Released& r : released) tested.push_back(r.model_type);
    EXPECT_THAT(hf_model_types(), ::testing::ElementsAreArray(tested));
}

TEST(HuggingFaceImport, the_sequence_is_as_long_as_the_positions) {
    EXPECT_EQ(std::get<TransformerSpec>(import_family("mistral").workload.spec).seq_len, 32768);
    // 514 rows, the first two of which no token uses
    const auto roberta = std::get<TransformerSpec>(import_family("roberta").workload.spec);
    EXPECT_EQ(roberta.seq_len, 512);
    EXPECT_EQ(roberta.max_positions, 514);
}

TEST(HuggingFaceImport, layers_of_a_hybrid_are_letters_or_words) {
    const auto words = import_family("nemotron_h", {R"(layers_block_type=["mamba","moe","attention","mlp"])"}).workload.spec;
    EXPECT_EQ(std::get<TransformerSpec>(words).layer_pattern, "ME*-");
    EXPECT_EQ(std::get<TransformerSpec>(words).layers, 4);
}

TEST(HuggingFaceImport, a_layer_of_qwen3_next_is_two_of_a_hybrid) {
    const auto every_second = import_family("qwen3_next", {"num_hidden_layers=4", "full_attention_interval=2"}).workload.spec;
    EXPECT_EQ(std::get<TransformerSpec>(every_second).layer_pattern, "GE*EGE*E");
    EXPECT_EQ(std::get<TransformerSpec>(every_second).layers, 8);
}

TEST(HuggingFaceImport, what_a_family_has_beyond_the_workload_is_named) {
    EXPECT_THAT(import_family("gpt_oss").workload.source, HasSubstr("sinks of attention"));
}

struct Broken {
    std::string what, model_type;
    std::vector<std::string> assignments;
    std::string pointer, fragment;
};
void PrintTo(const Broken& b, std::ostream* out) { *out << b.what; }

class BrokenConfig : public ::testing::TestWithParam<Broken> {};

TEST_P(BrokenConfig, has_one_problem_with_its_place_and_reason) {
    const Broken& b = GetParam();
    const auto problems = import_family(b.model_type, b.assignments).problems;
    ASSERT_EQ(problems.size(), 1u) << all_of(problems);
    EXPECT_EQ(problems[0].pointer, b.pointer);
    EXPECT_THAT(to_text(problems[0]), HasSubstr(b.fragment));
}

INSTANTIATE_TEST_SUITE_P(
    cases, BrokenConfig,
    ::testing::Values(
        Broken{"no type", "llama", {"model_type=null"}, "", "\"model_type\" is missing"},
        Broken{"unknown type", "llama", {"model_type=lama"}, "/model_type", "did you mean \"llama\"?"},
        Broken{"the supported types are listed", "llama", {"model_type=falcon"}, "/model_type", "deepseek_v3, gemma"},
        Broken{"missing size", "llama", {"hidden_size=null"}, "", "\"hidden_size\" is missing"},
        Broken{"text as size", "bert", {"hidden_size=\"768\""}, "/hidden_size", "expected a whole number"},
        Broken{"negative", "mixtral", {"num_local_experts=-8"}, "/num_local_experts", "must be at least 1"},
        Broken{"absurd", "gpt2", {"n_layer=1000000"}, "/n_layer", "must be at most 10000"},
        Broken{"half a head", "vit", {"num_attention_heads=0.5"}, "/num_attention_heads", "must be at least 1"},
        Broken{"another activation", "llama", {"hidden_act=tanh"}, "/hidden_act", "\"tanh\" is not supported"},
        Broken{"half the biases", "llama", {"attention_bias=true"}, "/attention_bias", "one half of a layer"},
        Broken{"narrow embeddings", "opt", {"word_embed_proj_dim=512"}, "/word_embed_proj_dim", "narrower"},
        Broken{"other buckets", "t5", {"relative_attention_num_buckets=64"}, "/relative_attention_num_buckets", "only 32"},
        Broken{"window of some layers", "qwen2", {"use_sliding_window=true"}, "/use_sliding_window", "not supported when true"},
        Broken{"a layer of another kind",
               "nemotron_h",
               {"layers_block_type=[\"mamba\",\"mlq\"]"},
               "/layers_block_type/1",
               "no layer is called mlq"},
        Broken{"nested value of another type", "mpt", {"attn_config.alibi=1"}, "/attn_config/alibi", "expected true or false"}));

TEST(HuggingFaceImport, all_problems_of_a_config_are_reported_at_once) {
    const auto problems = import_family("llama", {"hidden_size=-1", "num_hidden_layers=\"x\"", "vocab_size=null"}).problems;
    std::vector<std::string> pointers;
    for (const Diagnostic& d : problems) pointers.push_back(d.pointer);
    EXPECT_THAT(pointers, ElementsAre("/num_hidden_layers", "/hidden_size", "")) << all_of(problems);
}

TEST(HuggingFaceImport, a_list_or_a_truncated_text_is_one_problem) {
    for (const char* text : {"[1, 2]", "{\"model_type\": \"gpt2\", "}) {
        Diagnostics diagnostics;
        EXPECT_EQ(import(JsonFile::from_text(text, "config.json", diagnostics), diagnostics).problems.size(), 1u) << text;
    }
}

struct Adapted {
    std::optional<LowRankAdapters> adapters;
    std::vector<Diagnostic> problems;
};
Adapted import_adapters(std::string_view text) {
    Diagnostics diagnostics;
    Workload workload = import_family("llama").workload;
    import_peft_config(JsonFile::from_text(text, "adapter_config.json", diagnostics), workload);
    return {std::get<TransformerSpec>(workload.spec).adapters, diagnostics.list()};
}

TEST(PeftImport, gives_adapters_to_the_products_that_the_named_modules_are_parts_of) {
    const Adapted some = import_adapters(
        R"({"peft_type": "LORA", "r": 32, "lora_alpha": 64, "target_modules": ["v_proj", "model.layers.0.self_attn.q_proj", "down_proj"],
            "lora_dropout": 0.05})");
    EXPECT_TRUE(some.problems.empty()) << all_of(some.problems);
    EXPECT_EQ(some.adapters, (LowRankAdapters{.rank = 32, .alpha = 64, .proj = false, .fc1 = false}));
    const Adapted all = import_adapters(R"({"peft_type": "LORA", "target_modules": "all-linear"})");
    EXPECT_EQ(all.adapters, LowRankAdapters{.rank = 8});
}

TEST(PeftImport, names_what_is_not_modelled) {
    const auto pointers = [](std::string_view text) {
        std::vector<std::string> found;
        for (const Diagnostic& d : import_adapters(text).problems) found.push_back(d.pointer);
        return found;
    };
    EXPECT_THAT(pointers(R"({"peft_type": "IA3", "r": 0, "target_modules": ["q_proj", "lm_head", 5]})"),
                ElementsAre("/peft_type", "/r", "/target_modules/1", "/target_modules/2"));
    EXPECT_THAT(pointers(R"({"peft_type": "LORA", "target_modules": ".*self_attn.*"})"), ElementsAre("/target_modules"));
    EXPECT_THAT(pointers("{}"), ElementsAre("", ""));
    EXPECT_THAT(pointers("[]"), ElementsAre(""));
}

TEST(PeftImport, is_read_back_from_what_is_written) {
    Workload workload = import_family("llama").workload;
    std::get<TransformerSpec>(workload.spec).adapters = LowRankAdapters{.rank = 4, .alpha = 8, .qkv = false};
    const std::string written = write_workload(workload);
    Diagnostics diagnostics;
    const auto read = read_workload_file(JsonFile::from_text(written, "written.json", diagnostics), find_workload);
    ASSERT_TRUE(read) << all_of(diagnostics.list());
    EXPECT_EQ(std::get<TransformerSpec>(read->spec).adapters, std::get<TransformerSpec>(workload.spec).adapters);
}

TEST(WorkloadWriter, networks_without_attention_read_back_the_same) {
    ChainSpec chain;
    chain.input_shape = {3, 32, 32};
    using Kind = ChainLayer::Kind;
    for (const Kind kind :
         {Kind::conv, Kind::norm, Kind::activation, Kind::residual_begin, Kind::residual_end, Kind::pool, Kind::dropout, Kind::dense}) {
        ChainLayer& layer = chain.layers.emplace_back();
        layer.kind = kind;
        layer.width = 16;
        layer.kernel = layer.stride = 2;
        layer.bias = kind == Kind::dense;
    }
    for (const Workload& workload : {Workload{"own", "My own", chain, "me"}, Workload{"mlp", "MLP", MlpSpec{}, ""},
                                     Workload{"resnet18", "ResNet-18", ConvolutionalSpec{"resnet18", 96, 1, 10}, ""}}) {
        const std::string written = write_workload(workload);
        Diagnostics diagnostics;
        const auto read = read_workload_file(JsonFile::from_text(written, "written.json", diagnostics), find_workload);
        ASSERT_TRUE(read) << all_of(diagnostics.list());
        EXPECT_EQ(write_workload(*read), written);
        EXPECT_EQ(size_of(*read).parameters, size_of(workload).parameters);
    }
}

TEST(WorkloadWriter, only_what_differs_from_the_assumed_is_written) {
    const std::string written = write_workload(import_family("gpt2").workload);
    EXPECT_THAT(written, HasSubstr("\"layers\": 12"));
    EXPECT_THAT(written, ::testing::Not(HasSubstr("patch_px")));
    EXPECT_THAT(written, ::testing::Not(HasSubstr("sliding_window")));
}

}  // namespace
}  // namespace sextant::fixtures
