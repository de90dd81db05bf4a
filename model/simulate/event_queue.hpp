// Events in the order of (time, sequence): of two at the same instant, the one pushed first comes first.
//
// An event that no longer holds stays in the queue; whoever takes it out recognises it by a version in the payload.
#pragma once

#include "model/base/quantity.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace sextant {

// A heap whose vertices have four children: half as deep as a binary one, and siblings lie side by side in memory.
template <typename Payload>
class EventQueue {
    static_assert(std::is_trivially_copyable_v<Payload>, "events are moved about as plain memory");

public:
    struct Event {
        Seconds at;
        std::uint64_t sequence = 0;
        Payload payload;
    };

    void push(Seconds at, Payload payload) {
        std::size_t hole = heap_.size();
        const Event event{at, pushed_++, payload};
        heap_.push_back(event);
        for (; hole > 0 && before(event, heap_[parent(hole)]); hole = parent(hole)) heap_[hole] = heap_[parent(hole)];
        heap_[hole] = event;
    }

    // The earliest event; there must be one, here and in pop().
    [[nodiscard]] const Event& top() const { return heap_.front(); }

    Event pop() {
        const Event first = heap_.front();
        const Event last = heap_.back();
        heap_.pop_back();
        if (!heap_.empty()) sink(last);
        return first;
    }

    [[nodiscard]] bool empty() const { return heap_.empty(); }
    [[nodiscard]] std::size_t size() const { return heap_.size(); }
    [[nodiscard]] std::uint64_t pushed() const { return pushed_; }  // so far

private:
    static constexpr std::size_t children = 4;
    static std::size_t parent(std::size_t i) { return (i - 1) / children; }
    static bool before(const Event& a, const Event& b) { return a.at != b.at ? a.at < b.at : a.sequence < b.sequence; }

    // Moves the hole that the first event leaves down to where `event` may stand.
    void sink(const Event& event) {
        const std::size_t size = heap_.size();
        std::size_t hole = 0;
        for (;;) {
            const std::size_t begin = hole * children + 1;
            if (begin >= size) break;
            const std::size_t end = std::min(begin + children, size);
            std::size_t least = begin;
            for (std::size_t child = begin + 1; child < end; ++child) least = before(heap_[child], heap_[least]) ? child : least;
            if (!before(heap_[least], event)) break;
            heap_[hole] = heap_[least];
            hole = least;
        }
        heap_[hole] = event;
    }

    std::vector<Event> heap_;
    std::uint64_t pushed_ = 0;
};

}  // namespace sextant
