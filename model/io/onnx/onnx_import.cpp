#include "model/io/onnx/onnx_import.hpp"

#include "model/io/format/text_file.hpp"
#include "model/io/onnx/onnx_layers.hpp"

#include <boost/interprocess/file_mapping.hpp>
#include <boost/interprocess/mapped_region.hpp>

#include <algorithm>
#include <cmath>
#include <set>

namespace sextant {
namespace {

using Kind = ChainLayer::Kind;

constexpr int data = -1;  // as a layer's number

constexpr const char* other_ways = "sextant import torch reads any module of PyTorch, sextant import hf a transformer's config.json";

// What a name of the graph stands for.
struct Value {
    enum class Kind { image, weight, other } kind = Kind::other;  // other: shapes, and what is made of them
    int layer = data;                                             // that made the image
    OnnxTensor tensor{};                                          // of a weight
};

// A layer, and what only the file knows of it.
struct Made {
    ChainLayer layer;
    std::vector<int> sources;
    std::string output;     // what the file calls what it makes
    double parameters = 0;  // as the file has them
};

class OnnxImporter {
public:
    OnnxImporter(const OnnxGraph& graph, std::string file) : graph_(graph), file_(std::move(file)) {}

    Workload workload() {
        for (const auto& [name, tensor] : graph_.weights) values_[name] = {Value::Kind::weight, data, tensor};
        read_input();
        for (std::size_t i = 0; i < graph_.nodes.size(); ++i) read_node(graph_.nodes[i], i);
        problems_.throw_if_any();
        end_with_classifier();
        problems_.throw_if_any();
        leave_out_unread();
        name_what_is_read();

        Workload workload;
        workload.name = std::filesystem::path(file_).stem().string();
        workload.title = graph_.name.empty() ? workload.name : graph_.name;
        workload.source = "ONNX, written by " + (graph_.producer.empty() ? std::string("an unknown program") : graph_.producer);
        for (const std::string& what : left_out_) workload.source += (what == *left_out_.begin() ? "; without: " : ", ") + what;
        for (Made& m : made_) spec_.layers.push_back(std::move(m.layer));
        workload.spec = std::move(spec_);
        check_parameters(workload);
        return workload;
    }

private:
    void complain(std::string pointer, std::string what, std::string hint = {}) {
        problems_.add({file_, std::move(pointer), std::move(what), std::move(hint)});
    }
    // What reads it is read on, for what is wrong further down.
    void complain(const OnnxNode& node, std::size_t i, const std::string& what, std::string hint = {}) {
        complain("/graph/node/" + std::to_string(i), node.type + (node.name.empty() ? "" : " \"" + node.name + "\"") + ": " + what,
                 std::move(hint));
        for (const std::string& name : node.inputs)
            if (value(name).kind == Value::Kind::image) return set_output(node, Value(value(name)));
    }

    void read_input() {
        const auto is_data = [&](const OnnxInput& in) { return !graph_.weights.contains(in.name); };
        const auto count = std::ranges::count_if(graph_.inputs, is_data);
        if (count != 1) return complain("/graph/input", std::to_string(count) + " inputs, where a chain reads one");
        const OnnxInput& in = *std::ranges::find_if(graph_.inputs, is_data);
        values_[in.name] = {Value::Kind::image, data, {}};
        for (std::size_t d = 1; d < in.shape.size(); ++d) spec_.input_shape.push_back(in.shape[d].value_or(0));
        if (spec_.input_shape.size() != 1 && spec_.input_shape.size() != 3)
            complain("/graph/input", "the input is neither [samples, features] nor [samples, channels, height, width]", other_ways);
        else if (std::ranges::any_of(spec_.input_shape, [](std::int64_t e) { return e < 1; }))
            complain("/graph/input", "the size of the input is left open", "export with a fixed size (the number of samples may be open)");
    }

    [[nodiscard]] const Value& value(const std::string& name) const {
        static const Value none;
        const auto found = values_.find(name);
        return found == values_.end() ? none : found->second;
    }
    [[nodiscard]] const Value& input(const OnnxNode& node, std::size_t i) const {
        return value(i < node.inputs.size() ? node.inputs[i] : std::string());
    }

