// A ComputeDevice on a machine that runs kernels: an accelerator, or, in tests, the host in its place.
//
// Beside what lanes.hpp asks of a Machine: memory() (a MemoryPool), upload, download, the three passes of a convolution, attend and
// attend_back (a part of attention as one operation: true where it has such a one for it, and has run it; gradients of keys and values go
// where the call is told), and the marks of a ComputeDevice. To be used by the thread that made it, as ComputeDevice says.
#pragma once

#include "backend/exec/memory_pool.hpp"
#include "backend/exec/wide_call.hpp"
#include "backend/kernels/attention.hpp"
#include "backend/kernels/convolution.hpp"
#include "backend/kernels/embedding.hpp"
#include "backend/kernels/expert_choice.hpp"
#include "backend/kernels/experts.hpp"
#include "backend/kernels/normalization.hpp"
#include "backend/kernels/optimizer.hpp"
#include "backend/kernels/pointwise.hpp"
#include "backend/kernels/pooling.hpp"
#include "backend/kernels/sequence_convolution.hpp"
#include "backend/kernels/softmax.hpp"
#include "backend/kernels/state_space.hpp"
#include "model/base/diagnostics.hpp"
#include "model/base/failure.hpp"

#include <numeric>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace sextant::kernels {

// Operators that never come here: those of experts are always routed, exchanges are run by whoever communicates, and delta rules are
// refused before a run begins.
template <class Kind>
concept RunElsewhere = std::is_same_v<Kind, TokenPermute> || std::is_same_v<Kind, Exchange> || std::is_same_v<Kind, DeltaRuleScan>;
template <class T, class Machine, RunElsewhere Kind>
void forward(Machine&, const Kind&, const OperatorCall&) {
    broken_invariant("not an operator of a kernel");
}
template <class T, class Machine, RunElsewhere Kind>
void backward(Machine&, const Kind&, const OperatorCall&) {
    broken_invariant("not an operator of a kernel");
}

template <class T>
struct Fill : ToElement<T> {
    float value;
    SEXTANT_KERNEL float operator()(std::int64_t) const { return value; }
};

template <class Machine>
class KernelDevice final : public ComputeDevice {
public:
    template <class... Arguments>
    explicit KernelDevice(Arguments&&... arguments) : machine_(std::forward<Arguments>(arguments)...) {}
    [[nodiscard]] Machine& machine() { return machine_; }

    Array allocate(std::int64_t elements, Element element) override {
        return {machine_.memory().take(elements * bytes_of(element)), elements, element};
    }
    [[nodiscard]] std::int64_t bytes_in_use() const override { return machine_.memory().in_use(); }
    [[nodiscard]] std::int64_t peak_bytes() const override { return machine_.memory().peak(); }

    void upload(const void* from, const Array& to) override { machine_.upload(from, to.memory.get(), to.bytes()); }
    void download(const Array& from, void* to) override { machine_.download(from.memory.get(), to, from.bytes()); }
    void fill(const Array& a, float value) override {
        with_type(a.element, [&]<class T>() { machine_.elements(a.elements, Fill<T>{{a.as<T>()}, value}); });
    }
    void copy(const Array& from, const Array& to) override {
        if (from.element == to.element) return machine_.copy(from.as<std::byte>(), to.as<std::byte>(), to.bytes());
        with_type(from.element, [&]<class From>() {
            with_type(to.element, [&]<class To>() { machine_.elements(to.elements, Convert<From, To>{{to.as<To>()}, from.as<From>()}); });
        });
    }
    void copy_columns(const Array& from, std::int64_t from_pitch, const Array& to, std::int64_t to_pitch, std::int64_t width,
                      std::int64_t rows) override {
        with_type(from.element, [&]<class T>() {
            machine_.matrix(rows, width, CopyColumns<T>{{to.as<T>(), to_pitch}, from.as<T>(), from_pitch});
        });
    }
    void add(const Array& a, const Array& b, const Array& sum) override {
        with_type(sum.element, [&]<class T>() { machine_.elements(sum.elements, AddArrays<T>{{sum.as<T>()}, a.as<T>(), b.as<T>()}); });
    }
    void scale(const Array& a, float factor) override { machine_.elements(a.elements, Scale<float>{{a.reals()}, a.reals(), factor}); }
    double sum_of_squares(std::span<const Array> arrays) override {
        std::int64_t chunks = 0;
        for (const Array& a : arrays) chunks += chunks_of(a.elements);
        const Array made = doubles(machine_, chunks);
        double* at = values_in<double>(made);
        for (const Array& a : arrays) {
            sum_squares(machine_, Identity{a.reals()}, a.elements, at);
            at += chunks_of(a.elements);
        }
        std::vector<double> sums(static_cast<std::size_t>(chunks));  // the device is waited for once
        machine_.download(made.memory.get(), sums.data(), made.bytes());
        return std::accumulate(sums.begin(), sums.end(), 0.0);
    }

