// horovodrun: https://horovod.readthedocs.io/en/stable/running_include.html. It starts ranks and says nothing of batches or precision.
#include "model/io/export/plan_export.hpp"
#include "model/io/export/refusals.hpp"

namespace sextant {

ExportedLaunch horovod_launch(const Scenario& s) {
    const Plan& p = s.plan;
    Refusals r(s, "Horovod");
    r.unless(s.framework.starter == RankStarter::horovodrun, "/framework", "starts no ranks of " + s.framework.title,
             R"(a framework of Horovod, as in "horovod-pytorch")");
    r.unless(p.devices() == p.dp, "/plan", "divides the batch and nothing else", "tp, pp and cp of 1");
    r.unless(p.data_parallel == DataParallel::all_reduce, "/plan/data_parallel", "sums gradients with all-reduces", "all_reduce");
    check_ranks(s, r);
    r.throw_if_any();
    ExportedLaunch launch{used_nodes(s), ranks_per_node(s), cores_of_job(s), {}, "train.py", {}, left_to_the_program(s)};
    if (p.launch_blocking) launch.environment.emplace_back(blocking_launches, "1");
    launch.notes.push_back("train.py is yours: it takes batches of " + std::to_string(p.micro_batch) +
                           " samples on each rank, and a step is " + std::to_string(p.micro_batches()) +
                           " of them (backward_passes_per_step)");
    return launch;
}

}  // namespace sextant
