// `sextant export` as scripts use it.
#include "tests/cli/process.hpp"

#include <nlohmann/json.hpp>

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include <unistd.h>

namespace sextant {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

ProcessResult export_of(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "export");
    return run_sextant(arguments);
}

bool is_shell(const std::string& text) {
    const std::string file = testing::TempDir() + "sextant_export_" + std::to_string(::getpid()) + ".sh";
    std::ofstream(file) << text;
    const bool good = run_program("bash", {"-n", file}).exit_code == 0;
    std::filesystem::remove(file);
    return good;
}

TEST(Export, WritesAScriptThatAShellReads) {
    for (const char* system : {"megatron", "slurm"}) {
        std::vector<std::string> words{system, "scenarios/gpt3-175b-1024xa100.json"};
        if (std::string(system) == "slurm") words.insert(words.end(), {"--launch", "megatron"});
        const ProcessResult r = export_of(words);
        EXPECT_EQ(r.exit_code, 0) << r.err;
        EXPECT_THAT(r.out, StartsWith("#!/bin/bash\n"));
        EXPECT_THAT(r.out, HasSubstr("--tensor-model-parallel-size 8"));
        EXPECT_TRUE(is_shell(r.out));
    }
}

TEST(Export, AsksSlurmForAllNodesAndOneTorchrunOnEach) {
    const std::string script =
        export_of({"slurm", "scenarios/gpt3-175b-1024xa100.json", "--launch", "megatron", "--script", "my run.py"}).out;
    for (const char* part : {"#SBATCH --nodes=128\n", "#SBATCH --ntasks-per-node=1\n", "#SBATCH --gpus-per-node=8\n",
                             "srun torchrun --nnodes=128 --nproc-per-node=8", "'my run.py'",
                             "hosts=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\")\n", "--rdzv-endpoint=\"$MASTER_ADDR:29400\""})
        EXPECT_THAT(script, HasSubstr(part));
}

// Part of a node is shared with others, a whole one is not; a model cut over nodes wants them near each other.
TEST(Export, AsksSlurmForWhatTheJobNeedsAndNoMore) {
    const std::string part = export_of({"slurm", "scenarios/precision-fp16-a100.json"}).out;
    EXPECT_THAT(part, HasSubstr("#SBATCH --gpus-per-node=1\n#SBATCH --cpus-per-task=18\n"));
    EXPECT_THAT(part, Not(HasSubstr("--exclusive")));
    const std::string whole = export_of({"slurm", "scenarios/resnet50-snellius-16-nodes.json"}).out;
    EXPECT_THAT(whole, HasSubstr("--exclusive"));
    EXPECT_THAT(whole, Not(HasSubstr("--switches")));
    const std::string cut = export_of({"slurm", "scenarios/gpt3-175b-1024xa100.json", "--launch", "megatron", "--set", "plan.dp=1", "--set",
                                       "plan.global_batch=24"})
                                .out;
    EXPECT_THAT(cut, HasSubstr("#SBATCH --switches=1\n"));
}

TEST(Export, StagesSamplesOnEveryNodeAndRemovesThem) {
    const std::string script = export_of({"slurm", "scenarios/input-nfs-staged.json"}).out;
    for (const char* part : {"DATA names the tarball on NFS (SURF Lisa)", "tar -xf \"$DATA\" -C \"$STAGED\"", "rm -rf \"$STAGED\"' EXIT"})
        EXPECT_THAT(script, HasSubstr(part));
    EXPECT_TRUE(is_shell(script));
    EXPECT_THAT(export_of({"slurm", "scenarios/input-nfs-every-epoch.json"}).out, Not(HasSubstr("STAGED")));
}

// 1000 tasks of a run, in jobs that last some minutes each: fewer than the 100 that may run at once.
TEST(Export, WritesASweepAsAnArrayOfJobs) {
    const std::string script = export_of({"slurm", "scenarios/input-few-workers.json", "--set", "run.epochs=1", "--set",
                                          R"(run.sweep={"tasks": 1000, "start_up": "1 min", "at_once": 100})"})
                                   .out;
    EXPECT_THAT(script, testing::ContainsRegex("#SBATCH --array=0-39%40\n"));
    EXPECT_THAT(script, testing::ContainsRegex("#SBATCH --time=[0-9]+-[0-9]{2}:[0-9]0:00\n"));
    EXPECT_THAT(script, HasSubstr("#SBATCH --partition=gpu_a100\n"));
    EXPECT_THAT(script, HasSubstr("first=$((SLURM_ARRAY_TASK_ID * "));
    EXPECT_THAT(script, HasSubstr("&& task < 1000; task++"));
    EXPECT_TRUE(is_shell(script));
}

