// Memory that is handed out again once it comes back: the same sizes are wanted in every micro-batch, and fresh pages of the system cost
// more than most operators. Internal to backend/cpu.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace sextant::cpu {

// Blocks may outlive the pool, and come from and go back to it on any thread.
class MemoryPool {
public:
    std::shared_ptr<void> take(std::int64_t bytes);
    [[nodiscard]] std::int64_t in_use() const;
    [[nodiscard]] std::int64_t peak() const;
    void reset_peak();

private:
    struct Free {
        void operator()(void* memory) const;
    };
    struct Shelf {
        std::mutex mutex;
        std::map<std::int64_t, std::vector<std::unique_ptr<void, Free>>> idle;
        std::int64_t in_use = 0, peak = 0;
    };
    std::shared_ptr<Shelf> shelf_ = std::make_shared<Shelf>();
};

}  // namespace sextant::cpu
