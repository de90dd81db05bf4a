#include "model/io/torch/exported_program.hpp"

#include "model/base/spelling.hpp"
#include "model/io/format/text_file.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <optional>

namespace sextant {
namespace {

using Json = nlohmann::json;

// With the largest micro-batch no count of elements overflows.
constexpr std::int64_t most_elements = 1'000'000'000'000;
constexpr std::size_t largest_program = std::size_t{1} << 28;  // bytes; one of 100 layers has a few millions

[[noreturn]] void refuse(const std::string& file, std::string pointer, std::string what) {
    throw InputError(Diagnostic{file, std::move(pointer), std::move(what), "as torch.export.save writes it"});
}

// The first member of the archive that is a program: models/model.json, in older files serialized_exported_program.json.
std::optional<std::string> program_in_archive(const std::string& path) {
    const std::unique_ptr<archive, decltype(&archive_read_free)> zip(archive_read_new(), archive_read_free);
    archive_read_support_format_zip(zip.get());
    const auto refuse_archive = [&] {
        const char* why = archive_error_string(zip.get());
        refuse(path, "", std::string("it is no whole archive: ") + (why != nullptr ? why : "it cannot be read"));
    };
    if (archive_read_open_filename(zip.get(), path.c_str(), 1 << 16) != ARCHIVE_OK) refuse_archive();
    for (;;) {
        archive_entry* entry = nullptr;
        const int code = archive_read_next_header(zip.get(), &entry);
        if (code == ARCHIVE_EOF) return std::nullopt;
        if (code < ARCHIVE_WARN) refuse_archive();
        const char* raw = archive_entry_pathname(entry);
        const std::string_view name = raw != nullptr ? raw : "";
        const bool of_models = name.ends_with(".json") && (name.starts_with("models/") || name.find("/models/") != name.npos);
        if (!of_models && !name.ends_with("serialized_exported_program.json")) continue;
        std::string text;
        std::vector<char> piece(1 << 16);
        for (;;) {
            const la_ssize_t got = archive_read_data(zip.get(), piece.data(), piece.size());
            if (got < 0) refuse_archive();
            if (got == 0) return text;
            text.append(piece.data(), static_cast<std::size_t>(got));
            if (text.size() > largest_program) refuse(path, "", "its program is larger than 256 MiB");
        }
    }
}

class ProgramReader {
public:
    ProgramReader(std::string_view text, const std::string& file) : file_(file) {
        document_ = Json::parse(text, nullptr, false);
        if (!document_.is_object() || !document_.contains("graph_module")) refuse(file_, "", "there is no exported program in it");
    }

    TorchProgram program() {
        const Json& version = at(document_, "schema_version", "");
        const Json& major = at(version, "major", "/schema_version");
        if (!major.is_number_integer() || major.get<std::int64_t>() != 8)
            refuse(file_, "/schema_version", "this version of the format is not known: " + printable(version.dump()));
        TorchProgram program;
        program.version = document_.value("torch_version", Json("")).is_string() ? text(document_.value("torch_version", Json(""))) : "";
        const Json& module = at(document_, "graph_module", "");
        read_graph(at(module, "graph", "/graph_module"), "/graph_module/graph", program);
        read_signature(at(module, "signature", "/graph_module"), program);
        return program;
    }

private:
    const Json& at(const Json& object, const char* key, const std::string& pointer) const {
        if (!object.is_object() || !object.contains(key)) refuse(file_, pointer, std::string("there is no \"") + key + "\"");
        return object[key];
    }
    const Json& list(const Json& object, const char* key, const std::string& pointer) const {
        const Json& found = at(object, key, pointer);
        if (!found.is_array()) refuse(file_, pointer + "/" + key, "a list belongs here");
        return found;
    }
    std::string text(const Json& value) const {
        if (!value.is_string()) refuse(file_, "", "a text belongs where " + printable(value.dump()).substr(0, 60) + " stands");
        return printable(value.get_ref<const std::string&>());
    }

    // {"as_int": 2}, or of an open extent {"as_expr": {"expr_str": "s0", "hint": {"as_int": 2}}}
    std::int64_t extent(const Json& value, const std::string& pointer) const {
        if (value.is_object() && value.contains("as_int") && value["as_int"].is_number_integer()) {
            const auto n = value["as_int"].get<std::int64_t>();
            if (n >= 0 && n <= most_elements) return n;
        } else if (value.is_object() && value.contains("as_expr") && value["as_expr"].is_object() && value["as_expr"].contains("hint")) {
            return extent(value["as_expr"]["hint"], pointer);
        }
        refuse(file_, pointer, "an extent is not known, or too large: " + printable(value.dump()).substr(0, 60));
    }

    TorchTensor tensor(const Json& value, const std::string& pointer) const {
        TorchTensor t;
        double elements = 1;  // with an element where an extent is empty
        for (const Json& e : list(value, "sizes", pointer))
            elements *= static_cast<double>(std::max<std::int64_t>(1, t.sizes.emplace_back(extent(e, pointer))));
        if (elements > static_cast<double>(most_elements)) refuse(file_, pointer, "nobody has a tensor of so many elements");
        for (const Json& e : list(value, "strides", pointer)) t.strides.push_back(extent(e, pointer));
        if (t.strides.size() != t.sizes.size()) refuse(file_, pointer, "there are not as many strides as sizes");
        const Json& type = at(value, "dtype", pointer);
        const int number = type.is_number_integer() ? static_cast<int>(std::clamp<std::int64_t>(type.get<std::int64_t>(), 0, 1000)) : 0;
        t.data_type = std::to_string(number);
        t.type = number >= 1 && number <= 5 ? TorchTensor::Type::integer
                 : number == 12             ? TorchTensor::Type::boolean
                                            : TorchTensor::Type::real;
        t.trained = value.contains("requires_grad") && value["requires_grad"] == Json(true);
        return t;
    }

