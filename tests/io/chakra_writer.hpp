// Execution traces of Chakra, as its generators write them.
#pragma once

#include "tests/io/protobuf_writer.hpp"

#include <initializer_list>
#include <string>
#include <vector>

namespace sextant::chakra {

using namespace protobuf;

enum Type : int { invalid = 0, metadata = 1, load = 2, store = 3, compute = 4, send = 5, receive = 6, collective = 7 };
enum Collective { all_reduce = 0, all_gather = 2, all_to_all = 6, reduce_scatter = 7 };

inline std::string attribute(const std::string& name, const std::string& value) { return bytes(10, bytes(1, name) + value); }
inline std::string int64(const std::string& name, std::int64_t value) { return attribute(name, number(9, value)); }
inline std::string uint64(const std::string& name, std::int64_t value) { return attribute(name, number(13, value)); }
inline std::string int32(const std::string& name, std::int64_t value) { return attribute(name, number(7, value)); }
inline std::string flag(const std::string& name, bool value) { return attribute(name, number(27, value ? 1 : 0)); }
inline std::string text(const std::string& name, const std::string& value) { return attribute(name, bytes(29, value)); }

struct Node {
    std::int64_t id = 0;
    Type type = compute;
    std::vector<std::int64_t> waits_for{};
    std::int64_t micros = 0;
    std::string attributes{};
    std::string name = "node";
};
inline Node kernel(std::int64_t id, std::int64_t micros, std::vector<std::int64_t> after = {}) {
    return {id, compute, std::move(after), micros, flag("is_cpu_op", false)};
}
inline Node call(std::int64_t id, Collective what, std::int64_t size, std::vector<std::int64_t> after = {}, const std::string& group = {}) {
    return {id, collective, std::move(after), 0,
            int64("comm_type", what) + int64("comm_size", size) + (group.empty() ? "" : text("pg_name", group))};
}
inline Node send_to(std::int64_t id, int peer, std::int64_t size, std::vector<std::int64_t> after = {}, int tag = 0) {
    return {id, send, std::move(after), 0, int64("comm_size", size) + int32("comm_dst", peer) + int32("comm_tag", tag)};
}
inline Node receive_from(std::int64_t id, int peer, std::int64_t size, std::vector<std::int64_t> after = {}, int tag = 0) {
    return {id, receive, std::move(after), 0, int64("comm_size", size) + int32("comm_src", peer) + int32("comm_tag", tag)};
}

inline std::string message(const std::string& bytes) { return varint(bytes.size()) + bytes; }
inline std::string message(const Node& n) {
    std::string text = (n.id != 0 ? number(1, n.id) : "") + bytes(2, n.name) + number(3, n.type);
    std::string packed;
    for (const std::int64_t d : n.waits_for) packed += varint(static_cast<std::uint64_t>(d));
    if (!packed.empty()) text += bytes(5, packed);
    return message(text + number(7, n.micros) + n.attributes);
}
inline std::string file(const std::vector<Node>& nodes) {
    std::string text = message(bytes(1, "0.0.4"));
    for (const Node& n : nodes) text += message(n);
    return text;
}

}  // namespace sextant::chakra
