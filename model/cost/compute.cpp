#include "model/cost/compute.hpp"

#include "model/cost/convolution.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <iterator>

namespace sextant {
namespace {

// Tile shapes that GEMM libraries carry for large and small problems.
struct Tile {
    double m, n;
};
constexpr Tile tiles[] = {{256, 128}, {128, 256}, {128, 128}, {128, 64}, {64, 128}, {64, 64}};
// What a unit loses to them; vector units have less to do with what they load. docs/model/compute.md derives both.
struct TileCosts {
    double depth;                             // k0: multiply-adds per output lost to filling and draining a tile's pipeline
    std::array<double, std::size(tiles)> of;  // how much longer each takes than the largest for as much work
};
constexpr TileCosts tile_costs(double operands, double depth) {  // c and k0
    TileCosts costs{depth, {}};
    for (std::size_t i = 0; i < std::size(tiles); ++i)
        costs.of[i] = (1 + operands * (1 / tiles[i].m + 1 / tiles[i].n)) / (1 + operands * (1 / tiles[0].m + 1 / tiles[0].n));
    return costs;
}
constexpr TileCosts tensor_costs = tile_costs(12, 64), vector_costs = tile_costs(3, 16);

constexpr double direct_convolution = 0.3;  // estimated: one window per thread, loads dominate
constexpr double taps_a_clock = 6.4;        // multiply-adds of a depthwise convolution on a multiprocessor (docs/model/compute.md)

double ceil_div(double a, double b) { return std::ceil(a / b); }

// Work of so many tiles in waves, each of this depth, per unit of the multiprocessors' rate.
double tiled_work(double count, const Tile& tile, double depth, double multiprocessors) {
    return ceil_div(count, multiprocessors) * multiprocessors * tile.m * tile.n * depth;
}

// Rows that are no multiple of 16 bytes forbid the widest loads; libraries then use kernels with narrower ones. In a batch the matrices
// themselves start anywhere, and tensor cores are left alone.
FlopRate product_rate(const Kernel& k, const DeviceRates& d, MatrixRate rate) {
    constexpr double narrow_loads = 0.6;
    if (rate.unit != ComputeUnit::tensor) return rate.sustained;
    if (k.type == DataType::fp32 && k.backward) rate.sustained = rate.sustained * (k.turned ? d.tf32_across_both : d.tf32_across_one);
    const std::int64_t load = elements_of_a_load(k.type);
    const bool whole_loads = k.n % load == 0 && (k.turned ? k.m : k.k) % load == 0;
    if (whole_loads) return rate.sustained;
    return k.batch > 1 ? min(d.vector, rate.sustained) : rate.sustained * narrow_loads;
}

bool knows_caches(const DeviceRates& d) { return d.cached > Bandwidth{}; }

Seconds direct_convolution_time(const Kernel& k, const DeviceRates& d) {
    const Seconds by_units = k.flops / (d.vector * direct_convolution);
    const bool is_depthwise = k.channels == 1;
    if (!is_depthwise || !d.tiles || !(d.outputs > Frequency{})) return by_units;
    const double taps = k.flops / (2 * units::FLOP);
    return max(by_units, taps / (taps_a_clock * d.outputs));
}

// No more than the peak, unless there is less to multiply.
FlopRate convolving_rate(const Kernel& k, const DeviceRates& d, const MatrixRate& rate, double utilization) {
    utilization *= d.convolution;
    if (knows_caches(d)) utilization *= filled_registers(k);
    if (!d.tiles) return rate.sustained * utilization;
    const FlopRate reached = rate.sustained * (utilization * convolution_rate(k, rate.unit));
    return in_winograd_domain(k, rate.unit) ? reached : min(reached, rate.peak * d.native_build);
}

// What a library's best kernel for this shape does on one of the units.
FlopRate matrix_rate(const Kernel& k, const DeviceRates& d, const MatrixRate& rate) {
    const double together = static_cast<double>(k.batch) / k.launches;  // what waits for another launch fills no wave of this one
    const bool convolves = k.kind == KernelKind::convolution;
    const double utilization =
        gemm_utilization(together, static_cast<double>(k.m), static_cast<double>(k.n), static_cast<double>(k.k), d, rate.unit);
    return convolves ? convolving_rate(k, d, rate, utilization) : product_rate(k, d, rate) * utilization;
}

Seconds matrix_time(const Kernel& k, const DeviceRates& d, const ComputeScale& scale) {
    if (k.direct) return direct_convolution_time(k, d) / scale.compute;
    FlopRate best = matrix_rate(k, d, d.matrix[k.type]);
    // Where FP32 may be cast to TF32 it need not be: a library takes the units that are faster for this shape.
    const bool may_be_cast = k.type == DataType::fp32 && d.matrix[k.type].unit == ComputeUnit::tensor;
    if (may_be_cast && d.fp32_on_vector.sustained > FlopRate{}) best = max(best, matrix_rate(k, d, d.fp32_on_vector));
    const Seconds by_outputs = d.outputs > Frequency{} ? k.outputs / d.outputs : Seconds{};
    return max(k.flops / best, by_outputs) / scale.compute;
}

// A core makes the gradient of the filters of a register's output channels at a time, and goes over the image for each.
Seconds filter_gradient_passes(const Kernel& k, const DeviceRates& d, const ComputeScale& scale) {
    const Bytes rest = static_cast<double>(k.batch * k.n * (k.m + k.k)) * size_of(k.type), image = max(Bytes{}, k.bytes - rest);
    return passing_time(registers_of(k) * image, image, d, scale) + passing_time(rest, rest, d, scale);
}

// So much from a core's own cache, or so much from farther away, wherever what is touched lies. Of twice as much as a cache holds nothing
// is left in it for the next pass.
Seconds time_of_passes(Bytes near, Bytes far, Bytes touched, const DeviceRates& d, const ComputeScale& scale, double width) {
    const auto held = [touched](Bytes cache) { return std::clamp(2.0 * cache / touched - 1, 0.0, 1.0); };
    const double own = held(d.cache), shared = d.shared > Bandwidth{} ? std::max(0.0, held(d.shared_cache) - own) : 0;
    Seconds time = own * near / (d.cached * scale.memory) + (1 - own - shared) * far / streaming_bandwidth(d, scale, width);
    if (shared > 0) time += shared * far / (d.shared * scale.memory);
    return time;
}

// A core packs the operands of a product. Forward multiplies with the weights turned round, since they lie [outputs, inputs], which is a
// pass more; and since they were last touched the update has gone over all that the rank keeps. Backward multiplies them as they lie: what
// its own cache holds is loaded beside the arithmetic. A line that is written was fetched first: of gradients of weights that is another
// pass, where a sum to add to is not counted already.
Seconds packing_time(const Kernel& k, const DeviceRates& d, const ComputeScale& scale) {
    if (k.kind == KernelKind::convolution)
        return k.weight_gradient ? filter_gradient_passes(k, d, scale) : passing_time(k.bytes, k.bytes, d, scale);
    if (k.backward) {
        const Bytes written = k.weight_gradient ? static_cast<double>(k.batch * k.m * k.n) * size_of(k.type) : Bytes{};
        return time_of_passes({}, k.bytes + max(Bytes{}, written - k.epilogue), k.bytes, d, scale, 1);
    }
    const Bytes weights = min(k.bytes, static_cast<double>(k.batch * k.n * k.k) * size_of(k.type)), others = k.bytes - weights;
    const Seconds twice = d.kept > Bytes{} ? passing_time(2.0 * weights, d.kept, d, scale) : 2.0 * weights / (d.memory * scale.memory);
    return twice + passing_time(others, others, d, scale);
}

// A score costs an exponential beside its products: as long as products take over so many elements of a head. A multiprocessor does 16
// exponentials in a clock (CUDA C++ Programming Guide, throughput of arithmetic instructions); a score has 4 operations for each element of
// its head forward and 10 backward. That B300's does 32, and that kernels may do some of them elsewhere, is neglected.
double exponential_in_elements(const Kernel& k, const DeviceRates& d) {
    constexpr double exponentials = 16;
    return d.attention_products / ((k.backward ? 10 : 4) * exponentials);
}

Seconds attention_time(const Kernel& k, const DeviceRates& d, const ComputeScale& scale) {
    // Blocks of 128 queries are dealt to the multiprocessors.
    const double blocks = static_cast<double>(k.batch) * ceil_div(static_cast<double>(k.m), 128);
    const double waves = d.tiles ? blocks / (ceil_div(blocks, d.multiprocessors) * d.multiprocessors) : 1;
    // Narrow heads do less work per score that is exponentiated; where the exponentials are counted, that is in them.
    const bool on_core = d.exponential > Seconds{};
    const auto of_products = [&](double head) { return head / (head + exponential_in_elements(k, d)); };
    const double width = on_core ? 1 : of_products(static_cast<double>(k.k)) / of_products(128);
    const double fraction = (k.backward ? d.attention_backward : d.attention_forward) * std::min(width, 1.1) * waves;
    return (on_core ? k.computed : 1) * k.flops / (d.matrix[k.type].peak * (fraction * scale.compute));
}

}  // namespace

std::int64_t elements_of_a_load(DataType type) {
    return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(Bytes::from_si(16) / size_of(type))));
}

