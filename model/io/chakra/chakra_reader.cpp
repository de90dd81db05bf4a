#include "model/io/chakra/chakra_reader.hpp"

#include "model/base/parse_number.hpp"
#include "model/base/spelling.hpp"
#include "model/io/chakra/chakra_messages.hpp"
#include "model/io/format/json_reader.hpp"
#include "model/io/format/protobuf_fields.hpp"
#include "model/io/format/text_file.hpp"

#include <algorithm>
#include <bit>
#include <unordered_set>

namespace sextant {
namespace {

using namespace units;
using Kind = RecordedNode::Kind;

constexpr double most_bytes = 1e15, most_flops = 1e24, most_micros = 1e12;
constexpr int most_ranks = 100'000;

// A value of whichever of the schema's many types.
struct Attribute {
    std::string name;
    double number = 0;
    std::string text;
    std::vector<std::int64_t> list;  // of booleans
};

double of_bits(const ProtobufField& f) {
    constexpr std::uint32_t as_double = 3, as_float = 5;
    const auto unfold = [](std::uint64_t v) { return static_cast<std::int64_t>(v >> 1U) ^ -static_cast<std::int64_t>(v & 1U); };
    switch (f.number) {
        case as_double: return std::bit_cast<double>(f.value);
        case as_float: return std::bit_cast<float>(static_cast<std::uint32_t>(f.value));
        case 11:  // unsigned
        case 13:
        case 19:
        case 21: return static_cast<double>(f.value);
        case 15:  // folded, so that small negative numbers are short
        case 17: return static_cast<double>(unfold(f.value));
        case 23: return static_cast<std::int32_t>(static_cast<std::uint32_t>(f.value));
        default: return static_cast<double>(f.integer());
    }
}

struct ReadNode {
    RecordedNode node;                   // waits for its data dependencies
    std::vector<std::uint64_t> control;  // dependencies
};

class NodeReader {
public:
    NodeReader(const std::string& file, int rank, int ranks, Diagnostics& diagnostics)
        : file_(file), rank_(rank), ranks_(ranks), diagnostics_(diagnostics) {}

    // None where the bytes are no message.
    std::optional<ReadNode> read(std::string_view message) {
        node_ = {};
        attributes_.clear();
        std::uint64_t type = 0;
        double micros = 0;
        std::vector<std::int64_t> data, control;
        ProtobufFields fields(message);
        ProtobufField f;
        while (fields.next(f)) {
            if (f.number == 1) node_.id = f.value;
            if (f.number == 2) node_.name = printable(std::string(f.bytes));
            if (f.number == 3) type = f.value;
            if (f.number == 4) f.add_integers(control);
            if (f.number == 5) f.add_integers(data);
            if (f.number == 7) micros = static_cast<double>(f.value);
            if (f.number == 10 && !read_attribute(f.bytes)) return {};
        }
        if (fields.broken()) return {};
        node_.waits_for.assign(data.begin(), data.end());
        if (micros > most_micros) complain("takes " + number_text(micros) + " us, which is no time");
        node_.duration = std::min(micros, most_micros) * us;
        set_kind(type);
        return ReadNode{std::move(node_), {control.begin(), control.end()}};
    }

private:
    void complain(std::string what, std::string hint = {}) {
        diagnostics_.add({file_, "/node/" + std::to_string(node_.id), std::move(what), std::move(hint)});
    }

    bool read_attribute(std::string_view message) {
        Attribute a;
        ProtobufFields fields(message);
        ProtobufField f;
        while (fields.next(f)) {
            if (f.number == 1) a.name = std::string(f.bytes);
            if (f.number == 29) a.text = std::string(f.bytes);
            if (f.number == 28) {
                ProtobufFields inner(f.bytes);
                for (ProtobufField value; inner.next(value);) value.add_integers(a.list);
            }
            if (f.number > 2 && f.is_number) a.number = of_bits(f);
        }
        attributes_.push_back(std::move(a));
        return !fields.broken();
    }

    [[nodiscard]] const Attribute* find(std::string_view name) const {
        const auto found = std::ranges::find(attributes_, name, &Attribute::name);
        return found == attributes_.end() ? nullptr : &*found;
    }
    double number(std::string_view name, double most) {
        const Attribute* found = find(name);
        if (!found) return 0;
        if (found->number >= 0 && found->number <= most) return found->number;
        complain("\"" + std::string(name) + "\" is " + number_text(found->number), "between 0 and " + number_text(most));
        return 0;
    }
    // Those of a tensor, in older traces of its one name.
    Bytes bytes(std::string_view name) { return number(name, most_bytes) * B; }

    void set_kind(std::uint64_t type) {
        // The host's part of a collective, too, which the device's follows.
        const Attribute* on_host = find("is_cpu_op");
        if (on_host && on_host->number != 0 && type >= chakra::compute && type <= chakra::collective) {
            node_.kind = Kind::host;
            return;
        }
        switch (type) {
            case chakra::invalid:
            case chakra::metadata:  // what waits for them waits for nothing
                return;
            case chakra::load:
            case chakra::store:
                node_.kind = Kind::memory;
                node_.bytes = bytes("tensor_size");
                return;
            case chakra::compute:
                node_.kind = Kind::kernel;
                node_.flops = number("num_ops", most_flops) * FLOP;
                node_.bytes = bytes("tensor_size");
                return;
            case chakra::send:
            case chakra::receive: return set_transfer(type == chakra::send);
            case chakra::collective: return set_collective();
            default: complain("is of type " + std::to_string(type) + ", which no node has");
        }
    }

