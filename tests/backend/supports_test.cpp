#include "backend/exec/supports.hpp"

#include "model/sextant.hpp"
#include "tests/base/refusal.hpp"
#include "tests/golden/bundled_scenarios.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> refused(const std::vector<std::string>& overrides, const Abilities& engine = {}) {
    return pointers_of(unsupported(bundled_scenario("default", overrides), engine));
}

TEST(Supports, TheDefaultScenarioAndItsRelatives) {
    EXPECT_THAT(refused({}), IsEmpty());
    EXPECT_THAT(refused({"plan.dp=1", "plan.tp=2", "plan.sequence_parallel=true"}), IsEmpty());
    EXPECT_THAT(refused({"plan.dp=1", "plan.cp=2", "plan.data_parallel=zero1"}), IsEmpty());
    EXPECT_THAT(refused({"plan.dp=1", "plan.pp=2"}), IsEmpty());
    EXPECT_THAT(refused({"plan.dp=1", "plan.pp=2", "plan.schedule=zero_bubble"}), IsEmpty());
    EXPECT_THAT(refused({"plan.data_parallel=zero2"}), IsEmpty());
    EXPECT_THAT(refused({"plan.data_parallel=zero3"}), IsEmpty()) << "its embeddings are tied";
    EXPECT_THAT(refused({"plan.precision=bf16"}), IsEmpty());
    EXPECT_THAT(refused({"plan.data_parallel=zero1", "plan.optimizer=lamb"}), IsEmpty());
    EXPECT_THAT(refused({"plan.data_parallel=zero1", "plan.optimizer=lion"}), IsEmpty());
    EXPECT_THAT(refused({"plan.precision=fp16", "plan.data_parallel=zero1"}), IsEmpty());
    EXPECT_THAT(refused({"plan.data_parallel=parameter_server", "plan.servers_on_workers=true"}), IsEmpty());
}

TEST(Supports, SaysOfEachThingThatDoesNotRunWhereItStands) {
    EXPECT_THAT(refused({"plan.precision=fp8"}), Contains("/plan/precision"));
    EXPECT_THAT(refused({"plan.precision=bf16", "framework=pytorch-ddp"}), Contains("/plan/precision")) << "it casts for each use";
    EXPECT_THAT(refused({"plan.data_parallel=parameter_server", "plan.servers_on_workers=true", "plan.optimizer=lamb"}),
                Contains("/plan/optimizer"));
    EXPECT_THAT(refused({"plan.optimizer=adafactor"}), ElementsAre("/plan/optimizer"));
    EXPECT_THAT(refused({"plan.optimizer=muon"}), ElementsAre("/plan/optimizer"));
    EXPECT_THAT(refused({"plan.optimizer=adamw_8bit"}), ElementsAre("/plan/optimizer"));
    EXPECT_THAT(refused({"plan.offload=optimizer"}), ElementsAre("/plan/offload")) << "cores have one memory";
    EXPECT_THAT(refused({"plan.offload_activations=true"}), ElementsAre("/plan/offload_activations"));
    EXPECT_THAT(refused({"framework=horovod-pytorch"}), Contains("/framework"));
    EXPECT_THAT(refused({"plan.cuda_graph=true"}), Contains("/plan/cuda_graph"));
    EXPECT_THAT(refused({"plan.frozen_batch_norm=true"}), Contains("/plan/frozen_batch_norm"));
    EXPECT_THAT(refused({"workload=swin_v2_t"}), Contains("/workload")) << "its scores are cosines";
    EXPECT_THAT(refused({R"(workload={"model": "swin_t", "image_px": 256})"}), Contains("/workload")) << "its last windows lack pixels";
    for (const char* network : {"swin_t", "shufflenet_v2_x1_0", "mixer_b16_224", "maxvit_t"})
        EXPECT_THAT(refused({std::string("workload=") + network}), IsEmpty()) << network;
    EXPECT_THAT(refused({"workload=resnetv2_50"}), IsEmpty());
    for (const char* network : {"convnextv2_atto",
                                "ecaresnet50d",
                                "resnetblur18",
                                "resnetv2_50x1_bit",
                                "nfnet_l0",
                                "res2net50_26w_4s",
                                "skresnet18",
                                "resnest14d",
                                "dpn68",
                                "mixnet_s",
                                "inception_next_atto",
                                "poolformer_s12",
                                "caformer_s18",
                                "resmlp_12_224",
                                "cait_xxs24_224",
                                "xcit_nano_12_p16_224",
                                "pit_ti_224",
                                "deit3_small_patch16_224",
                                "beit_base_patch16_224",
                                "eva02_tiny_patch14_224",
                                "vit_base_patch16_siglip_224"})
        EXPECT_THAT(refused({std::string("workload=") + network}), Contains("/workload")) << network << " has operators of another name";
    for (const char* network : {"mobilenetv4_conv_small", "lcnet_050", "hardcorenas_a", "fbnetv3_b", "efficientnetv2_rw_t", "regnetz_005",
                                "regnetv_040", "repvit_m0_9", "resnet50_gn", "resnetv2_50d"})
        EXPECT_THAT(refused({std::string("workload=") + network}), IsEmpty()) << network;
}

