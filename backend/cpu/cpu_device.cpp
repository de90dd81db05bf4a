#include "backend/cpu/cpu_device.hpp"

#include "backend/cpu/operators.hpp"
#include "backend/cpu/reductions.hpp"
#include "backend/exec/memory_pool.hpp"
#include "backend/exec/reals.hpp"
#include "backend/exec/wide_call.hpp"
#include "model/base/diagnostics.hpp"
#include "model/base/failure.hpp"

#include <omp.h>

#ifdef __SSE__
#include <xmmintrin.h>
#endif

#include <algorithm>
#include <cstring>
#include <new>
#include <string>

namespace sextant {
namespace cpu {

// Refused before a program is made, see unsupported(): never reached.
template <class Kind>
void forward(Engine&, const Kind&, const OperatorCall&) {
    broken_invariant("not an operator of a device");
}
template <class Kind>
void backward(Engine&, const Kind&, const OperatorCall&) {
    broken_invariant("not an operator of a device");
}

}  // namespace cpu

namespace {

// What fails in an operator says in which.
template <class Work>
void naming(const OperatorCall& c, const char* pass, const Work& work) {
    const auto refuse = [&](const std::string& why) { throw BackendError(pass + (" of " + c.op.name) + ": " + why); };
    try {
        work();
    } catch (const std::bad_alloc&) {
        refuse("out of memory");
    } catch (const dnnl::error& e) {
        refuse(e.status == dnnl_out_of_memory ? "out of memory" : std::string("oneDNN: ") + e.what());
    }
}

// Numbers too small to be normal are zero, in this thread and in those that it starts. Gradients of data that have been learnt are full of
// them, and their squares even more; arithmetic on them takes a core many times as long.
void flush_subnormals() {
#ifdef __SSE__
    constexpr unsigned results = 0x8000, operands = 0x0040;  // FTZ and DAZ
    _mm_setcsr(_mm_getcsr() | results | operands);
#endif
}

}  // namespace

struct CpuDevice::State {
    explicit State(MemorySource source) : memory(std::move(source)) {}

    cpu::Engine engine;
    MemoryPool memory;

    // work(engine, the operator's kind, call), in fp32 where the operator has no form for what its arrays are in.
    template <class Work>
    void run(const OperatorCall& c, bool backward, const Work& work) {
        engine.scratch.reset();
        naming(c, backward ? "backward" : "forward", [&] {
            const auto compute = [&](const OperatorCall& call) {
                std::visit([&](const auto& kind) { work(engine, kind, call); }, c.op.kind);
            };
            const Element element = element_of(c);
            if (element == Element::real || has_form_for(element, c.op.kind)) return compute(c);
            const WideCall wide(
                c, backward, [&](std::int64_t elements) { return engine.scratch.array(elements); },
                [&](const Array& from, const Array& to) { engine.convert(from, to); });
            compute(wide.call());
            wide.finish();
        });
    }
    [[nodiscard]] static bool has_form_for(Element element, const OperatorKind& kind) {
        const bool multiplies =
            std::holds_alternative<Gemm>(kind) || std::holds_alternative<Attention>(kind) || std::holds_alternative<Convolution>(kind);
        return multiplies ? cpu::Engine::multiplies(element)
                          : std::holds_alternative<Embedding>(kind) || std::holds_alternative<CrossEntropy>(kind);
    }
};

CpuDevice::CpuDevice(int threads, MemorySource memory) {
    flush_subnormals();
    omp_set_num_threads(threads);
    state_ = std::make_unique<State>(std::move(memory));  // which tries how it computes best
}
CpuDevice::~CpuDevice() = default;

std::string CpuDevice::library_version() {
    const dnnl_version_t* v = dnnl_version();
    return std::to_string(v->major) + "." + std::to_string(v->minor) + "." + std::to_string(v->patch);
}

Array CpuDevice::allocate(std::int64_t elements, Element element) {
    return {state_->memory.take(elements * bytes_of(element)), elements, element};
}
std::int64_t CpuDevice::bytes_in_use() const { return state_->memory.in_use(); }
std::int64_t CpuDevice::peak_bytes() const { return state_->memory.peak(); }
void CpuDevice::begin_step() { state_->memory.begin_step(); }

void CpuDevice::upload(const void* from, const Array& to) { std::memcpy(to.memory.get(), from, static_cast<std::size_t>(to.bytes())); }
void CpuDevice::download(const Array& from, void* to) { std::memcpy(to, from.memory.get(), static_cast<std::size_t>(from.bytes())); }
void CpuDevice::fill(const Array& a, float value) {
    with_type(a.element, [&]<class Value>() { std::fill_n(a.as<Value>(), a.elements, value); });
}
void CpuDevice::copy(const Array& from, const Array& to) {
    if (from.element != to.element) return state_->engine.convert(from, to);
    std::memcpy(to.memory.get(), from.memory.get(), static_cast<std::size_t>(to.bytes()));
}

void CpuDevice::copy_columns(const Array& from, std::int64_t from_pitch, const Array& to, std::int64_t to_pitch, std::int64_t width,
                             std::int64_t rows) {
    with_type(from.element, [&]<class Value>() {
        for (std::int64_t r = 0; r < rows; ++r) std::copy_n(from.as<Value>() + r * from_pitch, width, to.as<Value>() + r * to_pitch);
    });
}

void CpuDevice::add(const Array& a, const Array& b, const Array& sum) {
    with_type(sum.element, [&]<class Value>() {
        const auto *x = a.as<Value>(), *y = b.as<Value>();
        auto* to = sum.as<Value>();
        for (std::int64_t i = 0; i < sum.elements; ++i) to[i] = x[i] + y[i];
    });
}

void CpuDevice::scale(const Array& a, float factor) {
    float* x = a.reals();
    for (std::int64_t i = 0; i < a.elements; ++i) x[i] *= factor;
}

double CpuDevice::sum_of_squares(std::span<const Array> arrays) {
    constexpr std::int64_t summed = 1024;  // in fp32 before they enter a sum in fp64
    double sum = 0;
    for (const Array& a : arrays)
        for (std::int64_t i = 0; i < a.elements; i += summed)
            sum += cpu::dot_of(a.reals() + i, a.reals() + i, std::min(summed, a.elements - i));
    return sum;
}

ExpertCounts CpuDevice::choose_experts(const OperatorCall& c, const RoutedTokens& tokens, const Array& rows, const Array& scores) {
    const auto& p = std::get<TokenPermute>(c.op.kind);
    const std::vector<float> biases = c.weights.empty() ? std::vector<float>{} : downloaded(*this, c.weights[0]);
    const Choices choices = sextant::choose_experts(downloaded(*this, c.inputs[1]), biases, p);
    upload(choices.rows.data(), rows);
    upload(choices.scores.data(), scores);
    if (p.balance_loss == 0) return {choices.chosen};
    return {choices.chosen, count_by_sequence(choices, c.inputs[1].elements / p.tokens, p.copies, tokens)};
}

void CpuDevice::forward(const OperatorCall& c) {
    state_->run(c, false, [](cpu::Engine& e, const auto& kind, const OperatorCall& call) { cpu::forward(e, kind, call); });
}

void CpuDevice::backward(const OperatorCall& c) {
    state_->run(c, true, [](cpu::Engine& e, const auto& kind, const OperatorCall& call) { cpu::backward(e, kind, call); });
}

void CpuDevice::merge_losses(const Array& parts, int ranks, const Array& losses, const Array& statistics) {
    cpu::merge_losses(parts.reals(), ranks, losses.elements, losses.reals(), statistics.reals());
}

}  // namespace sextant
