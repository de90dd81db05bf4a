// What the files of Chakra's execution traces consist of: its numbers of types (github.com/mlcommons/chakra, schema/protobuf/et_def.proto),
// and messages as its generators write them.
#pragma once

#include "model/graph/execution_trace.hpp"
#include "model/io/format/protobuf_writer.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sextant::chakra {

enum Type : int { invalid = 0, metadata = 1, load = 2, store = 3, compute = 4, send = 5, receive = 6, collective = 7 };

// The last of two is another name of the one before it.
inline constexpr std::pair<int, RecordedCollective> collectives[] = {
    {0, RecordedCollective::all_reduce},     {1, RecordedCollective::reduce},     {2, RecordedCollective::all_gather},
    {5, RecordedCollective::broadcast},      {6, RecordedCollective::all_to_all}, {7, RecordedCollective::reduce_scatter},
    {8, RecordedCollective::reduce_scatter}, {9, RecordedCollective::barrier}};
int number_of(RecordedCollective);

// Attributes of a node, each in the type that generators give it.
inline std::string attribute(const std::string& name, const std::string& value) {
    return protobuf::bytes(10, protobuf::bytes(1, name) + value);
}
inline std::string int64(const std::string& name, std::int64_t value) { return attribute(name, protobuf::number(9, value)); }
inline std::string uint64(const std::string& name, std::int64_t value) { return attribute(name, protobuf::number(13, value)); }
inline std::string int32(const std::string& name, std::int64_t value) { return attribute(name, protobuf::number(7, value)); }
inline std::string flag(const std::string& name, bool value) { return attribute(name, protobuf::number(27, value ? 1 : 0)); }
inline std::string text(const std::string& name, const std::string& value) { return attribute(name, protobuf::bytes(29, value)); }

struct Node {
    std::int64_t id = 0;
    Type type = compute;
    std::vector<std::int64_t> waits_for{};
    std::int64_t micros = 0;
    std::string attributes{};
    std::string name = "node";
};

// With its length before it, as the messages of a file lie behind each other.
std::string message(const std::string& bytes);
std::string message(const Node&);
// Comes first.
std::string global_metadata();

}  // namespace sextant::chakra
