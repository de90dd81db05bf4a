#include "cli/rank_output_filter.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace sextant {
namespace {

// As in the help files of Open MPI 4.1 (help-orterun.txt, help-mpi-api.txt, help-errmgr-base.txt): how its frames begin, within their
// rules.
constexpr std::array ends_of_ranks{std::string_view("Primary job  terminated normally"), std::string_view("MPI_ABORT was invoked on rank"),
                                   std::string_view("mpirun noticed that process rank"),
                                   std::string_view("mpirun detected that one or more processes exited")};
// Lines of their own: that a frame came more than once or was not read, and of a rank whose neighbour is gone while it reads from it.
constexpr std::array asides{std::string_view("has sent help message help-mpi-api.txt / mpi-abort"),
                            std::string_view("have sent help message help-mpi-api.txt / mpi-abort"),
                            std::string_view("Set MCA parameter \"orte_base_help_aggregate\" to 0"),
                            std::string_view("orte/util/show_help.c at line "), std::string_view("] Read -1, expected ")};

// What Slurm's srun and its slurmstepd say of tasks that have ended, and of the rest that they end then: recalled, not seen here. Why a
// step had to end, of memory or of its time limit, is none of it.
constexpr std::array ends_of_tasks{std::string_view(": Exited with exit code "),
                                   std::string_view(": Killed"),
                                   std::string_view(": Terminated"),
                                   std::string_view("Job step aborted: "),
                                   std::string_view("Terminating StepId="),
                                   std::string_view("Terminating job step ")};

bool is_rule(const std::string& line) { return line.size() >= 70 && line.find_first_not_of('-') == std::string::npos; }

bool tells_the_end_of_ranks(std::string_view frame) {
    const std::string_view text = frame.substr(frame.find('\n') + 1);
    return std::ranges::any_of(ends_of_ranks, [&](std::string_view begin) { return text.starts_with(begin); });
}

bool has_one_of(const std::string& line, const auto& parts) {
    return std::ranges::any_of(parts, [&](std::string_view part) { return line.find(part) != std::string::npos; });
}

bool is_of_srun(const std::string& line) {
    if (line.starts_with("srun: ")) return has_one_of(line, ends_of_tasks);
    return line.starts_with("slurmstepd: error: *** ") && line.find(" CANCELLED AT ") != std::string::npos &&
           line.find(" DUE TO ") == std::string::npos;
}

}  // namespace

void RankOutputFilter::pass(const std::string& line) {
    if (!frame_.empty() || is_rule(line)) {
        const bool closes = !frame_.empty() && is_rule(line);
        frame_ += line + '\n';
        if (!closes) return;
        tells_the_end_of_ranks(frame_) ? void(held_ += frame_) : void(out_ << frame_);
        frame_.clear();
        return;
    }
    if (has_one_of(line, asides) || is_of_srun(line)) {
        held_ += line + '\n';
        return;
    }
    if (line.starts_with("sextant-exec-")) rank_spoke_ = true;
    out_ << line << '\n';
}

void RankOutputFilter::end(bool why_is_known) {
    if (!why_is_known && !rank_spoke_) out_ << held_;
    out_ << frame_;
}

}  // namespace sextant