    ExpertCounts choose_experts(const OperatorCall& c, const RoutedTokens& tokens, const Array& rows, const Array& scores) override {
        ExpertCounts counts;
        naming(c, "choice", [&]<class T>() { counts = kernels::choose_experts<T>(machine_, c, tokens, rows, scores); });
        return counts;
    }
    void forward(const OperatorCall& c) override {
        naming(c, "forward", [&]<class T>() {
            std::visit(
                [&](const auto& kind) {
                    c.routing != nullptr ? forward_routed<T>(machine_, kind, c) : kernels::forward<T>(machine_, kind, c);
                },
                c.op.kind);
        });
    }
    void backward(const OperatorCall& c) override {
        naming(c, "backward", [&]<class T>() {
            std::visit(
                [&](const auto& kind) {
                    c.routing != nullptr ? backward_routed<T>(machine_, kind, c) : kernels::backward<T>(machine_, kind, c);
                },
                c.op.kind);
        });
    }
    void merge_losses(const Array& parts, int ranks, const Array& losses, const Array& statistics) override {
        machine_.elements(losses.elements, MergeLosses{parts.reals(), {losses.reals(), statistics.reals()}, losses.elements, ranks});
    }
    void update(const OptimizerSettings& o, int step, const Array& weights, const Array& gradients,
                std::span<const Array> states) override {
        kernels::update(machine_, o, step, weights, gradients, states);
    }
    void take_moments(const OptimizerSettings& o, int step, const Array& weights, const Array& gradients, std::span<const Array> states,
                      const Array& squares) override {
        kernels::take_moments(machine_, o, step, weights, gradients, states, squares);
    }
    void step_in_proportion(const OptimizerSettings& o, int step, const Array& weights, std::span<const Array> states,
                            const Array& squares) override {
        kernels::step_in_proportion(machine_, o, step, weights, states, squares);
    }

    void begin_step() override {
        machine_.begin_step();
        machine_.memory().begin_step();
    }
    Mark mark() override { return machine_.mark(); }
    bool reached(const Mark& m) override { return machine_.reached(m); }
    Seconds time_of(const Mark& m) override { return machine_.time_of(m); }
    void finish() override { machine_.finish(); }
    void enter(const std::function<std::string()>& name) override { machine_.enter(name); }
    void leave() override { machine_.leave(); }

private:
    // Work of the type that activations and weights are of. What fails in an operator says in which; a profiler shows it by its name.
    template <class Work>
    void naming(const OperatorCall& c, const char* pass, const Work& work) {
        machine_.enter([&] { return c.op.name; });
        try {
            with_type(element_of(c), work);
        } catch (const BackendError& e) {
            throw BackendError(std::string(pass) + " of " + c.op.name + ": " + e.what());
        }
        machine_.leave();
    }

    Machine machine_;
};

}  // namespace sextant::kernels
