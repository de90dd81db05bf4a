// Logs that people have of their machines, as the benchmarks print them: nccl-tests and the OSU micro-benchmarks.
//
// A log may hold several runs after one another. Lines that an MPI, a scheduler or NCCL's debugging put between them are passed over; a
// line of a table that does not read is a Diagnostic with file and line.
#pragma once

#include "model/base/diagnostics.hpp"
#include "model/base/quantity.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace sextant {

struct BenchmarkCurve {
    std::string file;
    int line = 0;            // where its table begins
    std::string benchmark;   // "all_reduce_perf", "osu_latency"
    std::string collective;  // "all_reduce", "send" ...
    int ranks = 2, nodes = 1;
    int ranks_of_process = 1;
    std::string device;   // as the log names it; empty: it does not
    std::string library;  // "NCCL 2.18.3"; empty for an MPI
    bool host_buffers = false;
    struct Point {
        Bytes size;  // as a collective's cost counts it: of the whole buffer
        Seconds time;
    };
    std::vector<Point> points;
};

// Rank and host of each device, times out of place. Which collective an old log is of is told by its columns and, where these leave two, by
// the name of the program in the log or of the file.
std::vector<BenchmarkCurve> read_nccl_tests(std::string_view text, const std::string& name, Diagnostics&);

// Latency, bandwidth (its long messages) and blocking collectives. These logs do not say how many ranks took part: a line
// "# ranks 16 nodes 4", which whoever keeps them adds, does; two ranks exchange messages inside a node where none says otherwise.
std::vector<BenchmarkCurve> read_osu(std::string_view text, const std::string& name, Diagnostics&);

// Whose log it is, by its content.
enum class LogKind { unknown, nccl_tests, osu, gpu_topology, json };
LogKind kind_of_log(std::string_view text);

}  // namespace sextant
