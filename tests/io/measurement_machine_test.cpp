// The machine of a measured row: nodes, links between devices, and which devices a call of a collective has.
#include "tests/base/refusal.hpp"
#include "tests/io/measurement_fixture.hpp"

#include <gmock/gmock.h>

namespace sextant {
namespace {

using namespace units;

TEST(MeasurementScenario, SuperchipsAreSoldWithAGraceEachOrOneForTwo) {
    const auto host_of = [](std::string_view gpu) {
        std::string row(megatron);
        return scenario_of(row.replace(row.find("A100 SXM4 80GB"), 14, gpu)).cluster.node.host;
    };
    EXPECT_EQ(host_of("A100 SXM4 80GB").cpu, "EPYC 7002/7003");
    EXPECT_EQ(host_of("GB200 (per GPU)").cpu, "Grace");
    EXPECT_EQ(host_of("GB200 (per GPU)").sockets, 4);
    EXPECT_EQ(host_of("GH200 96GB").sockets, 8);
    EXPECT_NEAR(host_of("GB200 (per GPU)").memory.value / GB, 4 * 480, 1e-9);
    EXPECT_EQ(host_of("GH200 96GB").cores, 8 * 72);
}

TEST(MeasurementScenario, BridgesJoinPairsAndGeForceCardsHaveNoPeerAccess) {
    const Scenario s = scenario_of(vision_row(
        R"json("gpu": "RTX 2080 Ti", "gpus": 4, "nodes": 1, "gpus_per_node": 4, "intra_node": {"kind": "nvlink", "pair_only": true})json",
        R"json("dp": 4, "global_batch": 128, "framework": "PyTorch DDP", "framework_family": "pytorch-ddp")json"));
    EXPECT_EQ(s.cluster.node.peers.layout, PeerLayout::pairs);
    EXPECT_EQ(s.cluster.node.peers.links, 1);
    EXPECT_FALSE(s.cluster.node.peer_access);
    EXPECT_FALSE(s.plan.precision.tf32);  // Turing has none
    EXPECT_EQ(s.plan.optimizer, Optimizer::momentum);
    EXPECT_TRUE(assumes(s, "SGD with momentum"));
}

TEST(MeasurementScenario, EightP100FormAHybridCubeMeshOfSingleLinks) {
    const Scenario s = scenario_of(vision_row(
        R"json("gpu": "P100 SXM2 16GB", "gpus": 8, "nodes": 1, "gpus_per_node": 8, "intra_node": {"kind": "nvlink"})json",
        R"json("dp": 8, "global_batch": 256, "framework": "TensorFlow", "framework_family": "tensorflow", "variable_update": "replicated+NCCL", "optimizer": "sgd")json"));
    const PeerFabric& peers = s.cluster.node.peers;
    ASSERT_EQ(peers.layout, PeerLayout::matrix);
    EXPECT_DOUBLE_EQ(peers.link.bandwidth.value / (GB / units::s), 20);
    ASSERT_EQ(peers.link_count.size(), 8U);
    for (std::size_t i = 0; i < 8; ++i) {
        int links = 0;
        for (std::size_t j = 0; j < 8; ++j) {
            EXPECT_EQ(peers.link_count[i][j], peers.link_count[j][i]);
            links += peers.link_count[i][j];
        }
        EXPECT_EQ(links, 4) << "a P100 has four links";
        EXPECT_EQ(peers.link_count[i][i], 0);
    }
    EXPECT_EQ(s.plan.data_parallel, DataParallel::all_reduce);
    EXPECT_EQ(s.plan.optimizer, Optimizer::sgd);
    EXPECT_EQ(s.framework.name, "tensorflow-1");
}

TEST(MeasurementScenario, FourA100WithoutASwitchHaveFourLinksToEachOther) {
    // 12 links over 3 peers.
    const Scenario s = scenario_of(
        vision_row(R"json("gpu": "A100 SXM4 80GB", "gpus": 4, "nodes": 1, "gpus_per_node": 4, "intra_node": {"kind": "nvlink"})json",
                   R"json("dp": 4, "global_batch": 128, "framework": "MxNet", "framework_family": "mxnet")json"));
    EXPECT_EQ(s.cluster.node.peers.layout, PeerLayout::all_to_all);
    EXPECT_EQ(s.cluster.node.peers.links, 4);
    EXPECT_TRUE(s.plan.precision.tf32);  // "fp32" convolutions on Ampere
}

TEST(MeasurementScenario, WhatARowDoesNotSayOfItsLinksIsThatOfItsDevicesYears) {
    const auto machine = [](const std::string& hardware) {
        return scenario_of(vision_row(hardware, R"("dp": 16, "global_batch": 512, "framework_family": "mxnet")"));
    };
    const Scenario boards = machine(R"("gpu": "A100 SXM4 80GB", "gpus": 16, "nodes": 2, "gpus_per_node": 8)");
    EXPECT_EQ(boards.cluster.node.peers.layout, PeerLayout::crossbar);
    EXPECT_EQ(boards.cluster.node.nic_link.name, "InfiniBand HDR 4x");
    EXPECT_EQ(boards.cluster.node.nics, 8);
    EXPECT_TRUE(assumes(boards, "the row names no network: 8 ports of 200 Gbit/s"));
    EXPECT_TRUE(assumes(boards, "links inside a node are not stated: nvswitch"));
    const Scenario cards =
        machine(R"("gpu": "A100 PCIe 40GB", "gpus": 16, "nodes": 2, "gpus_per_node": 8, "intra_node": {"kind": "nvlink"})");
    EXPECT_EQ(cards.cluster.node.peers.layout, PeerLayout::pairs);
    EXPECT_EQ(machine(R"("gpu": "RTX 3090", "gpus": 16, "nodes": 2, "gpus_per_node": 8)").cluster.node.peers.layout, PeerLayout::none);
    // What a device is decides, not how the row calls it.
    EXPECT_EQ(machine(R"("gpu": "H100", "gpus": 16, "nodes": 2, "gpus_per_node": 8)").cluster.node.peers.layout, PeerLayout::crossbar);
}

TEST(MeasurementScenario, WhatARowDoesNotSayOfItsNetworkIsThatOfItsDevicesYears) {
    const auto node = [](const std::string& network) {
        return scenario_of(
                   vision_row(R"("gpu": "A100 SXM4 80GB", "gpus": 16, "nodes": 2, "gpus_per_node": 8, "inter_node": {)" + network + "}",
                              R"("dp": 16, "global_batch": 512, "framework_family": "mxnet")"))
            .cluster.node;
    };
    const auto gbit = [&](const std::string& network) { return node(network).nic_link.bandwidth.value / (Gbit / units::s); };
    EXPECT_EQ(node(R"("fabric": "infiniband")").nics, 8);
    EXPECT_EQ(node(R"("fabric": "infiniband")").nic_link.name, "InfiniBand HDR 4x");
    EXPECT_EQ(node(R"("fabric": "infiniband", "nics_per_node": 4)").nics, 4);
    EXPECT_EQ(node(R"("fabric": "infiniband", "nic_gbit_per_s": 100)").nics, 4);
    EXPECT_EQ(node(R"("fabric": "ethernet")").nics, 1);
    EXPECT_DOUBLE_EQ(gbit(R"("fabric": "roce", "nic_gbit_per_s": 50)"), 50);
}

TEST(MeasurementScenario, MezzanineCardsOfOtherMakersHaveLinksOfTheirOwn) {
    const auto peers = [](const std::string& gpu, const std::string& links) {
        return scenario_of(vision_row("\"gpu\": \"" + gpu + R"(", "gpus": 16, "nodes": 2, "gpus_per_node": 8)" + links,
                                      R"("dp": 16, "global_batch": 512, "framework_family": "mxnet")"))
            .cluster.node.peers;
    };
    constexpr std::pair<const char*, const char*> linked[] = {{"MI250X GCD (half OAM)", "Infinity Fabric MI250X between OAMs (per link)"},
                                                              {"MI300X", "Infinity Fabric MI300X per pair"},
                                                              {"MI355X", "Infinity Fabric MI350X/MI355X per pair"}};
    for (const auto& [gpu, link] : linked) {
        EXPECT_EQ(peers(gpu, "").layout, PeerLayout::all_to_all) << gpu;
        EXPECT_EQ(peers(gpu, "").link.name, link);
    }
    EXPECT_EQ(peers("MI300X", R"(, "intra_node": {"kind": "pcie"})").layout, PeerLayout::none);
    // 21 of its 24 ports reach the seven others of a server, three each.
    EXPECT_EQ(peers("Gaudi2", "").layout, PeerLayout::all_to_all);
    EXPECT_EQ(peers("Gaudi2", "").links, 3);
}

TEST(MeasurementScenario, LinksInsideANodeAreCalledAsSourcesSpellThem) {
    const auto layout = [](const std::string& kind) {
        return scenario_of(vision_row(R"("gpu": "A100 SXM4 80GB", "gpus": 8, "nodes": 1, "intra_node": {"kind": ")" + kind + "\"}",
                                      R"("dp": 8, "global_batch": 256, "framework_family": "mxnet")"))
            .cluster.node.peers.layout;
    };
    EXPECT_EQ(layout("NVSwitch"), PeerLayout::crossbar);
    EXPECT_EQ(layout("NVLink 3"), PeerLayout::all_to_all);
    EXPECT_EQ(layout("PCIe gen4"), PeerLayout::none);
}

