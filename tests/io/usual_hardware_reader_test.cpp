#include "model/io/profile/profile_reader.hpp"

#include "tests/base/refusal.hpp"

#include <gmock/gmock.h>

#include <numeric>

namespace sextant {
namespace {

using namespace units;

UsualHardware bundled() {
    Diagnostics problems;
    UsualHardware usual = load_usual_hardware(open_catalog(SEXTANT_SOURCE_DIR "/hardware_profiles"), problems);
    problems.throw_if_any();
    return usual;
}

TEST(UsualHardwareReader, NvlinksAreThoseOfTheDeviceBeforeThoseOfItsArchitecture) {
    const UsualHardware usual = bundled();
    const auto* cut = usual.nvlinks_of("A800 SXM4 80GB", "ampere");
    ASSERT_NE(cut, nullptr);
    EXPECT_EQ(cut->enabled, 8);  // of 12
    EXPECT_EQ(usual.nvlinks_of("A100 SXM4 80GB", "ampere")->enabled, 12);
    EXPECT_EQ(usual.nvlinks_of("MI250X", "cdna2"), nullptr);
}

// Six links of a V100 and four of a P100 on a board of eight: all of them are used.
TEST(UsualHardwareReader, AMeshOfEightUsesTheLinksOfEveryDevice) {
    const UsualHardware usual = bundled();
    for (const char* architecture : {"pascal", "volta"}) {
        const auto* links = usual.nvlinks_of("", architecture);
        ASSERT_NE(links, nullptr);
        ASSERT_EQ(links->mesh_of_8.size(), 8U);
        for (const std::vector<int>& row : links->mesh_of_8) EXPECT_EQ(std::accumulate(row.begin(), row.end(), 0), links->links);
    }
}

TEST(UsualHardwareReader, ANetworkIsTheNearestSpeedOfItsFabric) {
    const UsualHardware usual = bundled();
    EXPECT_EQ(usual.network_of("infiniband", 100 * Gbit / s)->link, "InfiniBand EDR 4x");
    // 300 is 1.5 times 200, and 400 is 1.33 times 300.
    EXPECT_EQ(usual.network_of("infiniband", 300 * Gbit / s)->link, "InfiniBand NDR 4x");
    EXPECT_EQ(usual.network_of("carrier pigeons", 1 * Gbit / s), nullptr);
}

TEST(UsualHardwareReader, AHostThatNobodyKnowsIsTheOneOfAnyDevice) {
    const UsualHardware usual = bundled();
    EXPECT_EQ(usual.host_of("grace")->cpu, "Grace");
    EXPECT_EQ(usual.host_of("cdna2")->cpu, usual.host_of("ampere")->cpu);
    EXPECT_EQ(usual.host_of("hopper")->memory.value, 2048 * GiB);
    EXPECT_EQ(usual.host_of("hopper")->memory_bandwidth.value, 614.4 * GB / s);
}

TEST(UsualHardwareReader, TellsEveryProblem) {
    Diagnostics problems;
    const JsonFile file = JsonFile::from_text(R"({"schema": "usual-hardware/1", "nvlinks": [{"link": "x", "links": 4, "enabled": 5}],
        "networks": [{"fabric": "x", "port": 100, "link": "x"}], "hosts": [{"cpu": "x"}]})",
                                              "mine.json", problems);
    UsualHardware usual;
    read_usual_hardware(file.root(), usual);
    EXPECT_THAT(pointers_of(problems.list()), testing::IsSupersetOf({"/nvlinks/0/enabled", "/networks/0/port", "/hosts/0"}));
}

}  // namespace
}  // namespace sextant
