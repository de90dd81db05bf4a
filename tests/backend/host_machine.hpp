// The host in the place of an accelerator, for kernels of backend/kernels: several lanes, threads here, work on each row. A graph is a list
// of calls with arguments of its own.
#pragma once

#include "backend/exec/memory_pool.hpp"
#include "backend/kernels/attention_parts.hpp"
#include "backend/kernels/column_major.hpp"
#include "backend/kernels/convolution.hpp"
#include "backend/kernels/launches.hpp"

#include <algorithm>
#include <array>
#include <barrier>
#include <cstring>
#include <thread>
#include <typeinfo>
#include <vector>

namespace sextant {

class HostStream {
public:
    using Function = void (*)(void** arguments);
    using Graph = std::shared_ptr<kernels::Stretch>;

    static void launch(const kernels::Kernel& k, void** arguments) { reinterpret_cast<Function>(const_cast<void*>(k.function))(arguments); }
    static void run(kernels::Stretch& stretch) {
        stretch.run([&](const auto& call) { launch(call.kernel, stretch.arguments(call).data()); });
    }
    static Graph capture(const kernels::Stretch& stretch) { return std::make_shared<kernels::Stretch>(stretch); }
    static void set(const Graph& graph, std::size_t call, kernels::Stretch& stretch) {
        const auto& c = stretch.calls()[call];
        std::copy_n(stretch.bytes().data() + c.begin, c.end - c.begin, graph->bytes().data() + c.begin);
    }
    static void launch(const Graph& graph) { run(*graph); }
};

class HostMachine {
public:
    explicit HostMachine(int lanes, bool captures = false) : lanes_(lanes), launches_({}, captures), memory_(memory(captures)) {}

    MemoryPool& memory() { return memory_; }
    [[nodiscard]] const MemoryPool& memory() const { return memory_; }
    Array scratch(std::int64_t count, Element element = Element::real) { return {memory_.take(count * bytes_of(element)), count, element}; }
    void upload(const void* from, void* to, std::int64_t bytes) {
        if (bytes == 0) return;  // of nothing, which may be nowhere
        launches_.flushed([&] { std::memcpy(to, from, static_cast<std::size_t>(bytes)); });
    }
    void download(const void* from, void* to, std::int64_t bytes) { upload(from, to, bytes); }
    template <class Value>
    void copy(const Value* from, Value* to, std::int64_t count) {
        launches_.call(
            "copy", [=] { std::copy_n(from, count, to); }, from, to, count);
    }
    template <class Value>
    void clear(Value* to, std::int64_t count) {
        launches_.call(
            "clear", [=] { std::fill_n(to, count, 0.0F); }, to, count);
    }

    template <class Function>
    void elements(std::int64_t count, const Function& f) {
        launch(
            [](void** arguments) {
                const auto& function = *static_cast<const Function*>(arguments[1]);
                for (std::int64_t i = 0; i < number(arguments[0]); ++i) kernels::run_at(function, i);
            },
            count, f);
    }
    template <class Function>
    void matrix(std::int64_t rows, std::int64_t columns, const Function& f) {
        launch(
            [](void** arguments) {
                const auto& function = *static_cast<const Function*>(arguments[2]);
                for (std::int64_t r = 0; r < number(arguments[0]); ++r)
                    for (std::int64_t c = 0; c < number(arguments[1]); ++c) kernels::run_at(function, r, c);
            },
            rows, columns, f);
    }
    template <class Term, class Value>
    void totals(std::int64_t segments, std::int64_t rows, std::int64_t columns, std::int64_t chunk, const Term& term, Value* to) {
        struct Extents {
            std::int64_t segments, rows, columns, chunk;
        };
        launch(
            [](void** arguments) {
                const auto of = *static_cast<const Extents*>(arguments[0]);
                const auto& function = *static_cast<const Term*>(arguments[1]);
                Value* total = *static_cast<Value**>(arguments[2]);
                for (std::int64_t s = 0; s < of.segments; ++s)
                    for (std::int64_t begin = 0; begin == 0 || begin < of.rows; begin += of.chunk)
                        for (std::int64_t c = 0; c < of.columns; ++c) {
                            Value sum{};
                            for (std::int64_t r = begin; r < std::min(of.rows, begin + of.chunk); ++r) sum += function(s, r, c);
                            *total++ = sum;
                        }
            },
            Extents{segments, rows, columns, chunk}, term, to);
    }
    template <class Function>
    void rows(std::int64_t count, std::int64_t, const Function& f) {
        launch([](void** arguments) { run_rows(number(arguments[0]), number(arguments[1]), *static_cast<const Function*>(arguments[2])); },
               count, lanes_, f);
    }

