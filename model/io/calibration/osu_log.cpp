// What the OSU micro-benchmarks print (mvapich.cse.ohio-state.edu/benchmarks, their README): a title, then size and time or bandwidth.
//
//     # OSU MPI Latency Test v7.3            # OSU MPI Bandwidth Test v7.3        # OSU MPI Allreduce Latency Test v7.3
//     # Size          Latency (us)           # Size      Bandwidth (MB/s)         # Size       Avg Latency(us)
//     1                       1.05           1                       3.91         4                       5.43
//
// Latency is of one message, one way; a bandwidth of 10^6 bytes per second, of 64 messages in flight, so that only long ones tell of the
// link. Sizes of all-gather and all-to-all are of what one rank sends to one other.
#include "model/io/calibration/benchmark_log.hpp"
#include "model/io/calibration/log_lines.hpp"

#include <algorithm>
#include <utility>

namespace sextant {
namespace {

using namespace units;

constexpr Bytes long_message = 64 * KiB;

enum class Counts { buffer, of_each_rank };
struct Title {
    std::string_view words, benchmark, collective;
    Counts counts = Counts::buffer;
    bool bandwidth = false;
};
constexpr Title titles[] = {
    {"Allreduce Latency", "osu_allreduce", "all_reduce"},
    {"Allgather Latency", "osu_allgather", "all_gather", Counts::of_each_rank},
    {"All-to-All Personalized Exchange Latency", "osu_alltoall", "all_to_all", Counts::of_each_rank},
    {"Broadcast Latency", "osu_bcast", "broadcast"},
    {"Reduce_scatter Latency", "osu_reduce_scatter", "reduce_scatter"},
    {"Reduce Latency", "osu_reduce", "reduce"},
    {"Latency", "osu_latency", "send"},
    {"Bandwidth", "osu_bw", "send", Counts::buffer, true},
};

// "# OSU MPI-CUDA Allreduce Latency Test v7.3", "# OSU NCCL-CUDA ...": what stands between the first words and "Test".
const Title* title_of(const LogLine& line) {
    constexpr std::string_view begin = "# OSU ";
    const std::size_t from = line.text.find(begin), to = line.text.find(" Test");
    if (from == std::string::npos || to == std::string::npos || to < from) return nullptr;
    const std::size_t words = line.text.find(' ', from + begin.size());
    const std::string_view between = std::string_view(line.text).substr(words + 1, to - words - 1);
    for (const Title& t : titles)
        if (between == t.words) return &t;
    return nullptr;
}

class OsuReader {
public:
    OsuReader(const std::string& name, Diagnostics& diagnostics) : name_(name), diagnostics_(diagnostics) {}

    std::vector<BenchmarkCurve> read(std::string_view text) {
        const std::size_t before = diagnostics_.list().size();
        const std::vector<LogLine> lines = lines_of(text);
        for (const LogLine& line : lines) {
            if (line.says("# OSU "))
                begin(line);
            else if (line.says("# ranks") || line.says("#ranks"))
                read_ranks(line);
            else if (line.says("Buffer on"))  // "# Send Buffer on DEVICE (D) and Receive Buffer on DEVICE (D)"
                curve_.host_buffers = line.says("HOST");
            else if (title_ && !line.words.empty() && !line.words[0].starts_with('#'))
                read_row(line);
        }
        finish();
        if (curves_.empty() && diagnostics_.list().size() == before)
            diagnostics_.add({name_, "", "the OSU log holds no row of times", "a run that came to its end"});
        return std::move(curves_);
    }

private:
    void begin(const LogLine& line) {
        finish();
        title_ = title_of(line);
        curve_.line = line.number;
        if (line.says("OSU NCCL")) curve_.library = "NCCL";
        curve_.host_buffers = curve_.library.empty() && !line.says("OSU MPI-");  // MPI-CUDA, MPI-ROCM
        if (!title_)
            complain(line, "this benchmark is not read",
                     "osu_latency, osu_bw, osu_allreduce, osu_allgather, osu_alltoall, osu_bcast, osu_reduce or osu_reduce_scatter");
    }

    // "# ranks 16 nodes 4", before the title or behind it; for all that follows.
    void read_ranks(const LogLine& line) {
        std::optional<double> ranks, nodes;
        for (std::size_t i = 0; i + 1 < line.words.size(); ++i) {
            if (line.words[i].ends_with("ranks")) ranks = number_in(line.words[i + 1]);
            if (line.words[i] == "nodes") nodes = number_in(line.words[i + 1]);
        }
        constexpr double most = 1e6;
        const auto whole = [](double n) { return n >= 1 && n <= most && n == static_cast<int>(n); };
        if (!ranks || !whole(*ranks) || *ranks < 2 ||
            (nodes && (!whole(*nodes) || static_cast<int>(*ranks) % static_cast<int>(*nodes) != 0)))
            return complain(line, "\"" + line.text + "\" says no ranks and nodes", "as in: # ranks 16 nodes 4");
        ranks_ = static_cast<int>(*ranks);
        nodes_ = static_cast<int>(nodes.value_or(1));
    }

    void read_row(const LogLine& line) {
        const auto size = number_in(line.words[0]);
        if (!size) return;  // of an MPI or a scheduler
        const auto value = line.words.size() > 1 ? number_in(line.words[1]) : std::nullopt;
        if (!value) return complain(line, "a row without a time: it is cut off", "the log as the benchmark printed it");
        if (*size > 1e15) return complain(line, "a message of " + line.words[0] + " bytes", "");
        if (*size == 0) return;
        if (*value == 0) return complain(line, "a time or bandwidth of nothing", "");
        const Bytes message = *size * B;
        if (!title_->bandwidth)
            curve_.points.push_back({message, *value * us});
        else if (message >= long_message)
            curve_.points.push_back({message, message / (*value * MB / s)});
    }

    void finish() {
        const Title* title = std::exchange(title_, nullptr);
        BenchmarkCurve c = std::exchange(curve_, {});
        if (!title || c.points.empty()) return;
        c.file = name_;
        c.benchmark = title->benchmark;
        c.collective = title->collective;
        const bool of_two = c.collective == "send";
        if (!ranks_)
            return diagnostics_.add({name_ + ":" + std::to_string(c.line), "", "the log does not say how many ranks took part",
                                     "add a line with what it ran on: # ranks 16 nodes 4"});
        c.nodes = of_two ? std::min(2, nodes_) : nodes_;
        c.ranks = of_two ? 2 : *ranks_;
        if (title->counts == Counts::of_each_rank)
            for (BenchmarkCurve::Point& p : c.points) p.size = p.size * c.ranks;
        curves_.push_back(std::move(c));
    }

    void complain(const LogLine& line, std::string what, std::string hint) {
        diagnostics_.add({line.place(name_), "", std::move(what), std::move(hint)});
    }

    const std::string& name_;
    Diagnostics& diagnostics_;
    const Title* title_ = nullptr;
    BenchmarkCurve curve_;
    std::optional<int> ranks_;
    int nodes_ = 1;
    std::vector<BenchmarkCurve> curves_;
};

}  // namespace

std::vector<BenchmarkCurve> read_osu(std::string_view text, const std::string& name, Diagnostics& diagnostics) {
    return OsuReader(name, diagnostics).read(text);
}

}  // namespace sextant
