#include "model/io/scenario/data_source_reader.hpp"

#include "model/base/list_text.hpp"
#include "model/hardware/catalog.hpp"
#include "model/io/profile/profile_fields.hpp"
#include "model/io/scenario/data_words.hpp"

namespace sextant {
namespace {

using FindStorage = std::function<StorageClass(const JsonNode&)>;

constexpr Word<Transform> transforms[] = {{"none", Transform::none}, {"convert", Transform::convert}, {"resize", Transform::resize}};
constexpr Bounds worker_counts{0, 1024};
constexpr Bounds prefetch_depths{0, 1e4};
constexpr Bounds shares{0, 0.99};

void read_staging(ObjectReader& r, const FindStorage& find, const Cluster& cluster, DataSource& data) {
    const JsonNode node = r.get("staging");
    if (!node.value) return;
    ObjectReader inner(node);
    if (!inner) return;
    inner.need("mode", "none, copy, untar or first_epoch");
    inner.word("mode", data.staging.mode, staging_words);
    const JsonNode to = inner.get("to");
    if (data.staging.mode == StagingMode::none) return;
    data.staging.to = cluster.node.local_storage;
    if (to.value)
        data.staging.to = read_job_storage(to, find, cluster);
    else if (!data.staging.to)
        inner.need("to", "the profile of " + cluster.name + " says nothing about a local disk: name a storage class");
    if (data.staging.to) {
        complete(*data.staging.to);
        if (data.staging.to->shared)
            to.complain(data.staging.to->name + " is shared by all nodes", "samples are staged to what a node has to itself");
    }
    if (data.staging.mode == StagingMode::untar && data.format != DataFormat::tar && data.format != DataFormat::zip)
        inner.get("mode").complain("only a tar or zip archive can be unpacked", "\"format\": \"tar\", or the mode \"copy\"");
}

void read_checkpoints(ObjectReader& r, const FindStorage& find, const Cluster& cluster, DataSource& data) {
    const JsonNode node = r.get("checkpoints");
    if (!node.value) return;
    ObjectReader inner(node);
    if (!inner) return;
    Checkpoints c;
    if (const JsonNode storage = inner.need("storage", "where they are written: a storage class, \"shared\" or \"local\""); storage.value)
        c.storage = read_job_storage(storage, find, cluster);
    inner.optional("every_steps", c.every_steps);
    inner.optional("every", c.every, Bounds{1e-3, 1e9});
    inner.optional("asynchronous", c.asynchronous);
    if (c.every_steps.has_value() == c.every.has_value())
        node.complain("how often is stated " + std::string(c.every ? "twice" : "nowhere"),
                      R"(one of "every_steps": 500 and "every": "30 min")");
    data.checkpoints = std::move(c);
}

void check(ObjectReader& r, const DataSource& data) {
    if (data.shuffle == Shuffle::full && !has_random_access(data.format))
        r.get("shuffle").complain("a " + std::string(to_text(data.format)) + " is read from its beginning",
                                  "\"window\" mixes within a buffer; zip, hdf5, lmdb, npy and files can be read in any order");
    if (data.samples_per_file && data.format == DataFormat::files)
        r.get("samples_per_file").complain("\"files\" has one sample in each file", "state a packed format");
    if (data.decoded_bytes && data.encoding == SampleEncoding::raw)
        r.get("decoded_size").complain("raw samples are not decoded", "state an encoding");
}

void read_real(ObjectReader& r, const JsonNode& storage, const FindStorage& find, const Cluster& cluster, DataSource& data) {
    data.storage = read_job_storage(storage, find, cluster);
    r.need("sample_size", "as in \"110 KB\"");
    r.optional("samples", data.samples, Bounds{1, 1e15});
    r.optional("decoded_size", data.decoded_bytes, sample_sizes);
    r.word("encoding", data.encoding, encoding_words);
    r.word("format", data.format, data_format_words);
    r.optional("samples_per_file", data.samples_per_file, Bounds{1, 1e15});
    r.word("shuffle", data.shuffle, shuffle_words);
    r.word("transform", data.transform, transforms);
    r.optional("workers", data.workers, worker_counts);
    r.optional("prefetch", data.prefetch, prefetch_depths);
    r.optional("pinned", data.pinned);
    r.optional("copy_each_sample", data.by_sample);
    r.optional("other_jobs", data.others, shares);
    r.optional("page_cache", data.page_cache, Bounds{0, 1e17});
    read_staging(r, find, cluster, data);
    check(r, data);
}

// As users of the cluster call it, whatever the case and the punctuation ("scratch", "$SCRATCH"); else by what it is to a job here, or by
// its class. Null where the cluster has no such.
const StorageClass* storage_called(const Cluster& cluster, const std::string& name) {
    for (const auto& [called, storage] : cluster.file_systems)
        if (key_of(called) == key_of(name) || storage.name == name) return &storage;
    for (const StorageClass& shared : cluster.shared_storage)
        if (shared.name == name || name == "shared") return &shared;
    return name == "local" && cluster.node.local_storage ? &*cluster.node.local_storage : nullptr;
}

std::string names_of_storage(const Cluster& cluster) {
    std::string names;
    const auto add = [&](const std::string& name) { append_to_list(names, '"' + name + '"'); };
    if (!cluster.shared_storage.empty()) add("shared");
    if (cluster.node.local_storage) add("local");
    for (const auto& [called, storage] : cluster.file_systems) add(called);
    return names.empty() ? "name a storage class" : cluster.name + " has " + names + "; or name a storage class";
}

// What is not the cluster's. Of a name that nobody knows, those of this cluster are said, too.
StorageClass find_elsewhere(const JsonNode& node, const FindStorage& find, const Cluster& cluster) {
    const std::size_t before = node.diagnostics->list().size();
    StorageClass storage = find(node);
    if (!node.is_string()) return storage;
    for (Diagnostic& d : node.diagnostics->take_from(before)) {
        d.hint = names_of_storage(cluster) + (d.hint.empty() ? "" : "; " + d.hint);
        node.diagnostics->add(std::move(d));
    }
    return storage;
}

}  // namespace

StorageClass read_job_storage(const JsonNode& node, const FindStorage& find, const Cluster& cluster) {
    std::string name;
    if (node.is_string()) read_value(node, name);
    StorageClass storage;
    if (const StorageClass* of_cluster = name.empty() ? nullptr : storage_called(cluster, name))
        storage = *of_cluster;
    else if (name == "local")
        node.complain("the profile of " + cluster.name + " says nothing about a local disk", names_of_storage(cluster));
    else if (name == "shared")
        node.complain("the profile of " + cluster.name + " says nothing about shared storage", names_of_storage(cluster));
    else
        storage = find_elsewhere(node, find, cluster);
    complete(storage);
    return storage;
}

void read_data_source(const JsonNode& node, const FindStorage& find, const Cluster& cluster, DataSource& data) {
    ObjectReader r(node);
    if (!r) return;
    const JsonNode storage = r.get("storage");
    data.synthetic = !storage.value;
    r.optional("synthetic", data.synthetic);
    r.optional("sample_size", data.sample_bytes, sample_sizes);
    read_checkpoints(r, find, cluster, data);
    if (storage.value && data.synthetic) {
        r.ignore_others();
        return storage.complain("synthetic data is not read from anywhere", "leave out one of the two");
    }
    if (data.synthetic && data.sample_bytes > Bytes{})
        r.get("sample_size").complain("has no effect: synthetic samples are not read", "leave it out, or state a storage");
    if (storage.value) return read_real(r, storage, find, cluster, data);
    if (!data.synthetic) r.need("storage", "the name of a storage class, \"local\", \"shared\", or an object that describes one");
}

}  // namespace sextant
