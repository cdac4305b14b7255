// Deciding: the search beside the window, the plan that is pinned, and what the last edit changed.
#include "app/ui/kit/format.h"
#include "app/ui/shell/shell.h"
#include "app/ui/views/search/search_runner.h"
#include "core/advice/advice.h"
#include "core/decide/compare.h"
#include "core/decide/nearby.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
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
    for (const Varied v : all_of<Varied>()) {
        if (!plan.model.moe && (v == Varied::ep || v == Varied::etp)) continue;
        if (v == Varied::etp && !plan.layout.etp && to.etp == to.tp) continue;  // left out, it follows tp
        const std::string was = value_text(from, v), is = value_text(to, v);
        if (v == Varied::dp_shard || was == is) continue;
        out.words += (out.changes++ == 0 ? "" : ", ") + std::string(chip_name(v)) + " " + was + " → " + is;
    }
    return out;
}

// The parts of a layout's step: known of those that the report lists. Of layouts that are as good it lists
// one.
const Step* step_of(const SearchFound& found, const FoundLayout& layout) {
    if (!found.report) return nullptr;
    const std::vector<SearchResult>& all = found.report->results;
    const auto at = std::find_if(all.begin(), all.end(), [&](const SearchResult& r) {
        return r.step_s == layout.step_s && r.memory_bytes == layout.memory_bytes;
    });
    return at == all.end() ? nullptr : &at->step;
}

}  // namespace

Shell::~Shell() = default;

// After a frame: what it showed decides what is worked on beside the window.
void Shell::tend_decide() {
    if (std::exchange(views_.compare.wants_flip, false)) flip_pinned();
    if (std::exchange(views_.compare.wants_before, false)) compare_with_before();
    const bool seen = std::exchange(search_seen_, false);
    const bool asked_for = seen || rests();
    if (!beside_.search && asked_for) beside_.search = std::make_unique<SearchRunner>(host_.wake);
    if (beside_.search
        && beside_.search->tend(asked_for, document_.plan(), document_.revision(), views_.search, !seen))
        dirty_ = true;
    tend_advice();
    look_for_better();
    const bool compared =
        std::exchange(compare_seen_, false) && evaluation_.valid && views_.compare.pinned() != nullptr;
    const std::uint64_t revision = document_.revision();
    if (!beside_.path && compared) beside_.path = std::make_unique<BesideWork::Path>(host_.wake);
    const auto walk = [&]() -> BesideWork::Path::Work {
        return [a = views_.compare.pinned()->plan, b = document_.plan()](const std::atomic<bool>& cancelled) {
            return path_between(*a, b, &cancelled);
        };
    };
    if (beside_.path
        && beside_.path->tend(compared, {revision, views_.compare.version}, views_.compare.path, walk))
        dirty_ = true;
    TornadoState& tornado = views_.step.tornado;
    if (wants_tornado_table(views_)) tornado.asked = revision;
    const bool asked = tornado.asked == revision && evaluation_.valid;
    if (!beside_.tornado && asked) beside_.tornado = std::make_unique<BesideWork::Tornado>(host_.wake);
    const auto nudge = [&]() -> BesideWork::Tornado::Work {
        return [plan = document_.plan(), &presets = presets_](const std::atomic<bool>& cancelled) {
            return sensitivity_of(plan, presets, &cancelled);
        };
    };
    if (beside_.tornado && beside_.tornado->tend(asked, revision, tornado.of, nudge)) dirty_ = true;
    tend_review();
}

bool Shell::works_beside() const {
    return (views_.search.found && views_.search.found->running) || views_.compare.path.running
           || views_.step.tornado.of.running || near_.running || review_.pages_of.running
           || calibrate_.made.running;
}

double Shell::advice_due_s() const {
    const bool looks = host_.searches && !lesson_.open && !presenter_.on && !welcome_;
    return looks ? edited_s_ + kRest_s : std::numeric_limits<double>::infinity();
}

// The plan was not edited for a moment, and no lesson asks for its answer.
bool Shell::rests() const {
    return dialog_.kind == DialogKind::none && edited_revision_ == document_.revision()
           && now_s_ >= advice_due_s();
}

// The best layout within two edits, worked out once for each plan that rests.
void Shell::tend_advice() {
    const std::uint64_t revision = document_.revision();
    if (std::exchange(edited_revision_, revision) != revision) edited_s_ = now_s_;
    const bool wanted = rests();
    if (!wanted && !beside_.near) return;
    if (!beside_.near) beside_.near = std::make_unique<BesideWork::Near>(host_.wake);
    const auto look = [&]() -> BesideWork::Near::Work {
        return [plan = document_.plan(),
                headroom = views_.search.request.headroom](const std::atomic<bool>& cancelled) {
            return best_within_two_edits(plan, {.headroom = headroom, .threads = 1}, &cancelled);
        };
    };
    if (beside_.near->tend(wanted, revision, near_, look)) dirty_ = true;
}