    void multiply(const kernels::Product&);
    // Made in fp32, and rounded.
    template <class T>
    void convolve(const kernels::ConvolutionShape& s, const T* x, const T* filter, T* y) {
        call_of(
            s, [=] { round(convolved(s, wide(x, s.in_elements()), wide(filter, s.filter_elements())), y); }, x, filter, y);
    }
    template <class T>
    void convolve_back(const kernels::ConvolutionShape& s, const T* filter, const T* dy, T* dx) {
        call_of(
            s, [=] { round(convolved_back(s, wide(filter, s.filter_elements()), wide(dy, s.out_elements())), dx); }, filter, dy, dx);
    }
    template <class T>
    void filter_gradient(const kernels::ConvolutionShape& s, const T* x, const T* dy, T* d_filter) {
        call_of(
            s, [=] { round(gradient_of_filter(s, wide(x, s.in_elements()), wide(dy, s.out_elements())), d_filter); }, x, dy, d_filter);
    }

    // Parts of attention are operations of their own then, in fp32.
    void fuse_attention() { fuses_ = true; }
    bool attend(const kernels::AttentionPart&, const OperatorCall&) const;
    bool attend_back(const kernels::AttentionPart&, const OperatorCall&, const Array& d_keys, const Array& d_values) const;

    void begin_step() {
        finish();
        launches_.begin_step();
    }
    Mark mark() {
        return launches_.flushed([] { return Mark{now()}; });
    }
    static bool reached(const Mark&) { return true; }
    static Seconds time_of(const Mark& m) { return m.made; }
    void finish() {
        launches_.flushed([] {});
    }
    void enter(const std::function<std::string()>& name) { launches_.enter(name); }
    void leave() { launches_.leave(); }
    [[nodiscard]] std::optional<kernels::GraphUse> graph_use() const { return launches_.use(); }

private:
    static MemorySource memory(bool captures) {
        MemorySource source = host_memory();
        source.repeats = captures;
        return source;
    }
    static std::int64_t number(const void* argument) { return *static_cast<const std::int64_t*>(argument); }
    template <class... Arguments>
    void launch(HostStream::Function function, const Arguments&... arguments) {
        launches_.kernel({reinterpret_cast<const void*>(function), {}, {}}, arguments...);
    }
    // The run is one for each pass.
    template <class Run, class... Addresses>
    void call_of(const kernels::ConvolutionShape& s, const Run& run, const Addresses*... addresses) {
        launches_.call(typeid(Run).name(), run, std::array{s.batch, s.in_channels, s.in_h, s.in_w, s.out_channels, s.out_h, s.out_w},
                       std::array{s.kernel_h, s.kernel_w, s.stride, s.groups, s.padding_h, s.padding_w, s.dilation}, s.element,
                       addresses...);
    }
    template <class Function>
    static void run_rows(std::int64_t count, std::int64_t lanes, const Function& f) {
        if (lanes == 1) {
            for (std::int64_t row = 0; row < count; ++row) f(kernels::OneLane{}, row);
            return;
        }
        Team team(lanes);
        std::vector<std::jthread> threads;
        for (std::int64_t lane = 0; lane < lanes; ++lane)
            threads.emplace_back([&, lane] {
                for (std::int64_t row = 0; row < count; ++row) f(Lane{{}, &team, lane}, row);
            });
    }

    using Reals = std::vector<float>;
    template <class T>
    static Reals wide(const T* from, std::int64_t count) {
        return {from, from + count};
    }
    template <class T>
    static void round(const Reals& from, T* to) {
        std::ranges::copy(from, to);
    }
    static Reals convolved(const kernels::ConvolutionShape&, const Reals& x, const Reals& filter);
    static Reals convolved_back(const kernels::ConvolutionShape&, const Reals& filter, const Reals& dy);
    static Reals gradient_of_filter(const kernels::ConvolutionShape&, const Reals& x, const Reals& dy);

    struct Team {
        explicit Team(std::int64_t lanes) : barrier(lanes), slots(static_cast<std::size_t>(lanes)) {}
        std::barrier<> barrier;
        std::vector<std::array<std::byte, 8>> slots;
    };
    struct Lane : kernels::Reductions<Lane> {
        Team* team;
        std::int64_t lane;

        [[nodiscard]] std::int64_t first() const { return lane; }
        [[nodiscard]] std::int64_t step() const { return static_cast<std::int64_t>(team->slots.size()); }
        template <class Value, class Combine>
        Value reduce(Value mine, const Combine& combine) const {
            static_assert(sizeof(Value) <= 8);
            std::memcpy(team->slots[static_cast<std::size_t>(lane)].data(), &mine, sizeof mine);
            team->barrier.arrive_and_wait();
            Value all{}, next{};
            std::memcpy(&all, team->slots[0].data(), sizeof all);
            for (std::size_t i = 1; i < team->slots.size(); ++i) {
                std::memcpy(&next, team->slots[i].data(), sizeof next);
                all = combine(all, next);
            }
            team->barrier.arrive_and_wait();
            return all;
        }
    };

    std::int64_t lanes_;
    bool fuses_ = false;
    kernels::Launches<HostStream> launches_;
    MemoryPool memory_;
};

}  // namespace sextant
