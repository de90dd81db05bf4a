// Passes on what ranks and their launcher print, except for the lines in which Open MPI's mpirun or Slurm's srun reports that ranks have
// ended. These only repeat what a rank has said; where no rank gave a reason, they are printed.
#pragma once

#include <ostream>
#include <string>

namespace sextant {

class RankOutputFilter {
public:
    explicit RankOutputFilter(std::ostream& out) : out_(out) {}
    void pass(const std::string& line);
    // To be called at the end of the output. `why_is_known`: the user knows the reason even if no rank gave it here.
    void end(bool why_is_known);

private:
    std::ostream& out_;
    std::string frame_;  // a message of mpirun between two rules, of which the second has not come yet
    std::string held_;   // lines that say only that ranks have ended
    bool rank_spoke_ = false;
};

}  // namespace sextant
