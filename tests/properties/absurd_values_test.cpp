// Numbers that nobody means, in every numeric field of every plan: refused with a pointer to the field, never a crash or an answer.
#include "tests/base/refusal.hpp"
#include "tests/golden/bundled_scenarios.hpp"

namespace sextant {
namespace {

struct Field {
    std::string path;
    bool zero_is_meant = false;  // 0 says "as usual" or "nothing"
};

const std::vector<Field>& numeric_fields() {
    static const std::vector<Field> fields = {{"plan.dp"},
                                              {"plan.tp"},
                                              {"plan.pp"},
                                              {"plan.cp"},
                                              {"plan.vpp"},
                                              {"plan.ep"},
                                              {"plan.expert_tp", true},
                                              {"plan.micro_batch"},
                                              {"plan.global_batch"},
                                              {"plan.grad_accum"},
                                              {"plan.shard_group"},
                                              {"plan.parameter_servers"},
                                              {"plan.pruned_fraction", true},
                                              {"plan.recompute.blocks"},
                                              {"plan.stage_blocks", false},
                                              {"hardware.nodes"},
                                              {"hardware.devices_per_node"},
                                              {"hardware.cluster_nodes"},
                                              {"hardware.straggler.speed"},
                                              {"hardware.straggler.devices"},
                                              {"hardware.reserved_devices"}};
    return fields;
}

// What complains: "" when the value is accepted.
std::string complaint(const std::string& scenario, const std::string& assignment) {
    return refusal_by([&] { return predict(bundled_scenario(scenario, {assignment})); });
}

TEST_P(EveryScenario, RefusesAbsurdNumbersInEveryField) {
    for (const Field& field : numeric_fields()) {
        for (const std::string value : {"0", "-1", "1e12", "x", "[]", "1.5e308", "\"\""}) {
            if (value == "0" && field.zero_is_meant) continue;
            if (value == "[]" && field.path == "plan.stage_blocks") continue;  // as even as possible
            EXPECT_NE(complaint(GetParam(), field.path + "=" + value), "") << field.path << " = " << value;
        }
    }
}

TEST_P(EveryScenario, NamesTheFieldThatIsAbsurd) {
    for (const std::string field : {"dp", "tp", "pp", "micro_batch"})
        EXPECT_NE(complaint(GetParam(), "plan." + field + "=-1").find("/plan/" + field), std::string::npos) << field;
}

}  // namespace
}  // namespace sextant
