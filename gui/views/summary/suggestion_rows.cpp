#include "gui/views/summary/suggestion_rows.hpp"

#include "gui/views/paint/card.hpp"

#include <QGridLayout>
#include <QPushButton>

namespace sextant::gui {

SuggestionRows::SuggestionRows() {
    grid_ = new QGridLayout(this);
    grid_->setContentsMargins(0, gap / 2, 0, gap / 2);
    grid_->setHorizontalSpacing(gap + 4);
    grid_->setVerticalSpacing(4);
    grid_->setColumnStretch(0, 1);
    heading_ = text_label(Type::small, "faint", tr("Other settings, each by itself"));
    grid_->addWidget(heading_, 0, 0, 1, 4);
}

void SuggestionRows::add_line() {
    const auto i = lines_.size();
    const int row = static_cast<int>(i) + 1;
    Line line{text_label(Type::body), text_label(Type::strong), text_label(Type::body, "faint"), new QPushButton(tr("Apply"))};
    line.change->setObjectName(QStringLiteral("suggestion.%1").arg(i));
    line.apply->setObjectName(QStringLiteral("apply.%1").arg(i));
    line.apply->setToolTip(tr("Changes the plan so, in one step that can be undone"));
    grid_->addWidget(line.change, row, 0);
    grid_->addWidget(line.step, row, 1, Qt::AlignRight | Qt::AlignVCenter);
    grid_->addWidget(line.gain, row, 2, Qt::AlignRight | Qt::AlignVCenter);
    grid_->addWidget(line.apply, row, 3);
    line.gain->setWordWrap(false);
    connect(line.apply, &QPushButton::clicked, this, [this, i] { emit applied(Suggestion(shown_[i])); });
    lines_.push_back(line);
}

void SuggestionRows::show_suggestions(std::vector<Suggestion> suggestions) {
    shown_ = std::move(suggestions);
    setVisible(!shown_.empty());
    while (lines_.size() < shown_.size()) add_line();
    for (std::size_t i = 0; i < lines_.size(); ++i) {
        const Line& line = lines_[i];
        const bool is_there = i < shown_.size();
        for (QWidget* w : std::initializer_list<QWidget*>{line.change, line.step, line.gain, line.apply}) w->setVisible(is_there);
        if (!is_there) continue;
        line.change->setText(shown_[i].change);
        line.step->setText(shown_[i].step);
        line.gain->setText(shown_[i].gain);
        line.apply->setAccessibleName(tr("Apply: %1").arg(shown_[i].change));
    }
}

}  // namespace sextant::gui
