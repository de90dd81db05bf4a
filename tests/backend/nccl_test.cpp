// Exchanges by NCCL on a machine of one GPU. NCCL refuses two ranks of a host that share one, so that without this test they would all go
// through the host; told that each rank is a host of its own, it sends through sockets what its kernels copy and add up.
#include "tests/backend/mpi_test.hpp"

#include <gmock/gmock.h>

namespace sextant {
namespace {

using testing::HasSubstr;

class NcclOnOneGpu : public MpiTest {
protected:
    void SetUp() override {
        MpiTest::SetUp();
        // As where each rank has a GPU: a queue for each stream, and kernels are there before exchanges that they would wait for.
        through_ = {
            "/bin/sh", "-c",
            "export NCCL_HOSTID=$OMPI_COMM_WORLD_RANK CUDA_MODULE_LOADING=EAGER CUDA_DEVICE_MAX_CONNECTIONS=32; exec \"$0\" \"$@\""};
    }
    void expect_serial_in_bf16(const json& workload, std::vector<json> plans) {
        loss_tolerance_ = 2e-3, weight_tolerance_ = 2e-2;
        for (json& plan : plans) plan["precision"] = "bf16";
        expect_serial_results(workload, plans, {{"precision", "bf16"}});
    }
};

TEST_F(NcclOnOneGpu, IsWhatCarriesTheExchanges) {
    through_[2].insert(0, "export NCCL_DEBUG=INFO; ");
    const ProcessResult result = start(transformer(true), {{"dp", 2}}, 2);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out + result.err, HasSubstr("nranks 2"));
}

TEST_F(NcclOnOneGpu, SumsWhatOneRankComputes) {
    expect_serial_results(
        transformer(true),
        {{{"dp", 2}}, {{"dp", 2}, {"data_parallel", "zero2"}}, {{"tp", 2}}, {{"tp", 2}, {"sequence_parallel", true}}, {{"cp", 2}}});
    expect_serial_results(transformer(false), {{{"dp", 2}, {"data_parallel", "zero3"}}});
}

TEST_F(NcclOnOneGpu, SumsInSixteenBits) {
    expect_serial_in_bf16(transformer(true),
                          {{{"dp", 2}}, {{"tp", 2}, {"sequence_parallel", true}}, {{"dp", 2}, {"data_parallel", "zero2"}}});
    expect_serial_in_bf16(transformer(false), {{{"dp", 2}, {"data_parallel", "zero3"}}});
}

// Calls for parts of several sizes, which are groups of NCCL's; and two communicators on each rank.
TEST_F(NcclOnOneGpu, BringsTokensToExperts) {
    json workload = transformer(false);
    workload["transformer"].update(
        {{"mlp", "swiglu"}, {"ffn_hidden", 48}, {"bias", false}, {"moe", {{"experts", 4}, {"topk", 2}, {"ffn_hidden", 24}}}});
    expect_serial_results(workload, {{{"dp", 2}, {"ep", 2}},
                                     {{"dp", 2}, {"ep", 2}, {"data_parallel", "zero1"}},
                                     {{"dp", 2}, {"tp", 2}, {"ep", 2}, {"sequence_parallel", true}}});
}

}  // namespace
}  // namespace sextant
