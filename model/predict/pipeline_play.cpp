#include "model/predict/pipeline_play.hpp"

#include <limits>
#include <optional>

namespace sextant {
namespace {

class PipelinePlay {
public:
    PipelinePlay(const PlayedPipeline& pipeline, std::span<const std::vector<WorkItem>> orders, int micro_batches)
        : pipeline_(pipeline),
          orders_(orders),
          micro_batches_(static_cast<std::size_t>(micro_batches)),
          stages_(pipeline.stages.size()),
          virtual_stages_(stages_ * pipeline.stages.front().size()),
          ahead_(virtual_stages_ * micro_batches_, not_yet),
          back_(virtual_stages_ * micro_batches_, not_yet),
          lanes_(stages_),
          begun_(virtual_stages_) {}

    std::vector<Seconds> ends() {
        for (bool moved = true; moved;) {
            moved = false;
            for (std::size_t s = 0; s < stages_; ++s)
                while (lanes_[s].next < orders_[s].size() && go_on(s)) moved = true;
        }
        std::vector<Seconds> ends;
        for (const Lane& lane : lanes_) ends.push_back(lane.free);
        return ends;
    }

private:
    static constexpr Seconds not_yet = Seconds::from_si(-1);
    struct Lane {
        std::size_t next = 0;
        Seconds free, sender_ahead, sender_back;  // since when it does nothing
    };

    Seconds& at(std::vector<Seconds>& arrivals, std::size_t virtual_stage, int micro_batch) {
        return arrivals[virtual_stage * micro_batches_ + static_cast<std::size_t>(micro_batch)];
    }

    // The stage's next piece of work, unless what it needs has not been made yet.
    bool go_on(std::size_t stage) {
        Lane& lane = lanes_[stage];
        const WorkItem& item = orders_[stage][lane.next];
        const auto chunk = static_cast<std::size_t>(item.chunk);
        const std::size_t here = chunk * stages_ + stage;
        const ChunkTimes& t = pipeline_.stages[stage][chunk];
        const bool last_micro_batch = static_cast<std::size_t>(begun_[here].back) + 1 == micro_batches_;
        switch (item.kind) {
            case WorkKind::forward: {
                const Seconds first = begun_[here].ahead == 0 ? t.first : Seconds{};
                if (!work(lane, here > 0 ? at(ahead_, here - 1, item.micro_batch) : Seconds{}, t.early, t.ahead + first)) return false;
                ++begun_[here].ahead;
                if (here + 1 < virtual_stages_) at(ahead_, here, item.micro_batch) = sent(lane, lane.sender_ahead, t.send_ahead);
                break;
            }
            case WorkKind::backward:
            case WorkKind::backward_input: {
                if (pipeline_.forward_only) break;
                const bool ends = last_micro_batch && item.kind == WorkKind::backward;
                const Seconds arrival = here + 1 < virtual_stages_ ? at(back_, here + 1, item.micro_batch) : Seconds{};
                if (!work(lane, arrival, t.early_back, t.back - t.late + (ends ? t.last : Seconds{}))) return false;
                if (item.kind == WorkKind::backward) ++begun_[here].back;
                if (here > 0) at(back_, here, item.micro_batch) = sent(lane, lane.sender_back, t.send_back);
                lane.free += t.late;
                break;
            }
            case WorkKind::backward_weight:
                if (pipeline_.forward_only) break;
                lane.free += t.weights + (last_micro_batch ? t.last : Seconds{});
                ++begun_[here].back;
                break;
        }
        ++lane.next;
        return true;
    }

    static bool work(Lane& lane, Seconds arrival, Seconds early, Seconds time) {
        if (arrival < Seconds{}) return false;
        lane.free = max(lane.free + early, arrival) + (time - early);
        return true;
    }

    Seconds sent(Lane& lane, Seconds& sender, Seconds time) const {
        Seconds& busy = pipeline_.sends_block ? lane.free : sender;
        busy = max(busy, lane.free) + time;
        return busy;
    }

    const PlayedPipeline& pipeline_;
    std::span<const std::vector<WorkItem>> orders_;
    std::size_t micro_batches_, stages_, virtual_stages_;
    std::vector<Seconds> ahead_, back_;  // by virtual stage, by micro-batch: when what it makes has arrived
    std::vector<Lane> lanes_;
    struct Begun {
        int ahead = 0, back = 0;
    };
    std::vector<Begun> begun_;  // by virtual stage: passes
};

}  // namespace

std::vector<Seconds> play(const PlayedPipeline& pipeline, std::span<const std::vector<WorkItem>> orders, int micro_batches) {
    return PipelinePlay(pipeline, orders, micro_batches).ends();
}

}  // namespace sextant