TEST(Supports, OffloadOfStatesAndParametersWhereADeviceHasMemoryOfItsOwn) {
    const Abilities gpu{.offloads = true};
    EXPECT_THAT(refused({"plan.offload=optimizer"}, gpu), IsEmpty());
    EXPECT_THAT(refused({"plan.offload=optimizer", "plan.data_parallel=zero3", "plan.precision=bf16"}, gpu), IsEmpty());
    const std::vector<std::string> parameters{"plan.offload=optimizer_and_parameters", "plan.data_parallel=zero3"};
    const auto with = [&](const std::string& more) { return std::vector{parameters[0], parameters[1], more}; };
    EXPECT_THAT(refused(parameters, gpu), IsEmpty());
    EXPECT_THAT(refused(with("plan.gather_overlap=true"), gpu), ElementsAre("/plan/gather_overlap"));
    EXPECT_THAT(refused(with("plan.optimizer=none"), gpu), ElementsAre("/plan/offload")) << "the host updates nothing";
    EXPECT_THAT(refused(with("plan.offload_activations=true"), gpu), ElementsAre("/plan/offload_activations"));
    EXPECT_THAT(refused({"plan.offload=optimizer", "plan.data_parallel=zero1", "framework=deepspeed-zero1"}, gpu), Contains("/framework"))
        << "its gradients go down behind their reduction";
}

TEST(Supports, RunsEveryCapacityOfExperts) {
    const std::string experts = R"(workload.transformer.moe={"experts": 4, "topk": 2, "ffn_hidden": 64, "capacity_factor": )";
    for (const char* capacity : {"0}", "0.5}", "1}", "2}"}) EXPECT_THAT(refused({experts + capacity}), IsEmpty());
}

TEST(Supports, NamesTheFieldOfThePlanThatAsksForIt) {
    const auto hint = [&](const std::vector<std::string>& overrides) {
        const std::vector<Diagnostic> all = unsupported(bundled_scenario("default", overrides));
        return all.size() == 1 ? all.front().hint : "";
    };
    EXPECT_EQ(hint({"plan.dp=1", "plan.tp=2", "plan.tensor_overlap=true"}), "\"tensor_overlap\": false");
    EXPECT_EQ(hint({"plan.precision=bf16", "plan.autocast=true"}), "\"autocast\": false");
}

// The modules share the embedding and the output matrix with the network, tied or not.
TEST(Supports, RunsModulesForMultiTokenPrediction) {
    const std::string modules = "workload.transformer.mtp_layers=1", untied = "workload.transformer.tied_embeddings=false";
    EXPECT_THAT(refused({modules}), IsEmpty());
    EXPECT_THAT(refused({modules, untied, "plan.data_parallel=zero1"}), IsEmpty());
    EXPECT_THAT(refused({modules, untied, "plan.data_parallel=zero3", "plan.pp=2", "plan.dp=1"}), IsEmpty());
    EXPECT_THAT(refused({modules, untied, "plan.data_parallel=zero3", "plan.dp=1", "plan.cp=2"}), IsEmpty());
    EXPECT_THAT(refused({untied, "plan.data_parallel=zero3"}), IsEmpty());
}

