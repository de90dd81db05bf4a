#include "model/io/calibration/fio_reader.hpp"

#include "model/base/quantity_text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

namespace sextant {
namespace {

// A job's own options lie over those of all jobs. fio writes them as strings.
std::string option_of(const JsonNode& root, const JsonNode& job, const char* key, const char* usual) {
    for (const JsonNode& options : {job.child("job options"), root.child("global options")}) {
        const JsonNode value = options.child(key);
        if (value.is_string()) return value.value->get<std::string>();
    }
    return usual;
}

int number_of(const std::string& text) {
    int value = 1;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return std::max(1, value);
}

double number_at(const JsonNode& node) {
    const double value = node.is_number() ? node.value->get<double>() : 0;
    return std::isfinite(value) && value > 0 ? value : 0;
}

// All copies of one job, which fio lists one by one unless it was told to add them up.
struct FioJob {
    std::string kind;  // "randread"
    int threads = 0, depth = 1;
    Bandwidth bandwidth;
    Frequency operations;
    Seconds latency;  // of one request, the mean over the copies
    bool direct = false, failed = false;

    [[nodiscard]] Bytes request() const { return operations > Frequency{} ? bandwidth / operations : Bytes{}; }
};
// What streams are made of, past the page cache, and what counts as a small read.
constexpr Bytes least_of_stream = Bytes::from_si(64 << 10), most_of_small = Bytes::from_si(16 << 10);

FioJob& operator+=(FioJob& sum, const FioJob& one) {
    sum.latency = (sum.threads * sum.latency + one.threads * one.latency) / (sum.threads + one.threads);
    sum.threads += one.threads;
    sum.bandwidth += one.bandwidth;
    sum.operations += one.operations;
    sum.failed = sum.failed || one.failed;
    return sum;
}

// "note: both iodepth >= 1 and synchronous I/O engine are selected" stands in front of the JSON, in lines of its own, and what else was
// asked for behind it.
std::string_view without_notes(std::string_view text) {
    const std::size_t line = text.starts_with('{') ? 0 : text.find("\n{"), last = text.rfind('}');
    if (line == std::string_view::npos || last == std::string_view::npos || last < line) return text;
    return text.substr(line, last + 1 - line);
}

class FioReader {
public:
    explicit FioReader(const JsonFile& file) : root_(file.root()) { probe_.where = file.name(); }

    StorageProbe read() {
        const JsonNode jobs = root_.child("jobs");
        if (root_.value && (!jobs.is_array() || jobs.elements().empty()))
            root_.complain("expected what fio writes: an object with a list of \"jobs\"", "fio --output-format=json --output=FILE");
        for (const JsonNode& job : jobs.elements()) collect(job);
        for (auto& [name, job] : jobs_) take(name, job);
        return std::move(probe_);
    }

private:
    void collect(const JsonNode& job) {
        const JsonNode name = job.child("jobname");
        if (!name.is_string()) return job.complain("a job of fio has a \"jobname\"");
        FioJob one;
        one.kind = option_of(root_, job, "rw", option_of(root_, job, "readwrite", "read").c_str());
        one.depth = number_of(option_of(root_, job, "iodepth", "1"));
        one.threads = option_of(root_, job, "group_reporting", "none") == "none" ? 1 : number_of(option_of(root_, job, "numjobs", "1"));
        const JsonNode done = job.child(one.kind.ends_with("write") ? "write" : "read");
        one.bandwidth = number_at(done.child("bw_bytes")) * units::B / units::s;
        one.operations = number_at(done.child("iops")) * units::Hz;
        one.latency = number_at(done.child("lat_ns").child("mean")) * units::ns;
        one.direct = option_of(root_, job, "direct", "0") == "1";
        one.failed = number_at(job.child("error")) > 0;
        FioJob& all = jobs_[name.value->get<std::string>()];
        const FioJob none;
        if (all.threads == 0) all = {one.kind, 0, one.depth, none.bandwidth, none.operations, none.latency, one.direct};
        all += one;
    }

    void take(const std::string& name, const FioJob& job) {
        if (job.failed) return skip(name, "it failed");
        if (!(job.bandwidth > Bandwidth{})) return skip(name, "it moved nothing");
        const bool random = job.kind == "randread", stream = job.kind == "read" || job.kind == "write";
        if (random && job.request() > most_of_small)
            return skip(name, "its requests of " + to_text(job.request()) + " are no small reads (bs=4k)");
        if (stream && job.direct && job.operations > Frequency{} && job.request() < least_of_stream)
            return skip(name, "its requests of " + to_text(job.request()) + " make no stream (bs=1M)");
        if (job.kind == "read")
            probe_.reads.push_back({job.threads, job.bandwidth});
        else if (job.kind == "write")
            probe_.writes.push_back({job.threads, job.bandwidth});
        else if (random && job.threads * job.depth == 1)
            probe_.seeks.push_back(job.latency);
        else if (random)
            probe_.seek_rates.push_back({job.threads * job.depth, job.operations});
        else
            skip(name, "reads, writes and randreads alone are understood, not " + job.kind);
    }

    void skip(const std::string& name, const std::string& why) { probe_.notes.push_back("the job " + name + " is left out: " + why); }

    JsonNode root_;
    StorageProbe probe_;
    std::map<std::string, FioJob> jobs_;
};

}  // namespace

StorageProbe read_fio(std::string_view text, const std::string& name, Diagnostics& diagnostics) {
    const JsonFile file = JsonFile::from_text(without_notes(text), name, diagnostics);
    return FioReader(file).read();
}

}  // namespace sextant