    // Whatever stands for its outputs: the first one is what layers make.
    void set_output(const OnnxNode& node, const Value& v) {
        if (!node.outputs.empty()) values_[node.outputs.front()] = v;
    }
    void add(const OnnxNode& node, ChainLayer layer, std::vector<int> sources, double parameters = 0) {
        made_.push_back({std::move(layer), std::move(sources), node.outputs.empty() ? std::string() : node.outputs.front(), parameters});
        set_output(node, {Value::Kind::image, static_cast<int>(made_.size()) - 1, {}});
    }
    void add(const OnnxNode& node, std::size_t i, OnnxLayer found, double parameters = 0) {
        if (!found.problem.empty()) return complain(node, i, found.problem);
        if (!found.left_out.empty()) left_out_.insert(found.left_out);
        add(node, std::move(found.layer), {input(node, 0).layer}, parameters);
    }
    [[nodiscard]] Made& made(int layer) { return made_[static_cast<std::size_t>(layer)]; }
    [[nodiscard]] const Made& made(int layer) const { return made_[static_cast<std::size_t>(layer)]; }

    void read_node(const OnnxNode& node, std::size_t i) {
        std::vector<const Value*> images;
        for (const std::string& name : node.inputs)
            if (const Value& v = value(name); v.kind == Value::Kind::image) images.push_back(&v);
        if (images.empty() || node.type == "Shape") return read_constant(node);
        if (input(node, 0).kind != Value::Kind::image && node.type != "Add" && node.type != "Mul")
            return complain(node, i, "its first operand is no image");
        if (images.size() > 1) return read_join(node, i, images);
        if (read_weighted(node, i) || read_free(node)) return;
        if (node.type == "Resize" || node.type == "Upsample")
            return add(node, i, onnx_upsampling(node, input(node, node.type == "Resize" ? 2 : 1).tensor));
        if (node.type == "MaxPool" || node.type == "AveragePool") return add(node, i, onnx_pooling(node));
        if (OnnxLayer found = onnx_activation(node); found.problem.empty()) return add(node, i, std::move(found));
        if (node.type == "Pad")
            return complain(node, i, "it pads by something, or by what the file works out",
                            "without padding apart; onnxsim folds constants");
        complain(node, i, "no layer of a chain does that", other_ways);
    }

    static bool keeps_elements(const OnnxNode& node) {
        static const std::set<std::string, std::less<>> types{"Identity",  "Flatten", "Reshape",  "Squeeze",
                                                              "Unsqueeze", "Cast",    "Transpose"};
        return types.contains(node.type);
    }

    // Shapes, and weights that are made where they are needed.
    void read_constant(const OnnxNode& node) {
        if (node.type == "ConstantOfShape") {
            set_output(node, {Value::Kind::weight, data, {.dims = input(node, 0).tensor.integers}});
        } else if (const auto found = node.attributes.find("value"); node.type == "Constant" && found != node.attributes.end()) {
            if (found->second.tensor) set_output(node, {Value::Kind::weight, data, *found->second.tensor});
        } else if (keeps_elements(node)) {
            set_output(node, Value(input(node, 0)));
        }
    }

    bool read_weighted(const OnnxNode& node, std::size_t i) {
        const Value &weight = input(node, 1), &bias = input(node, 2);
        const std::vector<std::int64_t>& dims = weight.tensor.dims;
        const bool has_weight = weight.kind == Value::Kind::weight, has_bias = bias.kind == Value::Kind::weight;
        const double parameters = weight.tensor.elements() + (has_bias ? bias.tensor.elements() : 0);
        if (node.type == "Conv" && has_weight) {
            add(node, i, onnx_convolution(node, weight.tensor), parameters);
            return true;
        }
        if (node.type == "ConvTranspose" && has_weight) {
            add(node, i, onnx_transposed_convolution(node, weight.tensor), parameters);
            return true;
        }
        if ((node.type == "Gemm" || node.type == "MatMul") && has_weight && dims.size() == 2) {
            const std::int64_t width = node.integer("transB", 0) != 0 ? dims[0] : dims[1];
            add(node, {.kind = Kind::dense, .width = width, .bias = has_bias}, {input(node, 0).layer}, parameters);
            return true;
        }
        if (node.type == "BatchNormalization" && has_weight) {
            add(node, {.kind = Kind::norm}, {input(node, 0).layer}, parameters);
            return true;
        }
        return add_constant(node);
    }

    // A bias that stands apart, the factors of a normalization, the scaling of data.
    bool add_constant(const OnnxNode& node) {
        static const std::set<std::string, std::less<>> arithmetic{"Add", "Sub", "Mul", "Div"};
        const bool first = input(node, 0).kind == Value::Kind::image;
        const Value &image = input(node, first ? 0 : 1), &constant = input(node, first ? 1 : 0);
        if (!arithmetic.contains(node.type) || constant.kind != Value::Kind::weight) return false;
        if (image.layer == data) {
            left_out_.insert("scaling of the data");
        } else if (ChainLayer& layer = made(image.layer).layer; layer.kind != Kind::norm) {
            const bool product = layer.kind == Kind::dense || layer.kind == Kind::conv;
            const bool one_each = constant.tensor.elements() == static_cast<double>(layer.width);
            if (node.type != "Add" || !product || layer.bias || !one_each) return false;
            layer.bias = true;
            made(image.layer).parameters += constant.tensor.elements();
        }
        set_output(node, Value(image));
        return true;
    }