// Nobody sums the squares of heads that several ranks share out.
TEST(Supports, RunsNormsOfAllHeadsTogetherWhereTheyAreNotCut) {
    const std::string of = "workload.transformer.";
    EXPECT_THAT(refused({of + "qk_norm=true", of + "qk_norm_whole=true"}), IsEmpty());
    EXPECT_THAT(refused({of + "qk_norm=true", of + "qk_norm_whole=true", "plan.dp=1", "plan.tp=2"}), ElementsAre("/plan/tp"));
    EXPECT_THAT(refused({of + "qk_norm=true", "plan.dp=1", "plan.tp=2"}), IsEmpty());
}

// 1 x 15 x 33 elements are no four equal parts.
TEST(Supports, AsksThatABoundaryHasEqualParts) {
    const std::string of = "workload.transformer.", cut = R"(framework={"base": "sextant", "scatters_pipeline": true})";
    const std::vector<std::string> odd{of + "heads=4",    of + "head_dim=8",    of + "hidden=33",
                                       of + "seq_len=15", "plan.micro_batch=1", "plan.dp=1",
                                       "plan.tp=4",       "plan.pp=2",          "hardware.cluster=cpu-cluster"};
    EXPECT_THAT(refused(odd), IsEmpty());
    std::vector<std::string> in_parts = odd;
    in_parts.push_back(cut);
    EXPECT_THAT(refused(in_parts), ElementsAre("/plan/tp"));
    in_parts.push_back(of + "seq_len=16");
    EXPECT_THAT(refused(in_parts), IsEmpty());
}

TEST(Supports, AsksThatASequenceCanBeSharedOut) {
    const std::string of = "workload.transformer.";
    const std::vector<std::string> bert{"plan.dp=1", "plan.cp=2", of + "kind=encoder", of + "head=masked_lm_nsp"};
    const auto refused_with = [&](const std::vector<std::string>& more) {
        std::vector<std::string> all = bert;
        all.insert(all.end(), more.begin(), more.end());
        return refused(all);
    };
    EXPECT_THAT(refused_with({of + "predicted_tokens=8"}), IsEmpty());
    EXPECT_THAT(refused_with({of + "predicted_tokens=7"}), Contains("/plan/cp"));
    EXPECT_THAT(refused_with({of + "pooler=true"}), Contains("/plan/cp"));
    EXPECT_THAT(refused_with({of + "head=classifier"}), Contains("/plan/cp"));
    EXPECT_THAT(refused_with({of + "head=question_answering"}), Contains("/plan/cp"));
    EXPECT_THAT(refused({"plan.dp=1", "plan.cp=2", of + "kind=encoder_decoder"}), Contains("/plan/cp"));
}

// The last stage of a ResNet has one pixel of a small image: of one image, its norms would make zero.
TEST(Supports, AsksForMoreThanOneValueToNormalizeABatchBy) {
    const std::string images = R"(workload={"model": "resnet18", "image_px": 32})";
    EXPECT_THAT(refused({images, "plan.micro_batch=1"}), ElementsAre("/workload"));
    EXPECT_THAT(refused({images, "plan.micro_batch=2"}), IsEmpty());
    EXPECT_THAT(refused({R"(workload={"model": "resnet18", "image_px": 64})", "plan.micro_batch=1"}), IsEmpty());
}

TEST(Supports, RunsExpertsOnCores) { EXPECT_THAT(unsupported(bundled_scenario("experts-on-cores")), IsEmpty()); }

TEST(Supports, AsksTheEngineForGraphs) {
    const Scenario captured = bundled_scenario("default", {"plan.cuda_graph=true"});
    EXPECT_THAT(unsupported(captured), ElementsAre(testing::Field(&Diagnostic::pointer, "/plan/cuda_graph")));
    EXPECT_THAT(unsupported(captured, {.captures = true}), IsEmpty());
}

TEST(Supports, NamesAllReasonsAtOnce) {
    EXPECT_THAT(refused({"plan.precision=fp8", "plan.offload=optimizer", "plan.cuda_graph=true"}), testing::SizeIs(testing::Ge(3U)));
}

}  // namespace
}  // namespace sextant
