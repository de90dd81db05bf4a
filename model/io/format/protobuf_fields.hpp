// The fields of a Protocol Buffers message, one after another, as they lie in a file (protobuf.dev, "Encoding"). A model's weights are such
// a field too, and reading past them costs nothing, so that no generated code and no copy of the file is needed to see its layers.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace sextant {

struct ProtobufField {
    std::uint32_t number = 0;
    std::uint64_t value = 0;   // the bits of a number
    std::string_view bytes{};  // the content of a text, a message or packed numbers
    bool is_number = false;

    [[nodiscard]] std::int64_t integer() const { return static_cast<std::int64_t>(value); }
    // Adds the integers of this field to those of a repeated one, which writers may pack.
    void add_integers(std::vector<std::int64_t>&) const;
    void add_reals(std::vector<double>&) const;  // likewise of single precision
};

// Adds integers of 8 bytes each, or numbers of single precision, the lowest byte first. Bytes that are left over are not used.
void add_fixed_integers(std::string_view bytes, std::vector<std::int64_t>&);
void add_fixed_reals(std::string_view bytes, std::vector<double>&);

// The next of several messages, each of which follows its length. None where no whole message is left.
std::optional<std::string_view> take_message(std::string_view& from);

class ProtobufFields {
public:
    explicit ProtobufFields(std::string_view message) : rest_(message) {}
    // False at the end, and where what follows is no field: then broken().
    bool next(ProtobufField&);
    [[nodiscard]] bool broken() const { return broken_; }

private:
    std::string_view rest_;
    bool broken_ = false;
};

}  // namespace sextant
