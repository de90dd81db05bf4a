#include "gui/command_line.hpp"

#include "gui/models/text.hpp"
#include "gui/views/view_list.hpp"

#include <QCommandLineParser>
#include <QFileInfo>
#include <QRegularExpression>

namespace sextant::gui {
namespace {

QString view_names() {
    QStringList names;
    for (const ViewInfo& info : all_views()) names += q(info.name);
    return names.join(QLatin1Char('\n'));
}

std::optional<QSize> parse_size(const QString& text) {
    static const QRegularExpression form(QStringLiteral("^(\\d{2,5})x(\\d{2,5})$"));
    const auto match = form.match(text);
    if (!match.hasMatch()) return std::nullopt;
    const QSize size(match.captured(1).toInt(), match.captured(2).toInt());
    constexpr int most = 16384;
    return size.width() > most || size.height() > most ? std::nullopt : std::optional(size);
}

struct Options {
    const QCommandLineOption help{{QStringLiteral("h"), QStringLiteral("help")}, QStringLiteral("show this")};
    const QCommandLineOption version{QStringLiteral("version"), QStringLiteral("show the version")};
    const QCommandLineOption list{QStringLiteral("list-views"), QStringLiteral("the names of the views, a line each")};
    const QCommandLineOption view{QStringLiteral("view"), QStringLiteral("the view to show first"), QStringLiteral("NAME")};
    const QCommandLineOption shot{QStringLiteral("screenshot"),
                                  QStringLiteral("draw the window into a PNG file, without a display, and exit"),
                                  QStringLiteral("OUT.png")};
    const QCommandLineOption run{QStringLiteral("run"), QStringLiteral("in a screenshot: a run to show beside the prediction"),
                                 QStringLiteral("RUN.json")};
    const QCommandLineOption size{QStringLiteral("size"), QStringLiteral("of the window (default: 1280x800, or as it was left)"),
                                  QStringLiteral("WxH")};
    const QCommandLineOption dark{QStringLiteral("dark"), QStringLiteral("light on dark")};

    explicit Options(QCommandLineParser& parser) {
        parser.setApplicationDescription(QStringLiteral("See a parallel plan, see what holds it back, change it."));
        parser.addPositionalArgument(QStringLiteral("scenario"), QStringLiteral("a scenario file to open, or a published run: 'FILE#ROW'"),
                                     QStringLiteral("[SCENARIO]"));
        parser.addOptions({help, version, list, view, shot, run, size, dark});
    }
};

}  // namespace

CommandLine read_command_line(const QStringList& arguments) {
    QCommandLineParser parser;
    const Options options(parser);
    CommandLine c;
    QStringList mistakes;
    const bool parsed = parser.parse(arguments);
    if (!parsed) mistakes += parser.errorText();
    for (const QString& unknown : parser.unknownOptionNames()) {
        const QString said = QStringLiteral("Unknown option '%1'.").arg(unknown);
        if (!mistakes.contains(said)) mistakes += said;
    }
    if (parser.isSet(options.help)) c.answer = parser.helpText();
    if (parser.isSet(options.version)) c.answer = QStringLiteral("sextant-gui " SEXTANT_VERSION "\n");
    if (parser.isSet(options.list)) c.answer = view_names() + QLatin1Char('\n');
    if (c.answer) return c;

    const auto has = [&](const QCommandLineOption& option) {  // and not without its value, which is said already
        return parser.isSet(option) && (parsed || !parser.value(option).isEmpty());
    };
    const QStringList files = parser.positionalArguments();
    if (files.size() > 1) mistakes += QStringLiteral("more than one scenario: %1").arg(files.join(QStringLiteral(", ")));
    if (!files.isEmpty()) c.scenario = files.front();
    c.dark = parser.isSet(options.dark);
    if (has(options.shot)) c.screenshot = parser.value(options.shot);
    if (has(options.run)) c.run = parser.value(options.run);
    if (c.run && !c.screenshot) mistakes += QStringLiteral("--run goes with --screenshot; in the window, open the run");
    const QString ending = c.screenshot ? QFileInfo(*c.screenshot).suffix() : QString();
    if (!ending.isEmpty() && ending.compare(QLatin1String("png"), Qt::CaseInsensitive) != 0)
        mistakes += QStringLiteral("a screenshot is a PNG file: \"%1\" is to end in .png").arg(c.screenshot->left(80));
    if (c.screenshot && !c.scenario) mistakes += QStringLiteral("a screenshot needs a scenario");
    if (has(options.view)) {
        c.view = parser.value(options.view).toStdString();
        if (!find_view(c.view))
            mistakes += QStringLiteral("no view is called \"%1\"; there are:\n%2").arg(parser.value(options.view).left(80), view_names());
    }
    if (has(options.size)) {
        c.size = parse_size(parser.value(options.size));
        if (!c.size) mistakes += QStringLiteral("\"%1\" is no size; it is written as 1280x800").arg(parser.value(options.size).left(80));
    }
    if (!mistakes.isEmpty()) c.mistake = mistakes.join(QStringLiteral("\nsextant-gui: "));
    return c;
}

}  // namespace sextant::gui
