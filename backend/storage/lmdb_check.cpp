// The layout of pages is that of mdb.c of LMDB 0.9 (struct MDB_page, MDB_node, MDB_meta, MDB_db), on a 64-bit machine of little-endian
// order.
#include "backend/storage/lmdb_check.hpp"

#include "backend/storage/dataset.hpp"
#include "model/base/ceil_divide.hpp"

#include <vector>

namespace sextant {
namespace {

constexpr std::uint64_t page_header = 16, node_header = 8, page_number_bytes = 8;
constexpr std::uint16_t branch_page = 0x01, leaf_page = 0x02, meta_page = 0x08, page_kinds = 0x7f;
constexpr std::uint16_t value_elsewhere = 0x01, plain_nodes = 0x01;  // of a node: all flags but the first mean what no dataset here has
constexpr std::uint32_t magic = 0xbeefc0de, version = 1;
constexpr std::uint64_t no_page = ~std::uint64_t{0};
constexpr std::uint64_t smallest_page = 256, largest_page = 65536, deepest = 32;  // of mdb.c: CURSOR_STACK

// The places of fields in a page with meta data, behind its header.
constexpr std::size_t magic_at = page_header, version_at = magic_at + 4, page_bytes_at = magic_at + 24, main_at = page_bytes_at + 48;
constexpr std::size_t flags_in_tree = 4, depth_in_tree = 6, entries_in_tree = 32, root_in_tree = 40;
constexpr std::size_t last_page_at = main_at + 48, transaction_at = last_page_at + 8, meta_bytes = transaction_at + 8;

[[noreturn]] void refuse_tree(const std::string& why) { throw_damage("it is no whole LMDB file: " + why, "was it copied whole?"); }

struct Meta {
    std::uint64_t page_bytes = 0, last_page = 0, transaction = 0, entries = 0, root = no_page, depth = 0;
    std::uint16_t flags = 0;
};

Meta meta_in(BlobView page) {
    if (integer_at<std::uint32_t>(page, magic_at) != magic || integer_at<std::uint32_t>(page, version_at) != version ||
        integer_at<std::uint16_t>(page, 10) != meta_page)
        refuse_tree("one of its two first pages is none of LMDB");
    Meta m;
    m.page_bytes = integer_at<std::uint32_t>(page, page_bytes_at);
    m.flags = integer_at<std::uint16_t>(page, main_at + flags_in_tree);
    m.depth = integer_at<std::uint16_t>(page, main_at + depth_in_tree);
    m.entries = integer_at<std::uint64_t>(page, main_at + entries_in_tree);
    m.root = integer_at<std::uint64_t>(page, main_at + root_in_tree);
    m.last_page = integer_at<std::uint64_t>(page, last_page_at);
    m.transaction = integer_at<std::uint64_t>(page, transaction_at);
    return m;
}

class Walk {
public:
    Walk(const InputFile& file, const Meta& meta) : file_(file), meta_(meta), seen_(meta.last_page + 1) {}

