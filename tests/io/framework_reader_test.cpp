#include "model/io/profile/framework_reader.hpp"

#include "model/hardware/catalog.hpp"
#include "model/io/profile/framework_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

namespace sextant {
namespace {

using namespace units;
using testing::AllOf;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

const std::filesystem::path root = SEXTANT_SOURCE_DIR;

std::string texts(const Diagnostics& d) {
    std::string all;
    for (const Diagnostic& x : d.list()) all += to_text(x) + "\n";
    return all;
}

Framework bundled(std::string_view name) {
    Diagnostics d;
    Framework f = load_framework(name, root, d);
    EXPECT_TRUE(d.empty()) << texts(d);
    return f;
}

nlohmann::json bundled_json(const std::string& name) {
    return nlohmann::json::parse(std::ifstream(root / "frameworks" / (name + ".json")));
}

Framework read(const nlohmann::json& document, Diagnostics& d) {
    const JsonFile file = JsonFile::from_text(document.dump(), "mine.json", d);
    return read_framework(file.root());
}

auto problem(const char* pointer, const char* what) {
    return AllOf(Field(&Diagnostic::pointer, pointer), Field(&Diagnostic::what, HasSubstr(what)));
}

TEST(FrameworkReader, EveryBundledFrameworkLoadsUnderTheNameOfItsFile) {
    ASSERT_THAT(framework_names(root), SizeIs(testing::Ge(30u)));
    for (const std::string& name : framework_names(root)) EXPECT_EQ(bundled(name).name, name);
}

TEST(FrameworkReader, EveryBundledNumberStatesItsOwnKindAndSource) {
    for (const std::string& name : framework_names(root)) {
        const nlohmann::json document = bundled_json(name);
        int numbers = 0;
        for (const auto& [key, value] : document.items()) {
            constexpr const char* of_code[] = {"prefetch_blocks", "vocabulary_multiple", "head_chunks", "frozen_batch_norm_kernels",
                                               "products_of_pixels"};
            const bool counts = std::ranges::find(of_code, key) != std::end(of_code);
            EXPECT_FALSE(value.is_number() && !counts) << name << ": " << key << " is a bare number";
            if (!value.is_object()) continue;
            ++numbers;
            EXPECT_FALSE(value.value("source", "").empty()) << name << ": " << key;
            EXPECT_FALSE(value.value("kind", "").empty()) << name << ": " << key;
        }
        EXPECT_GE(numbers, 12) << name;
        EXPECT_FALSE(bundled(name).notes.empty()) << name;
        EXPECT_FALSE(bundled(name).source.empty()) << name;
    }
}

TEST(FrameworkReader, ANumberCalledEstimatedSaysThatItIsOursAndNoOtherDoes) {
    for (const std::string& name : framework_names(root)) {
        const nlohmann::json document = bundled_json(name);
        for (const auto& [key, value] : document.items()) {
            if (!value.is_object()) continue;
            const bool ours = value.at("source").get<std::string>().starts_with("ours: ");
            EXPECT_EQ(value.at("kind") == "estimated", ours) << name << ": " << key;
        }
    }
}

TEST(FrameworkReader, NoAliasStandsForTwoFrameworks) {
    std::map<std::string, std::string> owner;
    for (const std::string& name : framework_names(root)) owner[key_of(name)] = name;
    for (const std::string& name : framework_names(root))
        for (const Framework f = bundled(name); const std::string& alias : f.aliases) {
            const auto [it, fresh] = owner.emplace(key_of(alias), name);
            EXPECT_EQ(it->second, name) << alias;
        }
}

TEST(FrameworkReader, CapitalsBlanksAndHyphensOfANameDoNotCount) {
    const std::map<std::string, std::string> said{{"Horovod", "horovod-pytorch"},
                                                  {"PyTorch + Horovod", "horovod-pytorch"},
                                                  {"tensorflow-horovod", "horovod-tf1"},
                                                  {"MirroredStrategy", "tf-mirrored"},
                                                  {"DDP", "pytorch-ddp"},
                                                  {"torch.distributed", "pytorch-ddp"},
                                                  {"PyTorch FSDP2", "pytorch-fsdp2"},
                                                  {"Megatron Core", "megatron-core"}};
    for (const auto& [words, name] : said) {
        Diagnostics problems;
        EXPECT_EQ(load_framework(words, root, problems).name, name) << words;
    }
}

TEST(FrameworkText, ShowsEveryNumberWithItsSource) {
    const std::string text = framework_to_text(root / "frameworks" / "pytorch-ddp.json");
    EXPECT_THAT(text, testing::HasSubstr("pytorch-ddp: PyTorch 2 DistributedDataParallel, eager\n"));
    EXPECT_THAT(text, testing::ContainsRegex("casts to tf32 +convolutions"));
    EXPECT_THAT(text, testing::ContainsRegex("dispatch +9 us +estimated \\[[0-9]+\\]"));
    EXPECT_THAT(text, testing::HasSubstr("ours: 4.5 us for an eager CPU add"));
}

TEST(FrameworkReader, TheWordsOfMeasuredRowsFindAFramework) {
    const std::map<std::string, std::string> families{{"megatron-lm", "megatron-lm-2021"},
                                                      {"megatron-deepspeed", "megatron-deepspeed"},
                                                      {"megatron-core", "megatron-core"},
                                                      {"pytorch-ddp", "pytorch-ddp"},
                                                      {"pytorch-fsdp", "pytorch-fsdp"},
                                                      {"deepspeed", "deepspeed"},
                                                      {"internevo", "internevo"},
                                                      {"llm.q", "llm-q"},
                                                      {"tensorflow", "tensorflow-1"},
                                                      {"mxnet", "mxnet"},
                                                      {"NeMo 24.07", "nemo"},
                                                      {"Megatron-LM v1.1 (Sep 2020)", "megatron-lm-2019"}};
    for (const auto& [word, name] : families) EXPECT_EQ(bundled(word).name, name) << word;
}

// max(40e6, 1e6 x ranks) parameters, FP32 gradients of 4 bytes: 160 MB, and 4 MB for each rank.
TEST(FrameworkReader, WorkedBucketOfMegatronCoreInBytes) {
    const Framework f = bundled("megatron-core");
    ASSERT_TRUE(f.bucket && f.bucket_per_rank);
    EXPECT_TRUE(f.gradients_in_fp32);
    EXPECT_DOUBLE_EQ(f.bucket->value / B, 40e6 * 4);
    EXPECT_DOUBLE_EQ(f.bucket_per_rank->value / B, 1e6 * 4);
    EXPECT_EQ(f.bucket->kind, SourceKind::published);
}

TEST(FrameworkReader, AFrameworkThatReducesEverythingAtOnceHasNoBucket) {
    EXPECT_FALSE(bundled("megatron-lm-2021").bucket);
    EXPECT_FALSE(bundled("megatron-lm-2021").overlaps_gradients);
    ASSERT_TRUE(bundled("pytorch-ddp").bucket);
    EXPECT_DOUBLE_EQ(bundled("pytorch-ddp").bucket->value / MiB, 25);
}

TEST(FrameworkReader, AnUnknownNameGetsTheNearestOneAsHint) {
    Diagnostics d;
    load_framework("megatron-ml-2021", root, d);
    ASSERT_THAT(d.list(), SizeIs(1));
    EXPECT_THAT(d.list()[0].what, HasSubstr("megatron-ml-2021"));
    EXPECT_THAT(d.list()[0].hint, HasSubstr("did you mean \"megatron-lm-2021\", "));
}

TEST(FrameworkReader, AnUnknownNameInADocumentIsReportedAtItsPlace) {
    Diagnostics d;
    const JsonFile scenario = JsonFile::from_text(R"({"framework": "pytorch-dpd", "other": 7})", "s.json", d);
    load_framework(scenario.root().child("framework"), root);
    load_framework(scenario.root().child("other"), root);
    load_framework(scenario.root().child("absent"), root);
    EXPECT_THAT(d.list(), UnorderedElementsAre(problem("/framework", "pytorch-dpd"), problem("/other", "expected a text")));
    EXPECT_EQ(d.list()[0].file, "s.json");
}

TEST(FrameworkReader, AFolderWithoutFrameworksIsNoCrash) {
    Diagnostics d;
    EXPECT_THAT(framework_names(root / "nowhere"), IsEmpty());
    load_framework("pytorch-ddp", root / "nowhere", d);
    EXPECT_THAT(d.list(), SizeIs(1));
}

TEST(FrameworkReader, NamesThatLookLikePathsFindNothingOutsideTheFolder) {
    for (const char* name : {"../README", "", ".", "/etc/passwd", "../frameworks/pytorch-ddp"}) {
        Diagnostics d;
        load_framework(name, root, d);
        EXPECT_THAT(d.list(), SizeIs(1)) << name;
    }
}

TEST(FrameworkReader, APathLoadsSomebodysOwnFile) {
    const std::string path = testing::TempDir() + "/mine.json";
    nlohmann::json document = bundled_json("pytorch-ddp");
    document["name"] = "mine";
    std::ofstream(path) << document;
    Diagnostics d;
    EXPECT_EQ(load_framework(path, root, d).name, "mine");
    EXPECT_TRUE(d.empty()) << texts(d);
}

TEST(FrameworkReader, AMissingPathIsReportedWithItsName) {
    Diagnostics d;
    load_framework("no/such.json", root, d);
    EXPECT_THAT(d.list(), Contains(Field(&Diagnostic::file, "no/such.json")));
}

TEST(FrameworkReader, ANumberWithoutItsOwnSourceInheritsThatOfTheFile) {
    nlohmann::json document = bundled_json("pytorch-ddp");
    document["kind"] = "measured";
    document["source"] = "our cluster, March";
    document["dispatch"] = "7 us";
    Diagnostics d;
    const Framework f = read(document, d);
    EXPECT_TRUE(d.empty()) << texts(d);
    EXPECT_DOUBLE_EQ(f.dispatch.value / us, 7);
    EXPECT_EQ(f.dispatch.kind, SourceKind::measured);
    EXPECT_EQ(f.dispatch.source, "our cluster, March");
    EXPECT_EQ(f.backward_dispatch.kind, SourceKind::estimated);
}

TEST(FrameworkReader, ABadFileGetsAllItsProblemsAtOnce) {
    nlohmann::json document = bundled_json("pytorch-ddp");
    document["schema"] = "framework/9";
    document.erase("source");
    document.erase("overlaps_gradients");
    document.erase("fragmentation");
    document["dispatch"]["value"] = "2 ms";
    document["backward_dispatch"]["value"] = 6e-6;
    document["step_overhead"] = "1 ms";
    document["native_build"]["value"] = 0;
    document["overlap_slowdown"]["value"] = 0.9;
    document["tensor_overlap_fraction"]["value"] = 1.5;
    document["prefetch_blocks"] = -1;
    document["fusion"] = "xla";
    document["casts_each_use"] = "yes";
    document["bucket"]["kind"] = "guessed";
    document["buckets"] = "25 MB";
    Diagnostics d;
    read(document, d);
    EXPECT_THAT(d.list(),
                UnorderedElementsAre(problem("/schema", "framework/9"), problem("", "\"overlaps_gradients\" is missing"),
                                     problem("", "\"fragmentation\" is missing"), problem("/dispatch/value", "at most"),
                                     problem("/backward_dispatch/value", "unit missing"), problem("/step_overhead", "no source"),
                                     problem("/native_build/value", "at least"), problem("/overlap_slowdown/value", "at least 1"),
                                     problem("/tensor_overlap_fraction/value", "at most 1"), problem("/prefetch_blocks", "at least 0"),
                                     problem("/fusion", "xla"), problem("/casts_each_use", "expected true or false"),
                                     problem("/bucket/kind", "guessed"), problem("/buckets", "unknown key")))
        << texts(d);
}

TEST(FrameworkReader, ABucketPerRankNeedsASmallestBucket) {
    nlohmann::json document = bundled_json("megatron-core");
    document.erase("bucket");
    Diagnostics d;
    read(document, d);
    EXPECT_THAT(d.list(), Contains(problem("/bucket_per_rank", "without \"bucket\"")));
}

// Some eighty are known, which nobody reads through.
TEST(FrameworkReader, AnUnknownKeyGetsTheNearestOnesAsHint) {
    const auto hint_of = [](const char* key) {
        nlohmann::json document = bundled_json("pytorch-ddp");
        document[key] = true;
        Diagnostics d;
        read(document, d);
        return d.list().size() == 1 ? d.list().front().hint : texts(d);
    };
    EXPECT_THAT(hint_of("overlaps"), HasSubstr("did you mean \"overlaps_"));
    EXPECT_THAT(hint_of("xylophone"), AllOf(HasSubstr("is like it"), testing::Not(HasSubstr("clips_gradients"))));
}

TEST(FrameworkReader, ADocumentThatIsNoObjectIsOneProblem) {
    Diagnostics d;
    read(nlohmann::json::array({1, 2}), d);
    EXPECT_THAT(d.list(), SizeIs(1));
}

std::string overlaps_of(const Framework& f) {
    std::string all;
    const auto add = [&](bool yes, const char* what) {
        if (yes) all += (all.empty() ? "" : ", ") + std::string(what);
    };
    add(f.overlaps_gradients, "gradients");
    add(f.overlaps_parameter_gather, "gathers");
    add(f.overlaps_tensor, "tensor");
    add(f.overlaps_pipeline, "sends");
    return all.empty() ? "nothing" : all;
}

std::string fusion_of(const Framework& f) {
    return f.fusion == Fusion::none ? "none" : f.fusion == Fusion::pointwise ? "pointwise" : "compiler";
}

std::string unit_of(const Framework& f) {
    if (f.bucket) return f.bucket->value == 0 * B ? "each tensor" : to_text(f.bucket->value);
    return f.reshards_after_forward ? "each block" : "all at once";
}

std::string row_of(const Framework& f) {
    return "| `" + f.name + "` | " + f.title + " | " + to_text(f.dispatch.value) + ", " + to_text(f.backward_dispatch.value) + " | " +
           fusion_of(f) + " | " + overlaps_of(f) + " | " + unit_of(f) + " | " + f.library + " |";
}

Framework laid_over(const nlohmann::json& changes, Diagnostics& d) {
    const JsonFile file = JsonFile::from_text(changes.dump(), "scenario.json", d);
    return load_framework(file.root(), root);
}

TEST(FrameworkReader, WhatDiffersMayBeLaidOverABundledFramework) {
    Diagnostics d;
    const Framework f = laid_over({{"base", "pytorch-ddp"}, {"bucket", "1 MB"}, {"fusion", "compiler"}}, d);
    EXPECT_TRUE(d.empty()) << texts(d);
    ASSERT_TRUE(f.bucket);
    EXPECT_EQ(f.bucket->value, 1 * MB);
    EXPECT_EQ(f.bucket->kind, SourceKind::published);
    EXPECT_EQ(f.bucket->source, "the scenario");
    EXPECT_EQ(f.fusion, Fusion::compiler);
    EXPECT_EQ(f.name, "pytorch-ddp");
    EXPECT_EQ(f.dispatch.value, bundled("pytorch-ddp").dispatch.value);
    EXPECT_EQ(f.dispatch.source, bundled("pytorch-ddp").dispatch.source);
}

TEST(FrameworkReader, WhatIsLaidOverNamesItsBaseAndKnownFieldsOnly) {
    Diagnostics d;
    laid_over({{"bucket", "1 MB"}}, d);
    EXPECT_THAT(d.list(), Contains(problem("", "base")));
    Diagnostics other;
    laid_over({{"base", "pytorch-dpp"}, {"bukket", "1 MB"}, {"dispatch", "5"}}, other);
    EXPECT_THAT(other.list(), UnorderedElementsAre(problem("/base", "pytorch-dpp"), problem("/bukket", ""), problem("/dispatch", "")));
}

TEST(FrameworkDocument, ItsTableIsWhatTheFilesSay) {
    std::ostringstream page;
    page << std::ifstream(root / "docs/model/frameworks.md").rdbuf();
    const std::string table = page.str().substr(std::min(page.str().find("## Bundled frameworks"), page.str().size()));
    std::size_t rows = 0;
    for (auto at = table.find("\n| `"); at != std::string::npos; at = table.find("\n| `", at + 1)) ++rows;
    EXPECT_EQ(rows, framework_names(root).size());
    for (const std::string& name : framework_names(root))
        EXPECT_THAT(table, HasSubstr(row_of(bundled(name)) + "\n")) << "docs/model/frameworks.md, row of " << name;
}

}  // namespace
}  // namespace sextant
