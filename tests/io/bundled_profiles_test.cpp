// Every profile that the repository carries must read without a problem.
#include "model/io/profile/profile_reader.hpp"

#include <gtest/gtest.h>

#include <map>
#include <utility>

namespace sextant {
namespace {

namespace fs = std::filesystem;

const fs::path profile_root = fs::path(SEXTANT_SOURCE_DIR) / "hardware_profiles";

std::string text_of(const Diagnostics& diagnostics) {
    std::string text;
    for (const Diagnostic& d : diagnostics.list()) text += to_text(d) + "\n";
    return text;
}

std::vector<fs::path> bundled_files() {
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(profile_root))
        if (entry.path().extension() == ".json" && entry.path().stem().extension() != ".gemm") files.push_back(entry.path());
    return files;
}

TEST(BundledProfiles, AllLoadWithoutADiagnosticAndTheirNamesResolve) {
    Catalog catalog = open_catalog(profile_root);
    const auto files = bundled_files();
    EXPECT_GT(files.size(), 210U);
    for (const fs::path& file : files) {
        Diagnostics problems;
        EXPECT_NE(check_profile(catalog, file, problems), "") << file;
        EXPECT_TRUE(problems.empty()) << text_of(problems);
    }
}

TEST(BundledProfiles, FilesOfDevicesAndClustersAreCalledAsTheirNames) {
    Catalog catalog = open_catalog(profile_root);
    for (const fs::path& file : bundled_files()) {
        const std::string directory = file.parent_path().filename().string();
        if (directory != "devices" && directory != "clusters" && directory != "libraries") continue;
        Diagnostics problems;
        const JsonFile json = JsonFile::load(file, problems);
        std::string name;
        ASSERT_TRUE(read_value(json.root().child("name"), name)) << file;
        EXPECT_EQ(slug_of(name), file.stem().string());
    }
}

TEST(BundledProfiles, TheClustersThatTheManualPromisesAreThere) {
    Catalog catalog = open_catalog(profile_root);
    for (const char* name : {"snellius-gcn",
                             "lisa-1080ti",
                             "lisa-titanrtx",
                             "dgx1-p100",
                             "dgx1-v100",
                             "dgx2",
                             "selene",
                             "dgx-a100",
                             "dgx-h100",
                             "dgx-h200",
                             "dgx-b200",
                             "gb200-nvl72",
                             "aws-p3-16xlarge",
                             "aws-p4d",
                             "aws-p5",
                             "abci-v",
                             "abci-a",
                             "juwels-booster",
                             "jean-zay-a100",
                             "perlmutter",
                             "lumi-g",
                             "pcie-4x1080ti",
                             "pcie-8x2080ti",
                             "pcie-8x2080ti-nvlink",
                             "pcie-8xrtx3090",
                             "pcie-8xa100",
                             "pcie-8xl40s",
                             "cpu-cluster",
                             "two-core-reference",
                             "generic"}) {
        Diagnostics problems;
        EXPECT_NE(find_cluster(catalog, name, problems), nullptr) << text_of(problems);
    }
}

// What people ask for by the name of a product, of a cloud's instance, or as nvidia-smi prints it.
TEST(BundledProfiles, NamesThatPeopleTypeAreKnown) {
    Catalog catalog = open_catalog(profile_root);
    const std::pair<const char*, const char*> devices[] = {{"Tesla V100", "V100 SXM2 16GB"},
                                                           {"Tesla P100", "P100 SXM2 16GB"},
                                                           {"Tesla T4", "T4"},
                                                           {"Tesla P40", "P40"},
                                                           {"A100", "A100 SXM4 40GB"},
                                                           {"NVIDIA H100", "H100 SXM5 80GB"},
                                                           {"H800", "H800 SXM5 80GB"},
                                                           {"H20", "H20 SXM5 96GB"},
                                                           {"B100", "B100 SXM"},
                                                           {"AMD Instinct MI300X", "MI300X"},
                                                           {"MI355X", "MI355X"},
                                                           {"Gaudi 2", "Gaudi2"},
                                                           {"1070", "GTX 1070"},
                                                           {"NVIDIA GeForce RTX 3060", "RTX 3060 12GB"},
                                                           {"4070 Ti", "RTX 4070 Ti"},
                                                           {"4070 Ti Super", "RTX 4070 Ti SUPER"},
                                                           {"4090", "RTX 4090"},
                                                           {"NVIDIA GeForce RTX 5090", "RTX 5090"},
                                                           {"RTX PRO 5000", "RTX PRO 5000 Blackwell 48GB"}};
    for (const auto& [typed, meant] : devices) {
        Diagnostics problems;
        const Device* device = find_device(catalog, typed, problems);
        ASSERT_NE(device, nullptr) << text_of(problems);
        EXPECT_EQ(device->name, meant);
    }
    const std::pair<const char*, const char*> clusters[] = {{"HGX H100", "dgx-h100"},
                                                            {"HGX H800", "hgx-h800"},
                                                            {"hls-3", "hls-gaudi3"},
                                                            {"p4de.24xlarge", "aws-p4de"},
                                                            {"ND96isr_MI300X_v5", "azure-nd-mi300x-v5"},
                                                            {"BM.GPU.H100.8", "oracle-h100"}};
    for (const auto& [typed, meant] : clusters) {
        Diagnostics problems;
        const Cluster* cluster = find_cluster(catalog, typed, problems);
        ASSERT_NE(cluster, nullptr) << text_of(problems);
        EXPECT_EQ(cluster->name, meant);
    }
}

TEST(BundledProfiles, NodesWithSeveralDrivesReadFromAllOfThem) {
    Catalog catalog = open_catalog(profile_root);
    const std::pair<const char*, double> drives[] = {{"dgx1-v100", 4},        {"dgx2", 8},         {"dgx-a100-40gb", 4}, {"dgx-a100", 8},
                                                     {"dgx-h100", 8},         {"eos", 8},          {"aws-p5", 8},        {"polaris", 2},
                                                     {"azure-nd-h100-v5", 8}, {"oracle-h100", 16}, {"frontier", 2}};
    for (const auto& [name, count] : drives) {
        Diagnostics problems;
        const Cluster* cluster = find_cluster(catalog, name, problems);
        ASSERT_NE(cluster, nullptr) << text_of(problems);
        ASSERT_TRUE(cluster->node.local_storage) << name;
        const StorageClass& storage = *cluster->node.local_storage;
        ASSERT_TRUE(storage.client_read_bandwidth && storage.random_read_bandwidth) << name;
        EXPECT_NEAR(storage.client_read_bandwidth->value / storage.random_read_bandwidth->value, count, 1e-9) << name;
        EXPECT_TRUE(storage.capacity) << name;
    }
}

TEST(BundledProfiles, SharedFileSystemsAreAsFastAsTheirSitesState) {
    Catalog catalog = open_catalog(profile_root);
    const std::pair<const char*, double> systems[] = {{"summit", 2.5e12}, {"bede", 10e9}, {"frontier", 5.5e12}, {"leonardo", 744e9}};
    for (const auto& [name, bytes_per_s] : systems) {
        Diagnostics problems;
        const Cluster* cluster = find_cluster(catalog, name, problems);
        ASSERT_NE(cluster, nullptr) << text_of(problems);
        ASSERT_FALSE(cluster->shared_storage.empty()) << name;
        ASSERT_TRUE(cluster->shared_storage.front().total_read_bandwidth) << name;
        EXPECT_NEAR(cluster->shared_storage.front().total_read_bandwidth->value.si(), bytes_per_s, 1e-3) << name;
    }
}

TEST(BundledProfiles, NoNameMeansTwoOfThem) {
    std::map<std::string, std::string> meant;
    for (const fs::path& file : bundled_files()) {
        const std::string directory = file.parent_path().filename().string(), stem = file.stem().string();
        if (directory != "devices" && directory != "clusters" && directory != "libraries") continue;
        Diagnostics problems;
        const JsonFile json = JsonFile::load(file, problems);
        std::vector<std::string> names;
        if (const JsonNode aliases = json.root().child("aliases"); aliases.is_array()) {
            ASSERT_TRUE(read_value(aliases, names)) << file;
        }
        names.push_back(stem);
        for (const std::string& name : names) {
            const auto& [key, owner] = *meant.emplace(directory + "/" + key_of(name), stem).first;
            EXPECT_EQ(owner, stem) << "both are called " << key;
        }
    }
}

TEST(BundledProfiles, DevicesThatPublishedMeasurementsNameAreThere) {
    Catalog catalog = open_catalog(profile_root);
    for (const char* name : {"A10",
                             "A100 PCIe 40GB",
                             "A100 PCIe 80GB",
                             "A100 SXM4 40GB",
                             "A100 SXM4 80GB",
                             "A30",
                             "A40",
                             "A800 SXM4 80GB",
                             "B200 SXM 180GB",
                             "B300 SXM",
                             "GB200 (per GPU)",
                             "GB300 (per GPU)",
                             "GH200 96GB",
                             "GTX 1080",
                             "GTX 1080 Ti",
                             "H100 SXM5 80GB",
                             "H200 NVL 141GB",
                             "H200 SXM 141GB",
                             "K80 (per die)",
                             "L40",
                             "L40S",
                             "P100 PCIe 16GB",
                             "P100 SXM2 16GB",
                             "Quadro RTX 8000",
                             "RTX 2080 Ti",
                             "RTX 3070",
                             "RTX 3090",
                             "RTX 4080",
                             "RTX 4090",
                             "RTX 5060 Ti 16GB",
                             "RTX 6000 Ada",
                             "RTX A4000",
                             "RTX A4500",
                             "RTX A5000",
                             "RTX A5500",
                             "RTX A6000",
                             "RTX PRO 6000 Blackwell 96GB",
                             "TITAN RTX",
                             "TITAN V",
                             "TITAN X Pascal",
                             "V100 SXM2 16GB",
                             "V100 SXM2 32GB",
                             "V100 SXM3 32GB",
                             "V100 SXM3 32GB 450W"}) {
        Diagnostics problems;
        EXPECT_NE(find_device(catalog, name, problems), nullptr) << text_of(problems);
    }
}

}  // namespace
}  // namespace sextant
