// Answers sessions in a thread of its own. Only the newest question counts: one that comes while another is being worked on takes the place
// of those that wait.
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
    // Answers what the workbench asks. Outlived by it.
    explicit Predictor(Workbench&);
    ~Predictor() override;

    // Reads a file, and puts it on the workbench: a scenario if it has an answer, a run or a trace beside the scenario that is
    // there, a model into it, a lesson for who shows lessons.
    void open(const std::filesystem::path&);

signals:
    // What was open stays so. `mendable`: a session to open all the same, for the editor to mend; null where there is nothing to edit.
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
    std::optional<Task> opening_, answering_;  // what waits
    bool stop_ = false;
    std::thread thread_;
};

}  // namespace sextant::gui
