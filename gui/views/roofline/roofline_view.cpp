#include "gui/views/roofline/roofline_view.hpp"

#include "gui/models/table_model.hpp"
#include "gui/models/text.hpp"
#include "gui/views/paint/card.hpp"
#include "gui/views/paint/whole_table.hpp"
#include "gui/views/roofline/roofline_plot.hpp"

#include <algorithm>

namespace sextant::gui {
namespace {

constexpr std::size_t most_rows = 24;

Table kernel_table(const Roofline& all, std::size_t most) {
    Table t{
        {QStringLiteral("operator"), QStringLiteral("bound by"), QStringLiteral("share"), QStringLiteral("runs"), QStringLiteral("each"),
         QStringLiteral("FLOP/B"), QStringLiteral("rate"), QStringLiteral("bandwidth"), QStringLiteral("shape")},
        {},
        {2, 3, 4, 5, 6, 7}};
    for (std::size_t i = 0; i < std::min(most, all.kernels.size()); ++i) {
        const RooflineKernel& k = all.kernels[i];
        const auto intensity = k.intensity();
        t.rows.push_back({name_of(k), words_of(k.bound), percent(k.in_step() / all.total(), 2), k.runs, quantity(k.time),
                          intensity ? number(*intensity) : QStringLiteral("-"),
                          intensity ? quantity(k.kernel.flops / k.time) : QStringLiteral("-"), quantity(k.kernel.bytes / k.time),
                          q(shape_text(k.kernel))});
    }
    return t;
}

class RooflineView : public PageView {
public:
    RooflineView(Workbench& workbench, Selection& selection) : PageView(workbench, selection) {
        auto* summary =
            new Card(tr("What holds the kernels back"),
                     tr("Each kernel by what would shorten it most if there were twice of it; exchanges and waits are not among them."));
        verdict_ = with_name("roofline.verdict", text_label(Type::body));
        bars_ = new ChartWidget(tr("What bounds the kernels"));
        summary->add({verdict_, bars_});
        column().addWidget(summary);

        plot_card_ =
            new Card({}, tr("The slope is the memory bandwidth that streaming kernels reach; levels are peaks by data type, dashed what "
                            "large products sustain. The larger a point, the longer its kernel takes in a step."));
        plot_ = with_name("roofline.plot", new ChartWidget(tr("Kernels under their roofs")));
        edge_ = text_label(Type::small, "faint");
        plot_card_->add({plot_, edge_});
        column().addWidget(plot_card_);

        table_card_ = new Card({});
        table_ = new WholeTable(tr("Kernels"), shown_);
        table_card_->body().addWidget(table_);
        column().addWidget(table_card_);
        connect(plot_, &ChartWidget::chosen, this, &RooflineView::choose);
        connect(table_, &WholeTable::row_chosen, this, &RooflineView::choose);
    }

    [[nodiscard]] std::vector<NamedTable> tables() const override { return {{QStringLiteral("kernels"), &all_}}; }

private:
    void show_answer(const Session&, const Answer& answer) override {
        const Roofline all = roofline(answer.job);
        const Scenario& job = answer.scenario;
        const Estimate& e = answer.report.estimate;
        verdict_->setText(verdict(all, e));
        bars_->show_chart(bound_bars(all, look_of(*this)));
        plot_card_->set_heading(tr("Kernels on %1").arg(q(job.cluster.node.device.name)) +
                                (e.memory.size() > 1 ? tr(", of stage %1, which finishes last").arg(all.stage) : QString()));
        plot_->show_chart(roofline_plot(all, look_of(*this)));
        edge_->setText(
            sustained(all) +
            tr("Memory: %1 by the maker, %2 in streaming kernels. Kernels without matrix work stand at the left edge, as far below the "
               "slope as they are below that bandwidth.")
                .arg(quantity(all.memory), quantity(all.stream)) +
            (passes_a_roof(all) ? tr(" Convolutions of 3 x 3 stand above their roof: in the Winograd domain they multiply less "
                                     "than is counted.")
                                : QString()));
        const std::size_t rows = std::min(most_rows, all.kernels.size());
        table_card_->set_heading(rows < all.kernels.size() ? tr("The %1 of %2 kernels that take longest").arg(rows).arg(all.kernels.size())
                                                           : tr("Every kernel, longest first"));
        all_.set_table(kernel_table(all, all.kernels.size()));
        shown_.set_table(kernel_table(all, most_rows));
        plot_->emphasize(std::nullopt);
    }

    static QString sustained(const Roofline& all) {
        const auto used = std::ranges::find_if(all.roofs, &Roof::used);
        return used == all.roofs.end() ? QString() : tr("Large products sustain %1, the dashed line. ").arg(quantity(used->sustained));
    }

    // Kernels as Summary counts them, and those that are drawn.
    static QString verdict(const Roofline& all, const Estimate& e) {
        const auto share = [&](KernelBound b) { return all.by_bound[b] / all.total(); };
        const auto text = [](double part) { return part < 0.005 ? tr("next to nothing") : percent(part, 2); };
        const double memory = share(KernelBound::memory), compute = share(KernelBound::compute);
        const QString all_kernels = percent((all.total() + e.terms[Term::optimizer]) / e.step, 2), drawn = percent(all.total() / e.step, 2);
        QString sentences = tr("Kernels take %1 of the step").arg(all_kernels);
        if (drawn != all_kernels) sentences += tr(", %1 without those of the optimizer, which are not drawn").arg(drawn);
        return sentences + tr(". <b>%1</b> of their time is bound by memory bandwidth, %2 by arithmetic and %3 by the start of kernels.")
                               .arg(capitalized(text(memory)), text(compute), text(share(KernelBound::start)));
    }

    void choose(int key) {
        plot_->emphasize(key);
        table_->mark_row(key);
    }

    QLabel *verdict_, *edge_;
    ChartWidget *bars_, *plot_;
    Card *plot_card_, *table_card_;
    TableModel all_, shown_;
    WholeTable* table_;
};

}  // namespace

ViewInfo roofline_view() {
    return {.name = "roofline",
            .title = QStringLiteral("Roofline"),
            .tip = QStringLiteral("The operators of the model on the device: which are bound by memory, which by arithmetic"),
            .icon = "<path d='M3 3v18h18'/><path d='M5 19l8-11h8'/><circle cx='10' cy='16' r='1.2'/><circle cx='16' cy='11' r='1.2'/>",
            .make = [](Workbench& w, Selection& s) { return std::make_unique<RooflineView>(w, s); }};
}

}  // namespace sextant::gui
