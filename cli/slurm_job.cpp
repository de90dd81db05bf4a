#include "cli/slurm_job.hpp"

#include "cli/launch.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace sextant {
namespace {

// Whole nodes are for the job alone; of others it takes its part of the cores. Ranks that exchange within layers or between stages want to
// be near each other.
std::vector<std::string> node_options(const ExportedLaunch& launch, const Scenario& s) {
    const NodeSpec& node = s.cluster.node;
    const bool on_cores = node.device.kind == DeviceKind::cpu;
    std::vector<std::string> options{"--nodes=" + std::to_string(launch.nodes), "--ntasks-per-node=1"};
    if (!on_cores) options.push_back("--gpus-per-node=" + std::to_string(launch.per_node));
    if (const int cores = on_cores ? launch.per_node : launch.cores; cores > 0)
        options.push_back("--cpus-per-task=" + std::to_string(cores));
    if (launch.per_node == node.devices) options.emplace_back("--exclusive");
    const bool cuts_the_model = s.plan.tp * s.plan.pp * s.plan.cp > 1;
    if (cuts_the_model && launch.nodes > 1 && launch.nodes <= s.cluster.fabric.nodes_per_leaf) options.emplace_back("--switches=1");
    return options;
}

// Copies or unpacks the samples on every node, and removes them at the end.
std::string staging_lines(const DataSource& data) {
    if (data.synthetic || (data.staging.mode != StagingMode::copy && data.staging.mode != StagingMode::untar)) return {};
    const bool unpacks = data.staging.mode == StagingMode::untar;
    return "\n# Staged as the plan says: DATA names " + std::string(unpacks ? "the tarball" : "the samples") + " on " + data.storage->name +
           ", and the program is to read $STAGED.\n" + ": \"${DATA:?what is to be staged}\"\n" +
           "export STAGED=${TMPDIR:-/tmp}/sextant-$SLURM_JOB_ID\n" + "trap 'srun --ntasks-per-node=1 rm -rf \"$STAGED\"' EXIT\n" +
           "srun --ntasks-per-node=1 mkdir -p \"$STAGED\"\n" + "srun --ntasks-per-node=1 " +
           (unpacks ? "tar -xf \"$DATA\" -C \"$STAGED\"" : "cp -r \"$DATA\" \"$STAGED\"") + "\n\n";
}

// Half as long again as predicted and ten minutes more, in whole minutes of ten: a job that its limit ends has done nothing. Written as
// days-hours:minutes:seconds.
std::string time_limit(Seconds predicted) {
    const Seconds limit = 1.5 * predicted + 10 * units::minute;
    const auto minutes = static_cast<long long>(10 * std::ceil(limit / (10 * units::minute)));
    char text[64];
    std::snprintf(text, sizeof text, "%lld-%02lld:%02lld:00", minutes / 1440, minutes / 60 % 24, minutes % 60);
    return text;
}

// Where the job is to run, for how long, and how often.
std::vector<std::string> slurm_options(const ExportedLaunch& launch, const Scenario& s, const Report& r) {
    std::vector<std::string> options = node_options(launch, s);
    const SchedulerNames& slurm = s.cluster.slurm;
    if (!slurm.partition.empty()) options.push_back("--partition=" + slurm.partition);
    const auto &disk = s.data.staging.to ? s.data.staging.to : s.data.storage, &local = s.cluster.node.local_storage;
    if (disk && local && disk->name == local->name && !slurm.local_disk_constraint.empty())
        options.push_back("--constraint=" + slurm.local_disk_constraint);
    if (!r.run) return options;
    if (!r.sweep) {
        options.push_back("--time=" + time_limit(r.run->time));
        return options;
    }
    const Grouping& jobs = r.sweep->best;
    options.push_back("--time=" + time_limit(s.run.sweep->start_up + static_cast<double>(jobs.tasks_per_job) * r.run->time));
    options.push_back("--array=0-" + std::to_string(jobs.jobs - 1) + "%" + std::to_string(std::min(jobs.jobs, s.run.sweep->at_once)));
    return options;
}

// Each job of the array does its tasks one after another.
std::string for_each_task(const Scenario& s, const Grouping& jobs, const std::string& command) {
    const std::string each = std::to_string(jobs.tasks_per_job);
    return "# " + std::to_string(s.run.sweep->tasks) + " tasks, " + each +
           " to a job: TASK is the number of one, from 0, which the program is to read. One that fails leaves the others alone.\nset +e\n" +
           "first=$((SLURM_ARRAY_TASK_ID * " + each + "))\n" + "for ((task = first; task < first + " + each + " && task < " +
           std::to_string(s.run.sweep->tasks) + "; task++)); do\nexport TASK=$task\n" + command + "done\n";
}

}  // namespace

std::string slurm_job_script(const SlurmJob& job, const Scenario& s, const Report& r) {
    const std::string command = r.sweep ? for_each_task(s, r.sweep->best, job.command) : job.command;
    return slurm_header(s.name, slurm_options(job.launch, s, r)) + job.before + staging_lines(s.data) + command;
}

}  // namespace sextant
