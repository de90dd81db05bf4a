#include "gui/views/roofline/roofline_plot.hpp"

#include "gui/models/text.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace sextant::gui {
namespace {

constexpr KernelKind kinds[] = {KernelKind::gemm, KernelKind::convolution, KernelKind::attention, KernelKind::memory};

QColor colour_of(KernelKind kind, const Look& look) {
    switch (kind) {
        case KernelKind::gemm: return look.accent;
        case KernelKind::convolution: return look.good;
        case KernelKind::attention: return look.warning;
        case KernelKind::memory: break;
    }
    return look.faint;
}

Mark mark_of(KernelKind kind) {
    constexpr Mark marks[] = {Mark::disc, Mark::square, Mark::diamond, Mark::triangle};
    return marks[static_cast<std::size_t>(kind)];
}

class RooflinePlot {
public:
    RooflinePlot(const Roofline& all, const Look& look) : all_(all), look_(look), plot_(std::make_shared<Plot>()) {}

    std::shared_ptr<Chart> chart() {
        plot_->height = 430;
        add_axes();
        add_roofs();
        add_kernels();
        for (const KernelKind kind : kinds)
            if (std::ranges::any_of(all_.kernels, [&](const RooflineKernel& k) { return k.kernel.kind == kind; }))
                plot_->legend.push_back({words_of(kind), colour_of(kind, look_), mark_of(kind)});
        return plot_;
    }

private:
    [[nodiscard]] FlopRate highest() const { return all_.roofs.front().peak; }

    // From a third of what any kernel has to beyond the last ridge and the last kernel, which has a name beside it.
    void add_axes() {
        double least = highest().si() / all_.memory.si(), slowest = highest().si();
        for (const RooflineKernel& k : all_.kernels)
            if (const auto intensity = k.intensity()) {
                least = std::min(least, *intensity);
                slowest = std::min(slowest, (k.kernel.flops / k.time).si());
            }
        double most = 4 * highest().si() / all_.stream.si();
        for (const RooflineKernel& k : all_.kernels) most = std::max(most, 1.5 * k.intensity().value_or(0));
        plot_->x = log_axis(QStringLiteral("arithmetic intensity (FLOP/B)"), std::max(least / 3, 1e-3), most,
                            [](double value) { return value < 1000 ? number(value, 1) : grouped(value); });
        for (const RooflineKernel& k : all_.kernels)
            if (!k.intensity() && k.kernel.bytes > Bytes{}) slowest = std::min(slowest, at_edge() * (k.kernel.bytes / k.time).si());
        plot_->y = log_axis(QStringLiteral("attained rate"), slowest / 1.5, 1.6 * highest().si(),
                            [](double value) { return quantity(FlopRate::from_si(value), 1); });
    }

    [[nodiscard]] double at_edge() const { return plot_->x.low * 1.5; }

    void add_roofs() {
        const double low = plot_->x.low, high = plot_->x.high;
        const auto ridge = [&](FlopRate rate) { return rate.si() / all_.stream.si(); };
        plot_->lines.push_back({.points = {{low, low * all_.stream.si()}, {ridge(highest()), highest().si()}},
                                .colour = look_.text,
                                .width = 2,
                                .style = Qt::SolidLine,
                                .stepped = false,
                                .name = {}});
        std::set<double> named;  // types that are as fast as each other share a line
        for (const Roof& roof : all_.roofs) {
            QString name;
            if (named.insert(roof.peak.si()).second) {
                QStringList types;
                for (const Roof& same : all_.roofs)
                    if (same.peak == roof.peak) types += q(to_text(same.type));
                name = types.join(QStringLiteral(", ")) + QStringLiteral(": ") + quantity(roof.peak);
            }
            const bool used = std::ranges::any_of(all_.roofs, [&](const Roof& r) { return r.used && r.peak == roof.peak; });
            if (name.isEmpty()) continue;
            plot_->lines.push_back({.points = {{ridge(roof.peak), roof.peak.si()}, {high, roof.peak.si()}},
                                    .colour = used ? look_.text : look_.border,
                                    .width = used ? 2.0 : 1.2,
                                    .style = Qt::SolidLine,
                                    .stepped = false,
                                    .name = name});
        }
        // What large products sustain, of the type that the model multiplies in most.
        const auto used = std::ranges::find_if(all_.roofs, &Roof::used);
        if (used != all_.roofs.end())
            plot_->lines.push_back({.points = {{ridge(used->sustained), used->sustained.si()}, {high, used->sustained.si()}},
                                    .colour = look_.faint,
                                    .width = 1.2,
                                    .style = Qt::DashLine,
                                    .stepped = false,
                                    .name = {}});
    }

