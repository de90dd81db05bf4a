#include "model/io/calibration/benchmark_log.hpp"

#include "model/base/parse_number.hpp"
#include "model/base/spelling.hpp"
#include "model/io/calibration/log_lines.hpp"

#include <algorithm>
#include <sstream>

namespace sextant {
namespace {

std::string without_colours(std::string_view line) {
    std::string out;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] == '\x1b' && i + 1 < line.size() && line[i + 1] == '[') {
            i += 2;
            while (i < line.size() && !(line[i] >= '@' && line[i] <= '~')) ++i;
        } else if (line[i] != '\r' && line[i] != '\0') {
            out += line[i];
        }
    }
    return out;
}

// "2024-03-02T10:11:12.1234567Z ", as kubectl --timestamps and GitHub Actions write it.
void drop_time(std::string& line) {
    const std::size_t end = line.find(' ');
    const bool is_time = end != std::string::npos && end >= 19 && line[4] == '-' && line[7] == '-' && line[10] == 'T' && line[13] == ':';
    if (is_time) line.erase(0, end + 1);
}

// "[1,0]<stdout>:", "[1,0]<stdout> " of mpirun; "0: " of srun --label.
void drop_tag(std::string& line) {
    const std::size_t digits = line.find_first_not_of(' '),
                      colon = digits == std::string::npos ? digits : line.find_first_not_of("0123456789", digits);
    if (colon != std::string::npos && colon > digits && line.compare(colon, 2, ": ") == 0) line.erase(0, colon + 2);
    const std::size_t end = line.find("<stdout>");
    if (!line.starts_with('[') || end == std::string::npos || end > 24) return;
    line.erase(0, end + 8);
    if (line.starts_with(':')) line.erase(0, 1);
}

}  // namespace

std::vector<LogLine> lines_of(std::string_view text) {
    std::vector<LogLine> lines;
    int number = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        LogLine line{++number, without_colours(text.substr(at, end - at)), {}};
        drop_time(line.text);
        drop_tag(line.text);
        std::istringstream words(line.text);
        for (std::string word; words >> word;) line.words.push_back(word);
        lines.push_back(std::move(line));
        at = end + 1;
    }
    return lines;
}

std::optional<double> number_in(std::string_view word) {
    const auto value = parse_number<double>(word);
    return value && *value >= 0 ? value : std::nullopt;
}

LogKind kind_of_log(std::string_view text) {
    if (trimmed(text).starts_with('{')) return LogKind::json;
    for (const LogLine& line : lines_of(text)) {
        if (line.says("# OSU MPI") || line.says("# OSU NCCL")) return LogKind::osu;
        if (line.says("nThread ") || line.says("out-of-place") || line.says("nccl-tests version")) return LogKind::nccl_tests;
        if (!line.words.empty() && line.words[0] == "GPU0") return LogKind::gpu_topology;
    }
    return LogKind::unknown;
}

}  // namespace sextant
