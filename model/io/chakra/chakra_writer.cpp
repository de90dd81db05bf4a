#include "model/io/chakra/chakra_writer.hpp"

#include "model/io/chakra/chakra_messages.hpp"
#include "model/io/format/json_text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <ostream>

namespace sextant {
namespace {

using namespace chakra;
using namespace units;
using Kind = RecordedNode::Kind;

class NodeWriter {
public:
    NodeWriter(std::ostream& out, int rank) : out_(out), rank_(rank) {}

    void write(const RecordedNode& n) {
        chakra::Node node;
        node.id = static_cast<std::int64_t>(n.id);
        node.name = n.name;
        node.type = type_of(n.kind);
        node.waits_for.assign(n.waits_for.begin(), n.waits_for.end());
        if (n.kind == Kind::kernel) node.micros = whole_micros(n.duration, kernels_owed_);
        if (n.kind == Kind::host) node.micros = whole_micros(n.duration, host_owed_);
        node.attributes = attributes_of(n, n.duration > Seconds{} && node.micros == 0);
        out_ << message(node);
    }

private:
    static Type type_of(Kind kind) {
        switch (kind) {
            case Kind::kernel:
            case Kind::host: return compute;
            case Kind::memory: return load;
            case Kind::collective: return collective;
            case Kind::send: return send;
            case Kind::receive: return receive;
            case Kind::nothing: break;
        }
        return metadata;
    }

    static std::int64_t whole_micros(Seconds duration, Seconds& owed) {
        owed += duration;
        const double whole = std::max(0.0, std::round(owed / us));
        owed -= whole * us;
        return static_cast<std::int64_t>(whole);
    }
    static std::int64_t whole(double number) {
        constexpr double most = 9e18;  // that fits
        return std::llround(std::min(number, most));
    }

    [[nodiscard]] std::string attributes_of(const RecordedNode& n, bool is_too_short) const {
        std::string on_host = flag("is_cpu_op", n.kind == Kind::host);
        const std::int64_t bytes = whole(n.bytes / B);
        switch (n.kind) {
            case Kind::kernel:
                return on_host + int64("num_ops", is_too_short ? 0 : whole(n.flops / FLOP)) +
                       uint64("tensor_size", is_too_short ? 0 : bytes);
            case Kind::memory: return on_host + uint64("tensor_size", bytes);
            case Kind::collective:
                return on_host + int64("comm_type", number_of(n.collective)) + int64("comm_size", bytes) +
                       (n.group.empty() ? "" : text("pg_name", n.group));
            case Kind::send:
            case Kind::receive: {
                const bool sends = n.kind == Kind::send;
                return on_host + int64("comm_size", bytes) + int32("comm_src", sends ? rank_ : n.peer) +
                       int32("comm_dst", sends ? n.peer : rank_) + int32("comm_tag", n.tag);
            }
            case Kind::host:
            case Kind::nothing: break;
        }
        return on_host;
    }

    std::ostream& out_;
    int rank_;
    Seconds kernels_owed_, host_owed_;
};

}  // namespace

void write_chakra(std::ostream& out, const RecordedRank& recorded, int rank) {
    out << global_metadata();
    NodeWriter writer(out, rank);
    for (const RecordedNode& n : recorded.nodes) writer.write(n);
}

std::string chakra_groups_to_json(const std::map<std::string, std::vector<int>>& groups) {
    nlohmann::ordered_json json = nlohmann::ordered_json::object();
    for (const auto& [name, ranks] : groups) json[name] = ranks;
    return json_document(json, -1);
}

std::string chakra_nodes_to_json(const std::vector<int>& node_of) { return json_document(nlohmann::ordered_json(node_of), -1); }

}  // namespace sextant