    void add_kernels() {
        std::set<QString> named;
        for (std::size_t i = 0; i < all_.kernels.size(); ++i) {
            const RooflineKernel& k = all_.kernels[i];
            const double share = k.in_step() / all_.total();
            PlotPoint point{.x = at_edge(), .y = at_edge() * (k.kernel.bytes / k.time).si(), .key = static_cast<int>(i)};
            if (const auto intensity = k.intensity()) {
                point.x = *intensity;
                point.y = (k.kernel.flops / k.time).si();
            }
            if (!(point.y > 0)) continue;
            point.colour = colour_of(k.kernel.kind, look_);
            point.colour.setAlphaF(0.8F);
            point.mark = mark_of(k.kernel.kind);
            point.radius = std::clamp(24 * std::sqrt(share), 3.0, 16.0);
            point.tip = tip(k, share);
            constexpr std::size_t most_named = 4;
            if (share > 0.06 && named.size() < most_named && named.insert(q(k.kernel.name)).second) point.name = q(k.kernel.name);
            plot_->points.push_back(std::move(point));
        }
    }

    static QString tip(const RooflineKernel& k, double share) {
        QString text = QStringLiteral("<b>%1</b><br>%2<br>%3, %4 runs in a step: %5 of the time of kernels<br>%6")
                           .arg(name_of(k), q(shape_text(k.kernel)), quantity(k.time))
                           .arg(k.runs)
                           .arg(percent(share, 2), quantity(k.kernel.bytes));
        if (k.intensity())
            text += QStringLiteral(", %1 in %2: %3")
                        .arg(quantity(k.kernel.flops), q(to_text(k.kernel.type)), quantity(k.kernel.flops / k.time));
        else
            text += QStringLiteral(" at %1").arg(quantity(k.kernel.bytes / k.time));
        return text + QStringLiteral("<br>bound by %1").arg(words_of(k.bound));
    }

    const Roofline& all_;
    const Look& look_;
    std::shared_ptr<Plot> plot_;
};

}  // namespace

QString name_of(const RooflineKernel& k) { return q(k.kernel.name) + QStringLiteral(", ") + words_of(k.phase); }

std::shared_ptr<Chart> roofline_plot(const Roofline& all, const Look& look) { return RooflinePlot(all, look).chart(); }

std::shared_ptr<Chart> bound_bars(const Roofline& all, const Look& look) {
    auto bars = std::make_shared<StackedBars>();
    bars->unit = unit_for(all.total());
    bars->row_height = 26;
    const Fill fills[] = {{look.accent}, {look.warning}, {look.faint, true}};
    const QString meanings[] = {QStringLiteral("Twice the arithmetic would shorten these most."),
                                QStringLiteral("Twice the memory bandwidth would shorten these most."),
                                QStringLiteral("They are so small that starting them takes longest.")};
    BarRow row{.label = {}, .note = quantity(all.total()), .parts = {}, .key = 0};
    for (const KernelBound bound : all_kernel_bounds) {
        const auto i = static_cast<std::size_t>(bound);
        row.parts.push_back({static_cast<int>(bound), QStringLiteral("bound by ") + words_of(bound), all.by_bound[bound].si(),
                             quantity(all.by_bound[bound]), fills[i], meanings[i]});
    }
    bars->rows.push_back(std::move(row));
    return bars;
}

}  // namespace sextant::gui
