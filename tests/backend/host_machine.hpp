// The host in the place of an accelerator, for kernels of backend/kernels: several lanes, threads here, work on each row.
#pragma once

#include "backend/exec/memory_pool.hpp"
#include "backend/kernels/column_major.hpp"
#include "backend/kernels/convolution.hpp"

#include <algorithm>
#include <array>
#include <barrier>
#include <cstring>
#include <thread>
#include <vector>

namespace sextant {

class HostMachine {
public:
    explicit HostMachine(int lanes) : lanes_(lanes) {}

    MemoryPool& memory() { return memory_; }
    [[nodiscard]] const MemoryPool& memory() const { return memory_; }
    Array scratch(std::int64_t count, Element element = Element::real) { return {memory_.take(count * bytes_of(element)), count, element}; }
    void upload(const void* from, void* to, std::int64_t bytes) { std::memcpy(to, from, static_cast<std::size_t>(bytes)); }
    void download(const void* from, void* to, std::int64_t bytes) { std::memcpy(to, from, static_cast<std::size_t>(bytes)); }
    template <class Value>
    void copy(const Value* from, Value* to, std::int64_t count) {
        std::copy_n(from, count, to);
    }
    template <class Value>
    void clear(Value* to, std::int64_t count) {
        std::fill_n(to, count, 0.0F);
    }

    template <class Function>
    void elements(std::int64_t count, const Function& f) {
        for (std::int64_t i = 0; i < count; ++i) f(i);
    }
    template <class Function>
    void matrix(std::int64_t rows, std::int64_t columns, const Function& f) {
        for (std::int64_t r = 0; r < rows; ++r)
            for (std::int64_t c = 0; c < columns; ++c) f(r, c);
    }
    template <class Function>
    void rows(std::int64_t count, std::int64_t, const Function& f) {
        if (lanes_ == 1) {
            for (std::int64_t row = 0; row < count; ++row) f(kernels::OneLane{}, row);
            return;
        }
        Team team(lanes_);
        std::vector<std::jthread> threads;
        for (int lane = 0; lane < lanes_; ++lane)
            threads.emplace_back([&, lane] {
                for (std::int64_t row = 0; row < count; ++row) f(Lane{&team, lane}, row);
            });
    }

    void multiply(const kernels::Product&);
    // Made in fp32, and rounded.
    template <class T>
    void convolve(const kernels::ConvolutionShape& s, const T* x, const T* filter, T* y) {
        round(convolved(s, wide(x, s.in_elements()), wide(filter, s.filter_elements())), y);
    }
    template <class T>
    void convolve_back(const kernels::ConvolutionShape& s, const T* filter, const T* dy, T* dx) {
        round(convolved_back(s, wide(filter, s.filter_elements()), wide(dy, s.out_elements())), dx);
    }
    template <class T>
    void filter_gradient(const kernels::ConvolutionShape& s, const T* x, const T* dy, T* d_filter) {
        round(gradient_of_filter(s, wide(x, s.in_elements()), wide(dy, s.out_elements())), d_filter);
    }

    bool attend(const Attention&, const OperatorCall&) { return false; }
    bool attend_back(const Attention&, const OperatorCall&) { return false; }

    void begin_step() {}
    Mark mark() { return {now()}; }
    bool reached(const Mark&) { return true; }
    Seconds time_of(const Mark& m) { return m.made; }
    void finish() {}
    void enter(const std::function<std::string()>&) {}
    void leave() {}

private:
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
        explicit Team(int lanes) : barrier(lanes), slots(static_cast<std::size_t>(lanes)) {}
        std::barrier<> barrier;
        std::vector<std::array<std::byte, 8>> slots;
    };
    struct Lane {
        Team* team;
        int lane;

        [[nodiscard]] std::int64_t first() const { return lane; }
        [[nodiscard]] std::int64_t step() const { return static_cast<std::int64_t>(team->slots.size()); }
        template <class Value>
        Value sum(Value mine) const {
            return reduce(mine, [](Value a, Value b) { return a + b; });
        }
        template <class Value>
        Value max(Value mine) const {
            return reduce(mine, [](Value a, Value b) { return a < b ? b : a; });
        }

    private:
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

    int lanes_;
    MemoryPool memory_{host_memory()};
};

}  // namespace sextant