TEST(Export, AsksSlurmForNodesWithADiskWhereItStagesToOne) {
    const std::string script = export_of({"slurm", "scenarios/input-few-workers.json", "--set", R"(data.staging={"mode": "copy"})"}).out;
    EXPECT_THAT(script, HasSubstr("#SBATCH --constraint=scratch-node\n"));
    EXPECT_THAT(export_of({"slurm", "scenarios/input-few-workers.json"}).out, Not(HasSubstr("--constraint")));
}

bool is_python(const std::string& text) {
    const std::string file = testing::TempDir() + "sextant_export_" + std::to_string(::getpid()) + ".py";
    std::ofstream(file) << text;
    const bool good = run_program("python3", {"-c", "import ast, sys; ast.parse(open(sys.argv[1]).read())", file}).exit_code == 0;
    std::filesystem::remove(file);
    return good;
}

TEST(Export, WritesLightningsTrainerAsPython) {
    const std::string sharded = export_of({"lightning", "scenarios/fsdp-on-ethernet.json"}).out;
    EXPECT_TRUE(is_python(sharded)) << sharded;
    for (const char* part :
         {"    devices=8,\n", "    num_nodes=4,\n", "FSDPStrategy(sharding_strategy=\"FULL_SHARD\"", "precision=\"bf16-mixed\""})
        EXPECT_THAT(sharded, HasSubstr(part));
    const std::vector<std::string> zero1{"lightning", "scenarios/does-not-fit.json", "--set", "plan.data_parallel=zero1"};
    EXPECT_THAT(export_of(zero1).out, HasSubstr("DeepSpeedStrategy(stage=1)"));
    EXPECT_THAT(export_of({"lightning", "scenarios/gpt3-175b-1024xa100.json"}), exits_with(2, HasSubstr("export megatron")));
}

TEST(Export, WritesAStrategyOfTensorflowAsPython) {
    const std::string one = "scenarios/resnet50-snellius-4xa100.json", many = "scenarios/resnet50-snellius-2-nodes.json";
    const std::string mirrored = export_of({"tf-distribute", one, "--set", "framework=tf-mirrored"}).out;
    EXPECT_TRUE(is_python(mirrored)) << mirrored;
    EXPECT_THAT(mirrored, HasSubstr("tf.distribute.MirroredStrategy()"));
    const std::string workers = export_of({"tf-distribute", many, "--set", "framework=tf-multi-worker-mirrored"}).out;
    EXPECT_TRUE(is_python(workers)) << workers;
    EXPECT_THAT(workers, HasSubstr("CommunicationImplementation.NCCL"));
    EXPECT_THAT(workers, HasSubstr("TF_CONFIG"));
    EXPECT_EQ(export_of({"tf-distribute", one}).exit_code, 2);  // Horovod's
}

TEST(Export, PutsWhatItStartsIntoAContainer) {
    const std::string gpt = "scenarios/gpt3-175b-1024xa100.json";
    const std::string apptainer = export_of({"slurm", gpt, "--launch", "megatron", "--apptainer", "my image.sif"}).out;
    EXPECT_TRUE(is_shell(apptainer));
    EXPECT_THAT(apptainer, HasSubstr("srun apptainer exec --nv 'my image.sif' torchrun --nnodes=128"));
    const std::string docker = export_of({"megatron", gpt, "--docker", "nvcr.io/nvidia/pytorch:24.10-py3"}).out;
    EXPECT_TRUE(is_shell(docker));
    for (const char* part : {"docker run --rm ", "--gpus all", "--ipc=host", "--device=/dev/infiniband", "pytorch:24.10-py3 torchrun"})
        EXPECT_THAT(docker, HasSubstr(part));
    EXPECT_EQ(export_of({"deepspeed", gpt, "--docker", "image"}).exit_code, 2);
    EXPECT_EQ(export_of({"horovod", "scenarios/resnet50-snellius-4xa100.json", "--docker", "image"}).exit_code, 2);
    EXPECT_EQ(export_of({"megatron", gpt, "--docker", "image", "--apptainer", "image"}).exit_code, 2);
}