// What searches know about the open plan, for the list of what would help.
void Shell::look_for_better() {
    const SearchFound* found = views_.search.found.get();
    if (evaluated_ != document_.revision()) return;  // the next frame looks
    const std::uint64_t version =
        (found == nullptr ? 0 : 2 * found->version) + (near_.is_of(document_.revision()) ? 1 : 0);
    if (version == better_of_ && document_.revision() == better_revision_) return;
    better_of_ = version, better_revision_ = document_.revision();
    const bool had = !better_.empty();
    better_.clear();
    const bool experts = document_.plan().model.moe.has_value();
    // What does not fit is worth any layout that does.
    const bool fits = evaluation_.step && evaluation_.memory.fits();
    const double now_s = evaluation_.step ? evaluation_.step->time_s : 0;
    const double room =
        document_.plan().cluster.gpu.hbm_bytes;  // an impossible plan has no memory to compare
    // `step`: its parts, where they are known.
    const auto offer = [&](const std::string& how, double step_s, double memory_bytes, Plan plan,
                           const std::string& words, const Step* step) {
        const bool less = now_s > 0 && step_s < now_s;
        const std::string why =
            less && step != nullptr ? " Why: " + main_parts_text(*evaluation_.step, *step) + "." : "";
        better_.push_back({std::move(plan),
                           how + " " + time_text(step_s)
                               + (less ? " a step, " + percent(1 - step_s / now_s) + " less" : " a step")
                               + ", and fits with " + memory_text(room - memory_bytes) + " to spare: " + words
                               + "." + why,
                           ""});
    };
    const bool holds = found != nullptr && !found->front.empty() && still_holds(*found, document_.plan());
    const FoundLayout* best = holds ? &found->front.back() : nullptr;
    const SearchResult* near = near_.is_of(document_.revision()) && near_.value ? &*near_.value : nullptr;
    const auto much = [&](double step_s) { return !fits || step_s < kMuch * now_s; };
    const bool enough = near != nullptr && best != nullptr && near->step_s <= kAsGood * best->step_s;
    if (near != nullptr && much(near->step_s)) {
        Plan plan = near->plan;
        plan.name = document_.plan().name, plan.notes = document_.plan().notes;
        plan.scene = document_.plan().scene;
        const ChangesWords changes = changes_words(document_.plan(), near->choice);
        static constexpr std::array<const char*, 4> kCounts{"One change makes it", "Two changes make it",
                                                            "Three changes make it", "Four changes make it"};
        const auto n = static_cast<std::size_t>(std::max(1, changes.changes));
        offer(n <= kCounts.size() ? kCounts[n - 1] : std::to_string(n) + " changes make it", near->step_s,
              near->memory_bytes, std::move(plan), changes.words, &near->step);
    }
    if (best != nullptr && much(best->step_s) && !enough)
        offer("The best layout that the search knows takes", best->step_s, best->memory_bytes,
              with_choice(*found, document_.plan(), best->choice), words_of(best->choice, experts),
              step_of(*found, *best));
    if (had || !better_.empty()) dirty_ = true;
}

// What became of the main figures, for the status line. Another plan that was opened is no change of this.
void Shell::note_change(bool edited) {
    MainFigures now;
    if (evaluation_.step && !evaluation_.memory.stage.empty())
        now = {true, evaluation_.step->time_s, evaluation_.memory.peak()};
    const MainFigures before = std::exchange(figures_, now);
    if (!edited) return;
    changed_.clear();
    if (std::exchange(replaced_, false) || !before.any || !now.any) return;
    const std::string step = from_to("step", time_text(before.step_s), time_text(now.step_s)),
                      memory = from_to("memory", gib(before.memory), gib(now.memory));
    changed_ = step + (step.empty() || memory.empty() ? "" : ", ") + memory + (memory.empty() ? "" : " GiB");
    changed_until_s_ = now_s_ + kChanged_s;
}

void Shell::flip_pinned() {
    const KeptPlan* a = views_.compare.pinned();
    if (a == nullptr) return;
    if (evaluated_ != document_.revision()) evaluate_now();  // what was typed came just before
    if (!evaluation_.valid) return say("An impossible plan has no figures to become A; undo brings it back");
    const Plan other = *a->plan;
    views_.compare.pin(document_.plan(), evaluation_);
    document_.edit(other, "flip A and B");
    dirty_ = true;
}

void Shell::compare_with_before() {
    const Plan* before = document_.before_last_edit();
    if (before == nullptr) return;
    const Evaluation e = assess(*before);
    if (!e.valid)
        return say("The plan before the last edit is not possible, so there is nothing to compare with");
    views_.compare.pin(*before, e);
    full_ = ViewId::compare;
    say("A is the plan before \"" + document_.undo_text() + "\"");
    dirty_ = true;
}

void Shell::make_decide_commands() {
    const auto pinned = [this] { return views_.compare.pinned() != nullptr; };
    add({.id = "edit.pin",
         .title = "Pin this plan as A",
         .menu = "Edit",
         .chord = ctrl(Key::d),
         .separator = true,
         .run =
             [this] {
                 if (evaluated_ != document_.revision()) evaluate_now();
                 views_.compare.pin(document_.plan(), evaluation_);
                 say("Pinned as A. Figures now carry their difference to it; X flips A and B, 8 compares "
                     "them");
             },
         .enabled = [this] { return evaluation_.valid; }});
    add({.id = "edit.pin_before",
         .title = "Compare with the plan before the last edit",
         .menu = "Edit",
         .run = [this] { compare_with_before(); },
         .enabled = [this] { return evaluation_.valid && document_.can_undo(); }});
    add({.id = "edit.flip",
         .title = "Flip A and B",
         .menu = "Edit",
         .chord = {.key = Key::x},
         .run = [this] { flip_pinned(); },
         .enabled = pinned});
    add({.id = "edit.unpin",
         .title = "Unpin A",
         .menu = "Edit",
         .run = [this] { views_.compare.remove(0); },
         .enabled = pinned});
}

}  // namespace pentamesh::ui
