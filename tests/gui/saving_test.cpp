// Saving: nothing is lost, whatever the disk and other programs do.
#include "gui/models/scenario_words.hpp"
#include "tests/gui/files_desk.hpp"

#include <gmock/gmock.h>

#include <QFile>
#include <QMessageBox>
#include <QSpinBox>
#include <QTest>

#include <sstream>

namespace sextant::gui {
namespace {

using testing::HasSubstr;

TEST_F(Files, SavingChangesTheLinesThatWereEditedAndNoOther) {
    const QString path = write_file("mine.json", contents(bundled("gpt3-175b-1024xa100")));
    window.files().open(path);
    settle();
    find<QSpinBox>("plan.micro_batch").setValue(2);
    settle();
    const Seconds edited_step = step();
    ASSERT_TRUE(window.files().save());
    EXPECT_FALSE(window.isWindowModified());
    std::istringstream before(contents(bundled("gpt3-175b-1024xa100"))), after(contents(path));
    std::string was, is;
    int differing = 0;
    while (std::getline(before, was) && std::getline(after, is))
        if (was != is) {
            ++differing;
            EXPECT_THAT(is, HasSubstr("\"micro_batch\": 2"));
        }
    EXPECT_EQ(differing, 1);
    Library library = open_library();
    EXPECT_EQ(predict(load_scenario(library, path.toStdString())).estimate.step, edited_step);
}

TEST_F(Files, WhatSomebodyElseWroteMeanwhileIsNotOverwrittenUnasked) {
    const QString path = open_copy();
    find<QSpinBox>("plan.micro_batch").setValue(2);
    settle();
    write_file("mine.json", contents(bundled("does-not-fit")));
    answer_next(QMessageBox::Cancel);
    EXPECT_FALSE(window.files().save());
    EXPECT_THAT(asked.toStdString(), HasSubstr("changed on the disk"));
    EXPECT_EQ(contents(path), contents(bundled("does-not-fit")));
    EXPECT_TRUE(window.isWindowModified()) << "and what was edited is still here";
    answer_next(QMessageBox::Save);
    EXPECT_TRUE(window.files().save());
    EXPECT_THAT(contents(path), HasSubstr("\"micro_batch\": 2"));
    find<QSpinBox>("plan.micro_batch").setValue(1);
    settle();
    asked.clear();
    EXPECT_TRUE(window.files().save());
    EXPECT_TRUE(asked.isEmpty()) << "it is as it was saved here";
}

TEST_F(Files, AfterSavingUndoStillGoesBack) {
    open_copy();
    const std::int64_t before = workbench.answer()->scenario.plan.micro_batch;
    edit({{"plan.micro_batch", "2"}});
    ASSERT_TRUE(window.files().save());
    workbench.undo();
    settle();
    EXPECT_EQ(workbench.answer()->scenario.plan.micro_batch, before);
    EXPECT_TRUE(window.isWindowModified());
}

TEST_F(Files, WhatIsBeingTypedIsSavedAndAskedAbout) {
    const QString path = open_copy();
    auto& batch = find<QSpinBox>("plan.global_batch");
    const auto type = [&](const char* text) {
        batch.selectAll();
        QTest::keyClicks(&batch, QString::fromLatin1(text));
    };
    type("32");
    EXPECT_TRUE(window.files().save());
    EXPECT_THAT(contents(path), HasSubstr("\"global_batch\": 32"));
    type("64");
    answer_next(QMessageBox::Cancel);
    EXPECT_FALSE(window.close());
    EXPECT_THAT(asked.toStdString(), HasSubstr("mine.json was changed"));
    EXPECT_EQ(stated_at(workbench.session()->document, "plan.global_batch"), "64");
}

TEST_F(Files, AfterSavingElsewhereEveryStepIsOfTheNewFile) {
    const QString first = write_file("a.json", contents(bundled("default"))), second = folder.filePath(QStringLiteral("b.json"));
    window.files().open(first);
    settle();
    workbench.edit({{"plan.global_batch", "32"}});
    EXPECT_TRUE(window.files().save_to(second)) << "before there is an answer";
    settle();
    EXPECT_EQ(workbench.session()->state, AnswerState::ready);
    workbench.undo();
    EXPECT_EQ(workbench.session()->document.file, second.toStdString());
    EXPECT_TRUE(window.files().save());
    EXPECT_EQ(contents(first), contents(bundled("default")));
    EXPECT_EQ(contents(second), contents(bundled("default"))) << "what was gone back to";
}

TEST_F(Files, AfterSavingAndUndoTheCommandLineStillSaysWhatIsShown) {
    const QString path = open_copy();
    edit({{"plan.global_batch", "32"}, {"hardware.device.memory", "\"7 GiB\""}, {"plan.recompute", "full"}});
    EXPECT_THAT(edits_of_file(workbench.session()->document), testing::SizeIs(3)) << "those that were made";
    ASSERT_TRUE(window.files().save());
    EXPECT_THAT(edits_of_file(workbench.session()->document), testing::IsEmpty()) << "all of it stands in the file";
    workbench.undo();
    settle();
    Library library = open_library();
    EXPECT_EQ(predict(load_scenario(library, path.toStdString(), edits_of_file(workbench.session()->document))).estimate.step, step());
    EXPECT_THAT(edits_of_file(workbench.session()->document), testing::Contains("plan.recompute=null"));
}

TEST_F(Files, SavingWhereNothingCanBeWrittenLosesNothing) {
    const QString path = open_copy();
    edit({{"plan.micro_batch", "2"}});
    const std::vector<std::string> edits = workbench.session()->document.edits;
    for (const QString& bad : {folder.filePath(QStringLiteral("no/such/folder/x.json")), folder.path(), QStringLiteral("/proc/x.json")}) {
        EXPECT_FALSE(window.files().save_to(bad));
        EXPECT_THAT(message("complaint"), HasSubstr("Nothing is lost"));
    }
    EXPECT_EQ(workbench.session()->document.edits, edits);
    EXPECT_EQ(workbench.session()->document.file, path.toStdString());
    EXPECT_TRUE(window.isWindowModified());
    EXPECT_EQ(contents(path), contents(bundled("default")));
}

TEST_F(Files, SavingOntoAFullDiskLosesNothing) {
    const QString path = open_copy();
    edit({{"plan.micro_batch", "2"}});
    const QString aside = path + QStringLiteral(".part");
    std::filesystem::create_symlink("/dev/full", aside.toStdString());
    EXPECT_FALSE(window.files().save());
    EXPECT_THAT(message("complaint"), HasSubstr("is the disk full?"));
    EXPECT_EQ(contents(path), contents(bundled("default")));
    EXPECT_EQ(workbench.answer()->scenario.plan.micro_batch, 2);
    EXPECT_TRUE(window.isWindowModified());
    QFile::remove(aside);  // there is room again
    EXPECT_TRUE(window.files().save());
    EXPECT_FALSE(window.isWindowModified());
}

}  // namespace
}  // namespace sextant::gui
