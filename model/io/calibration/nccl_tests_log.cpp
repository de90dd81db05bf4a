// What nccl-tests print (github.com/NVIDIA/nccl-tests, src/common.cu and doc/PERFORMANCE.md): the devices, then a table.
//
//     #  Rank  0 Group  0 Pid   1887 on   worker-1 device  0 [0x8d] NVIDIA H100 80GB HBM3
//     #       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
//     #        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
//         33554432       8388608     float     sum      -1    240.6  139.46  244.06      0    240.3  139.64  244.36      0
//
// The last eight columns are the same in all versions; older ones have no root or no redop.
#include "model/base/spelling.hpp"
#include "model/io/calibration/benchmark_log.hpp"
#include "model/io/calibration/log_lines.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace sextant {
namespace {

using namespace units;

constexpr std::size_t figures = 8;  // time, algbw, busbw and wrong, out of place and in place

struct Program {
    std::string_view name, collective;
};
constexpr Program programs[] = {{"all_reduce", "all_reduce"}, {"all_gather", "all_gather"}, {"reduce_scatter", "reduce_scatter"},
                                {"alltoall", "all_to_all"},   {"broadcast", "broadcast"},   {"reduce", "reduce"},
                                {"sendrecv", "send"}};

const Program* program_called(std::string_view name) {
    const auto* const found = std::ranges::find(programs, name, &Program::name);
    return found == std::end(programs) ? nullptr : found;
}
// "gather_perf" of the line by which newer versions begin; of any other line only a program that is known, as in a command.
std::string program_named_in(const LogLine& line) {
    if (line.says("Collective test starting:")) return line.words.back();
    for (const Program& p : programs)
        if (const std::string name = std::string(p.name) + "_perf"; line.says(name)) return name;
    return {};
}
// A file is called after its benchmark, often shortened: "all_reduce.txt", "nccl-allreduce-8gpus.log".
const Program* program_of_file(const std::string& path) {
    const std::string file = letters_and_digits(path.substr(path.find_last_of('/') + 1));
    for (const Program& p : programs)
        if (file.find(letters_and_digits(p.name)) != std::string::npos) return &p;
    return nullptr;
}

// One run of a benchmark, as far as it was read.
struct Sweep {
    std::set<std::string> hosts;
    std::map<std::string, int> ranks_of_process;
    int ranks = 0;
    std::string device, library;
    std::string named;  // the program, where the log says it
    BenchmarkCurve curve;
    bool counts_wrong = false, has_root = false;  // its columns
    bool sums = false, root = false;              // its rows
    double bus_factor = 0;                        // busbw over algbw, of the longest message
};

class NcclTestsReader {
public:
    NcclTestsReader(const std::string& name, Diagnostics& diagnostics)
        : name_(name), diagnostics_(diagnostics), problems_(diagnostics.list().size()) {}

    std::vector<BenchmarkCurve> read(std::string_view text) {
        for (const LogLine& line : lines_of(text)) {
            if (line.says("nThread ") && !sweep_.curve.points.empty()) finish();
            if (std::string named = program_named_in(line); !named.empty()) sweep_.named = std::move(named);
            if (const std::size_t at = line.text.find("NCCL version "); at != std::string::npos)
                sweep_.library = "NCCL " + line.text.substr(at + 13, line.text.find_first_of(" +", at + 13) - at - 13);
            else if (line.says("device") && line.says("Rank") && line.says("Pid"))
                read_device(line);
            else if (line.words.size() > 2 && line.words[0] == "#" && line.words[1] == "size")
                begin_table(line);
            else if (sweep_.curve.line > 0)
                read_row(line);
        }
        finish();
        if (curves_.empty() && diagnostics_.list().size() == problems_)
            diagnostics_.add({name_, "", "the log of nccl-tests holds no table of times", "a run that came to its end"});
        return std::move(curves_);
    }

private:
    // "Rank  0 Group  0 Pid 1887 on host device  0 [0x8d] NVIDIA H100": Group is missing in old versions.
    void read_device(const LogLine& line) {
        const auto after = [&](std::string_view word) {
            const auto at = std::ranges::find(line.words, word);
            return at == line.words.end() || at + 1 == line.words.end() ? std::string() : *(at + 1);
        };
        const std::string host = after("on"), pid = after("Pid");
        const std::size_t bracket = line.text.find("] ");
        if (host.empty() || bracket == std::string::npos)
            return diagnostics_.add({line.place(name_), "", "the line of a device is cut off", "the log as nccl-tests printed it"});
        sweep_.hosts.insert(host);
        ++sweep_.ranks;
        ++sweep_.ranks_of_process[host + "/" + pid];
        const std::string device = line.text.substr(bracket + 2, line.text.find_last_not_of(' ') - bracket - 1);
        if (sweep_.device.empty()) sweep_.device = device;
        if (sweep_.device != device)
            diagnostics_.add({line.place(name_), "", "a " + device + " beside a " + sweep_.device, "a sweep over devices of one kind"});
    }

