#include "model/io/storage_benchmark/storage_benchmark_reader.hpp"

#include "model/io/scenario/data_source_reader.hpp"
#include "model/io/scenario/data_words.hpp"

namespace sextant {
namespace {

constexpr std::string_view schema = "storage-benchmark/1";
constexpr Bounds hosts{1, 1e6};
constexpr Bounds accelerators{1, 1e6};
constexpr Bounds readers{0, 1024};
constexpr Bounds times{0, 1e6};

void read_training(const JsonNode& node, BenchmarkTraining& t) {
    ObjectReader r(node);
    if (!r) return;
    r.required("batch", t.batch, count);
    r.required("computation", t.computation, Bounds{1e-9, 1e6});
    r.optional("readers", t.readers, readers);
    r.optional("preparation", t.preparation, times);
    r.required("files", t.files);
    r.optional("samples_per_file", t.samples_per_file);
    r.required("sample_size", t.sample, sample_sizes);
    r.word("format", t.format, data_format_words);
    r.word("encoding", t.encoding, encoding_words);
    r.word("shuffle", t.shuffle, shuffle_words);
    r.optional("epochs", t.epochs, Bounds{1, 1e6});
    r.optional("steps", t.steps, Bounds{1, 1e12});
    r.optional("least_utilization", t.least_utilization, Bounds{0.01, 1});
    if (t.format == DataFormat::files && t.samples_per_file > 1)
        r.get("samples_per_file").complain("\"files\" has one sample in each file", "state a packed format");
    if (t.shuffle == Shuffle::full && !has_random_access(t.format))
        r.get("shuffle").complain("a " + std::string(to_text(t.format)) + " is read from its beginning",
                                  "\"window\" mixes within a buffer");
}

void read_checkpoint(const JsonNode& node, BenchmarkCheckpoint& c) {
    ObjectReader r(node);
    if (!r) return;
    r.required("size", c.size, Bounds{1, 1e18});
    r.optional("writers", c.writers);
    r.optional("first_epoch", c.first_epoch);
    r.optional("every_epochs", c.every_epochs);
    r.optional("every_steps", c.every_steps, Bounds{1, 1e12});
    r.optional("writes", c.writes, Bounds{0, 1e9});
}

void read_machine(ObjectReader& r, const ScenarioSources& sources, StorageBenchmark& b) {
    Cluster cluster;
    if (const JsonNode n = r.get("hardware"); n.value) {
        cluster = sources.cluster(n);
        if (cluster.node.nics > 0)
            b.network = cluster.node.nics * cluster.node.nic_link.bandwidth.value * cluster.node.nic_link.achievable.value;
    }
    const auto find = [&](const JsonNode& n) { return sources.storage(n); };
    if (const JsonNode n = r.need("storage", "--set storage=NAME, of a class that `sextant profiles list` has, or of one of your own");
        n.value)
        b.storage = read_job_storage(n, find, cluster);
    r.optional("hosts", b.hosts, hosts);
    r.optional("accelerators", b.accelerators, accelerators);
    r.optional("network", b.network, Bounds{1e5, 1e17});
    r.optional("other_jobs", b.other_jobs, Bounds{0, 0.99});
    r.optional("page_cache", b.page_cache, Bounds{0, 1e17});
}

// Accelerators take their batches together, and what is left of the samples at the end is not used.
void check_size(const JsonNode& node, const StorageBenchmark& b) {
    const double samples = b.training->samples(), taken = static_cast<double>(b.training->batch) * b.accelerators.value_or(1);
    if (samples < taken)
        node.complain("a dataset of " + number_text(samples, 1) + " samples is less than one step takes: " + number_text(taken, 1),
                      "more files, or a smaller batch");
}

}  // namespace

bool is_storage_benchmark(const JsonFile& file) {
    const JsonNode root = file.root();
    if (!root.value || !root.is_object()) return false;
    const JsonNode named = root.child("schema");
    std::string text;
    return named.value && named.is_string() && read_value(named, text) && text == schema;
}

StorageBenchmark read_storage_benchmark(const JsonFile& file, const ScenarioSources& sources) {
    StorageBenchmark b;
    b.file = b.title = file.name();
    ObjectReader r(file.root());
    if (!r) return b;
    r.schema(schema);
    r.optional("title", b.title);
    r.optional("notes", b.notes);
    read_machine(r, sources, b);
    if (const JsonNode n = r.get("training"); n.value) read_training(n, b.training.emplace());
    if (const JsonNode n = r.get("checkpoint"); n.value) read_checkpoint(n, b.checkpoint.emplace());
    if (b.training) check_size(r.get("training"), b);
    if (!b.training && !b.checkpoint) r.need("training", "or \"checkpoint\": what the benchmark does");
    return b;
}

}  // namespace sextant
