// Opening and exporting: what is broken is told, and what was open stays.
#include "gui/models/bundled.hpp"
#include "gui/models/recent_files.hpp"
#include "gui/views/view_list.hpp"
#include "tests/gui/files_desk.hpp"

#include <gmock/gmock.h>

#include <QComboBox>
#include <QDropEvent>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMimeData>
#include <QPushButton>
#include <QSpinBox>
#include <QStatusBar>
#include <QTest>

#include <algorithm>
#include <fstream>

namespace sextant::gui {
namespace {

using testing::HasSubstr;

TEST_F(Files, ABrokenFileIsExplainedAndWhatWasOpenStays) {
    open("default");
    const SessionPtr before = workbench.session();
    window.files().open(broken());
    const std::string text = message("refusal");
    EXPECT_THAT(text, HasSubstr("unit missing"));
    EXPECT_THAT(text, HasSubstr("/hardware/device/memory"));
    EXPECT_THAT(text, HasSubstr("micro_batsh"));
    EXPECT_THAT(text, HasSubstr("did you mean"));
    EXPECT_EQ(workbench.session(), before);
}

TEST_F(Files, WhatIsNoJsonOrNotThereIsExplained) {
    window.files().open(write_file("text.json", "once upon a time"));
    EXPECT_THAT(message("refusal"), HasSubstr("not valid JSON"));
    window.files().open(folder.filePath(QStringLiteral("absent.json")));
    EXPECT_THAT(message("refusal"), HasSubstr("no such file"));
    window.files().open(folder.path());
    EXPECT_THAT(message("refusal"), HasSubstr("directory"));
    EXPECT_FALSE(workbench.session());
}

TEST_F(Files, ABrokenScenarioCanBeOpenedToMendIt) {
    open("gpt3-175b-1024xa100");
    window.files().open(broken());
    open_to_mend();
    ASSERT_TRUE(workbench.session());
    EXPECT_FALSE(workbench.answer());
    EXPECT_FALSE(window.view("summary").isVisible()) << "there is nothing that it could show";
    EXPECT_EQ(find<QComboBox>("plan.recompute").currentText(), QString()) << "nothing of what was open before";
    edit({{"plan.micro_batsh", "null"}, {"plan.micro_batch", "1"}, {"hardware.device.memory", "\"40 GiB\""}});
    EXPECT_EQ(workbench.session()->state, AnswerState::ready);
    EXPECT_TRUE(window.view("summary").isVisible());
}

TEST_F(Files, AKeyThatNobodyKnowsCanBeTakenAway) {
    predictor.open(broken().toStdString());
    open_to_mend();
    auto& unknown = find<QWidget>("unknown_keys");
    EXPECT_TRUE(unknown.isVisible());
    EXPECT_THAT(unknown.findChild<QLabel*>()->text().toStdString(), HasSubstr("did you mean"));
    find<QPushButton>("take_away.plan.micro_batsh").click();
    settle();
    EXPECT_FALSE(stated_at(workbench.session()->document, "plan.micro_batsh"));
    EXPECT_FALSE(unknown.isVisible());
    auto& micro_batch = find<QSpinBox>("plan.micro_batch");
    EXPECT_EQ(micro_batch.cleanText().trimmed(), QString()) << "nobody said";
    QTest::keyClicks(&micro_batch, QStringLiteral("1"));
    auto& memory = find<QLineEdit>("hardware.device.memory");
    memory.selectAll();
    QTest::keyClicks(&memory, QStringLiteral("40 GiB"));
    workbench.take_typed();
    settle();
    EXPECT_EQ(workbench.session()->state, AnswerState::ready) << "mended with nothing but the editor";
}

TEST_F(Files, EveryKeyThatThereIsIsListedOnce) {
    predictor.open(write_file("far.json", R"({"schema": "scenario/1", "name": "far", "workload": "gpt3-2.7b",
        "hardware": {"cluster": "selene"}, "plan": {"dp": 8, "xyzzy": 1}, "framework": "megatron-core"})")
                       .toStdString());
    open_to_mend();
    const std::string beside = find<QWidget>("unknown_keys").findChild<QLabel*>()->text().toStdString();
    EXPECT_THAT(beside, AllOf(HasSubstr("plan.xyzzy"), Not(HasSubstr("sequence_parallel"))));
    EXPECT_THAT(find<QLabel>("problems").text().toStdString(), HasSubstr("sequence_parallel"));
}

TEST_F(Files, ADegreeOfNoneCannotBeTyped) {
    open("default");
    auto& tensor = find<QSpinBox>("plan.tp");
    tensor.selectAll();
    QTest::keyClicks(&tensor, QStringLiteral("0"));
    workbench.take_typed();
    EXPECT_EQ(tensor.value(), 1);
    EXPECT_TRUE(workbench.session()->document.edits.empty());
}

TEST_F(Files, WhatCannotBeIsNotDrawnAndTheTimelineIsDrawnOnceItIsPlayed) {
    open("default");
    const QString path = folder.filePath(QStringLiteral("timeline.svg"));
    bool done = false;
    QObject::connect(&window.files(), &FileActions::exported, [&] { done = true; });
    window.files().export_picture(path, *find_view("timeline"), selection, picture_formats()[1]);
    wait_for([&] { return done; });
    EXPECT_TRUE(workbench.session()->simulated) << "the export has waited for it";
    EXPECT_THAT(contents(path), HasSubstr("critical path"));
    EXPECT_THAT(window.statusBar()->currentMessage().toStdString(), HasSubstr("timeline.svg"));
    edit({{"plan.tp", "7"}});
    window.files().copy_picture(*find_view("timeline"), selection);
    EXPECT_THAT(message("complaint"), HasSubstr("mended first"));
}

TEST_F(Files, IsOpenedAgainAsItIsOnTheDiskByNow) {
    const QString path = open_copy();
    const Seconds before = step();
    write_file("mine.json", contents(bundled("does-not-fit")));
    window.files().open_again();
    wait_for([&] { return workbench.answer() && step() != before; });
    EXPECT_FALSE(workbench.answer()->report.estimate.fits());
}

TEST(Documentation, IsFoundInASourceTreeAndWhereItIsInstalled) {
    EXPECT_EQ(documentation(SEXTANT_SOURCE_DIR), std::filesystem::path(SEXTANT_SOURCE_DIR) / "README.md");
    const QTemporaryDir root;
    const std::filesystem::path share = root.path().toStdString();
    std::filesystem::create_directories(share / "doc" / "sextant" / "docs");
    EXPECT_FALSE(documentation(share / "sextant"));
    std::ofstream(share / "doc" / "sextant" / "docs" / "gui.md") << "# The desktop program";
    EXPECT_EQ(documentation(share / "sextant"), share / "doc" / "sextant" / "README.md");
}

TEST(Bundled, AreTheScenariosOfTheProgram) {
    EXPECT_TRUE(is_bundled(SEXTANT_SOURCE_DIR "/scenarios/default.json"));
    EXPECT_TRUE(is_bundled(SEXTANT_SOURCE_DIR "/scenarios/../scenarios/default.json"));
    EXPECT_FALSE(is_bundled(SEXTANT_SOURCE_DIR "/tests/io/runs/scenario.json"));
}

// /dev/full takes no byte: what a full disk does.
TEST_F(Files, AFileThatIsDroppedIsOpened) {
    QMimeData dragged;
    dragged.setUrls({QUrl::fromLocalFile(bundled("default"))});
    QDragEnterEvent enter(QPoint(400, 400), Qt::CopyAction, &dragged, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(&window, &enter);
    QDropEvent drop(QPointF(400, 400), Qt::CopyAction, &dragged, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(&window, &drop);
    settle();
    EXPECT_EQ(workbench.session()->document.file, bundled("default").toStdString());
}

TEST_F(Files, AModelOfHuggingFaceTakesThePlaceOfTheScenarios) {
    const QString config =
        write_file("config.json", R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 64, "vocab_size": 256,
        "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4, "max_position_embeddings": 512})");
    window.files().open(config);
    EXPECT_THAT(message("refusal"), HasSubstr("open one for your machine first"));
    open("does-not-fit");
    const std::string before = workbench.answer()->scenario.workload.name;
    window.files().open(config);
    wait_for([&] { return workbench.history().undoes().has_value(); });
    settle();
    const auto& model = std::get<TransformerSpec>(workbench.answer()->scenario.workload.spec);
    EXPECT_EQ(model.layers, 2);
    EXPECT_EQ(model.seq_len, 512);
    EXPECT_TRUE(workbench.answer()->report.estimate.fits());
    EXPECT_THAT(find<QLabel>("bar_plan").text().toStdString(), testing::StartsWith("llama: 8 devices"));
    workbench.undo();
    EXPECT_EQ(workbench.answer()->scenario.workload.name, before);
    window.files().open(write_file("unknown.json", R"({"model_type": "no-such-family"})"));
    EXPECT_THAT(message("refusal"), HasSubstr("no-such-family"));
}

TEST_F(Files, ThePlanIsExportedAsAScriptOrItIsSaidWhyNot) {
    open("gpt3-175b-1024xa100");
    bool done = false;
    QObject::connect(&window.files(), &FileActions::exported, [&] { done = true; });
    const auto language = [](const char* name) {
        return *std::ranges::find(plan_languages(), QString::fromLatin1(name), &PlanLanguage::name);
    };
    const QString path = folder.filePath(QStringLiteral("job.sh"));
    window.files().write_plan(path, language("Slurm, with Megatron-LM"));
    wait_for([&] { return done; });
    EXPECT_THAT(contents(path), HasSubstr("#SBATCH --nodes=128"));
    window.files().write_plan(folder.filePath(QStringLiteral("train.py")), language("Lightning"));
    EXPECT_THAT(message("complaint"), HasSubstr("export megatron"));
    EXPECT_FALSE(QFile::exists(folder.filePath(QStringLiteral("train.py"))));
}

TEST_F(Files, TheWholeReportIsOnePageThatNeedsNothingElse) {
    open("mixtral-8x7b-128xh100");
    show_view("topology");
    const QString path = folder.filePath(QStringLiteral("report.html"));
    bool done = false;
    QObject::connect(&window.files(), &FileActions::exported, [&] { done = true; });
    window.files().export_report(path, *find_view("topology"), selection);
    wait_for([&] { return done; });
    const std::string page = contents(path);
    EXPECT_THAT(page, testing::StartsWith("<!doctype html>"));
    EXPECT_THAT(page, HasSubstr(to_text(step())));
    for (const char* heading : {"What holds it back", "Where a step goes", "Memory", "Timeline", "The cluster", "Roofline", "Assumed"})
        EXPECT_THAT(page, HasSubstr(std::string("<h2>") + heading)) << heading;
    EXPECT_EQ(page.find("<script"), std::string::npos);
    window.files().export_report(folder.filePath(QStringLiteral("no/such/folder/x.html")), *find_view("topology"), selection);
    EXPECT_THAT(message("complaint"), HasSubstr("no/such/folder"));
}

TEST_F(Files, APictureThatCannotBeWrittenIsAMessageAndWhatWasThereStays) {
    open("default");
    const QString there = write_file("picture.png", "an earlier picture");
    std::filesystem::create_symlink("/dev/full", (there + QStringLiteral(".part")).toStdString());
    for (const PictureFormat& format : picture_formats()) {
        window.files().export_picture(folder.filePath(QStringLiteral("no/such/folder/x")), *find_view("summary"), selection, format);
        EXPECT_THAT(message("complaint"), HasSubstr("no/such/folder"));
    }
    window.files().export_picture(there, *find_view("summary"), selection, picture_formats().front());
    EXPECT_THAT(message("complaint"), HasSubstr("is the disk full?"));
    EXPECT_EQ(contents(there), "an earlier picture");
}

TEST_F(Files, WhatWasOpenIsRememberedNewestFirst) {
    open("default");
    open("slowest-worker");
    open("default");
    EXPECT_EQ(recent_files(), QStringList({bundled("default"), bundled("slowest-worker")}));
    QMenu *file = nullptr, *recent = nullptr;
    for (QMenu* menu : window.findChildren<QMenu*>()) {
        if (menu->title() == QStringLiteral("&File")) file = menu;
        if (menu->title() == QStringLiteral("Open &recent")) recent = menu;
    }
    recent->setEnabled(false);  // as it was when there was none
    emit file->aboutToShow();
    EXPECT_TRUE(recent->isEnabled());
    EXPECT_EQ(recent->actions().size(), 2);
}

}  // namespace
}  // namespace sextant::gui
