#include "model/io/onnx/onnx_graph.hpp"

#include "model/base/diagnostics.hpp"
#include "model/base/spelling.hpp"
#include "model/io/format/protobuf_fields.hpp"

namespace sextant {
namespace {

class OnnxReader {
public:
    explicit OnnxReader(const std::string& file) : file_(file) {}

    OnnxGraph model(std::string_view bytes) const {
        OnnxGraph graph;
        std::string producer, version;
        bool found = false;
        each(bytes, [&](const ProtobufField& f) {
            if (f.number == 2) producer = text(f);
            if (f.number == 3) version = text(f);
            if (f.number == 7 && !f.is_number) {
                graph = graph_of(f.bytes);
                found = true;
            }
        });
        if (!found) fail("this is no ONNX model: there is no graph in it");
        graph.producer = producer + (version.empty() ? "" : " " + version);
        return graph;
    }

private:
    [[noreturn]] void fail(std::string what) const {
        throw InputError(Diagnostic{file_, "", std::move(what), "as torch.onnx.export writes it"});
    }

    std::string text(const ProtobufField& f) const {
        std::string text(f.bytes);
        if (printable(text) != text) fail("this is no ONNX model, or a damaged one: a name in it has control characters, or is no UTF-8");
        return text;
    }

    template <class Visit>
    void each(std::string_view message, const Visit& visit) const {
        ProtobufFields fields(message);
        ProtobufField field;
        while (fields.next(field)) visit(field);
        if (fields.broken()) fail("this is no ONNX model, or a damaged one");
    }

    OnnxGraph graph_of(std::string_view bytes) const {
        OnnxGraph graph;
        each(bytes, [&](const ProtobufField& f) {
            if (f.number == 1) graph.nodes.push_back(node_of(f.bytes));
            if (f.number == 2) graph.name = text(f);
            if (f.number == 5) {
                std::string name;
                OnnxTensor tensor = tensor_of(f.bytes, name);
                graph.weights.emplace(std::move(name), std::move(tensor));
            }
            if (f.number == 11) graph.inputs.push_back(input_of(f.bytes));
            if (f.number == 12) graph.outputs.push_back(input_of(f.bytes).name);
        });
        return graph;
    }

    OnnxNode node_of(std::string_view bytes) const {
        OnnxNode node;
        each(bytes, [&](const ProtobufField& f) {
            if (f.number == 1) node.inputs.push_back(text(f));
            if (f.number == 2) node.outputs.push_back(text(f));
            if (f.number == 3) node.name = text(f);
            if (f.number == 4) node.type = text(f);
            if (f.number == 5) add_attribute(node, f.bytes);
        });
        return node;
    }

    void add_attribute(OnnxNode& node, std::string_view bytes) const {
        std::string name;
        OnnxAttribute attribute;
        each(bytes, [&](const ProtobufField& f) {
            if (f.number == 1) name = text(f);
            if (f.number == 3) attribute.integer = f.integer();
            if (f.number == 4) attribute.text = f.bytes;
            if (f.number == 5) {
                std::string unnamed;
                attribute.tensor = tensor_of(f.bytes, unnamed);
            }
            if (f.number == 7) f.add_reals(attribute.reals);
            if (f.number == 8) f.add_integers(attribute.integers);
        });
        node.attributes.insert_or_assign(std::move(name), std::move(attribute));
    }

    OnnxTensor tensor_of(std::string_view bytes, std::string& name) const {
        constexpr std::uint64_t float32 = 1, int64 = 7;  // TensorProto.DataType
        constexpr std::size_t longest_shape = 16;
        OnnxTensor tensor;
        std::string_view raw;
        std::uint64_t type = 0;
        each(bytes, [&](const ProtobufField& f) {
            if (f.number == 1) f.add_integers(tensor.dims);
            if (f.number == 2) type = f.value;
            if (f.number == 4 && f.bytes.size() <= 4 * longest_shape) f.add_reals(tensor.reals);
            if (f.number == 7 && f.bytes.size() <= 8 * longest_shape) f.add_integers(tensor.integers);
            if (f.number == 8) name = text(f);
            if (f.number == 9) raw = f.bytes;
        });
        if (type != int64) tensor.integers.clear();
        if (type == int64 && raw.size() <= 8 * longest_shape) add_fixed_integers(raw, tensor.integers);
        if (type == float32 && raw.size() <= 4 * longest_shape) add_fixed_reals(raw, tensor.reals);
        return tensor;
    }

    // ValueInfoProto: its type's tensor's shape's dimensions.
    OnnxInput input_of(std::string_view bytes) const {
        OnnxInput input;
        const auto dimension = [&](const ProtobufField& f) {
            if (f.number != 1) return;
            input.shape.emplace_back();
            each(f.bytes, [&](const ProtobufField& d) {
                if (d.number == 1) input.shape.back() = d.integer();
            });
        };
        each(bytes, [&](const ProtobufField& f) {
            if (f.number == 1) input.name = text(f);
            if (f.number != 2) return;
            each(f.bytes, [&](const ProtobufField& type) {
                if (type.number != 1) return;
                each(type.bytes, [&](const ProtobufField& tensor) {
                    if (tensor.number == 2) each(tensor.bytes, dimension);
                });
            });
        });
        return input;
    }

    const std::string& file_;
};

}  // namespace

double OnnxTensor::elements() const {
    double count = 1;
    for (const std::int64_t d : dims) count *= static_cast<double>(d);
    return count;
}

std::int64_t OnnxNode::integer(std::string_view attribute, std::int64_t otherwise) const {
    const auto found = attributes.find(attribute);
    return found == attributes.end() ? otherwise : found->second.integer.value_or(otherwise);
}

std::vector<std::int64_t> OnnxNode::integers(std::string_view attribute) const {
    const auto found = attributes.find(attribute);
    return found == attributes.end() ? std::vector<std::int64_t>() : found->second.integers;
}

std::vector<double> OnnxNode::reals(std::string_view attribute) const {
    const auto found = attributes.find(attribute);
    return found == attributes.end() ? std::vector<double>() : found->second.reals;
}

std::string_view OnnxNode::text(std::string_view attribute) const {
    const auto found = attributes.find(attribute);
    return found == attributes.end() ? std::string_view() : std::string_view(found->second.text);
}

OnnxGraph read_onnx(std::string_view bytes, const std::string& file) { return OnnxReader(file).model(bytes); }

}  // namespace sextant
