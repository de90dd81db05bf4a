#include "gui/models/scenario_words.hpp"

#include "gui/models/text.hpp"
#include "model/io/scenario/named_files.hpp"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

namespace sextant::gui {
namespace {

QJsonValue parsed(const std::string& text) { return QJsonDocument::fromJson(QByteArray::fromStdString(text)).object(); }

std::string json_of(const QJsonValue& value) {
    const QByteArray in_brackets = QJsonDocument(QJsonArray{value}).toJson(QJsonDocument::Compact);
    return in_brackets.mid(1, in_brackets.size() - 2).toStdString();
}

// What is to be assigned at and below `path`, so that `from` becomes `to`. What is null is not there.
void add_differences(const QJsonValue& from, const QJsonValue& to, const QString& path, std::vector<std::string>& edits) {
    if (from == to) return;
    if (!from.isObject() || !to.isObject()) return edits.push_back(path.toStdString() + '=' + json_of(to));
    const QJsonObject before = from.toObject(), after = to.toObject();
    QStringList keys = before.keys() + after.keys();
    keys.removeDuplicates();
    const QString inside = path.isEmpty() ? path : path + QLatin1Char('.');
    for (const QString& key : keys)
        add_differences(before.contains(key) ? before[key] : QJsonValue(), after.contains(key) ? after[key] : QJsonValue(), inside + key,
                        edits);
}

}  // namespace

std::vector<std::string> edits_of_file(const ScenarioDocument& document) {
    try {
        const std::string on_disk = open_document(document.file).text;
        if (on_disk == document.text) return document.edits;
        std::vector<std::string> edits;
        add_differences(parsed(on_disk), parsed(text_of(document)), {}, edits);
        return edits;
    } catch (const InputError&) {
        return document.edits;  // there is no such file any more: whoever is to read it says so
    }
}

QStringList scenario_words(const ScenarioDocument& document) {
    QStringList words{q(document.file.string())};
    const std::filesystem::path folder = std::filesystem::absolute(document.file).parent_path();
    for (const std::string& edit : with_whole_paths(edits_of_file(document), folder)) words << QStringLiteral("--set") << q(edit);
    return words;
}

QString predict_command(const ScenarioDocument& document) {
    QString line = QStringLiteral("sextant predict");
    for (QString word : scenario_words(document)) {
        const bool is_option = word.startsWith(QLatin1String("--"));
        line += QLatin1Char(' ') +
                (is_option ? word : QLatin1Char('\'') + word.replace(QLatin1Char('\''), QLatin1String("'\\''")) + QLatin1Char('\''));
    }
    return line;
}

}  // namespace sextant::gui
