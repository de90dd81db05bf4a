#include "gui/jobs/simulator.hpp"

#include "gui/jobs/background.hpp"
#include "gui/models/simulated.hpp"

namespace sextant::gui {
Simulator::Simulator(Workbench& workbench) : workbench_(workbench) {
    connect(&workbench, &Workbench::simulation_wanted, this, &Simulator::play);
    connect(&workbench, &Workbench::simulation_unwanted, this, &Simulator::stop);
    connect(&workbench, &Workbench::changed, this, [this] {
        if (work_ && !asks_the_same(*work_->question, *workbench_.session())) stop();
    });
    constexpr int often = 100;  // milliseconds
    clock_.setInterval(often);
    connect(&clock_, &QTimer::timeout, this, [this] { emit workbench_.simulating(work_->played); });
}

Simulator::~Simulator() { stop(); }

void Simulator::stop() {
    clock_.stop();
    if (work_) work_->stopped = true;
    work_ = nullptr;
}

std::shared_ptr<const Simulated> Simulator::simulated(Work& work) {
    const auto listener = [&work](double played) {
        work.played = played;
        return !work.stopped;
    };
    try {
        return freed_in_background(gui::simulated(*work.question, listener));
    } catch (const Stopped&) {
        return nullptr;
    } catch (const std::exception& e) {
        const std::string what = "a defect in sextant itself, please report it: " + std::string(e.what());
        return std::make_shared<const Simulated>(Simulated{.problems = {{work.question->document.file.string(), "", what, ""}}});
    }
}

void Simulator::play(const SessionPtr& question) {
    if (work_ && asks_the_same(*work_->question, *question)) return;
    stop();
    work_ = std::make_shared<Work>();
    work_->question = question;
    clock_.start();
    in_background(
        this, [work = work_] { return simulated(*work); },
        [this, work = work_](const std::shared_ptr<const Simulated>& result) { deliver(work, result); });
}

void Simulator::deliver(const std::shared_ptr<Work>& work, const std::shared_ptr<const Simulated>& result) {
    if (work_ != work || !result) return;
    stop();
    workbench_.add(*workbench_.session(), [&](Session& s) { s.simulated = result; });
}

}  // namespace sextant::gui
