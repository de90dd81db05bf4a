#include "gui/views/timeline/search_bar.hpp"

#include "gui/jobs/background.hpp"
#include "gui/models/text.hpp"
#include "gui/models/timeline/segments.hpp"
#include "gui/views/paint/card.hpp"
#include "gui/views/paint/search_field.hpp"

#include <QHBoxLayout>
#include <QToolButton>

#include <algorithm>

namespace sextant::gui {

SearchBar::SearchBar() {
    auto* row = bare_layout<QHBoxLayout>(this, gap / 2);
    words_ = search_field(QStringLiteral("timeline_search"), tr("Search: all-reduce (Ctrl+F)"));
    words_->setToolTip(tr("Words of the names of segments: backward, all-reduce, block 3"));
    words_->setMinimumWidth(120);
    words_->setMaximumWidth(280);
    count_ = text_label(Type::small, "faint");
    count_->setWordWrap(false);
    row->addWidget(words_, 1);
    const auto add = [&](const QString& sign, const QString& tip, int step, const QKeySequence& keys) {
        auto* button = new QToolButton;
        button->setText(sign);
        button->setAccessibleName(tip);
        button->setToolTip(tip);
        button->setShortcut(keys);
        row->addWidget(button);
        connect(button, &QToolButton::clicked, this, [this, step] { go(step); });
    };
    add(QStringLiteral("\u2039"), tr("The one before (Shift+F3)"), -1, QKeySequence(QStringLiteral("Shift+F3")));
    add(QStringLiteral("\u203a"), tr("The next one (F3)"), 1, QKeySequence(QStringLiteral("F3")));
    row->addWidget(count_);
    connect(words_, &QLineEdit::textChanged, this, &SearchBar::search);
    connect(words_, &QLineEdit::returnPressed, this, [this] { go(1); });
}

void SearchBar::begin() {
    words_->setFocus();
    words_->selectAll();
}

void SearchBar::look_in(std::shared_ptr<const Trace> trace) {
    trace_ = std::move(trace);
    place_.reset();
    search();
}

void SearchBar::search() {
    found_.clear();
    count_->clear();
    const int number = ++searches_;
    if (!trace_ || words_->text().trimmed().isEmpty()) return;
    in_background(
        this, [trace = trace_, words = words_->text()] { return find_spans(*trace, words); },
        [this, number](std::vector<SpanIndex> spans) {
            if (number == searches_) show_result(std::move(spans));
        });
}

void SearchBar::show_result(std::vector<SpanIndex> spans) {
    found_ = std::move(spans);
    count_->setText(found_.empty() ? tr("nothing") : tr("%1 found").arg(grouped(static_cast<double>(found_.size()))));
}

void SearchBar::go(int step) {
    if (found_.empty()) return;
    auto at = found_.begin();
    if (place_ && step > 0) at = std::ranges::upper_bound(found_, *place_);
    if (place_ && step < 0) {
        at = std::ranges::lower_bound(found_, *place_);
        at = at == found_.begin() ? found_.end() - 1 : at - 1;
    }
    if (at == found_.end()) at = found_.begin();
    place_ = *at;
    count_->setText(tr("%1 of %2").arg(grouped(static_cast<double>(at - found_.begin() + 1)), grouped(static_cast<double>(found_.size()))));
    emit found(*at);
}

}  // namespace sextant::gui
