// Plans that nobody would write down: every order of collectives must run through, and folding must be exact or say that it is not.
#include "model/plan/partition.hpp"
#include "tests/golden/bundled_scenarios.hpp"
#include "tests/properties/played_scenario.hpp"

#include <random>

namespace sextant {
namespace {

// A small job of some scenario's model, on another's machine, by another's framework; often impossible.
class RandomScenario {
public:
    explicit RandomScenario(unsigned seed) : random_(seed) {}

    Scenario draw() {
        static const std::vector<Scenario> scenarios = all();
        Scenario s = one_of(scenarios);
        const Scenario& machine = one_of(scenarios);
        s.framework = one_of(scenarios).framework;
        s.cluster = machine.cluster;
        s.library = machine.library;
        s.cluster.nodes = 64;
        s.use_ethernet = false;
        s.straggler.reset();
        s.step_noise = s.reserved_devices = 0;
        s.plan.placement = Plan{}.placement;
        if (once_in(3)) shuffle(s.plan.placement);
        s.plan.scattered = once_in(6);
        draw_degrees(s.plan);
        draw_behaviour(s.plan);
        return s;
    }

private:
    static std::vector<Scenario> all() {
        std::vector<Scenario> list;
        for (const std::string& name : bundled_scenario_names()) list.push_back(bundled_scenario(name));
        return list;
    }
    void draw_degrees(Plan& p) {
        p.dp = one_of({1, 2, 3, 4, 6, 8});
        p.tp = one_of({1, 1, 2, 4});
        p.pp = one_of({1, 1, 2, 3, 4});
        p.cp = one_of({1, 1, 1, 2});
        p.ep = one_of({1, 1, 2, 4});
        p.expert_tp = 0;
        p.schedule = static_cast<Schedule>(random_() % 7);
        p.vpp = p.schedule == Schedule::interleaved ? one_of({1, 2}) : turns_back(p.schedule) ? 2 : 1;
        p.stage_blocks.clear();
        p.micro_batch = 1;
        p.global_batch = p.dp * p.pp * one_of({1, 2, 3});
        p.sequence_parallel = p.tp > 1 && once_in(2);
    }
    void draw_behaviour(Plan& p) {
        p.data_parallel = static_cast<DataParallel>(random_() % 5);  // asynchronous workers are never folded
        p.shard_group = once_in(4) && p.dp > 2 ? std::optional(2) : std::nullopt;
        p.parameter_servers = one_of({1, 2, 3});
        p.servers_on_workers = once_in(2);
        for (std::optional<bool>* choice : {&p.gradient_overlap, &p.gather_overlap, &p.tensor_overlap, &p.expert_overlap,
                                            &p.token_deduplication, &p.pipeline_overlap, &p.reduce_every_micro_batch})
            *choice = once_in(3) ? std::optional(once_in(2)) : std::nullopt;
        p.recompute = static_cast<Recompute>(random_() % 3);
        const Offload most = p.shards_parameters() ? Offload::optimizer_and_parameters : Offload::optimizer;
        p.offload = once_in(6) ? most : Offload::none;
        p.forward_only = once_in(8);
    }
    template <class T>
    const T& one_of(const std::vector<T>& list) {
        return list[random_() % list.size()];
    }
    int one_of(std::initializer_list<int> list) { return *(list.begin() + random_() % list.size()); }
    template <class T>
    void shuffle(std::vector<T>& list) {
        for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[random_() % i]);
    }
    bool once_in(unsigned n) { return random_() % n == 0; }

    std::mt19937 random_;  // the same draws everywhere; distributions of the library would not be
};

bool can_run(const Scenario& s) {
    try {
        return check_plan(s).empty() && !cut_network(s).sequence.empty();
    } catch (const InputError&) {
        return false;
    }
}

TEST(RandomPlans, RunThroughAndFoldExactlyUnlessTheySayThatTheyDoNot) {
    int played = 0, unlike = 0;
    for (unsigned seed = 1; played < 150; ++seed) {
        const Scenario s = RandomScenario(seed).draw();
        if (!can_run(s)) continue;
        ++played;
        const Simulation folded = PlayableScenario(s, Fold::alike).play(), each = PlayableScenario(s, Fold::nothing).play();
        EXPECT_GT(each.trace.end, Seconds{});
        unlike += folded.folded_alike ? 0 : 1;
        if (!folded.folded_alike) continue;
        EXPECT_NEAR(each.trace.end / folded.trace.end, 1, 1e-9) << "seed " << seed << ": " << s.name;
    }
    EXPECT_LT(unlike, played / 3);
    EXPECT_GT(unlike, 0);
}

}  // namespace
}  // namespace sextant
