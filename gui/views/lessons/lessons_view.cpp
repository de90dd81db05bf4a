#include "gui/views/lessons/lessons_view.hpp"

#include "gui/jobs/background.hpp"
#include "gui/models/text.hpp"
#include "gui/views/lessons/lesson_page.hpp"
#include "gui/views/paint/card.hpp"

#include <QScrollArea>
#include <QScrollBar>
#include <QSettings>
#include <QToolButton>

namespace sextant::gui {
namespace {

const QString done_key = QStringLiteral("lessons/done");

std::vector<Lesson> listed() {
    try {
        return bundled_lessons(open_library());
    } catch (const InputError&) {
        return {};  // nothing is installed beside this program
    }
}

class LessonsView : public PageView {
public:
    LessonsView(Workbench& workbench, Selection& selection) : PageView(workbench, selection), lessons_(listed()) {
        setMinimumWidth(272);
        column().addWidget(list_ = list());
        column().addWidget(page_ = new LessonPage);
        page_->hide();
        connect(page_, &LessonPage::left, this, [this] { show_list(); });
        connect(page_, &LessonPage::wants_start, this, [this](const ScenarioDocument& d) {
            end_ = nullptr;
            start(d);
        });
        connect(page_, &LessonPage::wants_change, this, &LessonsView::change);
        connect(page_, &LessonPage::wants_view, this, &View::wants_to_show);
        connect(page_, &LessonPage::told_down_to, this, [this](QWidget* end) { end_ = end; });
        auto* scroll = findChild<QScrollArea*>();
        connect(scroll->verticalScrollBar(), &QScrollBar::rangeChanged, this, [this, scroll] {
            if (end_) scroll->ensureWidgetVisible(end_);  // it has its place by now
        });
        connect(page_, &LessonPage::finished, this, &LessonsView::remember);
        connect(&workbench, &Workbench::lesson_opened, this, &LessonsView::show_lesson);
        connect(&workbench, &Workbench::changed, this, [this] { page_->show_session(this->workbench().session().get()); });
    }

    [[nodiscard]] QSize sizeHint() const override { return {296, 640}; }

    // The lesson that the open scenario is of, with its change made.
    void begin() override {
        const SessionPtr session = workbench().session();
        for (const Lesson& lesson : lessons_)
            if (session && lesson.steps.front().scenario == session->document.file.stem().string()) {
                Library library = open_library();
                show_lesson(opened(library, lesson));
                return page_->show_change();
            }
    }

private:
    QWidget* list() {
        auto* panel = new QWidget;
        auto* rows = bare_layout<QVBoxLayout>(panel, 2);
        auto* hint = text_label(Type::body, "faint",
                                tr("Each asks a question of a scenario, lets you change something, and tells what came of it."));
        rows->addWidget(hint);
        rows->addSpacing(gap);
        for (std::size_t i = 0; i < lessons_.size(); ++i) {
            auto* choice = with_name(QStringLiteral("lesson.%1").arg(i), new QToolButton);
            choice->setArrowType(Qt::RightArrow);
            choice->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
            choice->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);  // a long title makes no wide page
            auto* question = text_label(Type::small, "faint", q(lessons_[i].question));
            question->setIndent(3 * gap);
            rows->addWidget(choice);
            rows->addWidget(question);
            rows->addSpacing(gap - 2);
            choices_.push_back(choice);
            connect(choice, &QToolButton::clicked, this, [this, i] { choose(i); });
        }
        show_done();
        return panel;
    }

    void show_done() {
        const QStringList done = QSettings().value(done_key).toStringList();
        for (std::size_t i = 0; i < lessons_.size(); ++i) {
            const QString title = q(lessons_[i].title);
            choices_[i]->setText(done.contains(title) ? title + QStringLiteral("  \u2713") : title);
        }
    }

    void remember(const QString& title) {
        QStringList done = QSettings().value(done_key).toStringList();
        if (done.contains(title)) return;
        QSettings().setValue(done_key, done << title);
        show_done();
    }

    void choose(std::size_t i) {
        in_background(
            this,
            [lesson = lessons_[i]] {
                Library library = open_library();
                return opened(library, lesson);
            },
            [this](const std::shared_ptr<const OpenedLesson>& lesson) { show_lesson(lesson); });
    }

    void show_lesson(const std::shared_ptr<const OpenedLesson>& lesson) {
        list_->hide();
        page_->show();
        page_->open(lesson);
    }

    void show_list() {
        end_ = nullptr;
        page_->hide();
        list_->show();
    }

    void start(const ScenarioDocument& document) {
        const SessionPtr now = workbench().session();
        if (now && (now->document == document || page_->is_at_start(now.get()))) {
            if (workbench().history().is_saved()) workbench().add(now->document, [](Session& s) { s.is_exercise = true; });
            return page_->show_session(now.get());
        }
        in_background(
            this,
            [document] {
                Library library = open_library();
                return std::make_shared<const Session>(answered(library, {.document = document, .is_exercise = true}));
            },
            [this](const SessionPtr& session) { emit wants_in_place(session); });
    }

    // On top of what is there, if the lesson began there; else from its beginning.
    void change(const ScenarioDocument& from, const ScenarioDocument& to) {
        const SessionPtr now = workbench().session();
        if (!now || now->document.file != from.file) return start(to);
        workbench().replace_document(to, tr("change of the lesson"));
    }

    std::vector<Lesson> lessons_;
    std::vector<QToolButton*> choices_;
    QWidget* list_;
    LessonPage* page_;
    QWidget* end_ = nullptr;  // what is to be seen down to here
};

}  // namespace

ViewInfo lessons_view() {
    return {.name = "lessons",
            .title = QStringLiteral("Lessons"),
            .tip = QStringLiteral("A guided tour: questions, something to change, and what is seen then"),
            .icon = "<path d='M3 9l9-4 9 4-9 4zM7 11v5c3 2.5 7 2.5 10 0v-5M21 9v6'/>",
            .place = Place::right,
            .needs_scenario = false,
            .open_at_first = false,
            .make = [](Workbench& w, Selection& s) { return std::make_unique<LessonsView>(w, s); }};
}

}  // namespace sextant::gui
