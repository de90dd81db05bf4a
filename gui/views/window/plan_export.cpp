#include "gui/views/window/plan_export.hpp"

#include "gui/jobs/child.hpp"
#include "gui/models/scenario_words.hpp"
#include "model/base/failure.hpp"

#include <memory>

namespace sextant::gui {

const std::vector<PlanLanguage>& plan_languages() {
    static const std::vector<PlanLanguage> all{
        {QStringLiteral("Slurm"), QStringLiteral("sh"), QStringLiteral("slurm")},
        {QStringLiteral("Slurm, with Megatron-LM"), QStringLiteral("sh"), QStringLiteral("slurm"), QStringLiteral("megatron")},
        {QStringLiteral("Slurm, with DeepSpeed"), QStringLiteral("sh"), QStringLiteral("slurm"), QStringLiteral("deepspeed")},
        {QStringLiteral("torchrun"), QStringLiteral("sh"), QStringLiteral("torchrun")},
        {QStringLiteral("Megatron-LM"), QStringLiteral("sh"), QStringLiteral("megatron")},
        {QStringLiteral("DeepSpeed"), QStringLiteral("json"), QStringLiteral("deepspeed")},
        {QStringLiteral("Lightning"), QStringLiteral("py"), QStringLiteral("lightning")},
        {QStringLiteral("tf.distribute"), QStringLiteral("py"), QStringLiteral("tf-distribute")},
        {QStringLiteral("Horovod"), QStringLiteral("sh"), QStringLiteral("horovod")},
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
    QStringList words{QStringLiteral("export"), language.word};
    words += scenario_words(session.document);
    words << QStringLiteral("--out") << path;
    if (!language.starter.isEmpty()) words << QStringLiteral("--launch") << language.starter;
    child->start(QStringLiteral("sextant"), words);
}

}  // namespace sextant::gui
