#include "gui/jobs/predictor.hpp"

#include "gui/jobs/background.hpp"
#include "gui/models/caught.hpp"
#include "gui/models/lesson_state.hpp"
#include "gui/models/stated_schema.hpp"
#include "gui/models/timeline/timeline.hpp"
#include "model/io/format/json_reader.hpp"
#include "model/io/format/json_text.hpp"
#include "model/io/workload/workload_reader.hpp"

#include <utility>

namespace sextant::gui {
namespace {

// Whether a document is a scenario at all, so that there is something to edit.
bool can_be_edited(const ScenarioDocument& document) {
    const std::optional<std::string> schema = stated_at(document, "schema");
    return schema && *schema == "scenario/1";
}

void check_model(const std::filesystem::path& path) {
    Diagnostics diagnostics;
    (void)read_workload_file(JsonFile::load(path, diagnostics), find_workload);
    diagnostics.throw_if_any();
}

}  // namespace

Predictor::Predictor(Workbench& workbench) : workbench_(workbench), thread_([this] { work(); }) {
    connect(&workbench, &Workbench::asked, this,
            [this](const SessionPtr& question) { put(answering_, [this, question](Library& library) { answer(library, question); }); });
}

Predictor::~Predictor() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    wake_.notify_one();
    thread_.join();
}

void Predictor::open(const std::filesystem::path& path) {
    put(opening_, [this, path](Library& library) { read(library, path); });
}

void Predictor::put(std::optional<Task>& place, Task task) {
    {
        const std::lock_guard lock(mutex_);
        place = std::move(task);
    }
    wake_.notify_one();
}

void Predictor::work() {
    std::optional<Library> library;  // of this thread alone: profiles are read into it when they are first asked for
    for (;;) {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [this] { return stop_ || opening_ || answering_; });
        if (stop_) return;
        if (opening_) library.reset();  // profiles may have changed on the disk
        const Task task = *std::exchange(opening_ ? opening_ : answering_, std::nullopt);
        lock.unlock();
        try {
            if (!library) library = open_library();
            task(*library);
        } catch (const std::exception&) {
            refuse({}, problems_caught());
        }
    }
}

void Predictor::answer(Library& library, const SessionPtr& question) {
    tell([this, result = answered(library, *question)] { workbench_.add(result, [&](Session& s) { take_answer(s, result); }); });
}

void Predictor::read(Library& library, const std::filesystem::path& path) {
    const QString name = QString::fromStdString(path.string());
    try {
        if (holds_measurement(path)) {
            const auto measured = freed_in_background(read_measurement(path));
            return tell([this, name, measured] { lay_beside(name, measured); });
        }
        if (holds_model(path)) {
            check_model(path);
            return tell([this, path] { put_in(std::filesystem::absolute(path)); });
        }
        if (holds_lesson(path)) {
            const auto lesson = opened(library, lesson_in(path));
            if (const auto mistakes = mistakes_in(*lesson); !mistakes.empty()) throw InputError(mistakes);
            return tell([this, lesson] { workbench_.open(lesson); });
        }
        const auto session = std::make_shared<const Session>(answered(library, question_in(library, path)));
        if (session->answer) return tell([this, session] { workbench_.open(session); });
        const SessionPtr mendable = can_be_edited(session->document) ? session : nullptr;
        tell([this, name, session, mendable] { emit refused(name, session->problems, mendable); });
    } catch (const std::exception&) {
        refuse(name, problems_caught(path.string()));
    }
}

void Predictor::refuse(const QString& path, std::vector<Diagnostic> problems) {
    tell([this, path, list = std::move(problems)] { emit refused(path, list, nullptr); });
}

void Predictor::lay_beside(const QString& path, const std::shared_ptr<const Measured>& measured) {
    if (const SessionPtr now = workbench_.session()) return workbench_.add(*now, [&](Session& s) { s.measured = measured; });
    const QString of = measured->run ? q(measured->run->scenario_file) : QString();
    emit refused(path,
                 {{measured->file.string(), "", "a run is shown beside the scenario that it is of, and none is open",
                   of.isEmpty() ? "open the scenario first" : "open " + of.toStdString() + " first"}},
                 nullptr);
}

// As one step that undo takes back.
void Predictor::put_in(const std::filesystem::path& model) {
    const QString path = q(model.string());
    if (workbench_.session())
        return workbench_.edit({{"workload", json_text(model.string())}}, tr("model of %1").arg(q(model.filename().string())));
    emit refused(path,
                 {{model.string(), "", "a model takes the place of that of the scenario that is open, and none is open",
                   "open one for your machine first, and then the model"}},
                 nullptr);
}

void Predictor::tell(std::function<void()> what) { QMetaObject::invokeMethod(this, std::move(what), Qt::QueuedConnection); }

}  // namespace sextant::gui
