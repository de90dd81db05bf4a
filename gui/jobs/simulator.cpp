#include "gui/jobs/simulator.hpp"

#include "gui/jobs/background.hpp"
#include "gui/models/caught.hpp"
#include "gui/models/simulated.hpp"

#include <utility>

namespace sextant::gui {

Simulator::Simulator(Workbench& workbench) : workbench_(workbench) {
    connect(&workbench, &Workbench::simulation_wanted, this, &Simulator::play);
    connect(&workbench, &Workbench::simulation_unwanted, this, &Simulator::stop);
    connect(&workbench, &Workbench::changed, this, [this] {
        if (wanted_ && !asks_the_same(*wanted_, *workbench_.session())) stop();
    });
    constexpr int often = 100;  // milliseconds
    clock_.setInterval(often);
    connect(&clock_, &QTimer::timeout, this, [this] { emit workbench_.simulating(work_->stopped ? 0 : work_->played.load()); });
}

Simulator::~Simulator() { stop(); }

void Simulator::stop() {
    clock_.stop();
    wanted_ = nullptr;
    if (work_) work_->stopped = true;
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
    } catch (const std::exception&) {
        return std::make_shared<const Simulated>(Simulated{.problems = problems_caught(work.question->document.file.string())});
    }
}

void Simulator::play(const SessionPtr& question) {
    if (wanted_ && asks_the_same(*wanted_, *question)) return;
    stop();
    wanted_ = question;
    clock_.start();
    if (!work_) begin();
}

void Simulator::begin() {
    work_ = std::make_shared<Work>();
    work_->question = wanted_;
    in_background(
        this, [work = work_] { return simulated(*work); }, [this](const std::shared_ptr<const Simulated>& result) { end(result); });
}

void Simulator::end(const std::shared_ptr<const Simulated>& result) {
    const bool is_of_interest = !std::exchange(work_, nullptr)->stopped;
    if (!is_of_interest) return wanted_ ? begin() : void();
    stop();
    workbench_.add(*workbench_.session(), [&](Session& s) { s.simulated = result; });
}

}  // namespace sextant::gui
