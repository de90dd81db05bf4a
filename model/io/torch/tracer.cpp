#include "model/io/torch/tracer.hpp"

#include <algorithm>

namespace sextant {
namespace {

// "aten.relu_.default" -> "relu": operators that write over their input are the others' twins.
std::string_view operator_name(std::string_view target) {
    if (target.starts_with("aten.")) target.remove_prefix(5);
    target = target.substr(0, target.find('.'));
    if (target.ends_with('_') && !target.ends_with("__")) target.remove_suffix(1);
    return target;
}

bool is_in_place(const TorchCall& call) { return call.target.find("_.") != call.target.npos && !call.target.starts_with("aten.__"); }

// Of those that are written over their input, two go back from what they make.
PointwiseKind kind_of(const TorchCall& call, std::string_view name, PointwiseKind kind) {
    return is_in_place(call) && (name == "leaky_relu" || name == "elu") ? PointwiseKind::from_output : kind;
}

std::vector<std::string> operands_of(const TorchCall& call) {
    std::vector<std::string> found;
    for (const auto& [argument, what] : call.arguments)
        if (const auto* list = std::get_if<TorchNames>(&what)) found.insert(found.end(), list->names.begin(), list->names.end());
    return found;
}

constexpr std::string_view comparisons[] = {"le", "lt", "ge", "gt", "tril", "triu"};

// One pass over elements each. What such a function is does not matter, but where its gradient comes from.
const std::map<std::string_view, PointwiseKind>& passes() {
    using enum PointwiseKind;
    static const std::map<std::string_view, PointwiseKind> table{
        {"relu", relu},
        {"relu6", relu6},
        {"gelu", gelu},
        {"silu", silu},
        {"sigmoid", sigmoid},
        {"tanh", tanh},
        {"neg", scale},
        {"rsub", scale},
        {"where", mask},
        {"masked_fill", mask},
        {"tril", mask},
        {"triu", mask},
        // whose gradient is worked out of what they read
        {"abs", from_input},
        {"addcdiv", from_input},
        {"addcmul", from_input},
        {"atan2", from_input},
        {"clamp", from_input},
        {"clamp_max", from_input},
        {"clamp_min", from_input},
        {"cos", from_input},
        {"elu", from_input},
        {"erf", from_input},
        {"glu", from_input},
        {"hardsigmoid", from_input},
        {"hardswish", from_input},
        {"hardtanh", from_input},
        {"huber_loss", from_input},
        {"l1_loss", from_input},
        {"leaky_relu", from_input},
        {"lerp", from_input},
        {"log", from_input},
        {"log1p", from_input},
        {"log_sigmoid", from_input},
        {"maximum", from_input},
        {"minimum", from_input},
        {"mish", from_input},
        {"mse_loss", from_input},
        {"binary_cross_entropy_with_logits", from_input},
        {"pow", from_input},
        {"prelu", from_input},
        {"selu", from_input},
        {"sin", from_input},
        {"smooth_l1_loss", from_input},
        {"softplus", from_input},
        {"square", from_input},
        // ... of what they make
        {"exp", from_output},
        {"expm1", from_output},
        {"reciprocal", from_output},
        {"rsqrt", from_output},
        {"softsign", from_output},
        {"sqrt", from_output},
        // which have none
        {"__and__", mask},
        {"__or__", mask},
        {"__xor__", mask},
        {"argmax", mask},
        {"argmin", mask},
        {"bitwise_and", mask},
        {"bitwise_not", mask},
        {"bitwise_or", mask},
        {"ceil", mask},
        {"eq", mask},
        {"floor", mask},
        {"floor_divide", mask},
        {"full_like", mask},
        {"ge", mask},
        {"gt", mask},
        {"isinf", mask},
        {"isnan", mask},
        {"le", mask},
        {"logical_and", mask},
        {"logical_not", mask},
        {"logical_or", mask},
        {"lt", mask},
        {"ne", mask},
        {"ones_like", mask},
        {"rand_like", mask},
        {"randn_like", mask},
        {"remainder", mask},
        {"round", mask},
        {"sign", mask},
        {"zeros_like", mask},
    };
    return table;
}

}  // namespace

const std::map<std::string_view, Tracer::Handler>& Tracer::handlers() {
    using T = Tracer;
    static const std::map<std::string_view, Handler> table{
        // the same elements, or some of them, where they lie
        {"alias", &T::view},
        {"as_strided", &T::view},
        {"chunk", &T::view},
        {"detach", &T::view},
        {"diagonal", &T::view},
        {"expand", &T::view},
        {"expand_as", &T::view},
        {"lift_fresh_copy", &T::view},
        {"movedim", &T::view},
        {"narrow", &T::view},
        {"permute", &T::view},
        {"select", &T::view},
        {"slice", &T::view},
        {"split", &T::view},
        {"split_with_sizes", &T::view},
        {"squeeze", &T::view},
        {"swapaxes", &T::view},
        {"t", &T::view},
        {"transpose", &T::view},
        {"unbind", &T::view},
        {"unfold", &T::view},
        {"unsqueeze", &T::view},
        {"view", &T::view},
        // ... where the order in memory allows it
        {"contiguous", &T::reshape},
        {"flatten", &T::reshape},
        {"reshape", &T::reshape},
        {"reshape_as", &T::reshape},
        {"unflatten", &T::reshape},
        // in other places
        {"cat", &T::copy},
        {"channel_shuffle", &T::copy},
        {"clone", &T::copy},
        {"col2im", &T::copy},
        {"constant_pad_nd", &T::copy},
        {"cumsum", &T::copy},
        {"diff", &T::copy},
        {"flip", &T::copy},
        {"gather", &T::copy},
        {"im2col", &T::copy},
        {"index", &T::copy},
        {"index_select", &T::copy},
        {"masked_select", &T::copy},
        {"pad", &T::copy},
        {"pixel_shuffle", &T::copy},
        {"pixel_unshuffle", &T::copy},
        {"reflection_pad2d", &T::copy},
        {"repeat", &T::copy},
        {"repeat_interleave", &T::copy},
        {"replication_pad2d", &T::copy},
        {"roll", &T::copy},
        {"slice_scatter", &T::copy},
        {"stack", &T::copy},
        {"tile", &T::copy},
        {"_to_copy", &T::cast},
        {"to", &T::cast},
        {"type_as", &T::cast},
        // with other elements
        {"add", &T::add},
        {"sub", &T::add},
        {"mul", &T::multiply},
        {"div", &T::divide},
        {"dropout", &T::dropout},
        {"feature_dropout", &T::dropout},
        // products
        {"addmm", &T::add_product},
        {"baddbmm", &T::add_product},
        {"bmm", &T::product},
        {"conv1d", &T::convolution},
        {"conv2d", &T::convolution},
        {"conv3d", &T::convolution},
        {"conv_transpose1d", &T::convolution},
        {"conv_transpose2d", &T::convolution},
        {"convolution", &T::convolution},
        {"einsum", &T::einsum},
        {"linear", &T::linear},
        {"matmul", &T::product},
        {"mm", &T::product},
        {"scaled_dot_product_attention", &T::attention},
        // over rows, windows, all
        {"_log_softmax", &T::softmax},
        {"_softmax", &T::softmax},
        {"log_softmax", &T::softmax},
        {"softmax", &T::softmax},
        {"batch_norm", &T::batch_norm},
        {"group_norm", &T::group_norm},
        {"instance_norm", &T::batch_norm},
        {"layer_norm", &T::row_norm},
        {"rms_norm", &T::row_norm},
        {"max_pool1d", &T::pool},
        {"max_pool2d", &T::pool},
        {"max_pool2d_with_indices", &T::pool},
        {"avg_pool1d", &T::pool},
        {"avg_pool2d", &T::pool},
        {"adaptive_avg_pool1d", &T::reduce},
        {"adaptive_avg_pool2d", &T::reduce},
        {"adaptive_max_pool2d", &T::reduce},
        {"all", &T::reduce},
        {"amax", &T::reduce},
        {"amin", &T::reduce},
        {"any", &T::reduce},
        {"linalg_vector_norm", &T::reduce},
        {"logsumexp", &T::reduce},
        {"max", &T::reduce},
        {"mean", &T::reduce},
        {"min", &T::reduce},
        {"std", &T::reduce},
        {"sum", &T::reduce},
        {"var", &T::reduce},
        {"embedding", &T::embedding},
        {"upsample_bicubic2d", &T::resize},
        {"upsample_bilinear2d", &T::resize},
        {"upsample_nearest1d", &T::resize},
        {"upsample_nearest2d", &T::resize},
        {"cross_entropy_loss", &T::cross_entropy},
    };
    return table;
}

Tracer::Tracer(const TorchProgram& program, std::string file) : program_(program), file_(std::move(file)) {
    for (const auto& [name, model_name] : program_.parameters) {
        values_[name].parameters = {name};
        const auto tensor = program_.tensors.find(name);
        any_trained_ = any_trained_ || (tensor != program_.tensors.end() && tensor->second.trained);
    }
}

TracedNetwork Tracer::trace() {
    const auto first = program_.inputs.empty() ? program_.tensors.end() : program_.tensors.find(program_.inputs.front());
    if (first == program_.tensors.end() || first->second.sizes.empty() || first->second.elements() < 1)
        throw InputError(Diagnostic{file_, "/graph_module/signature", "no input of it is a tensor of samples",
                                    "export with example inputs whose first extent is the number of samples"});
    samples_ = first->second.sizes.front();
    for (const std::string& name : program_.inputs) {
        const auto tensor = program_.tensors.find(name);
        if (tensor == program_.tensors.end()) continue;  // a number, or nothing
        const TensorId id = new_tensor(name, tensor->second);
        if (tensor->second.type == TorchTensor::Type::integer) network_.tensors.back().role = TensorRole::index;
        network_.inputs.push_back(id);
        values_[name].made = id;
    }
    for (const TorchCall& call : program_.calls) read_call(call);
    Diagnostics problems;
    for (const auto& [target, where] : unknown_)
        problems.add({file_, where.first->pointer,
                      target + (where.second > 1 ? " (" + std::to_string(where.second) + " calls)" : "") + ": no operator is known for it",
                      where.first->module.empty() ? "" : "the first is called in " + where.first->module});
    problems.throw_if_any();
    end_with_loss();
    return std::move(network_);
}

void Tracer::read_call(const TorchCall& call) {
    if (call.outputs.empty()) return;  // an assertion
    const std::string_view name = operator_name(call.target);
    const std::vector<std::string> operands = made_operands(call);
    if (operands.empty()) return read_constant(call, name);
    if (const auto handler = handlers().find(name); handler != handlers().end()) return (this->*handler->second)(call);
    if (const auto kind = passes().find(name); kind != passes().end())
        return pass(call, kind_of(call, name, kind->second), is_in_place(call));
    const auto known = unknown_.try_emplace(call.target, &call, 0).first;
    known->second.second += 1;
    same(call);
}

void Tracer::read_constant(const TorchCall& call, std::string_view name) {
    Value made{.of_positions = std::ranges::find(comparisons, name) != std::end(comparisons)};
    for (const std::string& operand : operands_of(call)) {
        const Value& v = value(operand);
        made.of_positions = made.of_positions || v.of_positions;
        made.parameters.insert(made.parameters.end(), v.parameters.begin(), v.parameters.end());
    }
    for (const std::string& output : call.outputs) values_[output] = made;
}

const TorchTensor& Tracer::shape_of(const std::string& tensor, const TorchCall& call) const {
    const auto found = program_.tensors.find(tensor);
    if (found == program_.tensors.end()) refuse(call, "the shape of \"" + tensor + "\" is not in the file");
    return found->second;
}

const Tracer::Value& Tracer::value(const std::string& tensor) const {
    static const Value none;
    const auto found = values_.find(tensor);
    return found == values_.end() ? none : found->second;
}

std::vector<std::string> Tracer::names(const TorchCall& call, std::string_view argument) {
    const auto* list = call.argument_as<TorchNames>(argument);
    return list != nullptr ? list->names : std::vector<std::string>{};
}

std::string Tracer::name(const TorchCall& call, std::string_view argument) {
    const std::vector<std::string> list = names(call, argument);
    return list.empty() ? std::string() : list.front();
}

std::vector<std::string> Tracer::made_operands(const TorchCall& call) const {
    std::vector<std::string> found = operands_of(call);
    std::erase_if(found, [&](const std::string& operand) { return !value(operand).made; });
    return found;
}

std::vector<std::string> Tracer::constant_operands(const TorchCall& call) const {
    std::vector<std::string> found = operands_of(call);
    std::erase_if(found, [&](const std::string& operand) { return value(operand).made.has_value(); });
    return found;
}

std::vector<std::int64_t> Tracer::integers(const TorchCall& call, std::string_view argument) {
    const auto* list = call.argument_as<std::vector<std::int64_t>>(argument);
    return list != nullptr ? *list : std::vector<std::int64_t>{};
}

std::vector<std::int64_t> Tracer::window(const TorchCall& call, std::string_view argument) const {
    std::vector<std::int64_t> list = integers(call, argument);
    for (const std::int64_t n : list)
        if (n < 0 || n > 1'000'000) refuse(call, std::string(argument) + " is " + std::to_string(n));
    return list;
}

std::int64_t Tracer::integer(const TorchCall& call, std::string_view argument, std::int64_t otherwise) {
    const std::vector<std::int64_t> list = integers(call, argument);
    return list.empty() ? otherwise : list.front();
}

bool Tracer::flag(const TorchCall& call, std::string_view argument) {
    const bool* set = call.argument_as<bool>(argument);
    return set != nullptr && *set;
}

// What does not grow with the samples (a loss, a norm over all of them) is charged to each.
std::int64_t Tracer::of_sample(std::int64_t count) const { return count % samples_ == 0 ? count / samples_ : count; }

void Tracer::refuse(const TorchCall& call, std::string what) const {
    throw InputError(Diagnostic{file_, call.pointer,
                                call.target + (call.module.empty() ? "" : " in " + call.module) + ": " + std::move(what),
                                "as torch.export.save writes it"});
}

void Tracer::run_never(std::string why) {
    if (only_predicted_.empty()) only_predicted_ = std::move(why);
}

Tracer::Weights Tracer::take(const std::vector<std::string>& constants) {
    Weights weights;
    bool any_trained = false;
    for (const std::string& constant : constants)
        for (const std::string& parameter : value(constant).parameters) {
            const auto tensor = program_.tensors.find(parameter);
            if (tensor == program_.tensors.end()) continue;
            const auto elements = static_cast<double>(tensor->second.elements());
            const auto [reader, first] = readers_.try_emplace(parameter, network_.operators.size());
            (first ? weights.own : weights.tied) += elements;
            if (!first) weights.first_reader = reader->second;
            any_trained = any_trained || tensor->second.trained;
        }
    weights.frozen = any_trained_ && !any_trained && weights.own + weights.tied > 0;
    return weights;
}

TensorId Tracer::new_tensor(std::string name, const TorchTensor& tensor) {
    std::vector<std::int64_t> shape = tensor.sizes;
    const std::int64_t elements = of_sample(tensor.elements());
    if (shape.size() == 4 && shape.front() % samples_ == 0) {
        shape.front() /= samples_;
        if (shape[2] == 1 && shape[3] == 1) shape.resize(2);
    } else {
        const std::int64_t last = shape.empty() || shape.size() == 1 ? 1 : std::max<std::int64_t>(1, shape.back());
        shape = elements % last == 0 ? std::vector{elements / last, last} : std::vector{elements};
    }
    // Numbers that are made of indices are masks and positions: nobody looks anything up with them.
    using Type = TorchTensor::Type;
    const TensorRole role = tensor.type == Type::real      ? TensorRole::activation
                            : tensor.type == Type::boolean ? TensorRole::mask
                                                           : TensorRole::statistic;
    return add_tensor({std::move(name), std::move(shape), role});
}

TensorId Tracer::add_tensor(Tensor tensor) {
    network_.tensors.push_back(std::move(tensor));
    return TensorId{static_cast<std::uint32_t>(network_.tensors.size() - 1)};
}

Operator& Tracer::emit(const TorchCall& call, OperatorKind kind, const std::vector<std::string>& inputs,
                       const std::vector<std::string>& constants) {
    const Weights weights = take(constants);
    Operator op;
    op.kind = std::move(kind);
    op.name = call.module;  // whose only operator with weights it is
    if (weights.own + weights.tied == 0 || op.name.empty() || std::holds_alternative<Pointwise>(op.kind))
        op.name += (op.name.empty() ? "" : ".") + std::string(operator_name(call.target));
    for (const std::string& input : inputs)
        if (const Value& v = value(input); v.made) op.inputs.push_back(*v.made);
    op.tied = weights.own == 0 && weights.tied > 0;
    op.parameters = op.tied ? weights.tied : weights.own;
    op.frozen = weights.frozen;
    if (op.tied && weights.first_reader < network_.operators.size())
        if (Operator& first = network_.operators[weights.first_reader]; std::holds_alternative<Embedding>(first.kind))
            op.shared = first.shared = SharedMatrix::embedding;
    for (const std::string& output : call.outputs) {
        const auto shape = program_.tensors.find(output);
        if (shape == program_.tensors.end()) continue;  // of several, those that nobody reads
        const TensorId id = new_tensor("." + std::to_string(op.outputs.size() + 1), shape->second);
        op.outputs.push_back(id);
        values_[output].made = id;
    }
    if (op.outputs.empty()) refuse(call, "the shape of what it makes is not in the file");
    return append(call.module, std::move(op));
}

Operator& Tracer::append(std::string module, Operator op) {
    network_.operators.push_back(std::move(op));
    network_.modules.push_back(std::move(module));
    return network_.operators.back();
}

void Tracer::also(Operator& op, std::string name, std::vector<std::int64_t> shape, TensorRole role) {
    op.outputs.push_back(add_tensor({std::move(name), std::move(shape), role}));
}

void Tracer::same(const TorchCall& call) {
    const Value source = value(made_operands(call).front());
    for (const std::string& output : call.outputs) values_[output] = source;
}

// What the user gets first, or the loss, if the program ends with one.
void Tracer::end_with_loss() {
    const auto made = std::ranges::find_if(program_.outputs, [&](const std::string& name) { return value(name).made.has_value(); });
    if (made == program_.outputs.end())
        throw InputError(Diagnostic{file_, "/graph_module/signature", "nothing that it returns depends on its inputs", {}});
    network_.output = *value(*made).made;
    if (network_.operators.empty()) throw InputError(Diagnostic{file_, "/graph_module/graph", "it computes nothing", {}});
    const TorchTensor& result = program_.tensors.find(*made)->second;
    if (result.sizes.empty() || result.elements() <= samples_) return;  // a loss, or one of each sample
    // Of classes: of each pixel of images, else of the last extent.
    const bool images = result.sizes.size() == 4;
    const std::int64_t classes = images ? result.sizes[1] : result.sizes.back();
    if (classes < 1) return;
    network_.tensors[network_.output.value].role = TensorRole::logits;
    const std::int64_t rows = of_sample(result.elements()) / classes;
    const TensorId loss = add_tensor({"", {rows, 1}, TensorRole::statistic});
    Operator op{.name = "loss", .kind = CrossEntropy{.rows = rows, .classes = classes}, .inputs = {network_.output}, .outputs = {loss}};
    append(network_.modules.back(), std::move(op));
    network_.output = loss;
}

}  // namespace sextant
