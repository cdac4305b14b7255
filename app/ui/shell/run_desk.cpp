#include "app/ui/shell/run_desk.h"

#include "app/ui/kit/rows.h"

#include <algorithm>
#include <utility>

namespace pentamesh::ui {

void RunDesk::add(const std::filesystem::path& place) {
    pending_.push_back(place);
    window_.dirty = true;
}

void RunDesk::update() {
    if (!pending_.empty()) begin();
    if (reader_) {
        const auto work = [this] {
            return [places = reading_, plan = window_.document.plan(), &presets = window_.presets,
                    watch = watch_](const std::atomic<bool>&) {
                return std::make_shared<const RealRun>(read_real_run(places, plan, presets, watch.get()));
            };
        };
        if (reader_->tend(wanted_, number_, read_, work)) window_.dirty = true;
        if (!read_.error.empty()) window_.say(std::exchange(read_.error, {}));
        if (!read_.running && read_.value) open(std::exchange(read_.value, nullptr));
    }
    compare();
}

void RunDesk::begin() {
    if (watch_) watch_->cancelled = true;
    reading_ = std::exchange(pending_, {});
    watch_ = std::make_shared<runs::ReadWatch>();
    ++number_;
    wanted_ = true;
    if (!reader_)
        reader_ = std::make_unique<Beside<std::shared_ptr<const RealRun>, std::uint64_t>>(window_.host.wake);
}

void RunDesk::cancel() {
    if (watch_) watch_->cancelled = true;
    wanted_ = false;
    window_.say("The run was not read to its end");
}

// A hang brings the plan of its layout, unless the open one has it.
void RunDesk::open(const std::shared_ptr<const RealRun>& run) {
    window_.real_run = run;
    ViewStates& views = window_.views;
    if (run->hang) {
        const std::string name = run->name;
        if (!(run->hang->plan == window_.document.plan()))
            window_.replace_plan({run->hang->plan, {}, false}, "the layout of " + name);
        window_.real_run = run;
        views.mesh.shows_run = true;
        views.in_pane[static_cast<std::size_t>(Pane::top)] = ViewId::mesh;
    } else {
        views.step.part = StepViewState::kMeasured;
        views.in_pane[static_cast<std::size_t>(Pane::bottom)] = ViewId::step;
    }
    window_.say("Read " + run->name + (run->hang ? ": " + run->words() : ""));
    window_.dirty = window_.state.redraw_all = true;
}

void RunDesk::compare() {
    const bool wanted = window_.real_run && !window_.real_run->files.empty();
    if (!comparer_ && wanted)
        comparer_ = std::make_unique<Beside<std::shared_ptr<const runs::Measured>, Key>>(window_.host.wake);
    if (!comparer_) return;
    const Key key{number_, window_.document.revision()};
    const auto work = [this] {
        return [run = window_.real_run, plan = window_.document.plan(),
                &presets = window_.presets](const std::atomic<bool>&) {
            return std::make_shared<const runs::Measured>(measure(run->files, &plan, presets));
        };
    };
    const bool news = comparer_->tend(wanted, key, compared_, work);
    if (news) window_.dirty = window_.state.redraw_all = true;
    // A comparison with another state of the plan is not shown with this one.
    if (wanted && window_.real_run->measured && compared_.running) set_measured(nullptr, 0);
    if (!compared_.error.empty()) window_.say(std::exchange(compared_.error, {}));
    if (!wanted || !compared_.is_of(key) || !compared_.value) return;
    if (window_.real_run->measured == compared_.value) return;
    set_measured(compared_.value, key.second);
}

void RunDesk::set_measured(std::shared_ptr<const runs::Measured> measured, std::uint64_t revision) {
    RealRun next = *window_.real_run;
    next.measured = std::move(measured);
    next.measured_of = revision;
    window_.real_run = std::make_shared<const RealRun>(std::move(next));
    window_.dirty = window_.state.redraw_all = true;
}

void RunDesk::close() {
    window_.real_run = nullptr;
    window_.dirty = window_.state.redraw_all = true;
}

void RunDesk::draw(Ui& ui, Rect row) {
    Canvas& c = ui.canvas();
    const Theme& theme = ui.theme();
    c.rect(row, theme.panel);
    c.line({row.x, row.bottom() - 1}, {row.right(), row.bottom() - 1}, theme.hairline);
    row = {row.x + 16, row.y + 4, row.w - 32, row.h - 9};
    if (read_.running) {
        if (ui.button("run.cancel", row.cut_right(72), "Cancel")) cancel();
        row.cut_right(12);
        write_left(ui, row, "Reading " + reading_.front().filename().string(), ui.style(12), 12);
        const Rect bar{row.x, row.center().y - 3, std::max(0.0f, row.w), 6};
        c.rect(bar, theme.hairline, 3);
        const auto all = static_cast<double>(watch_->all_bytes);
        const double share = all > 0 ? std::min(1.0, static_cast<double>(watch_->bytes) / all) : 0;
        c.rect({bar.x, bar.y, bar.w * static_cast<float>(share), bar.h}, theme.text, 3);
        return;
    }
    if (ui.button("run.close", row.cut_right(112), "Close the run")) window_.later("", [this] { close(); });
    row.cut_right(12);
    if (const std::filesystem::path& log = window_.real_run->settings; !log.empty()) {
        if (ui.button("run.settings", row.cut_right(150), "Import its settings"))
            window_.later("Import", [this, log] { window_.import_settings(log); });
        row.cut_right(12);
    }
    write_left(ui, row, window_.real_run->name, ui.style(12, Tone::text, Face::semibold), 12);
    ui.label(row, window_.real_run->words(), ui.style(12, Tone::secondary));
}

void RunDesk::add_commands(std::vector<Command>& commands) {
    commands.push_back(in_menu("File", "run.open", "Open a run: dumps, traces, logs…", {},
                               [this] { window_.ask(DialogKind::run, ""); }));
    commands.push_back({.id = "run.close",
                        .title = "Close the run",
                        .menu = "File",
                        .run = [this] { close(); },
                        .label = [this] { return window_.real_run ? "Close the run" : ""; }});
}

}  // namespace pentamesh::ui
