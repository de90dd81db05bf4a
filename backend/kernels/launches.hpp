// Launches of kernels and calls of libraries on the stream of a device. Without CUDA graphs they are made at once. With graphs they are
// noted as a stretch of work, which is launched as a whole when somebody needs to know how far the device is.
//
// Work that is only noted may use memory that has been released since. So whatever gives released memory to others must launch the noted
// work first: see flushed().
#pragma once

#include "backend/kernels/graph_cache.hpp"

#include <exception>
#include <mutex>

namespace sextant::kernels {

// `Stream`: that of GraphCache, and
//   launch(kernel, arguments)        pointers to them
template <class Stream>
class Launches {
public:
    Launches(Stream stream, bool captures) : stream_(std::move(stream)), captures_(captures) {}

    template <class... Arguments>
    void kernel(const Kernel& k, const Arguments&... arguments) {
        if (captures_) {
            const std::lock_guard lock(mutex_);
            return noted_.add(k, arguments...);
        }
        std::array<void*, sizeof...(Arguments)> at{const_cast<Arguments*>(&arguments)...};
        stream_.launch(k, at.data());
    }
    // See Stretch::add.
    template <class Run, class... Words>
    void call(const char* what, const Run& run, const Words&... words) {
        if (!captures_) return run();
        const std::lock_guard lock(mutex_);
        noted_.add(what, run, words...);
    }
    // Launches what was noted, then calls work(), while nothing else is launched. Any thread may call it.
    template <class Work>
    decltype(auto) flushed(const Work& work) {
        if (!captures_) return work();
        const std::lock_guard lock(mutex_);
        launch_noted();
        return work();
    }
    void begin_step() {
        const std::lock_guard lock(mutex_);
        graphs_.begin_step();
    }
    // Drops what was noted, at the end, when nobody asks for its results any more.
    void forget() {
        noted_.clear();
        failure_ = nullptr;
    }

    void enter(const std::function<std::string()>& name) {
        if (!captures_) return;
        const std::lock_guard lock(mutex_);
        noted_.enter(name());
    }
    void leave() {
        if (!captures_) return;
        const std::lock_guard lock(mutex_);
        noted_.leave();
    }
    // Since the step began; none where nothing is captured.
    [[nodiscard]] std::optional<GraphUse> use() const { return captures_ ? std::optional(graphs_.use()) : std::nullopt; }

private:
    // Work that failed is lost, so every later call fails with the same error.
    void launch_noted() {
        if (failure_) std::rethrow_exception(failure_);
        if (noted_.calls().empty()) return;
        launching_.clear();
        std::swap(noted_, launching_);
        try {
            graphs_.run(stream_, launching_);
        } catch (...) {
            failure_ = std::current_exception();
            throw;
        }
    }

    Stream stream_;
    bool captures_;
    std::mutex mutex_;
    Stretch noted_, launching_;
    std::exception_ptr failure_;
    GraphCache<Stream> graphs_;
};

}  // namespace sextant::kernels
