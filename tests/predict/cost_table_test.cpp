#include "model/predict/cost_table.hpp"

#include "model/lower/lower.hpp"
#include "model/plan/partition.hpp"
#include "model/predict/parameter_servers.hpp"
#include "model/predict/stage_memory.hpp"
#include "model/predict/state.hpp"
#include "model/predict/update.hpp"
#include "tests/predict/mlp_job.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace sextant {
namespace {

using namespace units;
using testing::ElementsAre;
using testing::SizeIs;

// The price of one work of a job, beside that of others that the graph has.
WorkPrice price_of(const Scenario& scenario, const Work& work, const std::vector<Work>& others = {}) {
    const Prepared job = prepare(scenario);
    const Network network = cut_network(scenario);
    std::vector<BlockInstance> blocks;
    for (const int t : network.sequence) {
        const bool layer = network.templates[static_cast<std::size_t>(t)].role == BlockRole::layer;
        blocks.push_back({t, layer && scenario.plan.recompute != Recompute::none});
    }
    TaskGraphBuilder builder(network, std::move(blocks));
    const WorkIndex index = builder.work(work);
    for (const Work& other : others) builder.work(other);
    const TaskGraph graph = std::move(builder).build();
    return cost_table(job, graph).works.at(index);
}

Seconds device_time(const WorkPrice& price) {
    return std::accumulate(price.pieces.begin(), price.pieces.end(), Seconds{}, [](Seconds t, const Piece& p) { return t + p.device; });
}

std::vector<SpanKind> kinds(const WorkPrice& price) {
    std::vector<SpanKind> list;
    for (const Piece& p : price.pieces) list.push_back(p.kind);
    return list;
}

// Three layers and a head of 1024 x 1024, whose activations between them cost nothing.
Scenario three_layers() { return products_job(4); }

TEST(CostTable, JoinsTheKernelsOfBlocksWithoutAnExchangeToOnePiece) {
    const Scenario job = three_layers();
    const WorkPrice forward = price_of(job, ComputeWork{Phase::forward, 0, 3});
    ASSERT_THAT(forward.pieces, SizeIs(1));
    EXPECT_EQ(forward.pieces[0].kind, SpanKind::forward);
    EXPECT_NEAR(forward.pieces[0].device / one_product(job), 3, 1e-9);
    EXPECT_NEAR(forward.pieces[0].flops / FLOP, 3 * 2.0 * 1024 * 1024 * 1024, 1);
    EXPECT_FALSE(forward.pieces[0].exchange);
    EXPECT_NEAR(device_time(price_of(job, ComputeWork{Phase::backward, 0, 3})) / one_product(job), 6, 1e-9);
}

TEST(CostTable, PutsAnExchangeBehindTheKernelsThatMakeWhatItCarries) {
    // Layers cut by output, by input, by output, then the head by input: behind the second and the fourth the partial sums of
    // 1024 x 1024 elements of 2 bytes are reduced.
    Scenario job = three_layers();
    job.plan.tp = 2;
    const WorkPrice forward = price_of(job, ComputeWork{Phase::forward, 0, 3});
    ASSERT_THAT(forward.pieces, SizeIs(2));
    ASSERT_TRUE(forward.pieces[0].exchange);
    EXPECT_EQ(forward.pieces[0].exchange->group, ParallelGroup::tensor);
    EXPECT_EQ(forward.pieces[0].exchange->price.bytes, 2 * 1024 * 1024 * B);  // 2 (n - 1)/n of the buffer, n = 2
    EXPECT_EQ(forward.pieces[0].exchange->hidden, 0);
    EXPECT_FALSE(forward.pieces[1].exchange);
    // The second layer's activation waits for the sum; passes over memory take next to nothing here.
    EXPECT_NEAR(forward.pieces[0].device / device_time(price_of(job, ComputeWork{Phase::forward, 0, 2})), 1, 1e-9);
    EXPECT_NEAR(forward.pieces[1].device / device_time(price_of(job, ComputeWork{Phase::forward, 2, 1})), 1, 1e-9);
}

TEST(CostTable, HidesTheFractionOfATensorExchangeThatTheFrameworkDoes) {
    Scenario job = three_layers();
    job.plan.tp = 2;
    job.plan.tensor_overlap = true;
    job.framework.tensor_overlap_fraction = round_machine::given(0.75);
    EXPECT_EQ(price_of(job, ComputeWork{Phase::forward, 0, 3}).pieces[0].exchange->hidden, 0.75);
}

TEST(CostTable, TakesTheHostAsLongAsItIssuesKernelsAndExchanges) {
    // Forward 10 us for each of two products, an activation between them and the sum; behind it one more activation. On a host of half
    // the speed.
    Scenario job = three_layers();
    job.plan.tp = 2;
    job.framework.dispatch = round_machine::given(10 * us);
    job.cluster.node.host.thread_speed = round_machine::given(0.5);
    const WorkPrice forward = price_of(job, ComputeWork{Phase::forward, 0, 2});
    ASSERT_THAT(forward.pieces, SizeIs(2));
    EXPECT_NEAR(forward.pieces[0].host / us, 4 * 20, 1e-9);
    EXPECT_NEAR(forward.pieces[1].host / us, 20, 1e-9);
}

TEST(CostTable, RunsTheForwardOfARecomputedBlockJustBeforeItsBackward) {
    Scenario job = three_layers();
    job.plan.recompute = Recompute::full;
    const WorkPrice backward = price_of(job, ComputeWork{Phase::backward, 1, 2});
    EXPECT_THAT(kinds(backward), ElementsAre(SpanKind::recompute, SpanKind::backward, SpanKind::recompute, SpanKind::backward));
    EXPECT_NEAR(backward.pieces[0].device / one_product(job), 1, 1e-9);
    EXPECT_NEAR(backward.pieces[1].device / one_product(job), 2, 1e-9);
    // The head, block 3, is not run again. Neither is anything for the weights alone.
    EXPECT_THAT(kinds(price_of(job, ComputeWork{Phase::backward, 3, 1})), ElementsAre(SpanKind::backward));
    EXPECT_THAT(kinds(price_of(job, ComputeWork{Phase::backward_weight, 1, 2})), ElementsAre(SpanKind::weight_gradient));
}

TEST(CostTable, SplitsBackwardIntoThatOfInputsAndThatOfWeights) {
    const Scenario job = three_layers();
    const Seconds g = one_product(job);
    EXPECT_NEAR(device_time(price_of(job, ComputeWork{Phase::backward_input, 0, 3})) / g, 3, 1e-9);
    EXPECT_NEAR(device_time(price_of(job, ComputeWork{Phase::backward_weight, 0, 3})) / g, 3, 1e-9);
}

// Four ranks of one node of the round machine: 100 GB/s, 10 us a call, 1 us a step.
Scenario four_copies() {
    Scenario job = mlp_job(4);
    job.plan.dp = 4;
    job.plan.global_batch = 4096;
    return job;
}

TEST(CostTable, PricesEachCallOfACollectiveAlone) {
    // 1 GB in two calls: each 10 us + 6 steps, and 3/2 x 0.5 GB passed on.
    CollectiveWork work{ExchangeKind::all_reduce, ParallelGroup::data, Payload::gradients, 250e6, DataType::fp32, 2};
    const WorkPrice price = price_of(four_copies(), work);
    ASSERT_THAT(price.pieces, SizeIs(2));
    for (const Piece& piece : price.pieces) {
        EXPECT_EQ(piece.kind, SpanKind::data_exchange);
        EXPECT_EQ(piece.device, Seconds{});
        ASSERT_TRUE(piece.exchange);
        EXPECT_EQ(piece.exchange->group, ParallelGroup::data);
        EXPECT_NEAR(piece.exchange->price.fixed / us, 16, 1e-9);
        EXPECT_NEAR(piece.exchange->price.bytes / GB, 0.75, 1e-12);
    }
    EXPECT_EQ(price.allocates, Bytes{});
}

TEST(CostTable, PricesATransferAsASendToTheNextStage) {
    Scenario job = mlp_job(4);
    job.plan.pp = 2;
    // 1 MB over one hop inside the node: 10 us + 1 us, and its bytes.
    const WorkPrice price = price_of(job, TransferWork{Payload::activations, 0.5e6, DataType::bf16});
    ASSERT_THAT(price.pieces, SizeIs(1));
    EXPECT_EQ(price.pieces[0].kind, SpanKind::pipeline_transfer);
    ASSERT_TRUE(price.pieces[0].exchange);
    EXPECT_EQ(price.pieces[0].exchange->price.pattern, Pattern::path);
    EXPECT_NEAR(price.pieces[0].exchange->price.fixed / us, 11, 1e-9);
    EXPECT_NEAR(price.pieces[0].exchange->price.bytes / MB, 1, 1e-12);
}

TEST(CostTable, CountsABoundaryThatIsGatheredOverTheTensorGroupAmongThePipelinesTransfers) {
    Scenario job = mlp_job(4);
    job.plan.tp = 2;
    const CollectiveWork gather{ExchangeKind::all_gather, ParallelGroup::tensor, Payload::activations, 1e6, DataType::bf16};
    EXPECT_THAT(kinds(price_of(job, gather)), ElementsAre(SpanKind::pipeline_transfer));
}

TEST(CostTable, OfAParameterServerIsBytesOnTheWayAndPassesOverHostMemory) {
    Scenario job = four_copies();
    job.plan.data_parallel = DataParallel::parameter_server;
    const WorkPrice push = price_of(job, TransferWork{Payload::gradients, 1e9, DataType::bf16});
    ASSERT_TRUE(push.pieces.at(0).exchange);
    EXPECT_EQ(push.pieces[0].kind, SpanKind::data_exchange);
    EXPECT_EQ(push.pieces[0].exchange->price.fixed, Seconds{});
    EXPECT_NEAR(push.pieces[0].exchange->price.bytes / GB, 2, 1e-12);
    // Host memory moves 200 GB/s. 2 GB of gradients are read once for the sum; the update reads the sum and writes the weights.
    EXPECT_NEAR(device_time(price_of(job, ServeWork{1e9, false})) / ms, 10, 1e-9);
    EXPECT_NEAR(device_time(price_of(job, ServeWork{1e9, true})) / ms, 20, 1e-9);
}

// Beside four workers that are cores it is one too. It takes 2 GB of gradients at 20 GB/s; three workers' in four are added to the sum in
// three passes at 1 TB/s. Adam's update reads the gradients, and reads and writes weights and two states: seven passes. An asynchronous one
// copies the weights for the worker besides: two.
TEST(CostTable, OfAParameterServerOnACoreIsCopiesAndPassesOfThatCore) {
    Scenario job = four_copies();
    job.cluster.node.device.kind = DeviceKind::cpu;
    job.plan.optimizer = Optimizer::adam;
    job.plan.data_parallel = DataParallel::parameter_server;
    EXPECT_NEAR(device_time(price_of(job, ServeWork{1e9, false})) / ms, 100 + 4.5, 1e-9);
    EXPECT_NEAR(device_time(price_of(job, ServeWork{1e9, true})) / ms, 14, 1e-9);
    job.plan.data_parallel = DataParallel::async_parameter_server;
    EXPECT_NEAR(device_time(price_of(job, ServeWork{1e9, true})) / ms, 100 + 14 + 4, 1e-9);
}

// Four workers keep 16 bytes for each parameter: that is what a server has where it is alone, and half of it where there are two. A cache
// of all of it serves its passes at twice the bandwidth of memory.
TEST(CostTable, OfAParameterServerOnACoreFindsInACacheWhatItKeeps) {
    Scenario job = four_copies();
    Device& device = job.cluster.node.device;
    device.kind = DeviceKind::cpu;
    device.l2 = round_machine::given(1 * B);
    device.cache_bandwidth = round_machine::given(4e12 * B / s);
    device.shared_cache_bandwidth = round_machine::given(2e12 * B / s);
    job.plan.optimizer = Optimizer::adam;
    job.plan.data_parallel = DataParallel::parameter_server;
    const Bytes kept = prepare(job).state().rates.kept;
    device.shared_cache = round_machine::given(kept);
    EXPECT_NEAR(device_time(price_of(job, ServeWork{1e9, true})) / ms, 7, 1e-6);
    device.shared_cache = round_machine::given(kept / 2);  // of twice as much as it holds nothing is left
    EXPECT_NEAR(device_time(price_of(job, ServeWork{1e9, true})) / ms, 14, 1e-6);
    job.cluster.nodes = 3;
    job.plan.parameter_servers = 2;
    EXPECT_NEAR(device_time(price_of(job, ServeWork{1e9, true})) / ms, 7, 1e-6);
}

// Gradients are copied by the server, as part of what it does; weights by the worker. Beside four workers on four cores a server is the
// fifth process: while all compute, each has 4/5 of a core.
TEST(CostTable, OfAPushToAServerThatSharesTheCoresIsNothing) {
    Scenario job = four_copies();
    job.cluster.node.device.kind = DeviceKind::cpu;
    job.plan.data_parallel = DataParallel::parameter_server;
    job.plan.servers_on_workers = true;
    EXPECT_EQ(price_of(job, TransferWork{Payload::gradients, 1e9, DataType::fp32}).pieces[0].exchange->price.bytes, Bytes{});
    EXPECT_EQ(price_of(job, TransferWork{Payload::weights, 1e9, DataType::fp32}).pieces[0].exchange->price.bytes, 4 * GB);
    const auto shared = shared_with_servers(prepare(job).state());
    ASSERT_TRUE(shared);
    EXPECT_NEAR(shared->worker_slowdown(4), 1.25, 1e-9);
    EXPECT_NEAR(shared->server_slowdown(4), 1.25, 1e-9);
    EXPECT_NEAR(shared->server_slowdown(3), 1, 1e-9);
    job.plan.servers_on_workers = false;  // over the network
    EXPECT_EQ(price_of(job, TransferWork{Payload::gradients, 1e9, DataType::fp32}).pieces[0].exchange->price.bytes, 4 * GB);
    EXPECT_FALSE(shared_with_servers(prepare(job).state()));
}

TEST(CostTable, OfTheFrameworkIsOverTheSpeedOfTheHost) {
    Scenario job = three_layers();
    job.framework.micro_batch_overhead = round_machine::given(1 * ms);
    job.framework.step_overhead = round_machine::given(5 * ms);
    job.cluster.node.host.thread_speed = round_machine::given(0.5);
    EXPECT_NEAR(device_time(price_of(job, OverheadWork{false})) / ms, 2, 1e-9);
    EXPECT_NEAR(device_time(price_of(job, OverheadWork{true})) / ms, 10, 1e-9);
}

TEST(CostTable, OfAnUpdateIsThatOfTheStage) {
    Scenario job = mlp_job(4);
    job.plan.without_optimizer = false;
    const Prepared prepared = prepare(job);
    EXPECT_EQ(device_time(price_of(job, UpdateWork{0})), update_time(prepared.state(), 0, {}).device);
    EXPECT_GT(device_time(price_of(job, UpdateWork{0})), Seconds{});
}

TEST(CostTable, OfAnOffloadedStepIsCopiesOverTheHostLinkAndTheUpdateInHostMemory) {
    // 4 x 1024 x 1024 weights and as many gradients of 2 bytes over 20 GB/s; 28 bytes for the one device that the job uses over 200 GB/s.
    // Weights that stay in host memory do not come up with the update.
    Scenario job = mlp_job(4);
    job.plan.without_optimizer = false;
    job.plan.offload = Offload::optimizer;
    const double parameters = parameters_of(prepare(job).state(), 0).trained.total();
    EXPECT_NEAR(device_time(price_of(job, OffloadWork{Offloaded::update, 0})) / s, parameters * (4 / 20e9 + 28 / 200e9), 1e-12);
    job.plan.data_parallel = DataParallel::zero3;
    job.plan.offload = Offload::optimizer_and_parameters;
    EXPECT_NEAR(device_time(price_of(job, OffloadWork{Offloaded::update, 0})) / s, parameters * (2 / 20e9 + 28 / 200e9), 1e-12);
}

TEST(CostTable, HoldsWeightsThatComeFromTheHostUntilTheirBlockIsDone) {
    // 1024 x 1024 weights of 2 bytes over 20 GB/s; nobody else has a part of them.
    Scenario job = mlp_job(4);
    job.plan.data_parallel = DataParallel::zero3;
    job.plan.offload = Offload::optimizer_and_parameters;
    constexpr double weights = 1024 * 1024;
    const WorkPrice fetch = price_of(job, OffloadWork{Offloaded::weights, 0, weights, 2 * B, {}, 1});
    EXPECT_NEAR(device_time(fetch) / s, weights * 2 / 20e9, 1e-12);
    EXPECT_EQ(fetch.allocates, weights * 2 * B);
}

TEST(CostTable, HoldsWhatForwardKeepsUntilTheBackwardOfItsWeights) {
    const Scenario job = mlp_job(4);
    // The result of each activation, 1024 x 1024 elements of 2 bytes, which the product behind it reads.
    const WorkPrice forward = price_of(job, ComputeWork{Phase::forward, 1, 2});
    EXPECT_EQ(forward.allocates, 2 * 2 * 1024 * 1024 * B);
    EXPECT_EQ(forward.releases, Bytes{});
    EXPECT_EQ(price_of(job, ComputeWork{Phase::backward, 1, 2}).releases, forward.allocates);
    EXPECT_EQ(price_of(job, ComputeWork{Phase::backward_input, 1, 2}).releases, Bytes{});
    EXPECT_EQ(price_of(job, ComputeWork{Phase::backward_weight, 1, 2}).releases, forward.allocates);
}

TEST(CostTable, HoldsInAllWhatTheClosedFormCounts) {
    // One stage, one micro-batch in flight: activations, and what runs again works on, and logits.
    for (const Recompute how : {Recompute::none, Recompute::full}) {
        Scenario job = mlp_job(4);
        job.plan.recompute = how;
        const StageMemory memory = stage_memory(prepare(job).state()).front();
        const WorkPrice forward = price_of(job, ComputeWork{Phase::forward, 0, 4}),
                        backward = price_of(job, ComputeWork{Phase::backward, 0, 4});
        const Bytes held = memory[MemoryKind::activations] + memory[MemoryKind::logits];
        EXPECT_NEAR((forward.allocates + backward.working) / held, 1, 1e-12);
    }
}

TEST(CostTable, KeepsNothingForABackwardThatNeverComesOrFetchesItFromTheHost) {
    Scenario inference = mlp_job(4);
    inference.plan.forward_only = true;
    EXPECT_EQ(price_of(inference, ComputeWork{Phase::forward, 0, 3}).allocates, Bytes{});
    EXPECT_GT(price_of(inference, ComputeWork{Phase::forward, 0, 3}).working, Bytes{});
    Scenario offloaded = mlp_job(4);
    offloaded.plan.offload_activations = OffloadActivations::all;
    EXPECT_EQ(price_of(offloaded, ComputeWork{Phase::forward, 0, 3}).allocates, Bytes{});
}

TEST(CostTable, HoldsGatheredWeightsUntilThePassThatTheyWereGatheredForEnds) {
    Scenario job = four_copies();
    job.plan.data_parallel = DataParallel::zero3;
    job.plan.offload_activations = OffloadActivations::all;  // nothing else is held
    const CollectiveWork gather{ExchangeKind::all_gather, ParallelGroup::shard, Payload::weights, 1e6, DataType::bf16, 1, 1, 1};
    const ComputeWork forward{Phase::forward, 0, 2}, backward{Phase::backward, 1, 1}, other{Phase::forward, 0, 1};
    EXPECT_EQ(price_of(job, gather).allocates, 2 * MB);
    EXPECT_EQ(price_of(job, forward, {gather}).releases, 2 * MB);
    EXPECT_EQ(price_of(job, backward, {gather}).releases, 2 * MB);  // gathered again
    EXPECT_EQ(price_of(job, other, {gather}).releases, Bytes{});
    // Those that wait for backward are there once for all micro-batches: they are counted with what is there all the time.
    job.framework.reshards_after_forward = false;
    EXPECT_EQ(price_of(job, gather).allocates, Bytes{});
    EXPECT_EQ(price_of(job, forward, {gather}).releases, Bytes{});
    EXPECT_EQ(price_of(job, backward, {gather}).releases, Bytes{});
    job.framework.reshards_after_forward = true;
    // Where a rank holds all weights they are only brought up to date.
    job.plan.data_parallel = DataParallel::zero1;
    EXPECT_EQ(price_of(job, gather).allocates, Bytes{});
}

TEST(CostTable, TakesFromTheFrameworkHowKernelsSlowDownAndHowExchangesAreFused) {
    Scenario job = mlp_job(4);
    job.framework.overlap_slowdown = round_machine::given(1.1);
    const auto table = [&] { return cost_table(prepare(job), TaskGraphBuilder(cut_network(job), {}).build()); };
    EXPECT_EQ(table().overlap_slowdown, 1.1);
    EXPECT_FALSE(table().fusion);
    job.framework.reduction_cycle = round_machine::given(5 * ms);
    job.framework.bucket = round_machine::given(64 * MB);
    EXPECT_FALSE(table().fusion) << "all gradients are there when the thread is asked";
    job.framework.overlaps_gradients = true;
    ASSERT_TRUE(table().fusion);
    EXPECT_EQ(table().fusion->cycle, 5 * ms);
    EXPECT_EQ(table().fusion->most, 64 * MB);
}

TEST(CostTable, PricesEachStageForItsOwnGroups) {
    // Nodes of six; tp 4, pp 3: the first and the last stage stand on one node, {0 1 2 3} and {8 9 10 11}, the second on two, {4 5 | 6 7}.
    // A sum over four ranks goes around the ring twice: 10 us + 6 x 1 us inside a node; over two nodes 10 us + 4 x 5 us + 2 x 1 us.
    Scenario job = mlp_job(6);
    job.cluster.node.devices = job.cluster.node.nics = 6;
    job.plan.tp = 4;
    job.plan.pp = 3;
    const TaskGraph graph = lower(job, Fold::alike);
    const CostTable table = cost_table(prepare(job), graph);
    std::vector<double> fixed_us(3);
    for (const Segment& s : graph.segments()) {
        const auto* work = std::get_if<ComputeWork>(&graph.works()[s.work]);
        if (!work || work->phase != Phase::forward) continue;
        for (const Piece& piece : table.works[s.work].pieces)
            if (piece.exchange) fixed_us[static_cast<std::size_t>(graph.ranks()[s.rank].stage)] = piece.exchange->price.fixed / us;
    }
    EXPECT_NEAR(fixed_us[0], 16, 1e-9);
    EXPECT_NEAR(fixed_us[1], 32, 1e-9);
    EXPECT_NEAR(fixed_us[2], 16, 1e-9);
}

}  // namespace
}  // namespace sextant