    // What needs no weights and has no window.
    bool read_free(const OnnxNode& node) {
        const int source = input(node, 0).layer;
        if (node.type == "GlobalAveragePool" || is_mean_over_pixels(node)) {
            add(node, {.kind = Kind::pool, .pooling = PoolingKind::global_average}, {source});
        } else if (node.type == "Dropout") {
            add(node, {.kind = Kind::dropout}, {source});
        } else if (node.type == "LRN") {
            left_out_.insert("local response normalization");
            set_output(node, Value(input(node, 0)));
        } else if (keeps_elements(node) || pads_nothing(node) || node.type == "Softmax" || node.type == "LogSoftmax") {
            if (node.type == "Transpose" && !puts_channels_first(node)) left_out_.insert("transpositions (of channel shuffles)");
            set_output(node, Value(input(node, 0)));
        } else {
            return false;
        }
        return true;
    }

    // As decoders do whose images might have differed from the encoder's.
    bool pads_nothing(const OnnxNode& node) const {
        if (node.type != "Pad") return false;
        std::vector<std::int64_t> pads = node.integers("pads");
        if (pads.empty()) pads = input(node, 1).tensor.integers;
        return !pads.empty() && std::ranges::all_of(pads, [](std::int64_t p) { return p == 0; });
    }

    bool is_mean_over_pixels(const OnnxNode& node) const {
        if (node.type != "ReduceMean") return false;
        std::vector<std::int64_t> axes = node.integers("axes");
        if (axes.empty()) axes = input(node, 1).tensor.integers;
        for (std::int64_t& a : axes) a += a < 0 ? 4 : 0;
        std::ranges::sort(axes);
        return axes == std::vector<std::int64_t>{2, 3};
    }

    // Images that lie channels last begin so.
    bool puts_channels_first(const OnnxNode& node) {
        if (input(node, 0).layer != data || !made_.empty() || spec_.input_shape.size() != 3) return false;
        if (node.integers("perm") != std::vector<std::int64_t>{0, 3, 1, 2}) return false;
        std::rotate(spec_.input_shape.begin(), spec_.input_shape.end() - 1, spec_.input_shape.end());  // clang 14 has no ranges::rotate
        return true;
    }

    void read_join(const OnnxNode& node, std::size_t i, const std::vector<const Value*>& images) {
        std::vector<int> sources;
        sources.reserve(images.size());
        for (const Value* v : images) sources.push_back(v->layer);
        if (node.type == "Add" || node.type == "Sum") {
            add(node, {.kind = Kind::add}, std::move(sources));
        } else if (node.type == "Concat" && node.integer("axis", 1) == 1) {
            add(node, {.kind = Kind::concat}, std::move(sources));
        } else if (node.type == "Mul" && sources.size() == 2) {
            read_product(node, sources);
        } else {
            complain(node, i, "no layer of a chain does that with two images", other_ways);
        }
    }

    void read_product(const OnnxNode& node, std::vector<int> sources) {
        for (int side = 0; side < 2; ++side) {
            const int of = sources[static_cast<std::size_t>(side)], with = sources[static_cast<std::size_t>(1 - side)];
            if (with < 0) continue;
            ChainLayer& other = made(with).layer;
            const bool sigmoid = other.kind == Kind::activation && other.function == PointwiseKind::sigmoid;
            if (!sigmoid || made(with).sources != std::vector{of}) continue;
            other.function = PointwiseKind::silu;  // x times its sigmoid
            return set_output(node, {Value::Kind::image, with, {}});
        }
        if (of_one_pixel(sources[0]) && !of_one_pixel(sources[1])) std::swap(sources[0], sources[1]);
        add(node, {.kind = Kind::multiply}, std::move(sources));
    }
    // Is it made of averages over pixels?
    [[nodiscard]] bool of_one_pixel(int layer) const {
        for (; layer >= 0; layer = made(layer).sources.front()) {
            const ChainLayer& l = made(layer).layer;
            if (l.kind == Kind::pool && l.pooling == PoolingKind::global_average) return true;
            if (l.kind == Kind::multiply || l.kind == Kind::add || l.kind == Kind::concat) return false;
        }
        return false;
    }

