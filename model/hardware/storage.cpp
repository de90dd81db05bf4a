#include "model/hardware/storage.hpp"

#include <array>

namespace sextant {
namespace {

using namespace units;

// One stream on storage of a kind, between what data sheets and administrators state of its members (hardware_profiles/storage), and what
// clients that share it open a second, all together.
struct KindOfStorage {
    std::string_view name;
    Seconds open, seek;
    Bandwidth read, write;
    std::optional<Frequency> metadata{};
};
constexpr std::array<KindOfStorage, 7> kinds{{
    {"memory", 3 * us, 1 * us, 8 * GB / s, 8 * GB / s},
    {"a hard disk", 12 * ms, 8 * ms, 170 * MB / s, 160 * MB / s},
    {"a SATA SSD", 60 * us, 90 * us, 550 * MB / s, 520 * MB / s},
    {"an NVMe SSD", 11 * us, 65 * us, 3.4 * GB / s, 2.5 * GB / s},
    {"NFS", 1 * ms, 0.6 * ms, 1.1 * GB / s, 0.6 * GB / s, 20'000 / s},
    {"a parallel file system", 1 * ms, 0.8 * ms, 1.5 * GB / s, 1 * GB / s, 50'000 / s},
    {"an object store", Seconds{}, 150 * ms, 87 * MB / s, 87 * MB / s},
}};

template <class T>
void fill(std::optional<Sourced<T>>& field, T value, std::string_view kind) {
    if (!field) field = {value, SourceKind::estimated, "usual for " + std::string(kind)};
}

}  // namespace

void complete(StorageClass& s) {
    const KindOfStorage& kind = kinds[static_cast<std::size_t>(s.kind)];
    fill(s.open_latency, kind.open, kind.name);
    fill(s.seek_latency, kind.seek, kind.name);
    for (auto* latency : {&s.create_latency, &s.remove_latency})
        if (!*latency) *latency = {s.open_latency->value, SourceKind::estimated, "as long as opening one"};
    if (s.shared && kind.metadata) fill(s.metadata_rate, *kind.metadata, kind.name);
    // What a node reads, where that is stated, is what a stream reads at most.
    const auto stream = [](Bandwidth usual, const std::optional<Sourced<Bandwidth>>& of_node) {
        return of_node ? min(usual, of_node->value) : usual;
    };
    fill(s.read_bandwidth, stream(kind.read, s.client_read_bandwidth), kind.name);
    fill(s.write_bandwidth, stream(kind.write, s.client_write_bandwidth), kind.name);
}

StorageClass page_cache() {
    StorageClass memory;
    memory.name = "page cache";
    memory.kind = StorageKind::memory;
    complete(memory);
    return memory;
}

}  // namespace sextant
