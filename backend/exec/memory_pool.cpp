#include "backend/cpu/memory_pool.hpp"

#include "model/base/diagnostics.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>

namespace sextant::cpu {

constexpr std::int64_t alignment = 64;  // of a cache line and of the widest vectors

void MemoryPool::Free::operator()(void* memory) const { std::free(memory); }

std::shared_ptr<void> MemoryPool::take(std::int64_t bytes) {
    const std::int64_t size = std::max<std::int64_t>(1, (bytes + alignment - 1) / alignment) * alignment;
    const std::lock_guard lock(shelf_->mutex);
    auto& idle = shelf_->idle[size];
    std::unique_ptr<void, Free> block;
    if (idle.empty()) {
        block.reset(std::aligned_alloc(alignment, static_cast<std::size_t>(size)));
        if (!block) throw BackendError("out of memory: " + std::to_string(size) + " bytes were refused");
    } else {
        block = std::move(idle.back());
        idle.pop_back();
    }
    shelf_->in_use += size;
    shelf_->peak = std::max(shelf_->peak, shelf_->in_use);
    return {block.release(), [shelf = shelf_, size](void* memory) {
                const std::lock_guard lock_again(shelf->mutex);
                shelf->in_use -= size;
                shelf->idle[size].emplace_back(memory);
            }};
}

std::int64_t MemoryPool::in_use() const {
    const std::lock_guard lock(shelf_->mutex);
    return shelf_->in_use;
}

std::int64_t MemoryPool::peak() const {
    const std::lock_guard lock(shelf_->mutex);
    return shelf_->peak;
}

void MemoryPool::reset_peak() {
    const std::lock_guard lock(shelf_->mutex);
    shelf_->peak = shelf_->in_use;
}

}  // namespace sextant::cpu
