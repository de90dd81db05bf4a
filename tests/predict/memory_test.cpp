#include "tests/predict/hand_made_state.hpp"

#include "model/predict/block_price.hpp"
#include "model/predict/stage_memory.hpp"

#include <gtest/gtest.h>

#include <array>
#include <functional>

namespace sextant {
namespace {

using namespace units;

// arXiv 1910.02054, figure 1: 7.5 billion parameters, mixed-precision Adam (K = 12), 64 data-parallel ranks.
double model_states_gb(DataParallel stage) {
    Prepared::State job = ten_layers();
    job.templates[0].trained.dense = 750e6;
    job.scenario.plan.dp = 64;
    job.scenario.plan.data_parallel = stage;
    const StageMemory m = stage_memory(job).front();
    return (m[MemoryKind::weights] + m[MemoryKind::gradients] + m[MemoryKind::optimizer]) / GB;
}

TEST(Memory, OfModelStatesIsSixteenBytesAParameterAndZeroDividesThemPartByPart) {
    // Weights 2, gradients 2, states and master weights 4 + 4 + 4 bytes: 7.5e9 x 16 = 120 GB.
    EXPECT_NEAR(model_states_gb(DataParallel::all_reduce), 120, 1e-9);
    // Stage 1: 15 + 15 + 90/64. Stage 2: 15 + (15 + 90)/64. Stage 3: 120/64. The paper rounds to 31.4, 16.6 and 1.9 GB.
    EXPECT_NEAR(model_states_gb(DataParallel::zero1), 31.40625, 1e-9);
    EXPECT_NEAR(model_states_gb(DataParallel::zero2), 16.640625, 1e-9);
    EXPECT_NEAR(model_states_gb(DataParallel::zero3), 1.875, 1e-9);
}

TEST(Memory, OfStatesIsWhatTheOptimizerKeeps) {
    // 1e9 parameters, each with a master of 4 bytes.
    const auto states_gb = [](Optimizer o) {
        Prepared::State job = ten_layers();
        job.scenario.plan.optimizer = o;
        if (o == Optimizer::muon) job.templates[0].matrices = {{.count = 8, .rows = 10'000, .columns = 1'000}};
        return stage_memory(job).front()[MemoryKind::optimizer] / GB - 4;
    };
    EXPECT_NEAR(states_gb(Optimizer::sgd), 0, 1e-9);
    EXPECT_NEAR(states_gb(Optimizer::lion), 4, 1e-9);
    EXPECT_NEAR(states_gb(Optimizer::adamw), 8, 1e-9);
    EXPECT_NEAR(states_gb(Optimizer::adamw_8bit), 2.03125, 1e-9);
    EXPECT_NEAR(states_gb(Optimizer::adafactor), 0, 1e-9);
    EXPECT_NEAR(states_gb(Optimizer::muon), 0.8 * 4 + 0.2 * 8, 1e-9);  // of each layer 80 of 100 million parameters are in matrices
}

// Ten layers of 0.1e9 parameters, of which 0.08e9 are read by products of this precision.
double weights_gb(NarrowWeights how, DataType precision, DataParallel data_parallel = DataParallel::zero1, bool any_layout = false) {
    Prepared::State job = ten_layers();
    job.precision = precision_policy(precision);
    job.templates[0].narrowed.dense = 80e6;
    job.scenario.plan.dp = 4;
    job.scenario.plan.data_parallel = data_parallel;
    job.scenario.framework.narrow_weights = how;
    job.scenario.cluster.node.device.fp8_any_layout = any_layout;
    return stage_memory(job).front()[MemoryKind::weights] / GB;
}

TEST(Memory, OfNarrowWeightsIsBesideThatOfTheOthersOrInItsPlace) {
    using enum NarrowWeights;
    EXPECT_NEAR(weights_gb(passing, DataType::fp8), 2, 1e-9);
    // In two layouts of one byte, or in one where products take either: 2 + 0.8 x 2, and 2 + 0.8.
    EXPECT_NEAR(weights_gb(beside, DataType::fp8), 3.6, 1e-9);
    EXPECT_NEAR(weights_gb(beside, DataType::fp8, DataParallel::zero1, true), 2.8, 1e-9);
    // 0.2 x 2 stay wide: 0.4 + 0.8 x 2 and 0.4 + 0.8. A scale of one byte for 32 elements belongs to a layout: 0.4 + 0.8 x 2 x 33 / 32.
    EXPECT_NEAR(weights_gb(in_primary, DataType::fp8), 2, 1e-9);
    EXPECT_NEAR(weights_gb(in_primary, DataType::fp8, DataParallel::zero1, true), 1.2, 1e-9);
    EXPECT_NEAR(weights_gb(in_primary, DataType::mxfp8, DataParallel::zero1, true), 0.4 + 1.65, 1e-9);
    // No optimizer writes NVFP4: 2 + 0.8 x 2 x 9 / 16.
    EXPECT_NEAR(weights_gb(in_primary, DataType::nvfp4), 2.9, 1e-9);
}

TEST(Memory, OfNarrowShardsIsInThePlaceOfWideOnesAndNeverBesideThem) {
    EXPECT_NEAR(weights_gb(NarrowWeights::beside, DataType::fp8, DataParallel::zero3), 2 / 4.0, 1e-9);
    EXPECT_NEAR(weights_gb(NarrowWeights::in_primary, DataType::fp8, DataParallel::zero3, true), 1.2 / 4, 1e-9);
}

TEST(Memory, OfGradientsScatteredOnceAStepIsThatOfThemAllOrOfTwoChunks) {
    // 1e9 parameters of two bytes each, 8 ranks: a shard is 0.25 GB.
    Prepared::State job = ten_layers();
    Plan& plan = job.scenario.plan;
    plan.dp = 8;
    job.micro_batches = 4;
    const auto gradients = [&](DataParallel how, bool every) {
        plan.data_parallel = how;
        plan.reduce_every_micro_batch = every;
        return stage_memory(job).front()[MemoryKind::gradients] / GB;
    };
    for (const DataParallel how : {DataParallel::zero2, DataParallel::zero3}) {
        EXPECT_NEAR(gradients(how, true), 0.25, 1e-9);
        EXPECT_NEAR(gradients(how, false), 2, 1e-9);
    }
    // Four stages of eight chunks: four micro-batches pass a chunk before the next chunk's turn. Two of eight, and the shards.
    plan.pp = 4;
    plan.schedule = Schedule::interleaved;
    cut_into_chunks(job, 8);
    EXPECT_NEAR(gradients(DataParallel::zero2, false), 0.25 + 2 * 2.0 / 8, 1e-9);
    cut_into_chunks(job, 2);
    EXPECT_NEAR(gradients(DataParallel::zero2, false), 2, 1e-9);
    job.micro_batches = 8;  // chunks take turns
    cut_into_chunks(job, 8);
    EXPECT_NEAR(gradients(DataParallel::zero2, false), 2, 1e-9);
}

TEST(Memory, OfFrozenParametersIsTheirWeightsAlone) {
    // Beside 1e9 that are trained 4e9 that are not: two bytes each of weights, two of gradients and twelve of states of the former.
    Prepared::State job = ten_layers();
    job.templates[0].frozen.dense = 400e6;
    job.scenario.plan.dp = 8;
    const auto kinds = [&](DataParallel how) {
        job.scenario.plan.data_parallel = how;
        const StageMemory m = stage_memory(job).front();
        return std::array{m[MemoryKind::weights] / GB, m[MemoryKind::gradients] / GB, m[MemoryKind::optimizer] / GB};
    };
    EXPECT_EQ(kinds(DataParallel::all_reduce), (std::array{10.0, 2.0, 12.0}));
    EXPECT_EQ(kinds(DataParallel::zero1), (std::array{10.0, 2.0, 1.5}));
    EXPECT_EQ(kinds(DataParallel::zero3), (std::array{1.25, 0.25, 1.5}));
}

TEST(Memory, OfShardsThatAreTheMastersHasNoOtherWeights) {
    // 4 + 4 + 4 bytes of weights and states and 2 of gradients, where others have 2 more of weights.
    Prepared::State job = ten_layers();
    job.scenario.plan.dp = 8;
    job.scenario.plan.data_parallel = DataParallel::zero3;
    job.scenario.framework.shards_are_masters = true;
    const StageMemory m = stage_memory(job).front();
    EXPECT_NEAR(m[MemoryKind::weights] / GB, 4.0 / 8, 1e-9);
    EXPECT_NEAR(m[MemoryKind::optimizer] / GB, 8.0 / 8, 1e-9);
}

TEST(Memory, OfHybridShardingDividesByTheShardGroupOnly) {
    Prepared::State job = ten_layers();
    job.scenario.plan.dp = 64;
    job.scenario.plan.shard_group = 8;
    job.scenario.plan.data_parallel = DataParallel::zero3;
    EXPECT_NEAR(stage_memory(job).front()[MemoryKind::weights] / GB, 2.0 / 8, 1e-12);
}

TEST(Memory, OfExpertsIsShardedOverTheRanksThatHoldTheSameOnes) {
    // 8 ranks, experts over 4 of them: two ranks hold the same expert. 12 bytes for each of 1e9 / 8 dense and 4e9 / 2 expert parameters.
    Prepared::State job = ten_layers();
    job.templates[0].trained.expert = 400e6;
    job.scenario.plan.dp = 8;
    job.scenario.plan.ep = 4;
    job.scenario.plan.data_parallel = DataParallel::zero1;
    EXPECT_NEAR(stage_memory(job).front()[MemoryKind::optimizer] / GB, 12 * (0.125 + 2), 1e-9);
}

TEST(Memory, OfExpertsOnTensorRanksIsShardedOverWhatTheyLeave) {
    // tp 4, dp 2, four expert ranks. An expert on one rank: 4 x 2 / 4 = 2 ranks hold it. On two: nobody else holds it.
    // 12 bytes for each of 1e9 / 2 dense and 4e9 / 2 or 4e9 expert parameters.
    Prepared::State job = ten_layers();
    job.templates[0].trained.expert = 400e6;
    Plan& plan = job.scenario.plan;
    plan.tp = plan.ep = 4;
    plan.dp = 2;
    plan.data_parallel = DataParallel::zero1;
    plan.expert_tp = 1;
    EXPECT_NEAR(stage_memory(job).front()[MemoryKind::optimizer] / GB, 12 * (0.5 + 2), 1e-9);
    plan.expert_tp = 2;
    EXPECT_NEAR(stage_memory(job).front()[MemoryKind::optimizer] / GB, 12 * (0.5 + 4), 1e-9);
}

TEST(Memory, OfZero3HoldsTheWeightsOfABlockAndOfThosePrefetched) {
    Prepared::State job = ten_layers();
    job.scenario.plan.dp = 4;
    job.scenario.plan.data_parallel = DataParallel::zero3;
    job.scenario.framework.prefetch_blocks = 1;
    EXPECT_NEAR(stage_memory(job).front()[MemoryKind::gathered_weights] / GB, 2 * 0.2, 1e-12);
}

// Ten blocks of 100e6 dense parameters and 400e6 of a rank's experts, two bytes each, two blocks at a time.
TEST(Memory, OfZero3HoldsGatheredWhatOtherRanksHaveAPartOf) {
    Prepared::State job = ten_layers();
    job.templates[0].trained.expert = 400e6;
    job.scenario.framework.prefetch_blocks = 1;
    Plan& plan = job.scenario.plan;
    plan.dp = 8;
    plan.data_parallel = DataParallel::zero3;
    const auto gathered_gb = [&] { return stage_memory(job).front()[MemoryKind::gathered_weights] / GB; };
    plan.ep = 4;  // two ranks hold the same experts
    EXPECT_NEAR(gathered_gb(), 2 * (0.2 + 0.8), 1e-9);
    plan.pruned_fraction = 0.25;
    EXPECT_NEAR(gathered_gb(), 2 * (0.15 + 0.6), 1e-9);
    plan.pruned_fraction = 0;
    plan.ep = 8;  // nobody else holds them
    EXPECT_NEAR(gathered_gb(), 2 * 0.2, 1e-9);
    plan.shard_group = 1;  // nor a part of the rest
    EXPECT_EQ(stage_memory(job).front()[MemoryKind::gathered_weights], Bytes{});
    plan.ep = 4;
    EXPECT_NEAR(gathered_gb(), 2 * 0.8, 1e-9);
}

// The first of ten blocks has a matrix of 50e6 parameters that the last one reads too: it is there beside two blocks of 100e6 each, in two
// bytes. Of 250e6 that is less than two blocks that have it.
TEST(Memory, OfZero3KeepsASharedMatrixFromItsFirstUseToItsLast) {
    constexpr auto embedding = SharedMatrix::embedding;
    Prepared::State job = ten_layers();
    job.scenario.plan.dp = 4;
    job.scenario.plan.data_parallel = DataParallel::zero3;
    job.scenario.framework.prefetch_blocks = 1;
    job.scenario.framework.reshards_after_forward = true;
    job.templates.resize(3, job.templates.front());
    job.roles.resize(3, BlockRole::input);
    job.stages.front().count = {8, 1, 1};
    const auto gathered = [&](double owned, double beside) {
        job.templates[1].trained.dense = owned + beside;
        job.templates[1].trained.shared[embedding] = {owned, 0};
        job.templates[2].trained.dense = beside;
        job.templates[2].trained.shared[embedding] = {0, owned};
        return stage_memory(job).front()[MemoryKind::gathered_weights] / GB;
    };
    EXPECT_NEAR(gathered(50e6, 0), 2 * (0.05 + 2 * 0.1), 1e-12);
    EXPECT_NEAR(gathered(250e6, 0), 2 * 2 * 0.25, 1e-12);
    // The last block alone, in a stage of its own: it has a copy.
    job.stages.front().count = {8, 0, 1};
    EXPECT_NEAR(gathered(150e6, 10e6), 2 * 2 * 0.16, 1e-12);
}

TEST(Memory, OfAHostHoldsWhatTheRanksOfANodeOffload) {
    // 1e9 parameters on eight ranks that share a host: FP32 gradients, weights and two states of Adam, 16 bytes of each parameter once.
    Prepared::State job = ten_layers();
    Plan& plan = job.scenario.plan;
    job.nodes.devices = plan.dp = 8;
    job.scenario.cluster.node.host.memory = round_machine::given(18 * GB);
    EXPECT_EQ(host_memory(job).total(), Bytes{});
    plan.data_parallel = DataParallel::zero3;
    plan.offload = Offload::optimizer;
    EXPECT_NEAR(host_memory(job).total() / GB, 16, 1e-9);
    plan.offload = Offload::optimizer_and_parameters;  // and two bytes of the weights that devices read
    EXPECT_NEAR(host_memory(job).total() / GB, 18, 1e-9);
    EXPECT_TRUE(host_memory(job).fits());
    job.scenario.cluster.node.host.memory = round_machine::given(17 * GB);
    EXPECT_FALSE(host_memory(job).fits());
}

// 1e9 parameters with gradients of two bytes on eight ranks: a shard is 0.25 GB, all of them 2 GB. Of the host's memory 16 bytes of each
// parameter, and two where it adds up micro-batches apart from the FP32 gradients that it updates with.
TEST(Memory, OfGradientsThatGoToTheHostIsTheHosts) {
    Prepared::State job = ten_layers();
    Plan& plan = job.scenario.plan;
    Framework& framework = job.scenario.framework;
    job.nodes.devices = plan.dp = 8;
    plan.offload = Offload::optimizer;
    const auto gradients = [&](DataParallel how, OffloadedGradients where) {
        plan.data_parallel = how;
        framework.offloaded_gradients = where;
        return stage_memory(job).front()[MemoryKind::gradients] / GB;
    };
    const auto on_host = [&] { return host_memory(job).states / GB; };
    using enum OffloadedGradients;
    EXPECT_NEAR(gradients(DataParallel::zero2, with_update), 0.25, 1e-9);
    EXPECT_NEAR(gradients(DataParallel::zero2, copied), 0.25, 1e-9);
    EXPECT_EQ(gradients(DataParallel::zero2, added_on_host), 0);
    EXPECT_EQ(gradients(DataParallel::zero2, added_on_device), 0);
    EXPECT_NEAR(on_host(), 16, 1e-9);
    job.micro_batches = 2;
    EXPECT_EQ(gradients(DataParallel::zero2, added_on_device), 0);
    EXPECT_NEAR(on_host(), 18, 1e-9);
    EXPECT_EQ(gradients(DataParallel::zero2, added_on_host), 0);
    EXPECT_NEAR(on_host(), 16, 1e-9);
    // Until they are reduced, once a step, all of them are on the device: ZeRO-1, and who asks for it.
    EXPECT_NEAR(gradients(DataParallel::zero1, added_on_device), 2, 1e-9);
    EXPECT_NEAR(gradients(DataParallel::all_reduce, added_on_device), 2, 1e-9);
    plan.reduce_every_micro_batch = false;
    EXPECT_NEAR(gradients(DataParallel::zero3, added_on_device), 2, 1e-9);
    plan.reduce_every_micro_batch.reset();
    // A rank alone is a shard of one.
    job.nodes.devices = plan.dp = 1;
    framework.reduces_every_micro_batch = true;
    EXPECT_EQ(gradients(DataParallel::all_reduce, added_on_device), 0);
    // The part that ZeRO-2 updates is flattened on the device only where it is updated there.
    plan.dp = 8;
    framework.flattens_gradients_to_update = true;
    EXPECT_NEAR(gradients(DataParallel::zero2, with_update), 0.25 + 0.25 + 0.5, 1e-9);
    EXPECT_EQ(gradients(DataParallel::zero2, added_on_device), 0);
}

// DeepSpeed's estimate_zero2_ and estimate_zero3_model_states_mem_needs (docs/code-docs/source/memory.rst) for 2,851 million parameters on
// eight devices of a node, in GiB without its factor of 1.5 for buffers of the host: 5.31 and 127.45 / 1.5 / 2 (its max(4 x 8, 16) bytes
// are those of loading a copy of the model for each process); 2 / 8 and 16 bytes; nothing and 18. Stage 3 also holds the sums of gradients
// in host memory in 16 bits (grad_partitions_flat_buffer), which the estimate leaves to that factor.
TEST(Memory, OfOffloadedStatesIsWhatDeepSpeedEstimates) {
    Prepared::State job = ten_layers();
    job.templates.front().trained.dense = 285.1e6;
    Plan& plan = job.scenario.plan;
    job.scenario.framework.offloaded_gradients = OffloadedGradients::added_on_device;
    job.scenario.framework.communication_buffers.value = job.scenario.framework.context.value = {};
    job.nodes.devices = plan.dp = 8;
    constexpr double gib = 1024.0 * 1024 * 1024;
    const auto states = [&](DataParallel how, Offload offload) {
        plan.data_parallel = how;
        plan.offload = offload;
        return std::pair(held_bytes(job, 0).throughout.si() / gib, host_memory(job).states.si() / gib);
    };
    const double parameters = 2851e6 / gib;
    const auto [device2, host2] = states(DataParallel::zero2, Offload::optimizer);
    EXPECT_NEAR(device2, 5.31, 0.005);
    EXPECT_NEAR(host2, 127.45 / 1.5 / 2, 0.01);
    const auto [device3, host3] = states(DataParallel::zero3, Offload::optimizer);
    EXPECT_NEAR(device3, 2 * parameters / 8, 1e-9);
    EXPECT_NEAR(host3, 63.72 / 1.5 + 2 * parameters, 0.01);
    const auto [device_infinity, host_infinity] = states(DataParallel::zero3, Offload::optimizer_and_parameters);
    EXPECT_EQ(device_infinity, 0);
    EXPECT_NEAR(host_infinity, 71.69 / 1.5 + 2 * parameters, 0.01);
}

// On eight devices of a node, with all that they share in its memory.
Prepared::State sharded_over_a_host() {
    Prepared::State job = ten_layers();
    job.nodes.devices = job.scenario.plan.dp = 8;
    job.scenario.plan.data_parallel = DataParallel::zero3;
    job.scenario.plan.offload = Offload::optimizer_and_parameters;
    return job;
}

TEST(Memory, OfAHostCountsWeightsInFp32Once) {
    // FSDP keeps weights in FP32: offloaded, they are those that are updated. 4 + 4 + 8 bytes of each of 1e9 parameters.
    Prepared::State job = sharded_over_a_host();
    job.precision.parameter = DataType::fp32;
    EXPECT_NEAR(host_memory(job).states / GB, 16, 1e-9);
}

TEST(Memory, OfAHostHoldsStatesInTheirOwnTypes) {
    // All of it in BF16, without masters: weights that are there anyway, gradients and two states, 2 + 2 + 4 bytes of each of 1e9.
    Prepared::State job = sharded_over_a_host();
    job.precision.optimizer_state = DataType::bf16;
    job.precision.master_weights = false;
    EXPECT_NEAR(host_memory(job).states / GB, 8, 1e-9);
    job.scenario.plan.offload = Offload::optimizer;
    EXPECT_NEAR(host_memory(job).states / GB, 8, 1e-9);
}

TEST(Memory, OfAHostHoldsOffloadedActivationsOfAllMicroBatchesInFlight) {
    // Four stages of ten layers that keep 0.1 GB each, two devices a node: on the first stage four micro-batches, 4 GB a rank.
    Prepared::State job = with_activations(4, 8, Schedule::one_f_one_b);
    job.nodes.devices = 2;
    job.scenario.plan.offload_activations = OffloadActivations::all;
    EXPECT_NEAR(host_memory(job).activations / GB, 2 * 4, 1e-9);
    EXPECT_EQ(host_memory(job).states, Bytes{});
}

TEST(Memory, OfForwardAloneHasNoGradientsNoStatesAndKeepsNothing) {
    Prepared::State job = with_activations(4, 8, Schedule::one_f_one_b);
    job.scenario.plan.forward_only = true;
    job.templates[0].alive = 0.04 * GB;
    const StageMemory m = stage_memory(job)[0];
    EXPECT_EQ(m[MemoryKind::gradients], Bytes{});
    EXPECT_EQ(m[MemoryKind::optimizer], Bytes{});
    EXPECT_NEAR(m[MemoryKind::activations] / GB, 0.04, 1e-9);  // of one block at a time
    EXPECT_NEAR(m[MemoryKind::weights] / GB, 2, 1e-9);
}

TEST(Memory, OfPrunedWeightsIsThatOfTheOthers) {
    Prepared::State job = ten_layers();
    job.scenario.plan.pruned_fraction = 0.25;
    EXPECT_NEAR(stage_memory(job)[0][MemoryKind::weights] / GB, 1.5, 1e-9);
    EXPECT_NEAR(stage_memory(job)[0][MemoryKind::gradients] / GB, 2, 1e-9);
}

TEST(Memory, AddsWhatTheFrameworkHoldsAndWhatItsAllocatorLoses) {
    Prepared::State job = with_activations(1, 1, Schedule::one_f_one_b);
    job.scenario.framework.context = round_machine::given(0.5 * GB);
    job.scenario.framework.communication_buffers = round_machine::given(0.25 * GB);
    job.scenario.framework.fragmentation = round_machine::given(0.1);
    job.templates[0].saved_logits = 0.2 * GB;  // of each of the ten blocks
    const StageMemory alone = stage_memory(job)[0];
    EXPECT_NEAR(alone[MemoryKind::fragmentation] / GB, 0.1 * (1 + 2), 1e-9);
    EXPECT_EQ(alone[MemoryKind::communication], Bytes{});  // one device talks to nobody
    // 16 + 1 + 2 + 0.5 + 0.3
    EXPECT_NEAR(alone.total() / GB, 19.8, 1e-9);
    job.scenario.plan.dp = 2;
    EXPECT_NEAR(stage_memory(job)[0].total() / GB, 20.05, 1e-9);
}

// 1e9 parameters, BF16 gradients of 2 GB on each of eight ranks.
double gradients_gb(DataParallel data_parallel, bool Framework::*habit, bool in_fp32 = false) {
    Prepared::State job = ten_layers();
    job.scenario.plan.dp = 8;
    job.scenario.plan.data_parallel = data_parallel;
    if (in_fp32) job.precision.gradient = DataType::fp32;
    job.scenario.framework.*habit = true;
    return stage_memory(job)[0][MemoryKind::gradients] / GB;
}

TEST(Memory, OfGradientsCountsThemInEachFormInWhichTheyStand) {
    // Copies in DDP's buckets; no rank keeps a bucket of its own where states are sharded.
    EXPECT_NEAR(gradients_gb(DataParallel::all_reduce, &Framework::copies_gradients_to_buckets), 2 + 2, 1e-9);
    EXPECT_NEAR(gradients_gb(DataParallel::zero1, &Framework::copies_gradients_to_buckets), 2, 1e-9);
    // What backward writes, 2 GB, beside the sums in FP32, 4 GB.
    EXPECT_NEAR(gradients_gb(DataParallel::zero1, &Framework::keeps_both_gradients, true), 4 + 2, 1e-9);
    EXPECT_NEAR(gradients_gb(DataParallel::zero1, &Framework::keeps_both_gradients), 2, 1e-9);
    // The eighth that a rank updates, once in two bytes and once in four; under ZeRO-2 it keeps no more than that eighth.
    EXPECT_NEAR(gradients_gb(DataParallel::zero1, &Framework::flattens_gradients_to_update), 2 + (2.0 + 4) / 8, 1e-9);
    EXPECT_NEAR(gradients_gb(DataParallel::zero2, &Framework::flattens_gradients_to_update), (2 + 2.0 + 4) / 8, 1e-9);
    // Without shards each in four bytes, and all of these in one piece.
    EXPECT_NEAR(gradients_gb(DataParallel::all_reduce, &Framework::flattens_gradients_to_update), 2 + 4 + 4, 1e-9);
    EXPECT_NEAR(gradients_gb(DataParallel::all_reduce, &Framework::flattens_gradients_to_update, true), 4, 1e-9);
    Prepared::State no_update = ten_layers();
    no_update.scenario.plan.data_parallel = DataParallel::zero1;
    no_update.scenario.plan.without_optimizer = true;
    no_update.scenario.framework.flattens_gradients_to_update = true;
    EXPECT_NEAR(stage_memory(no_update)[0][MemoryKind::gradients] / GB, 2, 1e-9);
}

TEST(Memory, OfGradientPlaceholdersIsThatOfOneForEachShape) {
    // Ten layers with two products of 20 million weights of one shape, and eight experts of 10 million of another: 30 million x 2 bytes.
    Prepared::State job = ten_layers();
    const double before = stage_memory(job)[0][MemoryKind::gradients] / GB;
    job.templates[0].placeholders = {{.rows = 4'000, .columns = 5'000},
                                     {.rows = 4'000, .columns = 5'000},
                                     {.count = 8, .rows = 5'000, .columns = 2'000, .expert = true}};
    EXPECT_NEAR(stage_memory(job)[0][MemoryKind::gradients] / GB, before + 0.06, 1e-9);
}

TEST(Memory, ThatAnAllocatorHandsOutLeavesOutWhatDriverCommunicatorsAndItselfHold) {
    StageMemory m;
    m[MemoryKind::weights] = 8 * GB;
    m[MemoryKind::activations] = 4 * GB;
    m[MemoryKind::communication] = m[MemoryKind::context] = m[MemoryKind::fragmentation] = 1 * GB;
    EXPECT_NEAR(m.total() / GB, 15, 1e-9);
    EXPECT_NEAR(m.allocated() / GB, 12, 1e-9);
}

// Ten blocks of 0.1e9 parameters, gradients of 0.2 GB each, on each of four ranks, in buckets of 0.5 GB: of three blocks, and one of a
// block that is left. The framework adds up apart what reductions bring.
double gradients_beside_sums_gb(DataParallel data_parallel, std::int64_t micro_batches, const std::function<void(Plan&)>& change = {}) {
    Prepared::State job = ten_layers();
    Plan& plan = job.scenario.plan;
    plan.dp = 4;
    plan.data_parallel = data_parallel;
    plan.gradient_overlap = true;
    if (change) change(plan);
    job.micro_batches = micro_batches;
    job.scenario.framework.sums_gradients_apart = true;
    job.scenario.framework.bucket = round_machine::given(0.5 * GB);
    deal_out_blocks(job);
    return stage_memory(job)[0][MemoryKind::gradients] / GB;
}

TEST(Memory, OfGradientsBesideTheirSumsIsThatOfTheBucketsBetweenBackwardAndTheirReduction) {
    using enum DataParallel;
    const auto every = [](Plan& p) { p.reduce_every_micro_batch = true; };
    const auto once = [](Plan& p) { p.reduce_every_micro_batch = false; };
    // Reduced once, where they lie: no sums apart.
    EXPECT_NEAR(gradients_beside_sums_gb(all_reduce, 2), 2, 1e-9);
    EXPECT_NEAR(gradients_beside_sums_gb(zero1, 2), 2, 1e-9);
    EXPECT_NEAR(gradients_beside_sums_gb(zero2, 2, once), 2, 1e-9);
    EXPECT_NEAR(gradients_beside_sums_gb(zero3, 2, once), 2, 1e-9);
    // Whole ones reduced twice, beside their sums.
    EXPECT_NEAR(gradients_beside_sums_gb(all_reduce, 2, every), 2 + 2, 1e-9);
    EXPECT_NEAR(gradients_beside_sums_gb(all_reduce, 1, every), 2, 1e-9);
    // A quarter of the sums, a bucket of 0.6 GB that backward makes and one that is on its way; of what is reduced at the end, all.
    EXPECT_NEAR(gradients_beside_sums_gb(zero2, 2), 0.5 + 1.2, 1e-9);
    EXPECT_NEAR(gradients_beside_sums_gb(zero2, 1, once), 0.5 + 1.2, 1e-9);
    EXPECT_NEAR(gradients_beside_sums_gb(zero1, 2, every), 0.5 + 1.2, 1e-9);
    EXPECT_NEAR(gradients_beside_sums_gb(zero2, 2, [](Plan& p) { p.gradient_overlap = false; }), 0.5 + 2, 1e-9);
    // A block, and another that is on its way where scatters hide.
    EXPECT_NEAR(gradients_beside_sums_gb(zero3, 2, [](Plan& p) { p.gather_overlap = false; }), 0.5 + 0.2, 1e-9);
    EXPECT_NEAR(gradients_beside_sums_gb(zero3, 2, [](Plan& p) { p.gather_overlap = true; }), 0.5 + 0.4, 1e-9);
}

TEST(Memory, ThatAnAllocatorDoesNotUseIsGivenBackWhereThereIsNoRoom) {
    // 16 GB of states and 1 GB of activations, of which half as much again is reserved: 17.5 GB where there is room.
    Prepared::State job = with_activations(1, 1, Schedule::one_f_one_b);
    job.scenario.framework.fragmentation = round_machine::given(0.5);
    const auto total_on = [&](double gb) {
        job.scenario.cluster.node.device.memory = round_machine::given(gb * GB);
        const Bytes total = stage_memory(job)[0].total();
        EXPECT_DOUBLE_EQ(peak_bytes(job, 0, held_bytes(job, 0), in_flight_bytes(job, 0)).si(), total.si());
        return total / GB;
    };
    EXPECT_NEAR(total_on(20), 17.5, 1e-9);
    EXPECT_NEAR(total_on(17.2), 17.2, 1e-6);
    EXPECT_LE(total_on(17.2), 17.2);
    EXPECT_NEAR(total_on(16.9), 17, 1e-9);  // which is not enough: the job does not fit
}

TEST(Memory, OfCopiesThatTheUpdateMakesIsBesideNothingInFlightWhereRoomIsShort) {
    // 16 GB of states, 1 GB of activations and, when these are gone, 8 GB of copies. The allocator keeps all of it where it can.
    Prepared::State job = with_activations(1, 1, Schedule::one_f_one_b);
    job.scenario.framework.fragmentation = round_machine::given(0.0);
    job.scenario.framework.flattens_gradients_to_update = true;
    const auto memory_on = [&](double gb) {
        job.scenario.cluster.node.device.memory = round_machine::given(gb * GB);
        const StageMemory memory = stage_memory(job)[0];
        EXPECT_DOUBLE_EQ(peak_bytes(job, 0, held_bytes(job, 0), in_flight_bytes(job, 0)).si(), memory.total().si());
        return memory;
    };
    EXPECT_NEAR(memory_on(30).total() / GB, 16 + 1 + 8, 1e-9);
    EXPECT_NEAR(memory_on(30).allocated() / GB, 16 + 8, 1e-9);
    EXPECT_NEAR(memory_on(24.5).total() / GB, 24.5, 1e-6);
    EXPECT_NEAR(memory_on(23).total() / GB, 24, 1e-9);
    // With 4 GB of weights and gradients and no more the activations of 1 GB are beside 0.5 GB of copies: the peak is in backward.
    job.scenario.plan.data_parallel = DataParallel::zero1;
    job.nodes.devices = job.scenario.plan.dp = 12;
    EXPECT_NEAR(memory_on(30).total() / GB, 4 + 1 + 1 + 0.5, 1e-9);
    EXPECT_NEAR(memory_on(30).allocated() / GB, 4 + 1 + 1, 1e-9);
    EXPECT_NEAR(memory_on(5.9).total() / GB, 6, 1e-9);
}

}  // namespace
}  // namespace sextant
