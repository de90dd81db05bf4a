// What a library makes of a matrix product. Each test states a device with the peaks of its datasheet and says what must come out.
#include "model/hardware/device.hpp"

#include <gtest/gtest.h>

namespace sextant {
namespace {

using namespace units;

PeakRate peak(DataType input, DataType accumulate, ComputeUnit unit, double tera) {
    return {input, accumulate, unit, {tera * TFLOP / s, SourceKind::datasheet, "datasheet"}, {}};
}
constexpr auto vector_units = ComputeUnit::vector;
constexpr auto tensor_units = ComputeUnit::tensor;
using enum DataType;

Device a100() {
    Device d;
    d.peaks = {peak(fp64, fp64, vector_units, 9.7), peak(fp64, fp64, tensor_units, 19.5), peak(fp32, fp32, vector_units, 19.5),
               peak(tf32, fp32, tensor_units, 156), peak(fp16, fp16, vector_units, 78),   peak(fp16, fp32, tensor_units, 312),
               peak(bf16, fp32, tensor_units, 312), peak(int8, int32, tensor_units, 624)};
    return d;
}
Device gtx_1080_ti() {
    Device d;
    d.peaks = {peak(fp32, fp32, vector_units, 11.34), peak(fp16, fp16, vector_units, 11.34 / 64), peak(int8, int32, vector_units, 45.4)};
    return d;
}
Device rtx_2080_ti() {
    Device d;
    d.peaks = {peak(fp32, fp32, vector_units, 13.45), peak(fp16, fp16, vector_units, 26.9), peak(fp16, fp32, tensor_units, 53.8),
               peak(fp16, fp16, tensor_units, 107.6)};
    return d;
}

const Device ampere = a100(), pascal = gtx_1080_ti(), turing = rtx_2080_ti();

double tera(const MatrixPath& path) { return path.peak->rate.value / (TFLOP / s); }

TEST(MatrixPath, TensorCoresDoNotTakeFp32SoLibrariesCastToTf32WhenAllowed) {
    EXPECT_DOUBLE_EQ(tera(matrix_path(ampere, fp32, false)), 19.5);
    EXPECT_EQ(matrix_path(ampere, fp32, false).peak->unit, vector_units);
    EXPECT_DOUBLE_EQ(tera(matrix_path(ampere, fp32, true)), 156);
    EXPECT_EQ(matrix_path(ampere, fp32, true).peak->input, tf32);
    EXPECT_TRUE(matrix_path(ampere, fp32, true).native);
}

TEST(MatrixPath, AllowingTf32ChangesNothingWithoutIt) {
    EXPECT_DOUBLE_EQ(tera(matrix_path(turing, fp32, true)), 13.45);
    EXPECT_TRUE(matrix_path(turing, fp32, true).native);
}

TEST(MatrixPath, Fp64TakesTheTensorCoresThatAnA100HasForIt) { EXPECT_DOUBLE_EQ(tera(matrix_path(ampere, fp64, false)), 19.5); }

TEST(MatrixPath, TrainingSumsInFp32SoAGeForceRunsAtHalfItsAdvertisedRate) {
    EXPECT_DOUBLE_EQ(tera(matrix_path(turing, fp16, true)), 53.8);
    EXPECT_EQ(matrix_path(turing, fp16, true).peak->accumulate, fp32);
    EXPECT_DOUBLE_EQ(turing.peak(fp16, tensor_units)->rate.value / (TFLOP / s), 107.6);  // the fastest, whatever it sums in
}

TEST(MatrixPath, Fp16OnAGtx1080TiIsExpandedBecauseItsOwnArithmeticIs64TimesSlower) {
    const MatrixPath path = matrix_path(pascal, fp16, true);
    EXPECT_DOUBLE_EQ(tera(path), 11.34);
    EXPECT_EQ(path.peak->input, fp32);
    EXPECT_FALSE(path.native);
}

TEST(MatrixPath, Bf16BeforeAmpereIsExpandedToFp32) {
    const MatrixPath path = matrix_path(turing, bf16, true);
    EXPECT_DOUBLE_EQ(tera(path), 13.45);
    EXPECT_FALSE(path.native);
}

TEST(MatrixPath, OfALibraryWithoutTensorUnitsIsThatOfVectorUnits) {
    const MatrixPath path = matrix_path(turing, fp16, true, false);
    EXPECT_DOUBLE_EQ(tera(path), 13.45);
    EXPECT_EQ(path.peak->unit, vector_units);
    EXPECT_FALSE(path.native);
}
TEST(MatrixPath, Fp8OnAnA100IsExpandedToA16BitType) {
    for (const DataType type : {fp8, mxfp8, nvfp4}) {
        EXPECT_DOUBLE_EQ(tera(matrix_path(ampere, type, false)), 312) << to_text(type);
        EXPECT_FALSE(matrix_path(ampere, type, false).native);
    }
}

TEST(MatrixPath, IntegersStayIntegersWhereTheyCan) {
    EXPECT_DOUBLE_EQ(tera(matrix_path(ampere, int8, false)), 624);
    EXPECT_TRUE(matrix_path(ampere, int8, false).native);
    EXPECT_DOUBLE_EQ(tera(matrix_path(ampere, int4, false)), 624);  // this device states no INT4: expanded to INT8
    EXPECT_FALSE(matrix_path(ampere, int4, false).native);
    EXPECT_DOUBLE_EQ(tera(matrix_path(turing, int8, false)), 13.45);
}

// No narrower type holds its values, however much faster it is.
TEST(MatrixPath, Fp64StaysFp64WhereItIsSlow) {
    Device d;
    d.peaks = {peak(fp32, fp32, vector_units, 35.6), peak(fp64, fp64, vector_units, 0.556)};
    EXPECT_DOUBLE_EQ(tera(matrix_path(d, fp64, false)), 0.556);
    EXPECT_TRUE(matrix_path(d, fp64, false).native);
}

TEST(MatrixPath, ATypeWiderThanAllPeaksFallsBackToTheFirst) {
    Device d;
    d.peaks = {peak(bf16, fp32, tensor_units, 100)};
    const MatrixPath path = matrix_path(d, fp64, false);
    ASSERT_NE(path.peak, nullptr);
    EXPECT_FALSE(path.native);
}

TEST(Peak, IsNullWhereTheDeviceHasNone) {
    EXPECT_EQ(ampere.peak(fp8, tensor_units), nullptr);
    EXPECT_EQ(pascal.peak(fp16, tensor_units), nullptr);
}

}  // namespace
}  // namespace sextant