TEST(MeasurementScenario, DevicesThatAreCountedAloneStandOnNodesOfEight) {
    const auto machine = [](const std::string& counts) {
        return scenario_of(
                   vision_row(R"("gpu": "A100 SXM4 80GB", )" + counts, R"("dp": 64, "global_batch": 2048, "framework_family": "mxnet")"))
            .cluster;
    };
    EXPECT_EQ(machine(R"("gpus": 64)").nodes, 8);
    EXPECT_EQ(machine(R"("gpus": 64)").node.devices, 8);
    EXPECT_EQ(machine(R"("gpus": 64, "gpus_per_node": 4)").nodes, 16);
    EXPECT_EQ(machine(R"("gpus": 64, "gpus_per_node": 8, "gpus_used_per_node": 2)").nodes, 32);
    EXPECT_EQ(machine(R"("gpus": 16)").nodes, 1);  // a DGX-2
}

TEST(MeasurementScenario, ATorusJoinsTheDevicesOfAllHosts) {
    for (const char* kind : {R"("intra_node": {"kind": "ICI"}, )", ""}) {
        const Scenario s = scenario_of(
            vision_row(std::string(kind) + R"("gpu": "TPU v4", "gpus": 64, "gpus_per_node": 4, "nodes": 16)", R"("framework": "JAX")"));
        EXPECT_EQ(s.cluster.node.peers.layout, PeerLayout::crossbar);
        EXPECT_EQ(s.cluster.node.peers.domain, 64);
        EXPECT_EQ(s.cluster.node.peers.link.name, "ICI TPU v4 per chip");
    }
}

