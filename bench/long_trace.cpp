#include "bench/long_trace.hpp"

namespace sextant {
namespace {

using namespace units;

constexpr int ranks = 32;

}  // namespace

std::shared_ptr<const Trace> long_trace(std::int64_t spans) {
    Trace t;
    for (int r = 0; r < ranks; ++r) t.ranks.push_back({r, r, 1, false, {}});
    t.names = {"forward, block 1", "all_reduce of gradients"};
    t.spans.reserve(static_cast<std::size_t>(spans));
    std::uint64_t random = 1;
    for (std::int64_t i = 0; i < spans / (2 * ranks); ++i) {
        for (GraphRank r = 0; r < ranks; ++r) {
            for (const Stream stream : {Stream::compute, Stream::communication}) {
                random = random * 6364136223846793005U + 1442695040888963407U;
                const Seconds start = static_cast<double>(i) * 10 * us, length = (1 + static_cast<double>(random >> 61U)) * us;
                const auto index = static_cast<SpanIndex>(t.spans.size());
                const SpanKind kind = stream == Stream::communication ? SpanKind::data_exchange : static_cast<SpanKind>(random >> 59U & 3U);
                const std::uint32_t name = stream == Stream::compute ? 0 : 1;
                t.spans.push_back({start, start + length, {}, {}, index, index > 0 ? index - 1 : 0, r, 0, name, 0, stream, kind});
                t.end = max(t.end, start + length);
            }
        }
    }
    return std::make_shared<const Trace>(std::move(t));
}

}  // namespace sextant
