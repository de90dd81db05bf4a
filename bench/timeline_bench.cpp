// What it costs to look at a trace of ten million spans: laying it out once, in a worker thread, and painting a frame at several zooms.
// Limit: a frame in 20 ms.
#include "bench/long_trace.hpp"
#include "gui/views/timeline/picture.hpp"

#include <QGuiApplication>
#include <QImage>

#include <benchmark/benchmark.h>

#include <cstdlib>

namespace {

using namespace sextant;
using namespace sextant::gui;

std::shared_ptr<const TimelineContent> content(std::int64_t spans) {
    auto report = std::make_shared<SimulationReport>();
    const auto trace = long_trace(spans);
    report->trace.end = trace->end;
    return content_of(std::make_shared<const Simulated>(Simulated{report, {}, lay_out(trace), nullptr}), nullptr);
}

void lay_out_a_trace(benchmark::State& state) {
    const auto trace = long_trace(state.range(0));
    for (auto _ : state) benchmark::DoNotOptimize(lay_out(trace).lanes.lanes().size());
}
BENCHMARK(lay_out_a_trace)->Unit(benchmark::kMillisecond)->Arg(1'000'000)->Arg(10'000'000);

// Of the step, one part in so many is shown, in the middle of it.
void paint_a_frame_of_ten_million_spans(benchmark::State& state) {
    static const auto application = [] {
        setenv("QT_QPA_PLATFORM", "offscreen", 0);
        static int count = 1;
        static char name[] = "bench", *names[] = {name, nullptr};
        return std::make_unique<QGuiApplication>(count, names);
    }();
    static const auto shown = content(10'000'000);
    TimelineAspect aspect;
    const Seconds length = shown->end / static_cast<double>(state.range(0));
    aspect.from = 0.5 * (shown->end - length);
    aspect.to = aspect.from + length;
    aspect.row_height = 12;
    aspect.critical_path = state.range(1) != 0;
    QImage image(1600, 1000, QImage::Format_RGB32);
    for (auto _ : state) {
        QPainter painter(&image);
        TimelinePicture(*shown, aspect, image.rect()).paint(painter, light_look());
    }
}
BENCHMARK(paint_a_frame_of_ten_million_spans)
    ->Unit(benchmark::kMillisecond)
    ->ArgNames({"zoom", "path"})
    ->Args({1, 0})
    ->Args({1, 1})
    ->Args({100, 0})
    ->Args({2'000, 0})
    ->Args({20'000, 0});

void find_a_span_by_words(benchmark::State& state) {
    const auto trace = long_trace(10'000'000);
    for (auto _ : state) benchmark::DoNotOptimize(find_spans(*trace, QStringLiteral("gradients")).size());
}
BENCHMARK(find_a_span_by_words)->Unit(benchmark::kMillisecond);

}  // namespace