    void set_transfer(bool sends) {
        node_.kind = sends ? Kind::send : Kind::receive;
        node_.bytes = bytes("comm_size");
        if (node_.bytes <= Bytes{}) node_.bytes = bytes("tensor_size");
        node_.tag = static_cast<std::int64_t>(number("comm_tag", 1e9));
        const char* name = sends ? "comm_dst" : "comm_src";
        const char* own = sends ? "comm_src" : "comm_dst";
        if (!find(name)) return complain(std::string("\"") + name + "\" is missing");
        node_.peer = static_cast<int>(number(name, most_ranks));
        if (node_.peer >= ranks_)
            complain("is for rank " + std::to_string(node_.peer) + ", and there are files of " + std::to_string(ranks_) + " ranks",
                     "the files of all ranks, or PREFIX of PREFIX.0.et, PREFIX.1.et ...");
        else if (node_.peer == rank_)
            complain("is for the rank itself");
        if (find(own) && static_cast<int>(number(own, most_ranks)) != rank_)
            complain("says that it is of another rank than " + std::to_string(rank_),
                     "ranks are the numbers at the end of the files' names");
    }

    void set_collective() {
        node_.kind = Kind::collective;
        node_.bytes = bytes("comm_size");
        const Attribute* type = find("comm_type");
        if (!type) return complain("\"comm_type\" is missing");
        const auto* found =
            std::ranges::find(chakra::collectives, type->number, [](const auto& known) { return static_cast<double>(known.first); });
        if (found == std::end(chakra::collectives))
            complain("is a collective of type " + number_text(type->number) + ", which nobody prices",
                     "all-reduce, reduce, all-gather, broadcast, all-to-all, reduce-scatter, barrier");
        else
            node_.collective = found->second;
        if (const Attribute* group = find("pg_name")) node_.group = group->text;
        if (const Attribute* dims = find("involved_dim"); dims && std::ranges::find(dims->list, 0) != dims->list.end())
            complain("goes over some dimensions of a network that the file does not describe", "name its ranks: pg_name, and --groups");
    }