double gemm_utilization(double batch, double m, double n, double k, const DeviceRates& d, ComputeUnit unit) {
    const double useful = batch * m * n * k;
    if (knows_caches(d)) return 1;  // packing is priced as the traffic that it is
    if (!d.tiles) {
        // CPU libraries block for caches: what is lost is packing (small k, n) and threads without work (small m).
        return m / (m + 8) * n / (n + 16) * k / (k + 16);
    }
    const TileCosts& costs = unit == ComputeUnit::tensor ? tensor_costs : vector_costs;
    double least = INFINITY;
    for (std::size_t i = 0; i < std::size(tiles); ++i) {
        const double count = batch * ceil_div(m, tiles[i].m) * ceil_div(n, tiles[i].n);
        const auto work = [&](double split) {
            return costs.of[i] * tiled_work(count * split, tiles[i], k / split + costs.depth, d.multiprocessors);
        };
        least = std::min(least, work(1));
        for (double split = 2; split <= 16 && count * split <= 2 * d.multiprocessors && k / split >= 256; split *= 2)
            least = std::min(least, work(split));
    }
    return useful / least;
}

std::optional<Seconds> measured_gemm_time(const Kernel& k, std::span<const GemmCurve> curves) {
    if (k.kind != KernelKind::gemm || k.batch != 1) return std::nullopt;
    for (const GemmCurve& curve : curves) {
        const auto& p = curve.points;
        if (curve.n != k.n || curve.k != k.k || curve.type != k.type || p.size() < 2 || k.m < p.front().m || k.m > p.back().m) continue;
        const auto above =
            std::lower_bound(p.begin() + 1, p.end() - 1, k.m, [](const GemmCurve::Point& a, std::int64_t m) { return a.m < m; });
        const auto below = above - 1;
        const double x = std::log(static_cast<double>(k.m) / static_cast<double>(below->m)) /
                         std::log(static_cast<double>(above->m) / static_cast<double>(below->m));
        return below->time * std::pow(above->time / below->time, x);
    }
    return std::nullopt;
}

