// Lessons, as somebody in a workshop goes through them.
#include "gui/models/text.hpp"
#include "gui/views/view_list.hpp"
#include "tests/gui/desk.hpp"

#include <gmock/gmock.h>

#include <QFile>
#include <QLabel>
#include <QMessageBox>
#include <QPushButton>
#include <QSpinBox>
#include <QTest>
#include <QToolButton>

namespace sextant::gui {
namespace {

using testing::HasSubstr;

class LessonsView : public Desk {
protected:
    LessonsView() { window.show_view("lessons"); }

    // The first lesson: ResNet-50 on Lisa.
    void begin() {
        QTest::mouseClick(&find<QToolButton>("lesson.0"), Qt::LeftButton);
        wait_for([this] { return find<QPushButton>("lesson.show").isVisible() && workbench.session(); });
        settle();
    }
    void click(const char* button) {
        QTest::mouseClick(&find<QPushButton>(button), Qt::LeftButton);
        settle();
    }
    bool is_done() { return find<QLabel>("lesson.seen").isVisible(); }
};

TEST_F(LessonsView, IsThereBeforeAnythingIsOpen) {
    EXPECT_FALSE(workbench.session());
    EXPECT_TRUE(find<QToolButton>("lesson.0").isVisible());
    begin();
    EXPECT_THAT(workbench.session()->document.file.string(), HasSubstr("resnet50-lisa-4x1080ti.json"));
    EXPECT_TRUE(window.view("breakdown").isVisible()) << "where the first step asks to look";
    EXPECT_FALSE(is_done());
}

TEST_F(LessonsView, NoticesThatTheChangeWasMadeInTheEditor) {
    begin();
    find<QSpinBox>("hardware.nodes").setValue(4);
    find<QSpinBox>("plan.micro_batch").setValue(16);
    settle();
    EXPECT_FALSE(is_done());
    EXPECT_TRUE(find<QLabel>("lesson.hint").isVisible()) << "that is not it yet";
    find<QSpinBox>("plan.dp").setValue(16);
    settle();
    EXPECT_TRUE(is_done());
    EXPECT_THAT(find<QLabel>("lesson.seen").text().toStdString(), HasSubstr("times the throughput"));
}

TEST_F(LessonsView, MakesTheChangeWhenAsked) {
    begin();
    const Seconds before = step();
    click("lesson.show");
    EXPECT_TRUE(is_done());
    EXPECT_EQ(workbench.answer()->scenario.plan.dp, 16);
    workbench.undo();
    settle();
    EXPECT_EQ(step(), before) << "one step back";
    EXPECT_FALSE(is_done());
}

// In a small window what happened would stand below what is seen.
TEST_F(LessonsView, BringsWhatHappenedIntoSight) {
    window.resize(1024, 700);
    begin();
    click("lesson.show");
    const auto& next = find<QPushButton>("lesson.next");
    EXPECT_FALSE(next.visibleRegion().isEmpty());
    EXPECT_EQ(next.visibleRegion().boundingRect(), next.rect());
}

TEST_F(LessonsView, IsLeftWithoutAQuestionWhatItsUserChangedIsNot) {
    begin();
    click("lesson.show");
    EXPECT_TRUE(window.isWindowModified());
    EXPECT_TRUE(window.files().may_leave());
    open("default");
    workbench.edit({{"plan.global_batch", "64"}});
    answer_next(QMessageBox::Cancel);
    EXPECT_FALSE(window.files().may_leave());
}

TEST_F(LessonsView, GoesThroughAllStepsAndIsRemembered) {
    begin();
    for (int s = 0; s < 3; ++s) {
        click("lesson.show");
        EXPECT_TRUE(is_done()) << "step " << s + 1;
        click("lesson.next");
    }
    EXPECT_TRUE(find<QToolButton>("lesson.0").isVisible()) << "the list again";
    EXPECT_TRUE(find<QToolButton>("lesson.0").text().contains(QChar(0x2713)));
}

TEST_F(LessonsView, SetsBackWhatWentElsewhere) {
    begin();
    const Seconds before = step();
    edit({{"plan.precision", "fp16"}});
    click("lesson.start");
    EXPECT_EQ(step(), before);
}

TEST(Lessons, NameViewsThatAreThere) {
    for (const Lesson& lesson : bundled_lessons(open_library()))
        for (const LessonStep& step : lesson.steps)
            EXPECT_TRUE(step.view.empty() || find_view(step.view)) << lesson.title << ": " << step.view;
}

// A task that is for the editor names changes of which each has a field there.
TEST(Lessons, AskForWhatTheEditorHas) {
    const auto has_field = [](const std::string& path) {
        for (const FieldSection& section : field_sections())
            for (const Field& f : section.fields)
                if (f.path == path || f.inside == path || f.path.starts_with(path + ".")) return true;
        return false;
    };
    for (const Lesson& lesson : bundled_lessons(open_library()))
        for (const LessonStep& step : lesson.steps) {
            if (step.task.find("button") != std::string::npos) continue;
            for (const auto& [path, value] : step.changes) EXPECT_TRUE(has_field(path) || value == "null") << lesson.title << ": " << path;
        }
}

// As a teacher writes one, with a scenario of the course beside it.
constexpr const char* own_lesson = R"({"schema": "lesson/1", "title": "Of my course", "question": "Is half the batch half the time?",
    "source": "the course", "steps": [{"scenario": "mine", "view": "summary", "look": "A step takes {before.step_time}.",
    "task": "Micro-batch 2, Global batch 4.", "change": {"plan.micro_batch": 2, "plan.global_batch": 4},
    "seen": ["{ratio.step_time} times as long."], "checks": ["ratio.step_time < 0.6"]}], "remember": "It is."})";

TEST_F(LessonsView, OpensALessonFromAFileWithItsOwnScenario) {
    QFile::copy(bundled("default"), folder.filePath(QStringLiteral("mine.json")));
    window.files().open(write_file("lesson.json", own_lesson));
    wait_for([this] { return workbench.session() != nullptr; });
    settle();
    EXPECT_EQ(workbench.session()->document.file, folder.filePath(QStringLiteral("mine.json")).toStdString());
    click("lesson.show");
    EXPECT_TRUE(is_done());
    EXPECT_THAT(find<QLabel>("lesson.seen").text().toStdString(), HasSubstr("times as long"));
}

TEST_F(LessonsView, TellsAnAuthorWhatIsNotSo) {
    QFile::copy(bundled("default"), folder.filePath(QStringLiteral("mine.json")));
    const QString text = QString::fromLatin1(own_lesson)
                             .replace(QLatin1String("< 0.6"), QLatin1String("> 0.9"))
                             .replace(QLatin1String("{before.step_time}"), QLatin1String("{before.step_tim}"));
    window.files().open(write_file("lesson.json", text.toStdString()));
    wait_for([this] { return window.findChild<QMessageBox*>(QStringLiteral("refusal")) != nullptr; });
    const std::string told = window.findChild<QMessageBox*>(QStringLiteral("refusal"))->text().toStdString();
    EXPECT_THAT(told, HasSubstr("this does not hold: ratio.step_time &gt; 0.9"));
    EXPECT_THAT(told, HasSubstr("before.step_tim"));
    EXPECT_FALSE(workbench.session());
}

}  // namespace
}  // namespace sextant::gui