    const std::string& file_;
    int rank_, ranks_;
    Diagnostics& diagnostics_;
    RecordedNode node_;
    std::vector<Attribute> attributes_;
};

// PyTorch's older converter wrote as control dependencies who called whom, also of callers that it left out: these hold nothing back. Where
// all of them are there they are dependencies like those of data.
void add_control(std::vector<ReadNode>& nodes) {
    std::unordered_set<std::uint64_t> ids;
    for (const ReadNode& n : nodes) ids.insert(n.node.id);
    const auto is_there = [&](std::uint64_t id) { return ids.contains(id); };
    if (!std::ranges::all_of(nodes, [&](const ReadNode& n) { return std::ranges::all_of(n.control, is_there); })) return;
    for (ReadNode& n : nodes) n.node.waits_for.insert(n.node.waits_for.end(), n.control.begin(), n.control.end());
}

// The rank in the name of its file: 3 in "name.3.et".
std::optional<int> rank_in(const std::filesystem::path& file) {
    const std::string ending = file.stem().extension().string();  // ".3"
    const auto rank = parse_number<int>(std::string_view(ending).substr(ending.empty() ? 0 : 1));
    return rank && *rank >= 0 ? rank : std::nullopt;
}

std::vector<std::filesystem::path> files_of_prefix(const std::filesystem::path& prefix) {
    std::vector<std::filesystem::path> files;
    for (int rank = 0; rank < most_ranks; ++rank) {
        std::filesystem::path file = prefix.string() + "." + std::to_string(rank) + ".et";
        std::error_code error;
        if (!std::filesystem::is_regular_file(file, error)) break;
        files.push_back(std::move(file));
    }
    return files;
}

// A file that is lost would make another job of fewer ranks.
void check_for_gap(const std::filesystem::path& prefix, std::size_t ranks, Diagnostics& diagnostics) {
    const std::string name = prefix.filename().string() + ".";
    const std::filesystem::path folder = prefix.has_parent_path() ? prefix.parent_path() : ".";
    std::error_code error;
    for (auto f = std::filesystem::directory_iterator(folder, error); !error && f != std::filesystem::directory_iterator();
         f.increment(error)) {
        const auto rank = rank_in(f->path());
        if (!rank || static_cast<std::size_t>(*rank) < ranks || f->path().filename() != name + std::to_string(*rank) + ".et") continue;
        return diagnostics.add({f->path().string(), "", "the file of rank " + std::to_string(ranks) + " is missing before it",
                                "a trace has a file for each rank, from 0"});
    }
}

}  // namespace

std::vector<std::filesystem::path> chakra_files(const std::vector<std::filesystem::path>& named, Diagnostics& diagnostics) {
    std::error_code error;
    if (named.size() == 1 && !std::filesystem::is_regular_file(named.front(), error)) {
        std::vector<std::filesystem::path> files = files_of_prefix(named.front());
        if (files.empty())
            diagnostics.add({named.front().string(), "", "there is neither such a file nor PREFIX.0.et", ""});
        else
            check_for_gap(named.front(), files.size(), diagnostics);
        return files;
    }
    std::vector<std::filesystem::path> files = named;
    if (files.size() < 2 || !std::ranges::all_of(files, [](const auto& f) { return rank_in(f).has_value(); })) return files;
    std::ranges::stable_sort(files, {}, [](const auto& f) { return *rank_in(f); });
    for (std::size_t r = 0; r < files.size(); ++r)
        if (*rank_in(files[r]) != static_cast<int>(r)) {
            diagnostics.add({files[r].string(), "", "the file of rank " + std::to_string(r) + " is not named, or another one twice",
                             "a trace has a file for each rank, from 0"});
            break;
        }
    return files;
}

RecordedRank read_chakra(std::string_view bytes, const std::string& file, int rank, int ranks, Diagnostics& diagnostics) {
    std::vector<ReadNode> nodes;
    NodeReader reader(file, rank, ranks, diagnostics);
    const std::size_t size = bytes.size();
    bool metadata = true;  // comes first
    if (bytes.empty()) diagnostics.add({file, "", "the file is empty", ""});
    while (!bytes.empty()) {
        const std::string at = "byte " + std::to_string(size - bytes.size());
        const auto message = take_message(bytes);
        auto node = message && !metadata ? reader.read(*message) : std::nullopt;
        if (!message || (!metadata && !node)) {
            diagnostics.add({file, at, message ? "this is no node of an execution trace" : "the file ends inside a message",
                             "a file that was cut off, or none of Chakra's"});
            break;
        }
        if (node) nodes.push_back(std::move(*node));
        metadata = false;
    }
    add_control(nodes);
    RecordedRank recorded{file, {}};
    for (ReadNode& n : nodes) recorded.nodes.push_back(std::move(n.node));
    return recorded;
}

std::map<std::string, std::vector<int>> read_chakra_groups(std::string_view json, const std::string& file, int ranks,
                                                           Diagnostics& diagnostics) {
    const JsonFile document = JsonFile::from_text(json, file, diagnostics);
    std::map<std::string, std::vector<int>> groups;
    const JsonNode root = document.root();
    if (!root.value) return groups;
    if (!root.is_object()) root.complain("no process groups", R"(as in {"1": [0, 1], "2": [2, 3]})");
    for (const auto& [group, node] : root.members()) {
        std::vector<int>& members = groups[group];
        if (!node.is_array() || node.elements().empty()) node.complain("a group is a list of its ranks");
        for (const JsonNode& n : node.elements()) {
            int rank = 0;
            if (!read_value(n, rank, Bounds{0, static_cast<double>(ranks - 1)})) continue;
            members.push_back(rank);
        }
        std::ranges::sort(members);
        if (std::ranges::adjacent_find(members) != members.end()) node.complain("a rank is named twice");
    }
    return groups;
}

std::vector<int> read_chakra_nodes(std::string_view json, const std::string& file, int ranks, Diagnostics& diagnostics) {
    const JsonFile document = JsonFile::from_text(json, file, diagnostics);
    std::vector<int> nodes;
    const JsonNode root = document.root();
    if (!root.value) return nodes;
    constexpr double most = 1e6;
    if (!root.is_array() || std::ssize(root.elements()) != ranks)
        root.complain("is no list of the nodes of " + std::to_string(ranks) + " ranks", "as in [0, 1, 0, 1] for four");
    else
        for (const JsonNode& n : root.elements()) read_value(n, nodes.emplace_back(), Bounds{0, most});
    return nodes;
}

ExecutionTrace load_chakra(const std::vector<std::filesystem::path>& named, const std::filesystem::path& groups,
                           const std::filesystem::path& nodes) {
    Diagnostics diagnostics;
    const std::vector<std::filesystem::path> files = chakra_files(named, diagnostics);
    diagnostics.throw_if_any();
    ExecutionTrace trace;
    const int ranks = static_cast<int>(files.size());
    for (int r = 0; r < ranks; ++r) {
        const std::filesystem::path& file = files[static_cast<std::size_t>(r)];
        const auto bytes = read_packed_text(file, diagnostics);
        trace.ranks.push_back(bytes ? read_chakra(*bytes, file.string(), r, ranks, diagnostics) : RecordedRank{file.string(), {}});
    }
    if (!groups.empty())
        if (const auto text = read_text_file(groups, diagnostics))
            trace.groups = read_chakra_groups(*text, groups.string(), ranks, diagnostics);
    if (!nodes.empty())
        if (const auto text = read_text_file(nodes, diagnostics))
            trace.node_of = read_chakra_nodes(*text, nodes.string(), ranks, diagnostics);
    diagnostics.throw_if_any();
    return trace;
}

}  // namespace sextant
