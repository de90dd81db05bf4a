// What the scenarios teach, as inequalities. The factor of each lesson is printed, so that a reader sees how strongly it holds.
#include "tests/golden/bundled_scenarios.hpp"

#include <algorithm>
#include <iostream>

namespace sextant {
namespace {

using Overrides = std::vector<std::string>;

Report report_of(const std::string& name, const Overrides& overrides = {}) { return predict(bundled_scenario(name, overrides)); }

double samples_per_second(const std::string& name, const Overrides& overrides = {}) {
    return report_of(name, overrides).samples_per_s.si();
}

double efficiency(const std::string& name, const Overrides& overrides = {}) { return report_of(name, overrides).scaling_efficiency; }

// Prints better / worse, and fails unless it is more than `at_least`.
void expect_better(const std::string& lesson, double better, double worse, double at_least = 1) {
    std::cout << "    " << lesson << ": " << better / worse << " x\n";
    EXPECT_GT(better / worse, at_least) << lesson << ": " << better << " against " << worse;
}

TEST(Lessons, InsideANodeDataParallelismIsAcceptableOnLisa) {
    EXPECT_GT(efficiency("resnet50-lisa-4x1080ti"), 0.8);
    EXPECT_GT(efficiency("resnet50-snellius-4xa100"), 0.9);
}

// Share of the step during which gradients are on their way, hidden or not: what is left to lose when overlap fails.
double time_on_the_wire(const std::string& name) {
    const Estimate e = report_of(name).estimate;
    return (e.terms[Term::data_communication] + e.overlapped[Term::data_communication]) / e.step;
}

TEST(Lessons, DataParallelismScalesWorseOverEthernetThanOverInfiniband) {
    for (const std::string size : {"2-nodes", "16-nodes"})
        expect_better("share of the step on the wire, Lisa over Snellius, " + size, time_on_the_wire("resnet50-lisa-" + size),
                      time_on_the_wire("resnet50-snellius-" + size));
    const Overrides small{"plan.micro_batch=128"};  // with 256 samples on a device even Ethernet has nearly the time it needs
    const Overrides slow{"plan.micro_batch=128", "hardware.ethernet=true"};
    expect_better("small batches on Snellius, InfiniBand over Ethernet", samples_per_second("resnet50-snellius-16-nodes", small),
                  samples_per_second("resnet50-snellius-16-nodes", slow), 1.1);
}

TEST(Lessons, ANodeOfSnelliusDoesTheWorkOfSeveralOfLisa) {
    expect_better("ResNet-50, 4 A100 over 4 GTX 1080 Ti", samples_per_second("resnet50-snellius-4xa100"),
                  samples_per_second("resnet50-lisa-4x1080ti"), 4);
}

TEST(Lessons, ModelParallelismLosesThroughputAndAPipelineWinsItBack) {
    const double sequential = samples_per_second("model-parallel-sequential");
    const double pipeline = samples_per_second("model-parallel-pipeline");
    const double data = samples_per_second("model-parallel-not-needed");
    expect_better("pipeline over one stage at a time", pipeline, sequential, 1.5);
    expect_better("data parallel over pipeline", data, pipeline);
}

TEST(Lessons, ALargerBatchFeedsTheDevice) {
    expect_better("images a second, batch 1024 over batch 16", samples_per_second("larger-batch"),
                  samples_per_second("small-batch-launch-bound"), 5);
    const Report small = report_of("small-batch-launch-bound");
    EXPECT_EQ(small.bottleneck.kind, BottleneckKind::host_latency);
    EXPECT_LT(small.utilization, 0.6);
    double before = 0;
    for (const std::string batch : {"16", "32", "64", "128", "256"}) {
        const double now = samples_per_second("small-batch-launch-bound", {"plan.micro_batch=" + batch});
        EXPECT_GT(now, before) << "batch " << batch;
        before = now;
    }
}

TEST(Lessons, ManySmallMessagesCostMoreThanFewLargeOnes) {
    const Report many = report_of("many-small-messages"), few = report_of("few-large-messages");
    expect_better("steps a second, buckets over single tensors", many.estimate.step.si(), few.estimate.step.si());
    expect_better("exposed communication, single tensors over buckets", many.estimate.terms[Term::data_communication].si(),
                  few.estimate.terms[Term::data_communication].si(), 1.5);
}

TEST(Lessons, AnAllReduceIsBoundByLatencyOrByBandwidth) {
    const auto gain = [](const Report& r, const std::string& resource) {
        const auto& movers = r.bottleneck.movers;
        const auto found = std::ranges::find(movers, resource, &Mover::resource);
        return found == movers.end() ? 0.0 : found->gain;
    };
    const Report small = report_of("latency-bound-all-reduce"), large = report_of("bandwidth-bound-all-reduce");
    EXPECT_EQ(small.bottleneck.kind, BottleneckKind::communication_latency);
    EXPECT_GT(gain(small, "communication latency"), gain(small, "network bandwidth"));
    EXPECT_EQ(large.bottleneck.kind, BottleneckKind::communication_bandwidth);
    EXPECT_GT(gain(large, "network bandwidth"), 10 * gain(large, "communication latency"));
}

TEST(Lessons, AccumulationMakesTheAllReduceRare) {
    expect_better("VGG-16 over 10 GbE, 8 accumulated micro-batches over 1",
                  samples_per_second("bandwidth-bound-all-reduce", {"plan.grad_accum=8"}), samples_per_second("bandwidth-bound-all-reduce"),
                  1.5);
}

TEST(Lessons, SynchronousTrainingIsAsFastAsItsSlowestWorker) {
    const double factor = samples_per_second("resnet50-snellius-2-nodes") / samples_per_second("slowest-worker");
    std::cout << "    one device at 60 %: all are slower by " << factor << " x\n";
    EXPECT_GT(factor, 1.2);
    EXPECT_LT(factor, 1 / 0.6 + 1e-9);
}

TEST(Lessons, BatchesAsTheirSpeedLetUnlikeGpusEndTogether) {
    expect_better("A100 and A30, batches as their speed over equal ones",
                  samples_per_second("two-kinds-of-gpus", {"hardware.straggler.batches=by_speed"}), samples_per_second("two-kinds-of-gpus"),
                  1.2);
}

TEST(Lessons, AsynchronousWorkersDoNotWaitForTheSlowest) {
    const Overrides straggler = {"hardware.straggler={\"devices\": 1, \"speed\": 0.6}"};
    expect_better("images a second with one slow worker, asynchronous over synchronous", samples_per_second("parameter-server-async"),
                  samples_per_second("parameter-server-sync", straggler));
}

TEST(Lessons, CentralServersAreABottleneckThatAnAllReduceIsNot) {
    EXPECT_EQ(report_of("parameter-server-sync").bottleneck.kind, BottleneckKind::communication_bandwidth);
    expect_better("all-reduce over parameter servers, same network",
                  samples_per_second("parameter-server-sync",
                                     {"plan.data_parallel=all_reduce", "plan.parameter_servers=null", "framework=horovod-tf1"}),
                  samples_per_second("parameter-server-sync"), 1.5);
    EXPECT_GT(efficiency("parameter-server-8xk80"), 0.9);
}

TEST(Lessons, FusionSavesLaunchesAndTraffic) {
    expect_better("compiled over eager", samples_per_second("fusion-compiler"), samples_per_second("fusion-eager"), 1.05);
}

TEST(Lessons, EachNarrowerTypeIsFasterOnTensorCores) {
    const double fp32 = samples_per_second("precision-fp32-a100"), tf32 = samples_per_second("precision-tf32-a100");
    expect_better("TF32 over FP32 on A100", tf32, fp32, 2);
    expect_better("FP16 over TF32 on A100", samples_per_second("precision-fp16-a100"), tf32, 1.3);
    EXPECT_LT(report_of("precision-fp16-a100").estimate.peak_memory, report_of("precision-fp32-a100").estimate.peak_memory);
}

TEST(Lessons, Fp16HelpsNoCardWithoutUnitsForIt) {
    const double fp16 = samples_per_second("resnet50-lisa-4x1080ti", {"plan.precision=fp16"});
    EXPECT_LT(fp16 / samples_per_second("resnet50-lisa-4x1080ti"), 1.5);
}

TEST(Lessons, ManyCpusReachTheSpeedOfAFewGpus) {
    expect_better("64 CPU nodes over 4 GTX 1080 Ti", samples_per_second("cpu-data-parallel"), samples_per_second("resnet50-lisa-4x1080ti"));
    expect_better("8 A100 over 64 CPU nodes", samples_per_second("resnet50-snellius-2-nodes"), samples_per_second("cpu-data-parallel"));
}

TEST(Lessons, SocketsWasteAnInfinibandNetwork) {
    expect_better("InfiniBand over sockets", samples_per_second("ethernet-while-infiniband-idle", {"hardware.ethernet=false"}),
                  samples_per_second("ethernet-while-infiniband-idle"), 2);
    EXPECT_FALSE(report_of("ethernet-while-infiniband-idle").advice.empty());
}

TEST(Lessons, ReservedDevicesThatNobodyUsesOnlyCost) {
    const Report four = report_of("gpus-reserved-and-idle");
    const Report one = report_of("gpus-reserved-and-idle", {"hardware.reserved_devices=1"});
    EXPECT_EQ(four.estimate.step, one.estimate.step);
    ASSERT_TRUE(four.run && one.run);
    EXPECT_NEAR(four.run->device_time / one.run->device_time, 4, 1e-9);
    EXPECT_FALSE(four.advice.empty());
}

TEST(Lessons, ShardingInsideTheNodeSparesASlowNetwork) {
    expect_better("hybrid over full shard on 100 Gb/s Ethernet", samples_per_second("hybrid-shard-on-ethernet"),
                  samples_per_second("fsdp-on-ethernet"), 1.1);
    EXPECT_GT(report_of("hybrid-shard-on-ethernet").estimate.peak_memory, report_of("fsdp-on-ethernet").estimate.peak_memory);
}

TEST(Lessons, ShardingLetsAModelFit) {
    EXPECT_FALSE(report_of("does-not-fit").estimate.fits());
    EXPECT_EQ(report_of("does-not-fit").bottleneck.kind, BottleneckKind::memory_size);
    EXPECT_TRUE(report_of("does-not-fit-mended").estimate.fits());
    EXPECT_FALSE(report_of("inference-llama-2-70b-zero3", {"plan.data_parallel=all_reduce"}).estimate.fits());
    EXPECT_TRUE(report_of("inference-llama-2-70b-zero3").estimate.fits());
}

TEST(Lessons, AdaptersLetAModelFitAndTakeAShorterStep) {
    const Report adapted = report_of("llama-3-8b-adapters"), whole = report_of("llama-3-8b-adapters", {"workload.adapters=null"});
    EXPECT_TRUE(adapted.estimate.fits());
    EXPECT_FALSE(whole.estimate.fits());
    expect_better("adapters over all weights", adapted.samples_per_s.si(), whole.samples_per_s.si(), 1.2);
    const auto exchanged = [](const Report& r) { return r.estimate.terms[Term::data_communication]; };
    EXPECT_LT(exchanged(adapted), 0.07 * adapted.estimate.step);  // each micro-batch, summed whole
    EXPECT_LT(exchanged(adapted), 0.02 * exchanged(whole));
}

TEST(Lessons, GathersHideBehindLongPromptsOnly) {
    const auto share = [](const Report& r) { return r.estimate.terms[Term::data_communication] / r.estimate.step; };
    EXPECT_LT(share(report_of("inference-llama-2-70b-zero3")), 0.01);
    EXPECT_GT(share(report_of("inference-llama-2-70b-zero3", {"workload.seq_len=128"})), 0.05);
}

TEST(Lessons, BucketsBesideBackwardHidePartOfASlowLink) {
    const Estimate beside = report_of("two-hosts-gigabit").estimate;
    const Estimate behind = report_of("two-hosts-gigabit", {"plan.gradient_overlap=false"}).estimate;
    const Seconds hidden = beside.overlapped[Term::data_communication], shown = beside.terms[Term::data_communication];
    EXPECT_GT(hidden / (hidden + shown), 0.3);
    EXPECT_GT(behind.step / beside.step, 1.05);
    // Whoever communicates takes its time from whoever computes.
    EXPECT_GT(beside.terms[Term::backward] / behind.terms[Term::backward], 1.02);
}

TEST(Lessons, ExpertsSharedOutSpareMemoryAndUpdates) {
    const Report shared = report_of("experts-on-cores"), copied = report_of("experts-on-cores", {"plan.ep=1"});
    EXPECT_GT(shared.estimate.terms[Term::expert_communication], Seconds{});
    EXPECT_LT(shared.estimate.terms[Term::expert_communication],
              copied.estimate.terms[Term::optimizer] - shared.estimate.terms[Term::optimizer]);
    EXPECT_GT(copied.estimate.peak_memory, shared.estimate.peak_memory);
    expect_better("experts shared out over copied", shared.samples_per_s.si(), copied.samples_per_s.si(), 1.01);
}

TEST(Lessons, ANetworkThatLabelsPixelsIsFullOfImages) {
    const std::string name = "unet-4xa100", more = "plan.micro_batch=40";
    const Estimate few = report_of(name, {"plan.micro_batch=1"}).estimate, usual = report_of(name).estimate;
    expect_better("memory, eight images over one", usual.peak_memory.si(), few.peak_memory.si(), 3);
    EXPECT_TRUE(usual.fits());
    EXPECT_FALSE(report_of(name, {more}).estimate.fits());
    EXPECT_TRUE(report_of(name, {more, "plan.precision=fp16"}).estimate.fits());
    expect_better("images a second, fp16 over tf32", samples_per_second(name, {"plan.precision=fp16"}), samples_per_second(name), 1.5);
}

TEST(Lessons, SelectiveRecomputeSavesTimeAndCostsLittleMemory) {
    const std::string name = "megatron-22b-selective-recompute";
    expect_better("selective over full recompute", samples_per_second(name), samples_per_second(name, {"plan.recompute=full"}), 1.1);
    EXPECT_TRUE(report_of(name).estimate.fits());
    EXPECT_GT(report_of(name, {"plan.recompute=none"}).estimate.peak_memory, report_of(name).estimate.peak_memory);
}

TEST(Lessons, ContextParallelismMakesRoomForLongSequences) {
    EXPECT_TRUE(report_of("llama-3.1-405b-131k-context").estimate.fits());
    EXPECT_FALSE(report_of("llama-3.1-405b-131k-context", {"plan.cp=1"}).estimate.fits());
}

// Samples that one node's loaders bring in a second, in the first epoch.
double loaded_per_second(const std::string& name, const Overrides& overrides = {}) {
    return report_of(name, overrides).input->first.samples.si();
}

TEST(Lessons, AThousandImagesComeFasterFromOneHdf5File) {
    // GRNET, "Best practices in ML" (2020): 13.56 s from files, 1.09 s from HDF5.
    const double files = 1000 / loaded_per_second("input-grnet-files"), packed = 1000 / loaded_per_second("input-grnet-hdf5");
    expect_better("1000 images, HDF5 over files", files, packed, 8);
    EXPECT_NEAR(files / 13.56, 1, 0.25);
    EXPECT_NEAR(packed / 1.09, 1, 0.25);
    // Written in 8.59 s and 0.90 s.
    const Seconds to_files = report_of("input-grnet-files").input->writing, to_one = report_of("input-grnet-hdf5").input->writing;
    expect_better("writing them", to_files.si(), to_one.si(), 8);
    EXPECT_NEAR(to_files.si() / 8.59, 1, 0.25);
    EXPECT_NEAR(to_one.si() / 0.90, 1, 0.25);
}

TEST(Lessons, AHundredMegabytesAreReadFasterFromOneFileThanFromAThousand) {
    const std::string many = "input-thousand-files", one = "input-one-file", disk = "data.storage=local";
    expect_better("100 MB on NFS, one file over 1000", loaded_per_second(one), loaded_per_second(many), 50);
    expect_better("100 MB on a local disk, one file over 1000", loaded_per_second(one, {disk}), loaded_per_second(many, {disk}), 1.5);
    expect_better("1000 files, local disk over NFS", loaded_per_second(many, {disk}), loaded_per_second(many), 50);
}

// Mila, "Filesystem concerns": "There are cases where a job ran hundreds of times slower because it tried to use a filesystem that wasn't a
// good fit for the job."
TEST(Lessons, AFileSystemThatIsNoGoodFitIsHundredsOfTimesSlower) {
    const std::string name = "input-small-files-home";
    const double home = samples_per_second(name), scratch = samples_per_second(name, {"data.storage=scratch"});
    const double tmp = samples_per_second(name, {"data.storage=tmp"});
    expect_better("small files, scratch over home", scratch, home, 2);
    expect_better("small files, tmp over home", tmp, home, 100);
    EXPECT_LT(samples_per_second(name, {"data.storage=projects"}), scratch);
}

// With attention in the place of each state space, long sequences take far longer and short ones do not.
TEST(Lessons, StateSpacesDoForATokenWhatDoesNotGrowWithTheSequence) {
    const std::string name = "nemotron-3-nano-131k-context";
    std::string pattern = std::get<TransformerSpec>(bundled_scenario(name).workload.spec).layer_pattern;
    std::replace(pattern.begin(), pattern.end(), 'M', '*');
    const std::string attention = "workload.layer_pattern=" + pattern;
    const Overrides brief{"workload.seq_len=8192", "plan.global_batch=512"};
    const Overrides brief_attention{"workload.seq_len=8192", "plan.global_batch=512", attention};
    expect_better("131,072 tokens, hybrid over attention alone", samples_per_second(name), samples_per_second(name, {attention}), 2);
    EXPECT_NEAR(samples_per_second(name, brief) / samples_per_second(name, brief_attention), 1, 0.1);
    expect_better("tokens of short sequences over tokens of long ones", samples_per_second(name, brief), 16 * samples_per_second(name));
}

TEST(Lessons, ManyEpochsOverNfsAreWorthACopyOnLocalDiskAndOneIsNot) {
    const auto run = [](const std::string& name, const std::string& epochs) {
        return report_of(name, {"run.epochs=" + epochs}).run->time / units::hour;
    };
    expect_better("hours of 90 epochs, NFS over staged", run("input-nfs-every-epoch", "90"), run("input-nfs-staged", "90"), 1.5);
    expect_better("hours of one epoch, staged over NFS", run("input-nfs-staged", "1"), run("input-nfs-every-epoch", "1"), 2);
}

TEST(Lessons, CheckpointsMayBeTooRareAndTooFrequent) {
    const auto goodput = [](const std::string& every) {
        return report_of("llama-3.1-405b-failures", {"data.checkpoints.every=" + every}).run->goodput;
    };
    const double best = report_of("llama-3.1-405b-failures").run->failing->best->goodput;
    expect_better("goodput, checkpoints as often as is best over every 30 min", best, goodput("30 min"), 1.05);
    expect_better("and over one after each step or two", best, goodput("10 s"), 1.05);
    EXPECT_NEAR(goodput("5 min"), best, 0.005);
}

TEST(Lessons, TwoWorkersDoNotFeedAnA100) {
    expect_better("images a second, decoded once over decoded by two workers", samples_per_second("input-decoded-once"),
                  samples_per_second("input-few-workers"), 2);
    EXPECT_EQ(report_of("input-few-workers").bottleneck.kind, BottleneckKind::io);
    EXPECT_NE(report_of("input-decoded-once").bottleneck.kind, BottleneckKind::io);
}

TEST(Lessons, MoreMicroBatchesShrinkTheBubble) {
    const auto bubble = [](const std::string& batch) {
        const Report r = report_of("megatron-1t-3072xa100", {"plan.global_batch=" + batch});
        return r.estimate.terms[Term::bubble] / r.estimate.step;
    };
    expect_better("share of the bubble, batch 768 over 3072", bubble("768"), bubble("3072"), 2);
}

}  // namespace
}  // namespace sextant
