#include "cli/probed_machine.hpp"

#include "cli/child_process.hpp"
#include "cli/executor.hpp"
#include "cli/hosts.hpp"
#include "cli/machine.hpp"
#include "model/base/grouped_digits.hpp"
#include "model/io/calibration/device_facts.hpp"

#include <algorithm>

namespace sextant {
namespace {

// Those probes of a bundled file that so many cores or GPUs can run.
std::vector<Probe> probes_of(const Library& library, const char* file, int devices, const std::vector<std::string>& precisions,
                             bool quick) {
    std::vector<Probe> probes = load_probes(library.root / "calibration" / file);
    std::erase_if(probes, [&](const Probe& p) {
        return (devices * p.ranks_per_device) % p.cut != 0 || (quick && !p.quick) ||
               std::ranges::find(precisions, p.precision) == precisions.end();
    });
    return probes;
}

// All that a program says on stdout.
std::string said_by(const std::vector<std::string>& words, int& code) {
    std::string text;
    code = run_child(words, [&](const std::string& line) { text += line + '\n'; });
    return text;
}

std::vector<DeviceFacts> gpus() {
    int code = 0;
    const std::string text = said_by({executor_of("cuda").string(), "--devices"}, code);
    if (code != 0)
        throw BackendError(
            "no GPU can be measured here: `sextant calibrate --backend cuda` runs on the machine that has it, and "
            "scripts/carry-gpu packs what it needs for one without MPI");
    return device_facts_from_json(text, "sextant-exec-cuda --devices");
}

// Empty where NVIDIA's tool is not there or says nothing.
std::string gpu_topology() {
    try {
        int code = 0;
        std::string text = said_by({"nvidia-smi", "topo", "-m"}, code);
        return code == 0 ? text : std::string();
    } catch (const BackendError&) {
        return {};
    }
}

}  // namespace

ProbedMachine probed_cores(Library& library, bool quick, const std::string& host_file) {
    const MachineFacts facts = facts_of_this_machine();
    std::vector<std::string> precisions{"fp32"};
    if (facts.bf16) precisions.emplace_back("bf16");
    ProbedMachine machine{"cpu", facts, guessed_cluster(library, facts), probes_of(library, "probes.json", facts.cores, precisions, quick)};
    if (host_file.empty()) return machine;
    const int hosts = static_cast<int>(host_names(host_file).size());
    if (hosts < 2)
        throw InputError(Diagnostic{"--hostfile " + host_file, "", "it names " + counted(hosts, "host"),
                                    "a network is between two or more; without it, this machine is measured"});
    machine.guess = connected_hosts(machine.guess, hosts);
    machine.network_probes = probes_of(library, "network_probes.json", hosts * facts.cores, precisions, quick);
    machine.host_file = host_file;
    return machine;
}

ProbedMachine probed_gpus(Library& library, bool quick) {
    const std::vector<DeviceFacts> devices = gpus();
    MachineFacts facts = facts_of_this_machine();
    Cluster guess = guessed_cluster(library, facts, devices, devices.size() > 1 ? gpu_topology() : std::string());
    facts.processor = devices.front().name;
    std::vector<std::string> precisions{"fp32", "fp16"};
    for (const DataType type : {DataType::tf32, DataType::bf16})  // Ampere and later
        if (guess.node.device.peak(type, ComputeUnit::tensor)) precisions.emplace_back(to_text(type));
    return {"cuda", facts, std::move(guess), probes_of(library, "gpu_probes.json", static_cast<int>(devices.size()), precisions, quick)};
}

}  // namespace sextant
