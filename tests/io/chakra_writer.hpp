// Execution traces of Chakra as their generators write them, and as none should.
#pragma once

#include "model/io/chakra/chakra_messages.hpp"

#include <string>
#include <vector>

namespace sextant::chakra {

using namespace protobuf;

enum Collective { all_reduce = 0, all_gather = 2, all_to_all = 6, reduce_scatter = 7 };

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
inline Node receive_from(std::int64_t id, int peer, std::int64_t size) {
    return {id, receive, {}, 0, int64("comm_size", size) + int32("comm_src", peer) + int32("comm_tag", 0)};
}

inline std::string file(const std::vector<Node>& nodes) {
    std::string text = global_metadata();
    for (const Node& n : nodes) text += message(n);
    return text;
}

}  // namespace sextant::chakra
