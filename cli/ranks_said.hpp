// What ranks and their launcher say, passed on, but for what Open MPI's mpirun or Slurm's srun adds when ranks have ended: that they have.
// Where a rank said why, that says it again in more lines; where none did, it is all there is.
#pragma once

#include <ostream>
#include <string>

namespace sextant {

class RanksSaid {
public:
    explicit RanksSaid(std::ostream& out) : out_(out) {}
    void hear(const std::string& line);
    // When nothing more comes: `why_is_known` to the user already, without what a rank said here.
    void end(bool why_is_known);

private:
    std::ostream& out_;
    std::string frame_;  // one of mpirun's, between two rules, that has not come to its end
    std::string held_;   // what says only that ranks have ended
    bool rank_spoke_ = false;
};

}  // namespace sextant
