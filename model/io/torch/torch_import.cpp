#include "model/io/torch/torch_import.hpp"

#include "model/io/torch/tracer.hpp"

namespace sextant {
namespace {

Workload workload_of(const TorchProgram& program, const std::string& file) {
    Tracer tracer(program, file);
    const TracedNetwork traced = tracer.trace();
    Workload workload;
    workload.name = std::filesystem::path(file).stem().string();
    const std::string& path = program.root_class;
    workload.title = path.empty() ? workload.name : path.substr(path.rfind('.') + 1);
    workload.source = "traced by torch.export of PyTorch " + (program.version.empty() ? "of an unknown version" : program.version) + ", " +
                      std::to_string(tracer.samples()) + (tracer.samples() == 1 ? " sample" : " samples");
    workload.spec = GraphSpec{blocks_of(traced), tracer.only_predicted()};
    return workload;
}

}  // namespace

Workload import_torch(const std::filesystem::path& path) { return workload_of(read_exported_program(path), path.string()); }
Workload import_torch(std::string_view json, const std::string& file) { return workload_of(read_exported_program(json, file), file); }

}  // namespace sextant