    // The number of entries below a page.
    std::uint64_t entries_below(std::uint64_t number, std::uint64_t depth) {
        const Blob page = take(number);
        const auto kind = integer_at<std::uint16_t>(page, 10) & page_kinds;
        if (kind != (depth == meta_.depth ? leaf_page : branch_page))
            refuse_tree("page " + std::to_string(number) + " is of another kind than its place");
        const std::uint64_t lower = integer_at<std::uint16_t>(page, 12), upper = integer_at<std::uint16_t>(page, 14);
        if (lower < page_header || lower > upper || upper > meta_.page_bytes || lower % 2 != 0)
            refuse_tree("page " + std::to_string(number) + " has no order");
        const std::uint64_t nodes = (lower - page_header) / 2;
        if (nodes < (kind == branch_page ? 2 : 1)) refuse_tree("page " + std::to_string(number) + " is empty");
        std::uint64_t entries = 0;
        for (std::uint64_t i = 0; i < nodes; ++i) {
            const std::uint64_t at = integer_at<std::uint16_t>(page, page_header + 2 * i);
            if (at < upper || at % 2 != 0 || at + node_header > meta_.page_bytes)
                refuse_tree("page " + std::to_string(number) + " points outside itself");
            entries +=
                kind == leaf_page ? check_leaf(BlobView(page).subspan(at)) : entries_below(child(BlobView(page).subspan(at)), depth + 1);
        }
        return entries;
    }

private:
    Blob take(std::uint64_t number) {
        claim(number, 1);
        Blob page = file_.read(number * meta_.page_bytes, meta_.page_bytes);
        if (integer_at<std::uint64_t>(page, 0) != number) refuse_tree("page " + std::to_string(number) + " is another one");
        return page;
    }
    // Every page belongs to one place of the tree.
    void claim(std::uint64_t first, std::uint64_t pages) {
        if (first < 2 || first > meta_.last_page || pages > meta_.last_page + 1 - first) refuse_tree("it points behind its end");
        for (std::uint64_t p = first; p < first + pages; ++p) {
            if (seen_[p]) refuse_tree("page " + std::to_string(p) + " stands in two places");
            seen_[p] = true;
        }
    }

    // Key and page of a branch's node: the number's upper part stands where a leaf has flags.
    static std::uint64_t child(BlobView node) {
        const std::uint64_t key = integer_at<std::uint16_t>(node, 6);
        if (node_header + key > node.size()) refuse_tree("a key is cut off");
        return integer_at<std::uint32_t>(node, 0) | std::uint64_t{integer_at<std::uint16_t>(node, 4)} << 32;
    }

    std::uint64_t check_leaf(BlobView node) {
        const std::uint64_t bytes = integer_at<std::uint32_t>(node, 0), key = integer_at<std::uint16_t>(node, 6);
        const auto flags = integer_at<std::uint16_t>(node, 4);
        if ((flags & ~plain_nodes) != 0) refuse_tree("it holds several databases or values of a key");
        const bool elsewhere = (flags & value_elsewhere) != 0;
        if (node_header + key + (elsewhere ? page_number_bytes : bytes) > node.size()) refuse_tree("a value is cut off");
        if (!elsewhere) return 1;
        const auto first = integer_at<std::uint64_t>(node, node_header + key);
        claim(first, ceil_divide(page_header + bytes, meta_.page_bytes));
        return 1;
    }

    const InputFile& file_;
    const Meta& meta_;
    std::vector<bool> seen_;
};

}  // namespace

bool is_lmdb(BlobView start) { return start.size() >= magic_at + 4 && integer_at<std::uint32_t>(start, magic_at) == magic; }

void check_lmdb(const InputFile& file) {
    Meta meta = meta_in(file.read(0, meta_bytes));
    const std::uint64_t page_bytes = meta.page_bytes;
    if (page_bytes < smallest_page || page_bytes > largest_page || (page_bytes & (page_bytes - 1)) != 0)
        refuse_tree("its pages have an impossible size");
    const Meta other = meta_in(file.read(page_bytes, meta_bytes));
    if (other.page_bytes != page_bytes) refuse_tree("its first pages contradict each other");
    if (other.transaction > meta.transaction) meta = other;  // the two are written in turn
    if (meta.last_page < 1 || meta.last_page >= file.size() / page_bytes) refuse_tree("it ends before its last page");
    if (meta.flags != 0) refuse_tree("its keys are of a kind that no dataset here has");
    if (meta.root == no_page ? meta.entries != 0 : (meta.depth < 1 || meta.depth > deepest))
        refuse_tree("its tree has an impossible depth");
    if (meta.root != no_page && Walk(file, meta).entries_below(meta.root, 1) != meta.entries)
        refuse_tree("it has not the entries that it promises");
}

}  // namespace sextant
