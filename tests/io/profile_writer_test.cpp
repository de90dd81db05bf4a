#include "model/io/profile/profile_writer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <string>

namespace sextant {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

Catalog bundled_catalog() { return open_catalog(std::filesystem::path(SEXTANT_SOURCE_DIR) / "hardware_profiles"); }

std::string text_of_device(const std::string& name) {
    Catalog catalog = bundled_catalog();
    Diagnostics problems;
    const Device* d = find_device(catalog, name, problems);
    problems.throw_if_any();
    return profile_to_text(*d);
}

// Input, accumulator and TOP/s of an A100 as its datasheet and the SURF course state them.
TEST(ProfileText, GivesTheA100TableByInputAndAccumulator) {
    const std::string text = text_of_device("a100");
    EXPECT_THAT(text, ContainsRegex("fp64 +fp64 +tensor +19.5 "));
    EXPECT_THAT(text, ContainsRegex("tf32 +fp32 +tensor +156 "));
    EXPECT_THAT(text, ContainsRegex("fp16 +fp32 +tensor +312 "));
    EXPECT_THAT(text, ContainsRegex("fp16 +fp16 +tensor +312 "));
    EXPECT_THAT(text, ContainsRegex("bf16 +fp32 +tensor +312 "));
    EXPECT_THAT(text, ContainsRegex("int8 +int32 +tensor +624 "));
    EXPECT_THAT(text, ContainsRegex("int4 +int32 +tensor +1248 "));
    EXPECT_THAT(text, ContainsRegex("int1 +int32 +tensor +4992 "));
    EXPECT_THAT(text, HasSubstr("tensor cores do not take FP32"));
}

TEST(ProfileText, GivesTheCardsOfLisaAsTheCourseDoes) {
    EXPECT_THAT(text_of_device("gtx-1080ti"), ContainsRegex("fp32 +fp32 +vector +11.34 "));
    EXPECT_THAT(text_of_device("titan-rtx"), ContainsRegex("fp32 +fp32 +vector +16.31 "));
    EXPECT_THAT(text_of_device("titan-rtx"), ContainsRegex("fp16 +fp32 +tensor +130"));
}

TEST(ProfileText, KeepsTheLatencyTableAsPrintedAndMarksItsTwoErrata) {
    Catalog catalog = bundled_catalog();
    Diagnostics problems;
    const ReferenceLatencies table = load_reference_latencies(catalog, problems);
    problems.throw_if_any();
    ASSERT_EQ(table.rows.size(), 13U);
    for (const auto& row : table.rows) {
        // The columns agree when the time, at 4 GHz, is the number of instructions.
        const auto instructions = [&](Seconds t) { return t / (1.0 / table.cpu_clock); };
        const bool agree = std::abs(instructions(row.low) / row.instructions_low - 1) < 1e-9 &&
                           std::abs(instructions(row.high) / row.instructions_high - 1) < 1e-9;
        EXPECT_EQ(row.erratum.empty(), agree) << row.what;
    }
    const std::string text = profile_to_text(table);
    EXPECT_THAT(text, ContainsRegex("Fetch from L2 CPU cache +7 ns +14 "));
    EXPECT_THAT(text, HasSubstr("7 ns is 28 instructions at 4 GHz, not 14"));
    EXPECT_THAT(text, HasSubstr("40M to 160M instructions at 4 GHz, not 80-240M"));
}

// The model takes the profiles' numbers, not the table's. Both are of one size: the table tells of wires and of the best case, the
// profiles of what a copy takes (2 us over NVLink, whose wire has 0.3), of a read anywhere on a disk, half a turn included.
TEST(ProfileText, HoldsTheLatencyTableBesideWhatTheModelTakes) {
    Catalog catalog = bundled_catalog();
    Diagnostics problems;
    const auto link = [&](const char* name) { return find_link(catalog, name, problems)->latency.value; };
    const auto storage = [&](const char* name) -> const StorageClass& { return *find_storage(catalog, name, problems); };
    const std::map<std::string, Seconds> taken = {
        {"CPU => GPU latency (PCI)", link("PCIe gen3 x16")},
        {"GPU \u21d4 GPU latency (nvlink)", link("NVLink3")},
        {"Infiniband network latency", link("InfiniBand HDR 4x")},
        {"Ethernet network latency", link("Ethernet 10 GbE kernel TCP")},
        {"Seek time (nvme SSD)", storage("NVMe gen3 consumer (970 EVO)").seek_latency->value},
        {"Seek time (SSD)", storage("SATA SSD (Samsung 860 EVO class)").seek_latency->value},
        {"Seek time (hard disk)", storage("HDD 7200 rpm 4 TB (HGST 7K4000)").seek_latency->value},
        {"Network File System (NFS) response times", storage("NFS (SURF Lisa)").open_latency->value},
    };
    std::size_t held = 0;
    for (const auto& row : load_reference_latencies(catalog, problems).rows) {
        const auto here = taken.find(row.what);
        if (here == taken.end()) continue;
        ++held;
        EXPECT_GT(here->second, row.low / 7) << row.what;
        EXPECT_LT(here->second, 7 * row.high) << row.what;
    }
    problems.throw_if_any();
    EXPECT_EQ(held, taken.size());
}

TEST(ProfileText, ShowsWhatAClusterAssumes) {
    Catalog catalog = bundled_catalog();
    Diagnostics problems;
    const Cluster* c = find_cluster(catalog, "snellius-gcn", problems);
    ASSERT_NE(c, nullptr);
    const std::string text = profile_to_text(*c);
    EXPECT_THAT(text, HasSubstr("Nodes per leaf switch are not published: 16 assumed."));
    EXPECT_THAT(text, HasSubstr("4 x NVLink3 between every pair, 100 GB/s per direction"));
    EXPECT_THAT(text, ContainsRegex("  of device memory +7.8 GB/s +published"));
}

// Of a dragonfly it is the groups that share cables, not the leaves inside them.
TEST(ProfileText, CountsTheNodesOfAGroup) {
    Catalog catalog = bundled_catalog();
    Diagnostics problems;
    EXPECT_THAT(profile_to_text(*find_cluster(catalog, "frontier", problems)),
                HasSubstr("dragonfly, 128 nodes per group, oversubscribed 1.753 to 1"));
}

TEST(ProfileText, ShowsHowManyFilesAreMadeASecond) {
    Catalog catalog = bundled_catalog();
    Diagnostics problems;
    const StorageClass* lustre = find_storage(catalog, "Lustre (ULHPC Iris/Aion)", problems);
    EXPECT_THAT(profile_to_text(*lustre), ContainsRegex("creates, all clients +29,300 /s +measured"));
    EXPECT_DOUBLE_EQ(nlohmann::json::parse(profile_to_json(*lustre))["creates_per_s"]["value"], 29300);
}

TEST(ProfileJson, CarriesSiNumbersWithTheirSource) {
    Catalog catalog = bundled_catalog();
    Diagnostics problems;
    const auto json = nlohmann::json::parse(profile_to_json(*find_device(catalog, "a100", problems)));
    EXPECT_EQ(json["schema"], "device-facts/1");
    EXPECT_DOUBLE_EQ(json["memory_bytes"]["value"], 40.0 * 1024 * 1024 * 1024);
    EXPECT_EQ(json["memory_bytes"]["kind"], "datasheet");
    EXPECT_DOUBLE_EQ(json["peaks"][0]["operations_per_s"]["value"], 9.7e12);
}

TEST(ProfileList, NamesEveryDeviceAndCluster) {
    Catalog catalog = bundled_catalog();
    const auto json = nlohmann::json::parse(profile_list_to_json(catalog));
    EXPECT_THAT(json["clusters"].get<std::vector<std::string>>(), testing::Contains("selene"));
    EXPECT_THAT(json["frameworks"].get<std::vector<std::string>>(), testing::Contains("pytorch-ddp"));
    EXPECT_THAT(profile_list_to_text(catalog), ContainsRegex("\nframeworks\n(.*\n)*  pytorch-ddp +PyTorch 2 Dist"));
    EXPECT_THAT(json["devices"].get<std::vector<std::string>>(), testing::Contains("GTX 1080 Ti"));
    EXPECT_THAT(profile_list_to_text(catalog), ContainsRegex("RTX 2080 Ti +11.0 GiB +616 GB/s +13.4 +53.8 "));
}

TEST(ProfileList, OfAKindHasThatAlone) {
    Catalog catalog = bundled_catalog();
    const auto json = nlohmann::json::parse(profile_list_to_json(catalog));
    std::string all;
    for (const auto& [kind, names] : json.items()) {
        if (kind == "schema") continue;
        const auto alone = nlohmann::json::parse(profile_list_to_json(catalog, kind));
        EXPECT_EQ(alone, nlohmann::json({{"schema", json["schema"]}, {kind, names}}));
        all += (all.empty() ? "" : "\n") + profile_list_to_text(catalog, kind);
    }
    EXPECT_EQ(std::ranges::count(profile_list_to_text(catalog), '\n'), std::ranges::count(all, '\n'));
}

}  // namespace
}  // namespace sextant
