#include "app/ui/shell/decider.h"

#include "app/ui/kit/data_table.h"
#include "app/ui/kit/format.h"
#include "app/ui/views/scale/view.h"
#include "app/ui/views/search/view.h"
#include "core/advice/advice.h"
#include "core/base/files.h"
#include "core/base/text.h"
#include "core/decide/choose.h"
#include "core/decide/compare.h"
#include "core/decide/search.h"
#include "core/interop/import.h"
#include "core/plan/edits.h"
#include "core/plan/stand_in.h"
#include "core/runs/calibrate.h"
#include "core/runs/run_file.h"
#include "core/runs/run_layout.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <string>
#include <system_error>
#include <utility>

namespace pentamesh::ui {

namespace {

constexpr double kChanged_s = 8;
constexpr double kRest_s = 0.8;   // after an edit, until better layouts are looked for
constexpr double kMuch = 0.95;    // of the step: what is less is worth saying
constexpr double kAsGood = 1.02;  // of the best step: two edits that come so near are enough

std::string from_to(std::string_view name, const std::string& from, const std::string& to) {
    return from == to ? "" : std::string(name) + " " + from + " → " + to;
}

// "tp 8 → 4, ZeRO 1 → 2": what is to be changed by hand; dp_shard takes what is left.
struct ChangesWords {
    std::string words;
    int changes = 0;
};
ChangesWords changes_words(const Plan& plan, const LayoutChoice& to) {
    const LayoutChoice from = choice_of(plan);
    ChangesWords out;
    for (const Varied v : changed_choices(plan, to))
        out.words += (out.changes++ == 0 ? "" : ", ") + std::string(chip_name(v)) + " " + value_text(from, v)
                     + " → " + value_text(to, v);
    return out;
}

// Returns what the report has of a layout if it lists it, else null. Of layouts that are equally good it
// lists one.
const SearchResult* result_of(const SearchFound& found, const FoundLayout& layout) {
    if (!found.report) return nullptr;
    const std::vector<SearchResult>& all = found.report->results;
    const auto at = std::find_if(all.begin(), all.end(), [&](const SearchResult& r) {
        return r.step_s == layout.step_s && r.memory_bytes == layout.memory_bytes;
    });
    return at == all.end() ? nullptr : &*at;
}

}  // namespace

Decider::Decider(Window& window) : window_(window) {}
Decider::~Decider() = default;

void Decider::saw(ViewId view) {
    search_seen_ = search_seen_ || view == ViewId::search;
    compare_seen_ = compare_seen_ || view == ViewId::compare;
    scale_seen_ = scale_seen_ || view == ViewId::scale;
}

void Decider::update(bool may_advise) {
    const bool seen = std::exchange(search_seen_, false);
    const bool rested = rests(may_advise), asked_for = seen || rested;
    if (!search_ && asked_for) search_ = std::make_unique<SearchRunner>(window_.host.wake);
    if (search_
        && search_->update(asked_for, window_.document.plan(), window_.document.revision(),
                           window_.views.search, !seen))
        window_.dirty = true;
    update_advice(rested);
    look_for_better();
    window_.views.compare.awaits_proposal = may_advise && !decision_.is_of(window_.document.revision());
    const bool compared = std::exchange(compare_seen_, false) && window_.evaluation.valid
                          && window_.views.compare.pinned() != nullptr;
    const std::uint64_t revision = window_.document.revision();
    ComparePath& path = window_.views.compare.path;
    const auto walk = [&] {
        return [a = window_.views.compare.pinned()->plan, b = window_.document.plan()](
                   const std::atomic<bool>& cancelled) { return path_between(*a, b, &cancelled); };
    };
    if (path.work_out(window_.host.wake, compared, {revision, window_.views.compare.version}, walk))
        window_.dirty = true;
    TornadoState& tornado = window_.views.step.tornado;
    if (wants_tornado_table(window_.views)) tornado.asked = revision;
    const bool asked = tornado.asked == revision && window_.evaluation.valid;
    const auto nudge = [&] {
        return [plan = window_.document.plan(), &presets = window_.presets](
                   const std::atomic<bool>& cancelled) { return sensitivity_of(plan, presets, &cancelled); };
    };
    if (tornado.of.work_out(window_.host.wake, asked, revision, nudge)) window_.dirty = true;
    update_scale();
}

void Decider::update_scale() {
    ScaleViewState& scale = window_.views.scale;
    const bool seen = std::exchange(scale_seen_, false) && window_.evaluation.valid;
    const auto look = [&] {
        return [plan = window_.document.plan(), beside = scale.beside, request = scale_request(scale.page),
                known = scale.last](const std::atomic<bool>& cancelled) {
            return scale_picture_of(plan, beside, request, known, &cancelled);
        };
    };
    if (scale.of.work_out(window_.host.wake, seen, {window_.document.revision(), scale.page}, look))
        window_.dirty = true;
}

bool Decider::works() const {
    const ViewStates& views = window_.views;
    return (views.search.found && views.search.found->running) || views.compare.path.running()
           || views.step.tornado.of.running() || views.scale.of.running() || decision_.running()
           || mends_.running();
}

double Decider::due_s(bool may_advise) const {
    constexpr double kPast_s = 0.05;  // behind the time for which a frame is drawn
    double due = std::numeric_limits<double>::infinity();
    if (may_advise && window_.now_s < advice_due_s()) due = advice_due_s() + kPast_s;
    if (change() != nullptr) due = std::min(due, std::max(changed_until_s_, window_.now_s + kPast_s));
    return due;
}

double Decider::advice_due_s() const {
    return edited_s_ + kRest_s;
}

bool Decider::rests(bool may_advise) const {
    return may_advise && edited_revision_ == window_.document.revision() && window_.now_s >= advice_due_s();
}

// Each plan that rests is decided on once.
void Decider::update_advice(bool rested) {
    const std::uint64_t revision = window_.document.revision();
    if (std::exchange(edited_revision_, revision) != revision) edited_s_ = window_.now_s;
    const auto look = [&] {
        return [plan = window_.document.plan()](const std::atomic<bool>& cancelled) {
            return decide_by_two_edits(plan, evaluate(plan), 1, &cancelled);
        };
    };
    if (decision_.work_out(window_.host.wake, rested, revision, look)) window_.dirty = true;
    const bool full =
        window_.evaluated == revision && window_.evaluation.step && !window_.evaluation.memory.fits();
    const auto mend = [&] {
        return [plan = window_.document.plan()](const std::atomic<bool>& cancelled) {
            return find_mends(plan, evaluate(plan), 1, &cancelled);
        };
    };
    if (mends_.work_out(window_.host.wake, rested && full, revision, mend)) window_.dirty = true;
}

// Lists what makes a plan fit, for the list of what would help: each a click, the decision's own first.
void Decider::offer_mends(const SearchResult* proposed) {
    const Plan& open = window_.document.plan();
    const Evaluation& e = window_.evaluation;
    std::vector<MemoryMend> all = *mends_;
    std::stable_partition(all.begin(), all.end(), [&](const MemoryMend& m) {
        return proposed != nullptr && is_laid_out_as(m.plan, proposed->plan);
    });
    for (const MemoryMend& m : all) {
        const double by = m.step_s / e.step->time_s - 1;
        BetterLayout& made = better_.emplace_back();
        made.edit = PlanEdit{in_place_of(open, m.plan), m.change, ""};
        made.gain =
            "It " + std::string(name_of(m.fit))
            + (!m.time_counted ? "" : ", at " + std::string(by < 0 ? "−" : "+") + percent(std::abs(by)));
        made.changes = m.change;
        made.reason = memory_text(m.memory_bytes) + " instead of " + memory_text(e.memory.peak())
                      + (m.time_counted ? ", " + time_text(m.step_s) + " a step" : "")
                      + ". Gives up: " + m.gives_up + ".";
    }
}

// Takes better layouts that searches know, for the list of what would help.
void Decider::look_for_better() {
    const Plan& open = window_.document.plan();
    const Evaluation& e = window_.evaluation;
    const std::uint64_t revision = window_.document.revision();
    const SearchFound* found = window_.views.search.found.get();
    if (window_.evaluated != revision) return;  // the next frame looks
    const std::uint64_t version = (found == nullptr ? 0 : 4 * found->version)
                                  + (decision_.is_of(revision) ? 1 : 0) + (mends_.is_of(revision) ? 2 : 0);
    if (version == better_of_ && revision == better_revision_) return;
    better_of_ = version, better_revision_ = revision;
    const bool had = !better_.empty();
    better_.clear();
    if (window_.task) {  // who solves a task gets no layouts that it may not allow
        window_.dirty = window_.dirty || had;
        return;
    }
    const bool experts = open.model.moe.has_value();
    // If the plan does not fit, any layout that fits is offered.
    const bool fits = e.step && e.memory.fits();
    const double now_s = e.step ? e.step->time_s : 0;
    const double room = open.cluster.gpu.hbm_bytes;  // an impossible plan has no memory to compare
    // `step` holds the parts of its time; null: they are not known.
    const auto offer = [&](const std::string& how, double step_s, double memory_bytes, MemoryFit fit,
                           Plan plan, const std::string& words, const Step* step) {
        const std::string it(name_of(fit));
        const bool less = now_s > 0 && step_s < now_s;
        const double by = now_s > 0 ? step_s / now_s - 1 : 0;
        const std::string why =
            less && step != nullptr ? " Why: " + main_parts_text(*e.step, *step) + "." : "";
        BetterLayout made;
        made.edit = PlanEdit{std::move(plan), "a faster layout", ""};
        made.gain = now_s <= 0 ? "It " + it
                    : less ? "−" + percent(-by) + (fit == MemoryFit::yes ? ", and it " : ", but it ") + it
                           : "It " + it + ", at +" + percent(by);
        made.changes = words;
        const std::string hsdp = hsdp_words(open, made.edit.plan);
        made.reason = how + " " + time_text(step_s) + " a step, with " + memory_text(room - memory_bytes)
                      + (fit == MemoryFit::yes ? " to spare." : " to spare by the sum.") + why
                      + (hsdp.empty() ? "" : " " + hsdp);
        better_.push_back(std::move(made));
    };
    const bool holds = found != nullptr && !found->front.empty() && still_holds(*found, open);
    const FoundLayout* best = holds ? &found->front.back() : nullptr;
    std::optional<PlanDecision> joined;  // it knows of the search, where one was run
    if (decision_.is_of(revision) && *decision_) {
        joined = **decision_;
        if (holds && found->report) {
            joined->held = join(found->request.held, ", ");
            joined = with_search(std::move(*joined), e, *found->report);
        }
        if (joined->searched) joined->proposal->plan = with_choice(*found, open, joined->proposal->choice);
    }
    const PlanDecision* decision = joined ? &*joined : nullptr;
    window_.views.search.beside = decision == nullptr ? "" : beside_words(open, *decision);
    const SearchResult* near = decision != nullptr && decision->proposal ? &*decision->proposal : nullptr;
    const auto much = [&](double step_s) { return !fits || step_s < kMuch * now_s; };
    const bool enough = near != nullptr && best != nullptr && near->step_s <= kAsGood * best->step_s;
    const bool mended = !fits && e.step && mends_.is_of(revision);
    // The proposal stands first: Compare shows it, and the first page of a review.
    const bool said = mended && near != nullptr && std::ranges::any_of(*mends_, [&](const MemoryMend& m) {
                          return is_laid_out_as(m.plan, near->plan);
                      });
    if (near != nullptr && !said) {
        const ChangesWords changes = changes_words(open, near->choice);
        static constexpr std::array<const char*, 4> kCounts{"One change makes it", "Two changes make it",
                                                            "Three changes make it", "Four changes make it"};
        const auto n = static_cast<std::size_t>(std::max(1, changes.changes));
        offer(n <= kCounts.size() ? kCounts[n - 1] : std::to_string(n) + " changes make it", near->step_s,
              near->memory_bytes, near->fit, in_place_of(open, near->plan), changes.words, &near->step);
        if (decision->ground == Ground::leaner)
            better_.back().gain =
                gained_words(*decision) + (near->fit == MemoryFit::yes ? "" : "; it may not fit");
        for (const std::string& more : {caution_of(*decision), decision->outside})
            if (!more.empty()) better_.back().reason += " " + more;
    }
    if (mended) offer_mends(near);
    if (best != nullptr && much(best->step_s) && !enough) {
        const SearchResult* listed = result_of(*found, *best);
        const Step* step = listed == nullptr ? nullptr : &listed->step;
        Plan plan = with_choice(*found, open, best->choice);
        const MemoryFit fit =
            listed != nullptr
                ? listed->fit
                : fit_of(evaluate(plan, {.timeline = false, .messages = false, .report = false}).memory)
                      .value_or(MemoryFit::no);
        offer("The best layout that the search knows takes", best->step_s, best->memory_bytes, fit,
              std::move(plan), words_of(best->choice, experts), step);
        const std::string caution =
            fits && step != nullptr ? tie_caution(1 - best->step_s / now_s, *e.step, *step) : "";
        if (!caution.empty()) better_.back().reason += " " + caution;
    }
    if (had || !better_.empty()) window_.dirty = true;
}

// A plan that was opened is no change of the one before it, nor is going back to that one.
bool Decider::note_change(const PlanEdited& edited) {
    if (figures_of_ == window_.evaluated) return false;
    figures_of_ = window_.evaluated;
    ChangeFigures before =
        std::exchange(figures_, change_figures(window_.document.plan(), window_.evaluation));
    if (edited.goes_on && drag_start_.any)
        before = drag_start_;
    else
        drag_start_ = before;
    const std::uint64_t file = window_.document.file();
    const bool other_file = std::exchange(file_, file) != file,
               replaced = std::exchange(window_.replaced, false) || other_file;
    changed_.clear();
    change_.reset();
    if (replaced || !before.any || !figures_.any || before == figures_) return true;
    const std::string step = from_to("step", time_text(before.step_s), time_text(figures_.step_s)),
                      memory = from_to("memory", gib(before.memory), gib(figures_.memory));
    changed_ = step + (step.empty() || memory.empty() ? "" : ", ") + memory + (memory.empty() ? "" : " GiB");
    change_ = PlanChange{edited.what, edited.touched, std::move(before), figures_};
    changed_until_s_ = window_.now_s + kChanged_s;
    return true;
}

bool Decider::forget_change() {
    if (!change_ || window_.now_s < changed_until_s_ || window_.state.motion.has_outlines()) return false;
    changed_.clear();
    change_.reset();
    return true;
}

void Decider::flip_pinned() {
    const KeptPlan* a = window_.views.compare.pinned();
    if (a == nullptr) return;
    window_.end_peek();
    if (window_.evaluated != window_.document.revision())
        window_.evaluate();  // what was typed came just before
    if (!window_.evaluation.valid)
        return window_.say("An impossible plan has no figures to become A; undo brings it back");
    const Plan other = *a->plan;
    window_.views.compare.pin(window_.document.plan(), window_.evaluation);
    window_.document.edit(other, "flip A and B");
    window_.dirty = true;
}

void Decider::compare_with_before() {
    window_.end_peek();
    const Plan* before = window_.document.before_last_edit();
    if (before == nullptr) return;
    const Evaluation e = assess(*before);
    if (!e.valid)
        return window_.say(
            "The plan before the last edit is not possible, so there is nothing to compare with");
    window_.views.compare.pin(*before, e);
    window_.full = ViewId::compare;
    window_.say("A is the plan before \"" + window_.document.undo_text() + "\"");
    window_.dirty = true;
}

void Decider::add_commands(std::vector<Command>& commands) {
    const auto pinned = [this] { return window_.views.compare.pinned() != nullptr; };
    commands.push_back(
        {.id = "edit.pin",
         .title = "Pin this plan as A",
         .menu = "Edit",
         .chord = ctrl(Key::d),
         .separator = true,
         .run =
             [this] {
                 if (window_.evaluated != window_.document.revision()) window_.evaluate();
                 window_.views.compare.pin(window_.document.plan(), window_.evaluation);
                 window_.say(
                     "Pinned as A. Figures now carry their difference to it; X flips A and B, 8 compares "
                     "them");
             },
         .enabled = [this] { return window_.evaluation.valid; }});
    commands.push_back(in_menu(
        "Edit", "edit.pin_before", "Compare with the plan before the last edit", {},
        [this] { compare_with_before(); },
        [this] { return window_.evaluation.valid && window_.document.can_undo(); }));
    commands.push_back(in_menu(
        "Edit", "edit.flip", "Flip A and B", {Key::x}, [this] { flip_pinned(); }, pinned));
    commands.push_back(in_menu(
        "Edit", "edit.unpin", "Unpin A", {}, [this] { window_.views.compare.remove(0); }, pinned));
}

namespace {

namespace fs = std::filesystem;
using Places = std::vector<fs::path>;

bool is_folder(const fs::path& path) {
    std::error_code ignored;
    return fs::is_directory(path, ignored);
}

bool has_steps(const std::string& text) {
    return own_file_kind(text) == OwnFile::log && runs::read_run_log(text).steps > 0;
}

bool says_settings(const runs::RunFile& file, const fs::path& path) {
    using runs::RunFileKind;
    if (file.kind == RunFileKind::kineto || file.kind == RunFileKind::nccl_inspector) return false;
    return !interop::guess_tools(runs::unpacked_begin(runs::begin_of_file(path))).empty();
}

// Reads dumps: with the open plan, if it is known and its layout is theirs, else with a stand-in.
RealRun hang_at(const fs::path& place, const Plan& open, const Presets& presets, runs::ReadWatch* watch) {
    runs::HangRun run = runs::read_hang(place, is_stand_in(open) ? nullptr : &open, presets, watch);
    if (!run.differences.empty()) {
        std::vector<std::string> differences = std::move(run.differences);
        run = hang_of(std::move(run.run), nullptr, presets);
        run.differences = std::move(differences);
    }
    RealRun out;
    out.name = place.filename().string();
    out.hang = std::make_shared<const runs::HangRun>(std::move(run));
    return out;
}

}  // namespace

bool is_run_place(const fs::path& path) {
    if (is_folder(path)) return true;
    const std::string begin = runs::begin_of_file(path);
    return !runs::run_file_words(begin).empty() || has_steps(runs::unpacked_begin(begin));
}

std::string log_text(const fs::path& path) {
    constexpr std::size_t kMostLog = std::size_t{64} << 20U;
    std::string text = read_file(path);
    if (!runs::is_gzip(text)) return text;
    std::string unpacked;
    runs::unpack_gzip(text, kMostLog, unpacked);
    return unpacked;
}

RealRun read_real_run(const Places& places, const Plan& open, const Presets& presets,
                      runs::ReadWatch* watch) {
    Places files;
    for (const fs::path& place : places) {
        if (is_folder(place)) {
            const Places in = runs::run_files_in(place, watch);
            if (in.empty()) return hang_at(place, open, presets, watch);
            files.insert(files.end(), in.begin(), in.end());
        } else if (runs::is_dump_file(place)) {
            return hang_at(runs::place_of_dumps(place), open, presets, watch);
        } else {
            files.push_back(place);
        }
    }
    const Mesh mesh = build_mesh(open);
    const runs::PartOfGroup part_of = runs::parts_by(is_stand_in(open) ? nullptr : &mesh);
    RealRun out;
    for (const fs::path& file : files) {
        std::error_code failed;
        const std::uintmax_t bytes = fs::file_size(file, failed);
        if (watch != nullptr && !failed) watch->all_bytes += bytes;
    }
    for (const fs::path& file : files) {
        out.files.push_back(read_run_file(file, part_of, watch));
        if (out.settings.empty() && says_settings(out.files.back(), file)) out.settings = file;
    }
    if (out.files.empty()) throw Error(ErrorKind::invalid, "", "", "there is no file of a run");
    out.name = out.files.front().file;
    if (files.size() > 1)
        out.name +=
            sentence(" and ", pentamesh::count_text(static_cast<std::int64_t>(files.size()) - 1, "file"));
    return out;
}

bool RunDesk::knows_plan() const {
    return !is_stand_in(window_.document.plan()) && window_.has_chosen_plan();
}

void RunDesk::add(const std::filesystem::path& place) {
    pending_.push_back(place);
    window_.dirty = true;
}

void RunDesk::update() {
    // Files that were read without a plan are read anew with it: it names their groups.
    const bool has_files = window_.real_run && !window_.real_run->files.empty();
    if (has_files && read_bare_ && pending_.empty() && !read_.running() && knows_plan()) pending_ = reading_;
    if (!pending_.empty()) begin();
    const auto work = [this] {
        const Plan& open = window_.document.plan();
        return [places = reading_, plan = read_bare_ ? stand_in_of(open) : open, &presets = window_.presets,
                watch = watch_](const std::atomic<bool>&) {
            return std::make_shared<const RealRun>(read_real_run(places, plan, presets, watch.get()));
        };
    };
    if (read_.work_out(window_.host.wake, wanted_, number_, work)) window_.dirty = true;
    if (!read_.error().empty()) window_.say(read_.take_error());
    if (*read_) open(read_.take());
    compare();
}

void RunDesk::begin() {
    if (watch_) watch_->cancelled = true;
    reading_ = std::exchange(pending_, {});
    watch_ = std::make_shared<runs::ReadWatch>();
    read_bare_ = !knows_plan();
    ++number_;
    wanted_ = true;
}

void RunDesk::cancel() {
    if (watch_) watch_->cancelled = true;
    wanted_ = false;
    window_.say("The run was not read to its end");
}

namespace {

// Returns the stand-in of a run that tells no layout either.
Plan unnamed_run(const Plan& open) {
    Plan out = stand_in_of(open);
    out.name = "A run";
    out.notes.clear();
    out.review = {};
    out.scene = {};
    return out;
}

}  // namespace

// A hang brings a stand-in with its layout, unless the open plan has that. A trace or a log is compared with
// the open plan, if somebody chose it.
void RunDesk::open(const std::shared_ptr<const RealRun>& run) {
    window_.real_run = run;
    ViewStates& views = window_.views;
    if (run->hang) {
        const std::string name = run->name;
        if (!(run->hang->plan == window_.document.plan()))
            window_.replace_plan({run->hang->plan}, "the layout of " + name);
        window_.real_run = run;
        views.mesh.shows_run = true;
        static_cast<void>(leave_named_page(views, ViewId::mesh));
        views.in_pane[static_cast<std::size_t>(Pane::top)] = ViewId::mesh;
    } else {
        if (!knows_plan() && !is_stand_in(window_.document.plan()))
            window_.replace_plan({unnamed_run(window_.document.plan())}, "the run " + run->name);
        window_.real_run = run;
        views.step.part = StepViewState::kMeasured;
        views.in_pane[static_cast<std::size_t>(Pane::bottom)] = ViewId::step;
    }
    window_.say("Read " + run->name + (run->hang ? ": " + run->words() : ""));
    window_.dirty = window_.state.redraw_all = true;
}

void RunDesk::compare() {
    const bool wanted = window_.real_run && !window_.real_run->files.empty();
    const Key key{number_, window_.document.revision()};
    const auto work = [this] {
        return [run = window_.real_run, plan = window_.document.plan(), known = knows_plan(),
                &presets = window_.presets](const std::atomic<bool>&) {
            return std::make_shared<const runs::Measured>(
                measure(run->files, known ? &plan : nullptr, presets));
        };
    };
    const bool news = compared_.work_out(window_.host.wake, wanted, key, work);
    if (news) window_.dirty = window_.state.redraw_all = true;
    // A comparison with another state of the plan is not shown with this one.
    if (wanted && window_.real_run->measured && compared_.running()) set_measured(nullptr, 0);
    if (!compared_.error().empty()) window_.say(compared_.take_error());
    if (!wanted || !compared_.is_of(key) || !*compared_) return;
    if (window_.real_run->measured == *compared_) return;
    set_measured(*compared_, key.second);
}

void RunDesk::set_measured(std::shared_ptr<const runs::Measured> measured, std::uint64_t revision) {
    RealRun next = *window_.real_run;
    next.measured = std::move(measured);
    next.measured_of = revision;
    window_.real_run = std::make_shared<const RealRun>(std::move(next));
    window_.dirty = window_.state.redraw_all = true;
}

// With the run its stand-in goes: without it that says nothing.
void RunDesk::close() {
    window_.real_run = nullptr;
    while (is_stand_in(window_.document.plan()) && window_.document.undo()) window_.replaced = true;
    window_.dirty = window_.state.redraw_all = true;
}

void RunDesk::draw(Ui& ui, Rect row) {
    Canvas& c = ui.canvas();
    const Theme& theme = ui.theme();
    c.rect(row, theme.panel);
    c.line({row.x, row.bottom() - 1}, {row.right(), row.bottom() - 1}, theme.hairline);
    row = {row.x + 16, row.y + 4, row.w - 32, row.h - 9};
    if (read_.running()) {
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
