// Under which names the catalogue finds a network, and under which it finds none.
#include "model/workload/workload.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <ostream>

namespace sextant {
namespace {

std::string found(std::string_view name) {
    const auto workload = find_workload(name);
    return workload ? workload->name : "";
}

std::string with_separators(std::string name, char separator) {
    std::ranges::replace_if(
        name, [](char c) { return c == '-' || c == '_' || c == ' '; }, separator);
    return name;
}
std::string in_capitals(std::string name) {
    for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return name;
}

struct Spelling {
    const char *written, *listed;
};
void PrintTo(const Spelling& s, std::ostream* out) { *out << s.written; }

class NetworksAsPublicationsSpellThem : public testing::TestWithParam<Spelling> {};
TEST_P(NetworksAsPublicationsSpellThem, AreFound) { EXPECT_EQ(found(GetParam().written), GetParam().listed); }
constexpr Spelling spellings[] = {
    {"efficientnet-b0", "efficientnet_b0"},
    {"ConvNeXt-Tiny", "convnext_tiny"},
    {"VGG16_BN", "vgg16_bn"},
    {"ResNeXt50_32x4d", "resnext50_32x4d"},
    {"se-resnext101-32x4d", "seresnext101_32x4d"},
    {"mobilenetv2", "mobilenet_v2"},
    {"MobileNet v3 large", "mobilenet_v3_large"},
    {"resnet50_v1", "resnet50"},
    {"ResNet50 v1.5", "resnet50_v1.5"},
    {"ResNet-101 v1.5", "resnet101_v1.5"},
    {"Inception-v3", "inception_v3"},
    {"ViT-B/16", "vit-b16"},
    {"BERT-Large", "bert-large"},
    {"bert_large_squad", "bert-large-squad"},
    {"BERT large 340M", "bert-large"},
    {"GPT-3 175B", "gpt3-175b"},
    {"GPT2 1.5B", "gpt2-1.5b"},
    {"Kimi K2", "kimi-k2"},
    {"Kimi K2 1T", "kimi-k2"},
    {"Qwen3_Next_80B-A3B", "qwen3-next-80b-a3b"},
    {"Qwen3 Next 80B", "qwen3-next"},
    {"Qwen3 30B-A3B", "qwen3-30b-a3b"},
    {"NemotronH 56B", "nemotron-h-56b"},
    {"Nemotron_3_Nano", "Nemotron_3_Nano"},
    {"nemotron 3 nano 30b", "nemotron-3-nano-30b"},
    {"Llama 3 8B", "llama-3-8b"},
    {"Llama3.1-405B", "llama-3.1-405b"},
    {"Mixtral-8x7B-v0.1", "mixtral-8x7b"},
    {"DeepSeek V3", "deepseek-v3"},
    {"DeepSeek V3 671B", "deepseek-v3"},
    {"DeepSeek-R1 671B", "deepseek-r1"},
    {"GPT OSS 20B", "gpt-oss-20b"},
    {"meta-llama/Llama-2-7b-hf", "llama-2-7b"},
    {"meta-llama/Llama-3.1-8B-Instruct", "llama-3.1-8b"},
    {"mistralai/Mistral-7B-v0.1", "mistral-7b"},
    {"google/vit-base-patch16-224", "vit_base_patch16_224"},
    {"google-bert/bert-large-uncased", "bert-large"},
    {"google/gemma-2-9b-it", "gemma-2-9b"},
    {"tf_efficientnet_b0", "efficientnet_b0"},
    {"tv_resnet50", "resnet50"},
    {"resnet50.a1_in1k", "resnet50"},
    {"vit_base_patch16_224.augreg_in21k", "vit_base_patch16_224"},
    {"tf_efficientnet_b0_ns", "efficientnet_b0"},
    {"google/vit-large-patch16-224-in21k", "vit_large_patch16_224"},
    {"meta-llama/Meta-Llama-3.1-405B-Instruct", "llama-3.1-405b"},
    {"Mixer-B/16", "mixer-b/16"},
    {"google/flan-t5-xl", "flan-t5-xl"},
    {"ResNet50 v2", "resnet50_v2"},
    {"gluon_resnet50_v1b", "resnet50_v1b"},
    {"gluon_senet154", "senet154"},
    {"tf_efficientnet_b8_ap", "efficientnet_b8"},
    {"tf_efficientnetv2_s_in21ft1k", "efficientnet_v2_s"},
    {"CSPDarknet-53", "cspdarknet53"},
    {"RepVGG-B1g4", "repvgg_b1g4"},
    {"Inception-ResNet-v2", "inception_resnet_v2"},
};
INSTANTIATE_TEST_SUITE_P(Catalogue, NetworksAsPublicationsSpellThem, testing::ValuesIn(spellings));

class NamesOfNoBundledNetwork : public testing::TestWithParam<const char*> {};
TEST_P(NamesOfNoBundledNetwork, FindNoOther) { EXPECT_EQ(found(GetParam()), ""); }
// Other sizes; families; other generations; sizes that run into a generation; sizes that are not the network's.
INSTANTIATE_TEST_SUITE_P(Sizes, NamesOfNoBundledNetwork,
                         testing::Values("resnet500", "resnet5", "resnet-5-0", "vgg160", "vgg1", "llama-3-80b", "efficientnet_b9",
                                         "convnext_xxxlarge", "resnext101_32x48d", "vit_enormous_patch14_224", "Qwen3 235B-A3B",
                                         "meta-llama/Llama-2-8b-hf", "tv_resnet500", "a/b/", "-hf", "tf_", "resnet50.5", ".a1_in1k"));
INSTANTIATE_TEST_SUITE_P(Families, NamesOfNoBundledNetwork,
                         testing::Values("bert", "resnet", "vgg", "llama", "llama 3", "gpt3", "mixtral", "qwen3", "t5", "", "-", "v1",
                                         "7b"));
INSTANTIATE_TEST_SUITE_P(Generations, NamesOfNoBundledNetwork,
                         testing::Values("resnet50_v3", "efficientnetv2_b4", "hrnet_w18_small_v3", "mobilenet v4", "Mistral Small v1",
                                         "DeepSeekV4 Flash", "Nemotron_3_5_Lightning", "Kimi K2.5", "inception v5"));
INSTANTIATE_TEST_SUITE_P(Digits, NamesOfNoBundledNetwork,
                         testing::Values("llama 2.7b", "llama-27b", "llama-3-18b", "llama-318b", "gemma 2.2b", "qwen2-5-3b", "t53b",
                                         "phi-15", "resnext50-324d"));
INSTANTIATE_TEST_SUITE_P(WrongSizes, NamesOfNoBundledNetwork,
                         testing::Values("DeepSeek V3 16B", "Kimi K2 2T", "Kimi K2 1B", "gpt2 3b", "Nemotron 3 Nano 4B", "bert-large 1.3B",
                                         "resnet50 50m", "vit-b16 0m", "deepseek-v3 b", "deepseek-v3 1.2.3t"));

// Of each network: in capitals, with other separators, and as reports call it.
TEST(Names, DifferInNothingThatIsNoLetterOrDigit) {
    std::vector<std::string> names = workload_names(), aliases = workload_aliases();
    names.insert(names.end(), aliases.begin(), aliases.end());
    for (const std::string& name : names) {
        EXPECT_EQ(found(name), name);
        const Workload exactly = *find_workload(name);
        for (const std::string& written : {in_capitals(name), with_separators(name, ' '), with_separators(name, '_'), exactly.title}) {
            const auto workload = find_workload(written);
            ASSERT_TRUE(workload) << written;
            if (workload->name == name) continue;
            const WorkloadSize size = size_of(*workload), same = size_of(exactly);  // as inceptionv3 is inception_v3
            EXPECT_EQ(size.parameters, same.parameters) << written;
            EXPECT_EQ(size.forward, same.forward) << written;
        }
    }
}

}  // namespace
}  // namespace sextant