    // Of features, of averages or of pixels.
    [[nodiscard]] bool is_linear(int layer) const {
        const ChainLayer& l = made(layer).layer;
        return l.kind == Kind::dense || (l.kind == Kind::conv && l.kernel == 1 && l.stride == 1 && l.groups == 1 && !l.transposed);
    }

    // A chain ends with a linear layer of its own.
    void end_with_classifier() {
        int out = value(graph_.outputs.empty() ? std::string() : graph_.outputs.front()).layer;
        if (out >= 0 && made(out).layer.kind == Kind::activation && made(out).layer.function == PointwiseKind::sigmoid)
            out = made(out).sources.front();  // the loss is of what comes before, as with a softmax
        if (out < 0 || !is_linear(out))
            return complain("/graph/output", "the network does not end with a linear layer to classes, of the sample or of each pixel",
                            "what is trained here is a classifier");
        const Made& last = made(out);
        spec_.classes = last.layer.width;
        spec_.per_pixel = last.layer.kind == Kind::conv && !of_one_pixel(out);
        classifier_parameters_ = last.parameters + (last.layer.bias ? 0 : static_cast<double>(last.layer.width));  // ours has a bias
        end_ = last.sources.front();
        if (end_ < 0) complain("/graph/output", "there is one layer only");
    }

    // What the classifier does not read, other outputs do, if any.
    void leave_out_unread() {
        std::vector<bool> needed(made_.size());
        needed[static_cast<std::size_t>(end_)] = true;
        for (int i = end_; i >= 0; --i)
            for (const int s : made(i).sources)
                if (needed[static_cast<std::size_t>(i)] && s >= 0) needed[static_cast<std::size_t>(s)] = true;
        std::vector<int> number(made_.size(), data);
        std::vector<Made> kept;
        for (std::size_t i = 0; i < made_.size(); ++i) {
            if (!needed[i]) continue;
            number[i] = static_cast<int>(kept.size());
            for (int& s : made_[i].sources) s = s < 0 ? data : number[static_cast<std::size_t>(s)];
            kept.push_back(std::move(made_[i]));
        }
        made_ = std::move(kept);
    }

    // By the names that the file has.
    void name_what_is_read() {
        for (int i = 0; i < static_cast<int>(made_.size()); ++i) {
            if (made(i).sources == std::vector{i - 1}) continue;
            for (const int s : made(i).sources) {
                if (s >= 0) made(s).layer.name = name_of(s);
                made(i).layer.from.push_back(s < 0 ? "input" : name_of(s));
            }
        }
    }
    [[nodiscard]] std::string name_of(int layer) const {
        const std::string& name = made(layer).output;
        return name == "input" || name.empty() ? "layer " + std::to_string(layer) : name;
    }

    void check_parameters(const Workload& workload) const {
        double wanted = classifier_parameters_;
        for (const Made& m : made_) wanted += m.parameters;
        const double found = size_of(workload).parameters;
        if (std::abs(found - wanted) < 0.5) return;
        throw InputError(Diagnostic{file_, "/graph",
                                    "the layers come to " + std::to_string(std::llround(found)) + " parameters, and the file has " +
                                        std::to_string(std::llround(wanted)) + " of them",
                                    "an image is larger or smaller somewhere than it was read: state it as a chain by hand"});
    }

    const OnnxGraph& graph_;
    std::string file_;
    Diagnostics problems_{};
    std::map<std::string, Value, std::less<>> values_{};
    ChainSpec spec_{};
    std::vector<Made> made_{};
    std::set<std::string> left_out_{};
    double classifier_parameters_ = 0;
    int end_ = data;  // the layer that the classifier reads
};

}  // namespace

Workload import_onnx(std::string_view bytes, const std::string& file) {
    const OnnxGraph graph = read_onnx(bytes, file);
    return OnnxImporter(graph, file).workload();
}

Workload import_onnx(const std::filesystem::path& path) {
    namespace ipc = boost::interprocess;
    Diagnostics problems;
    if (!check_regular_file(path, problems)) problems.throw_if_any();
    std::error_code error;
    if (std::filesystem::is_empty(path, error))  // which no memory maps
        throw InputError(Diagnostic{path.string(), "", "is empty", "a file that torch.onnx.export wrote"});
    try {
        const ipc::file_mapping file(path.c_str(), ipc::read_only);
        const ipc::mapped_region region(file, ipc::read_only);
        return import_onnx({static_cast<const char*>(region.get_address()), region.get_size()}, path.string());
    } catch (const ipc::interprocess_exception& failed) {
        throw InputError(Diagnostic{path.string(), "", std::string("cannot be read: ") + failed.what(), "check the path"});
    }
}

}  // namespace sextant