    void begin_table(const LogLine& line) {
        if (sweep_.curve.line == 0) sweep_.curve.line = line.number;
        sweep_.has_root = line.says(" root");
        sweep_.counts_wrong = line.says("#wrong");
    }

    // Rows begin with two whole numbers; what else begins with one is somebody else's.
    void read_row(const LogLine& line) {
        const auto& w = line.words;
        if (w.size() < 2 || !number_in(w[0]) || !number_in(w[1])) return;
        if (w.size() < figures + 3) return complain(line, "a row of " + std::to_string(w.size()) + " columns: it is cut off");
        const std::size_t first = w.size() - figures;
        const auto size = number_in(w[0]), time = number_in(w[first]), algorithm = number_in(w[first + 1]), bus = number_in(w[first + 2]);
        if (!time || !algorithm || !bus) return complain(line, "\"" + w[first] + "\" is no time");
        if (*size > 1e15) return complain(line, "a message of " + w[0] + " bytes");
        for (const std::size_t wrong : {first + 3, first + 7})
            if (const auto n = number_in(w[wrong]); n && *n > 0 && sweep_.counts_wrong)
                return complain(line, w[wrong] + " wrong results", "a run whose results are right: what failed says nothing of the links");
        if (*size == 0 || *time == 0) return;  // a message that is too small for so many ranks
        sweep_.sums = sweep_.sums || std::ranges::find(w, "sum") != w.end();
        sweep_.root = sweep_.root || (sweep_.has_root && w[first - 1] != "-1");
        if (*algorithm > 0) sweep_.bus_factor = *bus / *algorithm;
        sweep_.curve.points.push_back({*size * B, *time * us});
    }

    // By name, else by what the columns leave: sums and a root, and how bandwidth is counted for n ranks.
    const Program* program() const {
        const double n = sweep_.ranks, of_others = (n - 1) / n;  // what other ranks have of a message
        const auto counts_as = [&](double one, double other) {
            return n < 2 || std::abs(sweep_.bus_factor - one) < std::abs(sweep_.bus_factor - other);
        };
        if (!sweep_.named.empty()) return program_called(sweep_.named.substr(0, sweep_.named.find("_perf")));
        if (sweep_.sums && !sweep_.root) return program_called(counts_as(2 * of_others, of_others) ? "all_reduce" : "reduce_scatter");
        if (sweep_.sums) return program_called("reduce");
        if (sweep_.root) return counts_as(1, of_others) ? program_called("broadcast") : nullptr;  // a gather or a scatter
        return program_of_file(name_);
    }

    void finish() {
        if (!sweep_.curve.points.empty()) conclude();
        sweep_ = {};
    }

    void conclude() {
        BenchmarkCurve& c = sweep_.curve;
        const std::string place = name_ + ":" + std::to_string(c.line);
        const Program* p = program();
        if (!p && (!sweep_.named.empty() || sweep_.root))
            return diagnostics_.add({place, "", (sweep_.named.empty() ? "a gather or a scatter" : sweep_.named) + " is not read",
                                     "all_reduce, all_gather, reduce_scatter, alltoall, broadcast, reduce and sendrecv are"});
        if (!p)
            return diagnostics_.add({place, "", "the table does not say which collective it is of",
                                     "call the file after it: all_gather.txt, alltoall.txt, sendrecv.txt"});
        if (sweep_.ranks < 2)
            return diagnostics_.add({place, "", sweep_.ranks == 0 ? "the lines \"Rank 0 ... device ...\" are missing" : "one rank alone",
                                     "the log from its beginning, of two ranks or more"});
        c.file = name_;
        c.benchmark = std::string(p->name) + "_perf";
        c.collective = p->collective;
        c.ranks = sweep_.ranks;
        c.nodes = static_cast<int>(sweep_.hosts.size());
        c.device = sweep_.device;
        c.library = sweep_.library.empty() ? "NCCL" : sweep_.library;
        for (const auto& [process, ranks] : sweep_.ranks_of_process) c.ranks_of_process = std::max(c.ranks_of_process, ranks);
        if (c.ranks % c.nodes != 0)
            return diagnostics_.add(
                {place, "", std::to_string(c.ranks) + " ranks on " + std::to_string(c.nodes) + " hosts", "as many on each"});
        curves_.push_back(std::move(c));
    }

    void complain(const LogLine& line, std::string what, std::string hint = "the log as nccl-tests printed it") {
        diagnostics_.add({line.place(name_), "", std::move(what), std::move(hint)});
    }

    const std::string& name_;
    Diagnostics& diagnostics_;
    std::size_t problems_;  // that were there before
    Sweep sweep_;
    std::vector<BenchmarkCurve> curves_;
};

}  // namespace

std::vector<BenchmarkCurve> read_nccl_tests(std::string_view text, const std::string& name, Diagnostics& diagnostics) {
    return NcclTestsReader(name, diagnostics).read(text);
}

}  // namespace sextant
