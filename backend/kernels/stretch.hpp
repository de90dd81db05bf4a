// A stretch of a device's work, noted before it is run: kernels with their arguments, and calls of libraries.
#pragma once

#include "model/base/ceil_divide.hpp"
#include "model/base/diagnostics.hpp"

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace sextant::kernels {

struct Kernel {
    const void* function;  // as the device knows it
    std::array<std::uint32_t, 2> blocks, threads;
};
constexpr std::size_t most_arguments = 3;

// Two stretches of one key make the same calls in the same order: all that a library is told is the same, and kernels are the same but for
// their arguments.
class Stretch {
public:
    struct Call {
        Kernel kernel{};              // no function: a library's
        std::function<void()> run{};  // by a library
        std::array<std::size_t, most_arguments> arguments{};
        std::size_t begin = 0, end = 0;  // of the bytes of the arguments
        std::size_t name = 0;
    };

    // A launch of a kernel, whose arguments are copied.
    template <class... Arguments>
    void add(const Kernel& kernel, const Arguments&... arguments) {
        static_assert(sizeof...(Arguments) <= most_arguments && (std::is_trivially_copyable_v<Arguments> && ...));
        add_to_key(kernel);
        Call& call = calls_.emplace_back(Call{.kernel = kernel, .begin = bytes_.size(), .name = name_});
        std::size_t i = 0;
        ((call.arguments[i++] = store(&arguments, sizeof arguments)), ...);
        call.end = bytes_.size();
    }
    // A call of a library. `words`: everything that it depends on, except for what it finds in the memory of the device.
    template <class Run, class... Words>
    void add(const char* what, const Run& run, const Words&... words) {
        static_assert(((std::has_unique_object_representations_v<Words> || std::is_floating_point_v<Words>)&&...),
                      "bytes without a meaning would be part of the key");
        add_to_key(what);  // its address: the text stands in the program once
        (add_to_key(words), ...);
        calls_.push_back({.run = run, .name = name_});
    }
    // What the calls that follow are part of; without a name: of nothing that has one.
    void enter(std::string name) {
        names_.push_back(std::move(name));
        name_ = names_.size() - 1;
    }
    void leave() { name_ = 0; }

    [[nodiscard]] const std::vector<Call>& calls() const { return calls_; }
    [[nodiscard]] const std::string& key() const { return key_; }
    // Of a kernel's call, as launches take them.
    [[nodiscard]] std::array<void*, most_arguments> arguments(const Call& call) {
        std::array<void*, most_arguments> at{};
        for (std::size_t i = 0; i < most_arguments; ++i) at[i] = bytes_.data() + call.arguments[i];
        return at;
    }
    // Of all kernels, one behind another, with gaps of zeros.
    [[nodiscard]] std::vector<std::byte>& bytes() { return bytes_; }
    // Makes all calls: kernel(call) for those of kernels. What fails says in which.
    template <class RunKernel>
    void run(const RunKernel& kernel) const {
        for (const Call& call : calls_) {
            try {
                if (call.run)
                    call.run();
                else
                    kernel(call);
            } catch (const BackendError& e) {
                throw BackendError(names_[call.name] + (call.name == 0 ? "" : ": ") + e.what());
            }
        }
    }
    void clear() {
        calls_.clear();
        key_.clear();
        bytes_.clear();
        names_.resize(1);
        name_ = 0;
    }

private:
    template <class Value>
    void add_to_key(const Value& value) {
        const auto bytes = std::as_bytes(std::span(&value, 1));
        key_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
    std::size_t store(const void* from, std::size_t size) {
        constexpr std::size_t alignment = alignof(std::max_align_t);
        const std::size_t at = ceil_divide(bytes_.size(), alignment) * alignment;
        bytes_.resize(at + size);
        std::memcpy(bytes_.data() + at, from, size);
        return at;
    }

    std::vector<Call> calls_;
    std::string key_;
    std::vector<std::byte> bytes_;
    std::vector<std::string> names_{""};
    std::size_t name_ = 0;
};

}  // namespace sextant::kernels
