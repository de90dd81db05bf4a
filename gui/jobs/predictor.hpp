// Computes the answers of sessions in a thread of its own. Only the newest question counts: it replaces one that is still waiting.
#pragma once

#include "gui/models/workbench.hpp"

#include <QObject>

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

namespace sextant::gui {

class Predictor : public QObject {
    Q_OBJECT

public:
    // Answers the questions of the workbench, which must outlive this object.
    explicit Predictor(Workbench&);
    ~Predictor() override;

    // Reads a file and puts it on the workbench: a scenario that has an answer, a run or a trace to compare with the open scenario, a model
    // as its workload, or a lesson for the view of lessons.
    void open(const std::filesystem::path&);

signals:
    // A file could not be opened; what was open stays. `mendable`: a session that can be repaired in the editor; null where there is
    // nothing to edit.
    void refused(const QString& path, const std::vector<sextant::Diagnostic>& problems, const sextant::gui::SessionPtr& mendable);

private:
    using Task = std::function<void(Library&)>;
    void put(std::optional<Task>& place, Task);
    void work();
    void answer(Library&, const SessionPtr& question);
    void read(Library&, const std::filesystem::path&);
    void refuse(const QString& path, std::vector<Diagnostic> problems);
    void lay_beside(const QString& path, const std::shared_ptr<const Measured>&);
    void put_in(const std::filesystem::path& model);
    // Runs in the thread of the workbench.
    void tell(std::function<void()>);

    Workbench& workbench_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::optional<Task> opening_, answering_;  // waiting tasks
    bool stop_ = false;
    std::thread thread_;
};

}  // namespace sextant::gui
