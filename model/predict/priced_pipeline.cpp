#include "model/predict/priced_pipeline.hpp"

#include <algorithm>

namespace sextant {

Pipeline PricedPipeline::whole() const {
    Pipeline p = without_shared_links();
    if (stages_.size() > 1) p.shared_links = time_of_shared_links();
    return p;
}

Pipeline PricedPipeline::without_shared_links() const {
    Pipeline p;
    p.schedule = plan_.schedule;
    p.chunks = plan_.vpp;
    p.micro_batches = micro_batches();
    p.forward_only = plan_.forward_only;
    if (plan_.pp < 2 || !hides_sends(job_)) return p;
    Seconds all;
    for (std::size_t s = 0; s < stages_.size(); ++s) {
        all += stages_[s].send_forward;
        p.busiest_boundary = max(p.busiest_boundary, stages_[s].send_forward);
        p.busiest_stage = max(p.busiest_stage, stages_[s].send_forward + stages_[s].send_backward);
    }
    const int boundaries = plan_.pp * plan_.vpp - (turns_back(plan_.schedule) ? 2 : 1);
    p.hidden_send = all / boundaries;
    return p;
}

// Stages pass on what they have, so the slowest one sets the pace: of forwards alone where all of them
// come before any backward, else of both.
Seconds PricedPipeline::taking_time() const {
    const bool in_turn = plan_.schedule == Schedule::sequential || turns_back(plan_.schedule);
    const bool forwards_first = plan_.schedule == Schedule::gpipe || (!in_turn && micro_batches() <= plan_.pp);
    Seconds slowest, all;
    for (std::size_t s = 0; s < stages_.size(); ++s) {
        const Seconds pace = plan_.pp > 1 && forwards_first ? times()[s].forward : stages_[s].micro_batch();
        slowest = max(slowest, pace);
        all += pace;
    }
    const double further = micro_batches() - 1;
    if (plan_.schedule == Schedule::sequential) return further * all;
    // Until the first micro-batch comes back there are only forwards of the first chunk.
    const double at_first = turns_back(plan_.schedule) ? std::min(further, 2.0 * plan_.pp - 2) : 0;
    return at_first * times()[0].forward / plan_.vpp + (further - at_first) * slowest;
}

// The links of a stage carry what it and the stages beside it exchange for every micro-batch; they carry nothing while a micro-batch is
// alone on a stage elsewhere.
Seconds PricedPipeline::time_of_shared_links() const {
    Seconds longest;
    for (std::size_t s = 0; s < stages_.size(); ++s) {
        const Seconds on_links = stages_[s].data.on_links;
        if (!(on_links > Seconds{})) continue;
        const std::vector<std::size_t>& mates = job_.groups.mates[s].stages;
        Seconds elsewhere;
        for (std::size_t other = 0; other < stages_.size(); ++other)
            if (other != s && !std::ranges::binary_search(mates, other)) elsewhere += times()[other].alone();
        longest = max(longest, micro_batches() * on_links + elsewhere - stages_[s].data.behind);
    }
    return longest;
}

}  // namespace sextant
