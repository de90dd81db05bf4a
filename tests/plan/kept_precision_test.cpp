#include "model/plan/partition.hpp"

#include <gtest/gtest.h>

namespace sextant {
namespace {

struct Autocasting {
    Plan plan;
    Framework framework;
    Autocasting() {
        plan.precision = precision_policy(DataType::fp16);
        framework.casts_each_use = framework.gradients_in_fp32 = true;
    }
    [[nodiscard]] Precision kept() const { return kept_precision(plan, framework); }
};

TEST(KeptPrecision, OfAutocastIsSinglePrecisionWithoutMasters) {
    const Precision kept = Autocasting().kept();
    EXPECT_EQ(kept.parameter, DataType::fp32);
    EXPECT_EQ(kept.gradient_type(), DataType::fp32);
    EXPECT_FALSE(kept.master_weights);
}

TEST(KeptPrecision, OfANetworkOf16BitsIsThat) {
    Autocasting job;
    job.plan.autocast = false;
    EXPECT_EQ(job.kept().parameter, DataType::fp16);
    EXPECT_EQ(job.kept().gradient_type(), DataType::fp16);
    job.framework.casts_each_use = false;  // one that narrows the network anyway keeps its own gradients
    EXPECT_EQ(job.kept().gradient_type(), DataType::fp32);
}

TEST(KeptPrecision, OfSinglePrecisionKnowsNoCasts) {
    Autocasting job;
    job.plan.precision = precision_policy(DataType::fp32);
    const Precision with = job.kept();
    job.plan.autocast = false;
    EXPECT_EQ(with.parameter, job.kept().parameter);
    EXPECT_EQ(with.gradient_type(), job.kept().gradient_type());
}

}  // namespace
}  // namespace sextant