// What starts a framework's ranks is its own: torchrun does not start Horovod.
TEST(Export, StartsHorovodWithHorovodrun) {
    const std::string horovod = "scenarios/resnet50-snellius-16-nodes.json";
    const std::string script = export_of({"slurm", horovod}).out;
    EXPECT_THAT(script, HasSubstr("horovodrun -np 64 -H \"$HOSTS\" python"));
    EXPECT_THAT(script, Not(HasSubstr("torchrun")));
    EXPECT_TRUE(is_shell(script));
    EXPECT_THAT(export_of({"horovod", "scenarios/resnet50-snellius-4xa100.json"}).out, HasSubstr("horovodrun -np 4 -H localhost:4 python"));
    const ProcessResult refused = export_of({"torchrun", horovod});
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.err, HasSubstr("/framework"));
    EXPECT_THAT(refused.err, HasSubstr("export horovod"));
    EXPECT_EQ(export_of({"torchrun", "scenarios/default.json"}).exit_code, 2);
    EXPECT_EQ(export_of({"horovod", "scenarios/input-few-workers.json"}).exit_code, 2);
}

// torchrun starts the ranks of Megatron-LM and DeepSpeed too; their programs are told the plan in their own words.
TEST(Export, StartsTheProgramOfTheFrameworkWhereNobodyNamesOne) {
    const std::string gpt = "scenarios/gpt3-175b-1024xa100.json";
    const ProcessResult megatron = export_of({"slurm", gpt});
    EXPECT_EQ(megatron.exit_code, 0) << megatron.err;
    EXPECT_EQ(megatron.out, export_of({"slurm", gpt, "--launch", "megatron"}).out);
    EXPECT_THAT(export_of({"slurm", "scenarios/does-not-fit-mended.json"}).out, HasSubstr("--deepspeed_config ds_config.json"));
    EXPECT_THAT(export_of({"slurm", "scenarios/fsdp-on-ethernet.json"}).out, HasSubstr("ACCELERATE_USE_FSDP"));
}

TEST(Export, WritesJsonAndNotesBesideIt) {
    const ProcessResult r = export_of({"deepspeed", "scenarios/does-not-fit-mended.json"});
    EXPECT_EQ(r.exit_code, 0);
    EXPECT_FALSE(nlohmann::json::parse(r.out, nullptr, false).is_discarded()) << r.out;
}

TEST(Export, WritesToAFile) {
    const std::filesystem::path file = testing::TempDir() + "sextant_ds_" + std::to_string(::getpid()) + ".json";
    EXPECT_THAT(export_of({"deepspeed", "scenarios/does-not-fit-mended.json", "--out", file.string()}).out, IsEmpty());
    std::ifstream in(file);
    EXPECT_FALSE(nlohmann::json::parse(in, nullptr, false).is_discarded());
    std::filesystem::remove(file);
}

TEST(Export, ExitsWith2AndEveryReasonWhereASystemCannot) {
    const ProcessResult r = export_of({"torchrun", "scenarios/gpt3-175b-1024xa100.json"});
    EXPECT_EQ(r.exit_code, 2);
    EXPECT_THAT(r.out, IsEmpty());
    for (const char* pointer : {"/plan/tp", "/plan/pp"}) EXPECT_THAT(r.err, HasSubstr(pointer));
    EXPECT_EQ(export_of({"ray", "scenarios/default.json"}).exit_code, 2);
    EXPECT_EQ(export_of({"megatron"}).exit_code, 2);
}

TEST(Export, ExitsWith4ForAPlanThatDoesNotFit) {
    EXPECT_THAT(export_of({"megatron", "scenarios/does-not-fit.json"}), exits_with(4, HasSubstr("does not fit")));
}

}  // namespace
}  // namespace sextant
