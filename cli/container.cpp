#include "cli/container.hpp"

#include "cli/launch.hpp"

namespace sextant {
namespace {

// Apptainer mounts the home, the current directory and /tmp, and hands the environment on.
std::string apptainer_words(const std::string& image, const Device& device) {
    const char* devices = device.kind == DeviceKind::cpu ? "" : device.vendor == "AMD" ? "--rocm " : "--nv ";
    return "apptainer exec " + std::string(devices) + shell_line({image}) + " ";
}

// Docker hands on what it is told to. Ranks and loader workers share memory, and ranks of other nodes are called by host and port.
std::string docker_words(const std::string& image, const ExportedLaunch& launch, const Scenario& s) {
    const Device& device = s.cluster.node.device;
    std::string words = "docker run --rm --network=host --ipc=host --ulimit memlock=-1 -v \"$PWD:$PWD\" -w \"$PWD\" ";
    if (device.kind != DeviceKind::cpu)
        words += device.vendor == "AMD" ? "--device=/dev/kfd --device=/dev/dri " : "--gpus all -e CUDA_VISIBLE_DEVICES ";
    const bool infiniband = launch.nodes > 1 && network_link(s).category == LinkCategory::infiniband;
    if (infiniband) words += "--device=/dev/infiniband ";
    for (const auto& [name, value] : launch.environment) words += "-e " + name + " ";
    return words + shell_line({image}) + " ";
}

}  // namespace

std::string container_words(const Container& container, const ExportedLaunch& launch, const Scenario& s) {
    if (!container.apptainer.empty()) return apptainer_words(container.apptainer, s.cluster.node.device);
    return container.docker.empty() ? "" : docker_words(container.docker, launch, s);
}

}  // namespace sextant