Bandwidth streaming_bandwidth(const DeviceRates& d, const ComputeScale& scale, double width) {
    const Bandwidth memory = d.memory * scale.memory;
    return d.loads > Bandwidth{} ? memory / std::hypot(1.0, memory / (width * d.loads)) : memory;
}

Seconds streaming_time(Bytes bytes, const DeviceRates& d, const ComputeScale& scale, double width) {
    if (!knows_caches(d) || !(bytes > Bytes{})) return bytes / streaming_bandwidth(d, scale, width);
    // A line that is written was fetched first, unless it was read: of two or three passes over operands one writes.
    constexpr double fetched = 4.0 / 3;
    return time_of_passes(bytes, fetched * bytes, bytes, d, scale, width);
}

Seconds passing_time(Bytes moved, Bytes touched, const DeviceRates& d, const ComputeScale& scale, double width) {
    if (!knows_caches(d) || !(moved > Bytes{})) return moved / streaming_bandwidth(d, scale, width);
    return time_of_passes(moved, moved, touched, d, scale, width);
}

Seconds kernel_time(const Kernel& k, const DeviceRates& d, const ComputeScale& scale) {
    const Bytes at_end = knows_caches(d) ? Bytes{} : k.epilogue;  // a core waits for all bytes of a product
    const Seconds after = streaming_time(at_end, d, scale);
    if (d.measured)
        if (const auto measured = measured_gemm_time(k, *d.measured)) return *measured / (scale.compute * d.native_build) + after;
    const Seconds overhead = (k.launches * d.kernel_overhead + k.waits * d.wait) / scale.overhead + after;
    const Seconds by_memory = streaming_time(k.bytes - at_end, d, scale, k.in_flight),
                  functions = k.exponentials * d.exponential / scale.compute;
    // A core loads and stores what lies in its own cache by instructions, as it computes; what lies farther away it fetches ahead
    // meanwhile.
    const Seconds near = knows_caches(d) ? k.bytes / (d.cached * scale.memory) : by_memory;
    switch (k.kind) {
        case KernelKind::memory: return overhead + max(by_memory, near + functions);
        case KernelKind::attention: return overhead + max(attention_time(k, d, scale), by_memory) + functions;
        case KernelKind::gemm:
        case KernelKind::convolution:
            if (knows_caches(d)) return overhead + matrix_time(k, d, scale) + packing_time(k, d, scale);
            return overhead + max(matrix_time(k, d, scale), by_memory);
    }
    return overhead;
}

}  // namespace sextant
