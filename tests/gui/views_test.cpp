// Every view there is: drawn, exported, light and dark.
#include "gui/models/csv.hpp"
#include "gui/models/table_model.hpp"
#include "gui/models/text.hpp"
#include "gui/views/export.hpp"
#include "gui/views/paint/look.hpp"
#include "gui/views/paint/ranked_bars.hpp"
#include "gui/views/paint/whole_table.hpp"
#include "gui/views/view_list.hpp"
#include "tests/gui/desk.hpp"

#include <gmock/gmock.h>

#include <QDockWidget>
#include <QFile>
#include <QHeaderView>
#include <QScrollArea>
#include <QStatusBar>
#include <QToolBar>

#include <set>

namespace sextant::gui {
namespace {

using testing::_;
using testing::Each;
using testing::Gt;
using testing::Lt;
using testing::Pair;
using testing::StartsWith;

class Drawn : public Desk {
protected:
    QImage picture_of(const ViewInfo& info) {
        QImage image;
        draw_page(window, info, workbench, selection, [&](const Drawing& drawing) { image = image_of(drawing); });
        wait_for([&] { return !image.isNull(); });
        return image;
    }
};

class EveryView : public Drawn, public testing::WithParamInterface<std::string> {
protected:
    static const ViewInfo& info() { return *find_view(GetParam()); }
    QImage drawn() { return picture_of(info()); }
    // A view that is made asks for what it needs: with that.
    QImage picture() {
        drawn();
        settle();
        return drawn();
    }
    // At the right, where the view scrolls as a whole.
    void expect_nothing_cut_off() {
        const auto* scroll = window.view(GetParam()).findChild<QScrollArea*>();
        if (!scroll || scroll->widget() != &window.view(GetParam()).page()) return;
        EXPECT_LE(scroll->widget()->minimumSizeHint().width(), scroll->viewport()->width());
    }
};

std::size_t colours_in(const QImage& image) {
    std::set<QRgb> colours;
    for (int y = 0; y < image.height(); y += 3)
        for (int x = 0; x < image.width(); x += 3) colours.insert(image.pixel(x, y));
    return colours.size();
}

TEST(ViewList, SaysOfEveryViewWhatItIs) {
    for (const ViewInfo& info : all_views()) {
        EXPECT_FALSE(info.title.isEmpty()) << info.name;
        EXPECT_FALSE(info.tip.isEmpty()) << info.name;
        EXPECT_FALSE(info.icon.empty()) << info.name;
    }
}

TEST_P(EveryView, DrawsMoreThanItDoesWithoutAScenario) {
    const QImage empty = drawn();
    open("gpt3-175b-1024xa100");
    const QImage full = picture();
    EXPECT_GT(colours_in(full), 10U);
    if (info().needs_scenario) {
        EXPECT_NE(full, empty);
    }
}

TEST_P(EveryView, IsAnotherForAnotherScenarioWhereItShowsOne) {
    open("gpt3-175b-1024xa100");
    const QImage one = picture();
    open("resnet50-lisa-16-nodes");
    const bool lists_what_was_opened = GetParam() == "start";
    EXPECT_EQ(picture() != one, info().needs_scenario || lists_what_was_opened);
}

TEST_P(EveryView, IsShownInTheWindow) {
    open("default");
    window.show_view(GetParam());
    EXPECT_TRUE(window.view(GetParam()).isVisible());
}

TEST_P(EveryView, IsExportedInEveryFormat) {
    open("mixtral-8x7b-128xh100");
    picture();
    const std::map<QString, std::string> beginnings{
        {QStringLiteral("png"), "\x89PNG"}, {QStringLiteral("svg"), "<?xml"}, {QStringLiteral("pdf"), "%PDF"}};
    for (const PictureFormat& format : picture_formats()) {
        const QString path = folder.filePath(QStringLiteral("view.") + format.suffix);
        bool done = false;
        const auto heard = QObject::connect(&window.files(), &FileActions::exported, [&] { done = true; });
        window.files().export_picture(path, info(), selection, format);
        wait_for([&] { return done; });
        QObject::disconnect(heard);
        QFile file(path);
        ASSERT_TRUE(file.open(QIODevice::ReadOnly));
        const std::string content = file.readAll().toStdString();
        EXPECT_THAT(content, StartsWith(beginnings.at(format.suffix)));
        EXPECT_GT(content.size(), 3000U) << format.suffix.toStdString();
    }
}

TEST_P(EveryView, GivesItsTablesAsCsv) {
    open("gpt3-175b-1024xa100");
    show_view(GetParam());
    for (const NamedTable& table : window.view(GetParam()).tables())
        EXPECT_GT(csv_of(*table.model).count(QLatin1Char('\n')), 1) << table.name.toStdString();
}

// On a small screen, with an editor at its left and a lesson at its right: nothing is cut off.
TEST_P(EveryView, FitsBetweenEditorAndLessons) {
    open("default");
    window.resize(1280, 800);
    window.show_view("lessons");
    show_view(GetParam());
    window.view(GetParam()).begin();
    settle();
    EXPECT_LE(window.width(), 1280);
    expect_nothing_cut_off();
}

// On the smallest projector, beside the editor.
TEST_P(EveryView, FitsIntoASmallWindow) {
    open("llama-3.1-405b-16384xh100");
    window.resize(800, 600);
    show_view(GetParam());
    EXPECT_EQ(window.size(), QSize(800, 600));
    expect_nothing_cut_off();
}

// Narrower than that they take turns, and the view keeps what one of them leaves.
TEST_F(Drawn, EditorAndLessonsTakeTurnsInANarrowWindow) {
    open("default");
    auto *editor = window.findChild<QDockWidget*>(QStringLiteral("editor")),
         *lessons = window.findChild<QDockWidget*>(QStringLiteral("lessons"));
    window.show_view("lessons");
    EXPECT_TRUE(window.tabifiedDockWidgets(editor).isEmpty());
    window.resize(1024, 768);
    settle();
    EXPECT_EQ(window.width(), 1024);
    EXPECT_TRUE(window.tabifiedDockWidgets(editor).contains(lessons));
    show_view("lessons");
    EXPECT_FALSE(lessons->visibleRegion().isEmpty());
    EXPECT_TRUE(editor->visibleRegion().isEmpty());
    show_view("summary");
    const auto* scroll = window.view("summary").findChild<QScrollArea*>();
    EXPECT_LE(scroll->widget()->minimumSizeHint().width(), scroll->viewport()->width());
    window.resize(1280, 800);
    settle();
    EXPECT_TRUE(window.tabifiedDockWidgets(editor).isEmpty());
}

// Beside the editor a window of 1280 has 800 pixels for them.
TEST_F(Drawn, TablesOfPlansAreNotCutOff) {
    window.resize(1280, 800);
    for (const char* scenario : {"gpt3-175b-1024xa100", "does-not-fit"}) {
        open(scenario);
        for (const char* name : {"planner", "scaling"}) {
            show_view(name);
            window.view(name).begin();
            settle();
            for (const auto* table : window.view(name).findChildren<WholeTable*>())
                if (table->isVisible()) {
                    EXPECT_LE(table->horizontalHeader()->length(), table->viewport()->width()) << name << " of " << scenario;
                }
        }
    }
}

TEST_F(Drawn, EveryViewStaysInTheRailAboveAMessage) {
    open("default");
    const auto* rail = window.findChild<QToolBar*>(QStringLiteral("rail"));
    for (const int height : {600, 730, 768, 900}) {
        window.resize(1024, height);
        window.statusBar()->showMessage(QStringLiteral("Copied"));
        settle();
        for (QAction* entry : rail->actions())
            if (!entry->text().isEmpty()) {
                EXPECT_TRUE(rail->widgetForAction(entry)->isVisible()) << entry->text().toStdString() << " at " << height;
            }
    }
}

TEST(WholeTable, SharesTheRoomThatIsLeftAndNoMore) {
    TableModel model;
    model.set_table({{QStringLiteral("rank"), QStringLiteral("host"), QStringLiteral("memory, predicted"), QStringLiteral("end")},
                     {{0, QStringLiteral("vm"), QStringLiteral("107 MB"), 1}},
                     {}});
    WholeTable table(QStringLiteral("table"), model, WholeTable::Room::shared);
    const QHeaderView& header = *table.horizontalHeader();
    int needed = 0;
    for (int c = 0; c < model.columnCount(); ++c) needed += header.sectionSizeHint(c);
    table.resize(needed + 20, 200);
    table.show();
    for (int c = 0; c < model.columnCount(); ++c) EXPECT_GE(header.sectionSize(c), header.sectionSizeHint(c)) << c;
    EXPECT_GT(header.sectionSize(1), header.sectionSizeHint(1));
    EXPECT_EQ(header.length(), table.viewport()->width());
}

TEST(Headings, TakeTwoLinesThatAreAsShortAsCanBe) {
    EXPECT_EQ(in_two_lines(QStringLiteral("where it goes")), QStringLiteral("where\nit goes"));
    EXPECT_EQ(in_two_lines(QStringLiteral("micro-batch")), QStringLiteral("micro-\nbatch"));
    EXPECT_EQ(in_two_lines(QStringLiteral("memory")), QStringLiteral("memory"));
}

TEST(RankedBars, HaveLongNamesOnTwoLinesWhereTheyAreNarrow) {
    RankedBars bars;
    bars.lines = {
        {.name = QStringLiteral("slow-down of kernels beside communication, megatron-core: 1.10 times"), .value = QStringLiteral("1 %")}};
    const double on_one_line = bars.height_for(1000);
    EXPECT_GT(bars.height_for(400), 1.4 * on_one_line);
    EXPECT_EQ(bars.height_for(2000), on_one_line);
}

// Letters of 13 pixels are as large as ours: 10 points of a usual desktop.
TEST(Look, IsAsLargeAsTheLettersOfTheDesktopAskForAndTheScreenHasRoomFor) {
    const QSize screen(1920, 1080), projector(1024, 768);
    EXPECT_EQ(enlargement(12, screen), 1);
    EXPECT_EQ(enlargement(13.3, screen), 1);
    EXPECT_EQ(enlargement(16, screen), 1.25);
    EXPECT_EQ(enlargement(26, screen), 1.75) << "1080 / 1.75 is 617, and 1080 / 1.875 below 600";
    EXPECT_EQ(enlargement(26, projector), 1.25) << "1024 / 1.25 is 819";
    EXPECT_EQ(enlargement(26, {640, 480}), 1);
}

INSTANTIATE_TEST_SUITE_P(Views, EveryView, testing::ValuesIn(view_names()), [](const auto& name) { return name.param; });

// All in one window: to change its style takes longer than to draw a view.
TEST_F(Drawn, EveryViewIsLightAndDark) {
    open("gpt3-175b-1024xa100");
    const auto grounds = [&] {
        std::map<std::string, int> lightness;
        for (const ViewInfo& view : all_views()) lightness[view.name] = picture_of(view).pixelColor(3, 3).lightness();
        return lightness;
    };
    EXPECT_THAT(grounds(), Each(Pair(_, Gt(200))));
    window.set_dark(true);
    EXPECT_THAT(grounds(), Each(Pair(_, Lt(60))));
    window.set_dark(false);
}

class Start : public Drawn {};
TEST_F(Start, IsExportedWithEveryScenarioAndItsPicture) {
    Library library = open_library();
    const auto scenarios = static_cast<int>(bundled_scenarios(library).size());
    const QImage page = picture_of(*find_view("start"));
    constexpr int least_row = 40, scale = 2;
    EXPECT_GT(page.height(), scale * least_row * scenarios);
    const QRect last(page.width() / 2, page.height() - 3 * scale * least_row, page.width() / 2, 3 * scale * least_row);
    EXPECT_GT(colours_in(page.copy(last)), 10U) << "how the step of the last one is divided";
}

TEST(Look, TextIsLegibleOnEveryTerm) {
    for (const Term t : all_terms) {
        const Fill fill = fill_of(t);
        if (fill.hatched) continue;  // a label stands on a ground of its own
        EXPECT_GT(std::abs(qGray(fill.colour.rgb()) - qGray(text_on(fill.colour).rgb())), 85) << to_text(t);
    }
}

}  // namespace
}  // namespace sextant::gui
