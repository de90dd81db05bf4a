// Files for the formats: read at any offset, written from beginning to end.
#pragma once

#include "backend/storage/sample.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>

namespace sextant {

// Goes through a folder and those in it, those that are links as well: of classes they may be links to where the pictures are. What links
// back to a folder that it lies in is left out. Throws std::filesystem::filesystem_error.
void visit_below(const std::filesystem::path& folder, const std::function<void(const std::filesystem::directory_entry&)>& visit);

// What stands beside it has a name of its own: "train/" is "/data/train", and so is "." there.
std::filesystem::path whole_path(const std::filesystem::path&);

// Owns a file descriptor.
class Descriptor {
public:
    Descriptor() = default;
    explicit Descriptor(int number) : number_(number) {}
    Descriptor(Descriptor&& o) noexcept : number_(std::exchange(o.number_, -1)) {}
    Descriptor& operator=(Descriptor&& o) noexcept {
        std::swap(number_, o.number_);
        return *this;
    }
    ~Descriptor();
    [[nodiscard]] int number() const { return number_; }
    [[nodiscard]] int release() { return std::exchange(number_, -1); }

private:
    int number_ = -1;
};

// Throws BackendError. `path`: only for the message.
void write_all(const Descriptor&, BlobView, const std::filesystem::path&);

// InputErrors from here have no file name; naming() adds it.
class InputFile {
public:
    explicit InputFile(const std::filesystem::path&);
    [[nodiscard]] std::uint64_t size() const { return size_; }
    [[nodiscard]] int descriptor() const { return descriptor_.number(); }
    // Throws InputError when the file ends earlier.
    void read(std::uint64_t at, std::span<std::uint8_t> into) const;
    [[nodiscard]] Blob read(std::uint64_t at, std::uint64_t bytes) const;
    // The first bytes of the file, at most `bytes`.
    [[nodiscard]] Blob head(std::uint64_t bytes) const;
    // Throws InputError where the file has been truncated since it was opened.
    void check_size() const;

private:
    Descriptor descriptor_;
    std::uint64_t size_ = 0;
};

// Written through a buffer. Throws BackendError.
class OutputFile {
public:
    explicit OutputFile(std::filesystem::path);
    void write(BlobView);
    void finish();

private:
    void flush();

    std::filesystem::path path_;
    Descriptor descriptor_;
    Blob buffer_;
};

// Throws InputError if a sample of this size must be damaged (largest_sample_bytes).
void check_sample_size(std::uint64_t bytes);

// Little-endian, as all formats here write them.
template <class Integer>
Integer integer_at(BlobView bytes, std::size_t at) {
    Integer value = 0;
    for (std::size_t i = 0; i < sizeof(Integer); ++i) value |= static_cast<Integer>(static_cast<Integer>(bytes[at + i]) << (8 * i));
    return value;
}
template <class Integer>
void append_integer(Blob& to, Integer value) {
    for (std::size_t i = 0; i < sizeof(Integer); ++i) to.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}
inline void append_bytes(Blob& to, BlobView bytes) { to.insert(to.end(), bytes.begin(), bytes.end()); }
inline BlobView view_of(std::string_view text) { return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}; }
inline std::string_view text_of(BlobView bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

}  // namespace sextant
