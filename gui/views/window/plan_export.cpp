#include "gui/views/window/plan_export.hpp"

#include "gui/jobs/child.hpp"
#include "gui/models/scenario_words.hpp"
#include "model/base/failure.hpp"

#include <memory>

namespace sextant::gui {

const std::vector<PlanLanguage>& plan_languages() {
    static const std::vector<PlanLanguage> all{
        {QStringLiteral("slurm"), QStringLiteral("Slurm"), QStringLiteral("sh")},
        {QStringLiteral("torchrun"), QStringLiteral("torchrun"), QStringLiteral("sh")},
        {QStringLiteral("megatron"), QStringLiteral("Megatron-LM"), QStringLiteral("sh")},
        {QStringLiteral("deepspeed"), QStringLiteral("DeepSpeed"), QStringLiteral("json")},
        {QStringLiteral("lightning"), QStringLiteral("Lightning"), QStringLiteral("py")},
        {QStringLiteral("tf-distribute"), QStringLiteral("tf.distribute"), QStringLiteral("py")},
        {QStringLiteral("horovod"), QStringLiteral("Horovod"), QStringLiteral("sh")},
    };
    return all;
}

void export_plan(const QString& path, const PlanLanguage& language, const Session& session, QObject* owner,
                 std::function<void(const PlanExported&)> then) {
    auto* child = new Child(owner);
    const auto lines = std::make_shared<QStringList>();
    QObject::connect(child, &Child::said, owner, [lines](const QString& line) { *lines << line; });
    QObject::connect(child, &Child::ended, owner, [child, lines, then = std::move(then)](const ChildEnd& end) {
        child->deleteLater();
        const bool written = end.problem.isEmpty() || end.code == static_cast<int>(ExitCode::does_not_fit);
        then({written, lines->isEmpty() ? end.problem : lines->join(QLatin1Char('\n'))});
    });
    child->start(QStringLiteral("sextant"), QStringList{QStringLiteral("export"), language.word} + scenario_words(session.document) +
                                                QStringList{QStringLiteral("--out"), path});
}

}  // namespace sextant::gui