    static bool names_tensor(const Json& value) { return value.is_object() && value.contains("name") && value["name"].is_string(); }

    // Of an argument or an output, {"as_tensor": {"name": "x"}}, {"as_ints": [1, 2]} ...
    TorchArgument argument(const Json& value) const {
        if (!value.is_object() || value.empty()) return {};
        const std::string& kind = value.begin().key();
        const Json& what = value.begin().value();
        if (kind == "as_tensor" && names_tensor(what)) return TorchNames{{text(what["name"])}};
        if ((kind == "as_tensors" || kind == "as_optional_tensors") && what.is_array()) {
            TorchNames found;
            for (const Json& each : what) {
                const Json& inner = each.is_object() && each.contains("as_tensor") ? each["as_tensor"] : each;
                found.names.push_back(names_tensor(inner) ? text(inner["name"]) : std::string());
            }
            return found;
        }
        if (kind == "as_int" && what.is_number_integer()) return std::vector{what.get<std::int64_t>()};
        if (kind == "as_ints" && what.is_array()) {
            std::vector<std::int64_t> found;
            for (const Json& each : what)
                if (each.is_number_integer()) found.push_back(each.get<std::int64_t>());
            return found;
        }
        if (kind == "as_float" && what.is_number()) return what.get<double>();
        if (kind == "as_bool" && what.is_boolean()) return what.get<bool>();
        if (kind == "as_string" && what.is_string()) return text(what);
        return {};
    }

    void append_names(const Json& value, std::vector<std::string>& names) const {
        if (const TorchArgument found = argument(value); const auto* list = std::get_if<TorchNames>(&found))
            names.insert(names.end(), list->names.begin(), list->names.end());
    }

    // "L__self__,,timm.VisionTransformer;L__self___blocks_0,blocks.0,timm.Block": from the outermost to the innermost.
    static std::vector<std::string> split(std::string_view text, char by) {
        std::vector<std::string> parts;
        for (std::size_t begin = 0; begin <= text.size();) {
            const std::size_t end = std::min(text.find(by, begin), text.size());
            parts.emplace_back(text.substr(begin, end - begin));
            begin = end + 1;
        }
        return parts;
    }
    void read_module(const Json& node, TorchCall& call, TorchProgram& program) const {
        if (!node.contains("metadata") || !node["metadata"].is_object() || !node["metadata"].contains("nn_module_stack")) return;
        const std::vector<std::string> stack = split(text(node["metadata"]["nn_module_stack"]), ';');
        const std::vector<std::string> innermost = split(stack.back(), ','), outermost = split(stack.front(), ',');
        if (innermost.size() > 1) call.module = innermost[1];
        if (outermost.size() > 2 && program.root_class.empty()) program.root_class = outermost[2];
    }

    void read_graph(const Json& graph, const std::string& pointer, TorchProgram& program) const {
        const Json& tensors = at(graph, "tensor_values", pointer);
        if (tensors.is_object())
            for (const auto& [name, value] : tensors.items())
                program.tensors.emplace(printable(name), tensor(value, pointer + "/tensor_values/" + printable(name)));
        const Json& nodes = list(graph, "nodes", pointer);
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            const Json& node = nodes[i];
            TorchCall call;
            call.pointer = pointer + "/nodes/" + std::to_string(i);
            call.target = text(at(node, "target", call.pointer));
            if (call.target.starts_with("torch.ops.")) call.target.erase(0, 10);
            read_module(node, call, program);
            for (const Json& input : list(node, "inputs", call.pointer))
                call.arguments.emplace_back(text(at(input, "name", call.pointer)), argument(at(input, "arg", call.pointer)));
            for (const Json& output : list(node, "outputs", call.pointer)) append_names(output, call.outputs);
            program.calls.push_back(std::move(call));
        }
    }

    void read_signature(const Json& signature, TorchProgram& program) const {
        const std::string pointer = "/graph_module/signature";
        for (const Json& spec : list(signature, "input_specs", pointer)) {
            if (!spec.is_object() || spec.empty()) continue;
            const std::string& kind = spec.begin().key();
            const Json& what = spec.begin().value();
            if (kind == "parameter")
                program.parameters.emplace(text(at(at(what, "arg", pointer), "name", pointer)), text(at(what, "parameter_name", pointer)));
            if (kind == "user_input") append_names(at(what, "arg", pointer), program.inputs);
        }
        for (const Json& spec : list(signature, "output_specs", pointer))
            if (spec.is_object() && spec.contains("user_output"))
                append_names(at(spec["user_output"], "arg", pointer), program.outputs);
            else if (spec.is_object() && spec.contains("loss_output"))
                append_names(spec["loss_output"], program.outputs);
    }

    const std::string& file_;
    Json document_;
};

}  // namespace

std::int64_t TorchTensor::elements() const {
    std::int64_t product = 1;
    for (const std::int64_t n : sizes) product *= n;
    return product;
}

const TorchArgument* TorchCall::argument(std::string_view name) const {
    const auto found = std::ranges::find_if(arguments, [&](const auto& a) { return a.first == name; });
    return found == arguments.end() ? nullptr : &found->second;
}

TorchProgram read_exported_program(std::string_view json, const std::string& file) { return ProgramReader(json, file).program(); }

TorchProgram read_exported_program(const std::filesystem::path& path) {
    Diagnostics problems;
    if (!check_regular_file(path, problems)) problems.throw_if_any();
    const std::optional<std::string> json = program_in_archive(path.string());
    if (!json) refuse(path.string(), "", "there is no exported program in the archive");
    return read_exported_program(*json, path.string());
}

}  // namespace sextant
