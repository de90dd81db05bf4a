// What papers, released checkpoints and libraries state about the networks of the catalogue.
#include "tests/workload/network_sums.hpp"

#include <gtest/gtest.h>

#include <ostream>

namespace sextant {
namespace {

// Parameters to the unit. Source of each: the number of elements in the released checkpoint, tied matrices once; where none was released
// (GPT-3, Megatron) the paper rounds, and the formula of arXiv 2104.04473, equation 2, evaluated by hand stands here.
struct Parameters {
    const char* name;
    double count;
};
void PrintTo(const Parameters& p, std::ostream* out) { *out << p.name; }

constexpr Parameters exact[] = {
    {"gpt2", 124'439'808},
    {"distilgpt2", 81'912'576},
    {"gpt2-medium", 354'823'168},
    {"gpt2-large", 774'030'080},
    {"gpt2-xl", 1'557'611'200},
    // 96 (12 h^2 + 13 h) + (50257 + 2048) h + 2 h with h = 12288: 96 x 1,812,099,072 + 642,723,840 + 24,576
    {"gpt3-175b", 174'604'259'328},
    {"bloom-560m", 559'214'592},
    {"bloom-1b1", 1'065'314'304},
    {"bloom-1b7", 1'722'408'960},
    {"bloom-3b", 3'002'557'440},
    {"bloom-7b1", 7'069'016'064},
    {"bloom-176b", 176'247'271'424},
    // l (12 h^2 + 13 h) + (50272 + 2050) h + 2 h, tied: of the largest, 96 x 1,812,099,072 + 642,932,736 + 24,576
    {"opt-125m", 125'239'296},
    {"opt-1.3b", 1'315'758'080},
    {"opt-2.7b", 2'651'596'800},
    {"opt-6.7b", 6'658'473'984},
    {"opt-13b", 12'853'473'280},
    {"opt-30b", 29'974'540'288},
    {"opt-66b", 65'719'701'504},
    {"opt-175b", 174'604'468'224},
    {"gpt-neo-1.3b", 1'315'575'808},
    {"gpt-neo-2.7b", 2'651'307'520},
    {"gpt-j-6b", 6'050'882'784 - 28 * (16384 + 4096) - 50400},  // without biases of the MLP and of the output matrix
    {"gpt-neox-20b", 20'554'567'680},                           // arXiv 2204.06745, section 2.1
    // The table of github.com/EleutherAI/pythia.
    {"pythia-70m", 70'426'624},
    {"pythia-160m", 162'322'944},
    {"pythia-410m", 405'334'016},
    {"pythia-1b", 1'011'781'632},
    {"pythia-1.4b", 1'414'647'808},
    {"pythia-2.8b", 2'775'208'960},
    {"pythia-6.9b", 6'857'302'016},
    {"pythia-12b", 11'846'072'320},
    {"phi-1.5", 1'418'270'720 - 51200},  // without biases of the output matrix, likewise
    {"phi-2", 2'779'683'840 - 51200},
    {"mpt-7b", 6'649'286'656},
    {"mpt-30b", 29'957'200'896},
    {"llama-7b", 6'738'415'616},
    {"llama-13b", 13'015'864'320},
    {"llama-33b", 32'528'943'616},
    {"llama-65b", 65'285'660'672},
    {"llama-2-7b", 6'738'415'616},
    {"llama-2-13b", 13'015'864'320},
    {"llama-2-70b", 68'976'648'192},
    {"llama-3-8b", 8'030'261'248},
    {"llama-3-70b", 70'553'706'496},
    {"llama-3.1-405b", 405'853'388'800},
    {"llama-3.1-8b", 8'030'261'248},
    {"llama-3.3-70b", 70'553'706'496},
    {"llama-3.2-1b", 1'235'814'400},
    {"llama-3.2-3b", 3'212'749'824},
    // What reads text, by hand in hf_import_test.cpp; with what reads images 108.6 and 401.6 billion (huggingface.co/meta-llama).
    {"llama-4-scout", 107'769'861'120},
    {"llama-4-maverick", 400'711'848'960},
    {"codellama-7b", 6'738'546'688},
    {"codellama-13b", 13'016'028'160},
    {"codellama-34b", 33'743'970'304},
    // Llama 2's, with 16 more rows of 8192 in either matrix
    {"codellama-70b", 68'976'648'192 + 2 * 16 * 8192},
    {"tinyllama-1.1b", 1'100'048'384},
    {"yi-6b", 6'061'035'520},
    {"yi-9b", 8'829'407'232},
    {"yi-34b", 34'388'917'248},
    {"phi-3-mini", 3'821'079'552},
    {"phi-3-medium", 13'960'238'080},
    {"phi-4", 14'659'507'200},
    {"mistral-7b", 7'241'732'096},
    {"mistral-nemo-12b", 12'247'782'400},
    {"mistral-small-22b", 22'247'282'688},
    {"mistral-small-24b", 23'572'403'200},
    {"mixtral-8x7b", 46'702'792'704},
    {"mixtral-8x22b", 140'620'634'112},
    // without the sinks of attention, 64 a layer, and the biases of routers, one for each expert
    {"gpt-oss-20b", 20'914'757'184 - 24 * (64 + 32)},
    {"gpt-oss-120b", 116'829'156'672 - 36 * (64 + 128)},
    {"qwen2.5-0.5b", 494'032'768},
    {"qwen2.5-1.5b", 1'543'714'304},
    {"qwen2.5-3b", 3'085'938'688},
    {"qwen2.5-7b", 7'615'616'512},
    {"qwen2.5-14b", 14'770'033'664},
    {"qwen2.5-32b", 32'763'876'352},
    {"qwen2.5-72b", 72'706'203'648},
    {"qwen3-0.6b", 596'049'920},
    {"qwen3-1.7b", 1'720'574'976},
    {"qwen3-4b", 4'022'468'096},
    {"qwen3-8b", 8'190'735'360},
    {"qwen3-32b", 32'762'123'264},
    {"qwen3-30b-a3b", 30'532'122'624},
    {"qwen3-235b-a22b", 235'093'634'560},
    {"qwen3-next-80b-a3b", 79'674'391'296},  // without its multi-token prediction module
    {"gemma-2b", 2'506'172'416},
    {"gemma-7b", 8'537'680'896},
    {"gemma-2-2b", 2'614'341'888},
    {"gemma-2-9b", 9'241'705'984},
    {"gemma-2-27b", 27'227'128'320},
    {"gemma-3-1b", 999'885'952},
    // without what reads images, 416,866,032, and brings it to the width h, 1152 h + 1152
    {"gemma-3-4b", 4'300'079'472 - 416'866'032 - 1152 * (2560 + 1)},
    {"gemma-3-12b", 12'187'325'040 - 416'866'032 - 1152 * (3840 + 1)},
    {"gemma-3-27b", 27'009'346'304},
    {"olmo-2-7b", 7'298'617'344},
    {"olmo-2-13b", 13'716'198'400},
    {"glm-4-9b", 9'399'951'360},
    {"falcon-7b", 6'921'720'704},
    {"falcon-40b", 41'303'293'952},
    {"starcoder2-3b", 3'030'371'328},
    {"starcoder2-7b", 7'173'923'840},
    {"starcoder2-15b", 15'957'889'024},
    {"deepseek-v2-lite", 15'706'484'224},
    {"deepseek-v2", 235'741'434'880},
    {"deepseek-v3", 671'026'419'200},  // without its multi-token prediction module
    {"deepseek-r1", 671'026'419'200},  // likewise
    {"kimi-k2", 1'026'408'232'448},
    {"bert-base", 110'106'428},         // with both pretraining heads
    {"bert-large", 336'226'108},        // likewise
    {"bert-large-squad", 334'094'338},  // without pooler
    {"roberta-base", 124'697'433},      // with the head for masked words
    {"roberta-large", 355'412'057},     // likewise
    {"xlm-roberta-base", 278'295'186},  // likewise
    {"xlm-roberta-large", 560'142'482},
    {"distilbert-base", 66'985'530},  // likewise
    {"t5-small", 60'506'624},
    {"t5-base", 222'903'552},
    {"t5-large", 737'668'096},
    {"t5-3b", 2'851'598'336},
    {"t5-11b", 11'307'321'344},
    {"flan-t5-small", 76'961'152},
    {"flan-t5-base", 247'577'856},
    {"flan-t5-large", 783'150'080},
    {"flan-t5-xl", 2'849'757'184},
    {"flan-t5-xxl", 11'135'332'352},
    {"mt5-small", 300'176'768},
    {"mt5-base", 582'401'280},
    {"mt5-large", 1'229'581'312},
    {"mt5-xl", 3'742'619'648},
    {"mt5-xxl", 12'921'057'280},
    {"vit-ti16", 5'717'416},
    {"vit-s16", 22'050'664},
    {"vit-s32", 22'878'952},
    {"vit-b16", 86'567'656},
    {"vit-b32", 88'224'232},
    {"vit-l16", 304'326'632},
    {"vit-l32", 306'535'400},
    {"vit-h14", 632'045'800},
};

class ExactParameters : public testing::TestWithParam<Parameters> {};
TEST_P(ExactParameters, EqualThePublishedCount) { EXPECT_EQ(size_of(*find_workload(GetParam().name)).parameters, GetParam().count); }
INSTANTIATE_TEST_SUITE_P(Transformers, ExactParameters, testing::ValuesIn(exact));

// What papers round: the tolerance is half a unit of the last digit that they print.
struct Rounded {
    const char* name;
    double billions, half_digit;
};
void PrintTo(const Rounded& r, std::ostream* out) { *out << r.name; }

class RoundedParameters : public testing::TestWithParam<Rounded> {};
TEST_P(RoundedParameters, RoundToThePrintedFigure) {
    EXPECT_NEAR(size_of(*find_workload(GetParam().name)).parameters / 1e9, GetParam().billions, GetParam().half_digit);
}
// arXiv 1909.08053, table 1.
INSTANTIATE_TEST_SUITE_P(FirstMegatron, RoundedParameters,
                         testing::Values(Rounded{"megatron-1.2b", 1.2, 0.05}, Rounded{"megatron-2.5b", 2.5, 0.05},
                                         Rounded{"megatron-4.2b", 4.2, 0.05}, Rounded{"megatron-8.3b", 8.3, 0.05}));
// results/results-imagenet.csv of github.com/huggingface/pytorch-image-models, "param_count".
INSTANTIATE_TEST_SUITE_P(ImagesOfTimm, RoundedParameters,
                         testing::Values(Rounded{"vit-b8", 0.08658, 5e-6}, Rounded{"vit-l14", 0.30420, 5e-6},
                                         Rounded{"vit-g14", 1.01261, 5e-6}));
// arXiv 2104.04473, table 1.
INSTANTIATE_TEST_SUITE_P(Megatron, RoundedParameters,
                         testing::Values(Rounded{"megatron-1.7b", 1.7, 0.05}, Rounded{"megatron-3.6b", 3.6, 0.05},
                                         Rounded{"megatron-7.5b", 7.5, 0.05}, Rounded{"megatron-18b", 18.4, 0.05},
                                         Rounded{"megatron-39b", 39.1, 0.05}, Rounded{"megatron-76b", 76.1, 0.05},
                                         Rounded{"megatron-145b", 145.6, 0.05}, Rounded{"megatron-310b", 310.1, 0.05},
                                         Rounded{"megatron-530b", 529.6, 0.05}, Rounded{"megatron-1t", 1008.0, 0.05}));

class ActiveParameters : public testing::TestWithParam<Rounded> {};
TEST_P(ActiveParameters, RoundToThePrintedFigure) {
    EXPECT_NEAR(size_of(*find_workload(GetParam().name)).active_parameters / 1e9, GetParam().billions, GetParam().half_digit);
}
// arXiv 2401.04088, section 1 (13B); mistral.ai/news/mixtral-8x22b (39B). DeepSeek prints 21B (arXiv 2405.04434) and 37B (2412.19437),
// which leave the input embedding out (0.52B and 0.93B); here it is counted: 21.4 and 37.6.
INSTANTIATE_TEST_SUITE_P(Mixtures, ActiveParameters,
                         testing::Values(Rounded{"mixtral-8x7b", 13, 0.5}, Rounded{"mixtral-8x22b", 39, 0.5},
                                         Rounded{"deepseek-v2", 21, 0.5}, Rounded{"deepseek-v3", 37 + 0.93, 0.5}));
// ai.meta.com/blog/llama-4-multimodal-intelligence: 17 billion active parameters.
INSTANTIATE_TEST_SUITE_P(Llama4, ActiveParameters,
                         testing::Values(Rounded{"llama-4-scout", 17, 0.5}, Rounded{"llama-4-maverick", 17, 0.5}));
// moonshotai/Kimi-K2-Base, model summary (32B); arXiv 2508.10925, table 1 (3.61B and 5.13B). They leave the input embedding out, too.
INSTANTIATE_TEST_SUITE_P(OpenMixtures, ActiveParameters,
                         testing::Values(Rounded{"kimi-k2", 32 + 1.17, 0.5}, Rounded{"gpt-oss-20b", 3.61 + 0.579, 0.005},
                                         Rounded{"gpt-oss-120b", 5.13 + 0.579, 0.005}));

// Multiply-adds (1e9) of one image: "_ops" of the weights in torchvision/models/vision_transformer.py (github.com/pytorch/vision).
struct MultiplyAdds {
    const char* name;
    double billions;
};
void PrintTo(const MultiplyAdds& m, std::ostream* out) { *out << m.name; }

// As papers count: scores are written out, every query meets every key.
Flops forward_unmasked(const Workload& workload) {
    Shard whole;
    whole.flash_attention = false;
    return sum_forward_flops(build_network(workload, whole));
}

class ForwardFlops : public testing::TestWithParam<MultiplyAdds> {};
TEST_P(ForwardFlops, AreWithinOnePercentOfThePublishedFigure) {
    const double ours = forward_unmasked(*find_workload(GetParam().name)).si() / 2e9;
    EXPECT_NEAR(ours / GetParam().billions, 1, 0.01);
}
INSTANTIATE_TEST_SUITE_P(Vision, ForwardFlops,
                         testing::Values(MultiplyAdds{"vit-b16", 17.564}, MultiplyAdds{"vit-b32", 4.409}, MultiplyAdds{"vit-l16", 61.555},
                                         MultiplyAdds{"vit-l32", 15.378}, MultiplyAdds{"vit-h14", 167.295}));

TEST(ForwardFlops, OfTrainingGpt3AreWhatItsPaperStates) {
    // arXiv 2005.14165, table D.1: 3.14e23 FLOPs for 300e9 tokens, backward included, attention scores left out. Those are, per token and
    // layer, 4 s h forward.
    const double attention = 96 * 4 * 2048.0 * 12288;
    const double per_token = 3 * (forward_unmasked(*find_workload("gpt3-175b")).si() / 2048 - attention);
    EXPECT_NEAR(per_token * 300e9 / 3.14e23, 1, 0.01);
}

TEST(ForwardFlops, OfEveryMegatronSizeFollowTheFormulaOfItsPaper) {
    // arXiv 2104.04473, equation 3: with backward (twice forward) and the layers run once more, 96 B s l h^2 (1 + s / 6h + V / 16 l h).
    // Its first two terms are four passes over the layers, its last three over the head.
    for (const char* name : {"megatron-1.7b", "megatron-22b", "megatron-145b", "megatron-530b", "megatron-1t"}) {
        const Workload workload = *find_workload(name);
        const auto& spec = std::get<TransformerSpec>(workload.spec);
        const double s = 2048, l = static_cast<double>(spec.layers), h = static_cast<double>(spec.hidden), v = 51200;
        const double layers = 96 * s * l * h * h * (1 + s / (6 * h)), head = 96 * s * l * h * h * v / (16 * l * h);
        EXPECT_DOUBLE_EQ(forward_unmasked(workload).si(), layers / 4 + head / 3) << name;
    }
}

TEST(ForwardFlops, OfGatedGroupedQueryLayersByHand) {
    // Llama 3 8B, per token and layer, two FLOPs a multiply-add: Q and output 2 x 4096^2, K and V 2 x 4096 x 1024, MLP 3 x 4096 x 14336
    // = 33,554,432 + 8,388,608 + 176,160,768 = 218,103,808; scores and their product with V 2 x 8192 x 4096 = 67,108,864.
    // 32 layers and the head of 4096 x 128256 = 525,336,576.
    const double multiply_adds = 32.0 * (218'103'808 + 67'108'864) + 525'336'576;
    EXPECT_DOUBLE_EQ(forward_unmasked(*find_workload("llama-3-8b")).si(), 8192 * 2 * multiply_adds);
}

TEST(Catalogue, EveryNameIsANetworkThatCanBeBuilt) {
    for (const std::string& name : workload_names()) {
        const auto workload = find_workload(name);
        ASSERT_TRUE(workload) << name;
        EXPECT_EQ(workload->name, name);
        EXPECT_GT(size_of(*workload).parameters, 1e6) << name;
    }
    EXPECT_FALSE(find_workload("gpt5"));
}

TEST(Catalogue, NamesOfTheSameNetworkAreAliases) {
    for (const auto& [alias, name] : {std::pair{"vit_base_patch16_224", "vit-b16"},
                                      {"deit_tiny_patch16_224", "vit-ti16"},
                                      {"deit_small_patch16_224", "vit-s16"},
                                      {"deit_base_patch16_224", "vit-b16"}})
        EXPECT_EQ(size_of(*find_workload(alias)).parameters, size_of(*find_workload(name)).parameters) << alias;
    const Workload alias = *find_workload("llama-3.1-8b");
    EXPECT_EQ(alias.name, "llama-3.1-8b");
    EXPECT_EQ(size_of(alias).forward, size_of(*find_workload("llama-3-8b")).forward);
}

TEST(Workload, KnowsHowManyTokensASampleHas) {
    EXPECT_EQ(find_workload("llama-2-7b")->tokens_per_sample(), 4096);
    EXPECT_EQ(find_workload("t5-base")->tokens_per_sample(), 512 + 114);
    EXPECT_EQ(find_workload("vit-b16")->tokens_per_sample(), 0);
    EXPECT_EQ(find_workload("vit-b16")->sample_word(), "image");
    EXPECT_EQ(find_workload("gpt2")->sample_word(), "sequence");
}

}  // namespace
}  // namespace sextant