TEST(MeasurementScenario, NoNodeHasMoreDevicesThanAProfileMayHave) {
    const MeasurementFile file =
        read_one(vision_row(R"("gpu": "A100 SXM4 80GB", "gpus": 8000000, "nodes": 1)", R"("dp": 8, "framework_family": "mxnet")"));
    EXPECT_THAT(refusal_by([&] { return to_scenario(std::get<TrainingRow>(file.rows.at(0)), test_sources()); }),
                testing::HasSubstr("8000000 devices do not stand in one node"));
}

TEST(MeasurementScenario, AJobInsideOneNvlinkDomainNeedsNoNetworkOfItsRow) {
    std::string row(fsdp);
    row.replace(row.find(R"json({"kind": "nvswitch"})json"), 20, R"json({"kind": "nvswitch", "domain_gpus": 72})json");
    const auto network = row.find(R"json("inter_node")json");
    row.replace(network, row.find('}', network) + 1 - network, R"json("system": "one domain")json");
    const Scenario s = scenario_of(row);  // 8 nodes of 8
    EXPECT_EQ(s.cluster.node.peers.domain, 72);
    EXPECT_TRUE(assumes(s, "is not crossed"));
}

TEST(MeasurementScenario, AFabricMayBeCalledByItsGenerationOrItsSwitches) {
    const auto nic = [](const std::string& fabric) {
        const std::string hardware = R"("gpu": "A100 SXM4 80GB", "gpus": 16, "gpus_per_node": 8, "inter_node": {"fabric": ")" + fabric +
                                     R"(", "nics_per_node": 8, "nic_gbit_per_s": 100})";
        return scenario_of(vision_row(hardware, R"("framework": "PyTorch")")).cluster.node.nic_link.name;
    };
    EXPECT_EQ(nic("EDR"), "InfiniBand EDR 4x");
    EXPECT_EQ(nic("IB"), "InfiniBand EDR 4x");
    EXPECT_EQ(nic("Spectrum-X"), "RoCE v2 200 GbE");
    EXPECT_EQ(nic("100GbE"), "Ethernet 100 GbE kernel TCP");
    EXPECT_EQ(nic("RoCE, 100 GbE"), "RoCE v2 200 GbE");  // its own name counts
}

TEST(MeasurementScenario, ACollectiveAndItsLibraryAreCalledAsSourcesSpellThem) {
    const auto call = [](const std::string& collective, const std::string& library) {
        const MeasurementFile file =
            read_one(R"({"id": "c", "kind": "collective", "message_bytes": 1048576, "collective": ")" + collective + R"(", "library": ")" +
                     library + R"(", "hardware": {"gpu": "A100 SXM4 80GB", "ranks": 16, "gpus_per_node": 8}, "measured": {}})");
        return to_scenario(std::get<CollectiveRow>(file.rows.at(0)), test_sources());
    };
    for (const char* spelled : {"all_reduce", "AllReduce", "all-reduce", "MPI_Allreduce"})
        EXPECT_EQ(call(spelled, "NCCL 2.18").collective, "all_reduce") << spelled;
    EXPECT_EQ(call("Bcast", "NCCL 2.18").collective, "broadcast");
    EXPECT_EQ(call("alltoall_perf", "NCCL 2.18").collective, "all_to_all");
    EXPECT_EQ(call("SendRecv", "NCCL 2.18").collective, "send");
    EXPECT_EQ(call("gossip", "NCCL 2.18").collective, "gossip");
    EXPECT_EQ(call("reduce", "NCCL 2.18").cluster.nodes, 2);  // which the row does not say
    EXPECT_EQ(call("reduce", "NCCL 2.0").library.name, "nccl-2.0");
    EXPECT_EQ(call("reduce", "HCCL 1.12.0").library.name, "nccl-2.12");  // of Ampere's years, not the 2.0 that it ends with
    EXPECT_EQ(call("reduce", "MVAPICH2").library.name, "openmpi-4.0");
    EXPECT_EQ(call("reduce", "Intel MLSL").library.name, "nccl-2.12");
}

TEST(MeasurementScenario, ACollectiveTakesTheFirstDevicesOfEveryNode) {
    const MeasurementFile file = read_one(R"json({"id": "c", "kind": "collective", "collective": "all_reduce", "message_bytes": 1048576,
      "library": "OpenMPI 4.0.5 (OSU 5.7, host buffers)",
      "hardware": {"gpu": "V100 SXM2 16GB", "ranks": 4, "nodes": 2, "gpus_per_node": 4, "buffers": "host", "intra_node": {"kind": "nvlink", "peer_access": true},
        "inter_node": {"fabric": "infiniband", "nics_per_node": 2, "nic_gbit_per_s": 100}},
      "measured": {
    "time_s" : 0.001}})json");
    const CollectiveScenario s = to_scenario(std::get<CollectiveRow>(file.rows.at(0)), test_sources());
    EXPECT_EQ(s.members, (std::vector<DeviceIndex>{0, 1, 4, 5}));
    EXPECT_EQ(s.library.name, "openmpi-4.0");
    EXPECT_EQ(s.cluster.node.peers.layout, PeerLayout::none);  // host buffers do not travel over NVLink
    EXPECT_EQ(s.cluster.node.nic_link.name, "InfiniBand EDR 4x");
}

// DeepBench names some machines by their cards alone.
TEST(MeasurementScenario, ACollectiveOfASystemThatIsCalledAfterItsDevicesRanOnThose) {
    const MeasurementFile file =
        read_one(R"json({"id": "c", "kind": "collective", "collective": "all_reduce", "message_bytes": 1048576, "library": "NCCL",
      "hardware": {"system": "GTX TITAN X (Maxwell)", "ranks": 4, "nodes": 1, "intra_node": {"kind": "pcie"}}, "measured": {"time_s": 0.001}})json");
    const CollectiveScenario s = to_scenario(std::get<CollectiveRow>(file.rows.at(0)), test_sources());
    EXPECT_EQ(s.cluster.node.device.name, "GTX TITAN X (Maxwell)");
    EXPECT_EQ(s.members.size(), 4U);
}

}  // namespace
}  // namespace sextant
