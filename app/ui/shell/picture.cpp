#include "app/ui/shell/picture.h"

#include "app/ui/kit/data_table.h"
#include "app/ui/kit/format.h"
#include "app/ui/lesson/lesson_panel.h"
#include "app/ui/panels/inspector.h"
#include "app/ui/review/review.h"
#include "app/ui/shell/document.h"
#include "app/ui/views/scale/view.h"
#include "app/ui/views/search/view.h"
#include "app/ui/views/table.h"
#include "core/advice/advice.h"
#include "core/base/files.h"
#include "core/base/number.h"
#include "core/base/text.h"
#include "core/base/threads.h"
#include "core/decide/decision.h"
#include "core/decide/search.h"
#include "core/explain/verdict.h"
#include "core/io/plan_json.h"
#include "core/io/presets.h"
#include "core/plan/edits.h"
#include "core/plan/names.h"
#include "core/plan/stand_in.h"
#include "render/page.h"
#include "render/png.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>
#include <zlib.h>

namespace pentamesh::ui {

namespace {

constexpr std::string_view kSigns = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::size_t kMostText = std::size_t{1} << 20;  // a larger text is refused
constexpr std::size_t kMostLessonSteps = 10000;

[[noreturn]] void damaged(const std::string& how) {
    throw Error(ErrorKind::invalid, "the link", "", how);
}

// RFC 4648, section 5, without padding.
std::string base64url(const std::vector<Bytef>& bytes) {
    std::string out;
    std::uint32_t bits = 0;
    int held = 0;
    for (const Bytef b : bytes) {
        bits = bits << 8U | b, held += 8;
        for (; held >= 6; held -= 6) out += kSigns[bits >> static_cast<unsigned>(held - 6) & 63U];
    }
    if (held > 0) out += kSigns[bits << static_cast<unsigned>(6 - held) & 63U];
    return out;
}

std::vector<Bytef> bytes_of(std::string_view text) {
    std::vector<Bytef> out;
    std::uint32_t bits = 0;
    int held = 0;
    for (const char c : text) {
        const std::size_t at = kSigns.find(c);
        if (at == std::string_view::npos)
            damaged("its plan has a sign that no link has; it was changed on its way");
        bits = bits << 6U | static_cast<std::uint32_t>(at), held += 6;
        if (held >= 8) out.push_back(static_cast<Bytef>(bits >> static_cast<unsigned>(held -= 8) & 255U));
    }
    return out;
}

std::vector<Bytef> packed(const std::string& text) {
    uLongf size = compressBound(static_cast<uLong>(text.size()));
    std::vector<Bytef> out(size);
    const auto* from = reinterpret_cast<const Bytef*>(text.data());
    if (compress2(out.data(), &size, from, static_cast<uLong>(text.size()), Z_BEST_COMPRESSION) != Z_OK)
        throw Error(ErrorKind::io, "", "", "the plan could not be compressed");
    out.resize(size);
    return out;
}

std::string unpacked(const std::vector<Bytef>& bytes) {
    z_stream stream{};
    if (inflateInit(&stream) != Z_OK) damaged("its plan could not be unpacked");
    stream.next_in = const_cast<Bytef*>(bytes.data());
    stream.avail_in = static_cast<uInt>(bytes.size());
    std::string out;
    int state = Z_OK;
    while (state == Z_OK && out.size() <= kMostText) {
        const std::size_t before = out.size();
        out.resize(before + (std::size_t{1} << 14U));
        stream.next_out = reinterpret_cast<Bytef*>(out.data() + before);
        stream.avail_out = static_cast<uInt>(out.size() - before);
        state = inflate(&stream, Z_NO_FLUSH);
        out.resize(out.size() - stream.avail_out);
        if (state == Z_OK && stream.avail_in == 0 && stream.avail_out > 0) state = Z_BUF_ERROR;
    }
    inflateEnd(&stream);
    if (out.size() > kMostText) damaged("its plan is larger than a megabyte");
    if (state != Z_STREAM_END) damaged("a part of its plan is missing or was changed on its way");
    return out;
}

std::size_t number_of(std::string_view text) {
    const std::int64_t n = parse_whole(text).value_or(0);
    if (n < 1 || n > std::int64_t{kMostLessonSteps})
        damaged("step=" + shown_text(text) + " is no number of a step");
    return static_cast<std::size_t>(n);
}

std::string id_of_lesson(std::string_view text) {
    const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
    if (text.empty() || !std::all_of(text.begin(), text.end(), plain))
        damaged("lesson=" + shown_text(text) + " is no lesson");
    return std::string(text);
}

// A browser writes a blank of an address as "%20"; here it may be "-" too.
std::string page_words(std::string_view text) {
    std::string out(text);
    for (std::size_t at = out.find("%20"); at != std::string::npos; at = out.find("%20"))
        out.replace(at, 3, " ");
    std::replace(out.begin(), out.end(), '-', ' ');
    return out;
}

ThemeId theme_named(std::string_view text) {
    std::vector<std::string_view> known;
    for (int i = 0; i < kThemeCount; ++i) {
        const auto id = static_cast<ThemeId>(i);
        if (name_of(id) == text) return id;
        known.push_back(name_of(id));
    }
    damaged("theme=" + shown_text(text) + " is no theme; there are: " + join(known, ", "));
}

float type_of(std::string_view text) {
    const auto times = parse_double(text);
    if (!times || !(*times >= kLeastType && *times <= kMostType))
        damaged("text=" + shown_text(text) + " is no multiple from 0.5 to 4");
    return static_cast<float>(*times);
}

}  // namespace

ViewId linked_view(std::string_view name) {
    const auto view = view_named(name);
    if (view) return *view;
    const auto known = view_names();
    const std::vector<std::string_view> names(known.begin() + 1, known.end());  // the first is the dashboard
    throw Error(ErrorKind::invalid, "", "",
                shown_text(name) + " is no view; the closest is " + std::string(nearest(name, names)));
}

std::string linked_page(std::string_view view, std::string_view name) {
    std::string page = page_words(name);
    std::span<const std::string_view> pages;
    for (const LessonView& v : lesson_views())
        if (v.name == view) pages = v.pages;
    if (std::find(pages.begin(), pages.end(), page) != pages.end()) return page;
    throw Error(ErrorKind::invalid, "", "",
                "the view " + shown_text(view) + " has no page \"" + shown_text(page) + "\""
                    + (pages.empty() ? "" : "; there are: " + join(pages, ", ")));
}

std::string write_link(const Link& link) {
    std::string out;
    const auto add = [&](std::string_view key, const std::string& value) {
        out += (out.empty() ? "#" : "&") + std::string(key) + "=" + value;
    };
    if (!link.plan.empty()) add("plan", base64url(packed(link.plan)));
    if (link.view) {
        const auto is_page = [&](const NamedPage& p) { return p.name == link.page && p.view == *link.view; };
        const bool named = std::ranges::any_of(named_pages(), is_page);
        add("view", named ? link.page : std::string(view_of(*link.view).name));
        std::string page = named ? "" : link.page;
        std::replace(page.begin(), page.end(), ' ', '-');
        if (!page.empty()) add("page", page);
    }
    if (!link.lesson.empty()) add("lesson", link.lesson);
    if (link.step > 0) add("step", std::to_string(link.step));
    if (link.bare) out += out.empty() ? "#bare" : "&bare";
    if (link.theme) add("theme", std::string(name_of(*link.theme)));
    if (link.text != 1) add("text", three_digits(link.text));
    return out;
}

bool is_link(std::string_view text) {
    const std::size_t at = text.find('#');
    if (at == std::string_view::npos || text.substr(0, at).find_first_of(" \n{") != std::string_view::npos)
        return false;
    const std::string_view end = text.substr(at + 1);
    return end.starts_with("plan=") || end.starts_with("view=") || end.starts_with("lesson=")
           || end.starts_with("bare&") || end == "bare";
}

Link read_link(std::string_view text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ' || text.back() == '\r'))
        text.remove_suffix(1);
    text.remove_prefix(std::min(text.size(), text.find('#') + 1));
    Link link;
    std::string_view page;
    while (!text.empty()) {
        const std::string_view part = text.substr(0, text.find('&'));
        text.remove_prefix(std::min(text.size(), part.size() + 1));
        const std::size_t equal = part.find('=');
        const std::string_view key = part.substr(0, equal),
                               value = equal == std::string_view::npos ? "" : part.substr(equal + 1);
        if (key == "plan") {
            link.plan = unpacked(bytes_of(value));
        } else if (key == "view") {
            link.view = view_named(value);
            if (link.view && view_of(*link.view).name != value) link.page = value;
            if (!link.view && value != "dashboard") damaged("view=" + shown_text(value) + " is no view");
        } else if (key == "lesson") {
            link.lesson = id_of_lesson(value);
        } else if (key == "step") {
            link.step = number_of(value);
        } else if (key == "page") {
            page = value;
        } else if (key == "bare") {
            link.bare = true;
        } else if (key == "theme") {
            link.theme = theme_named(value);
        } else if (key == "text") {
            link.text = type_of(value);
        } else {
            damaged("\"" + shown_text(key)
                    + "\" says nothing here; it knows plan, view, page, lesson, step, bare, theme and text");
        }
    }
    if (!page.empty()) {
        if (!link.view) damaged("page=" + shown_text(page) + " needs a view");
        try {
            link.page = linked_page(view_of(*link.view).name, page);
        } catch (const Error& e) {
            damaged(e.message());
        }
    }
    return link;
}

namespace {

// The first page of a design review.
constexpr std::string_view kReview = "review";

constexpr int kMostTries = 12;      // at another height
constexpr double kUntouched_s = 2;  // for so long nobody has edited the plan of a picture of the whole window

// Says what changes memory and step of two plans that are cut in the same way.
std::string brief_modifiers(const Plan& p) {
    std::string out;
    if (p.training.recompute.kind != Recompute::none)
        out += sentence(", ", name_of(p.training.recompute.kind), " recomputation");
    if (p.layout.tp > 1 && !p.layout.sequence_parallel) out += ", without SP";
    return out;
}

// "Llama 3 8B on 64 × H100 SXM: cp 8, dp_shard 8; ZeRO 3. A batch of 64 samples of 8,192 tokens, full
// recomputation."
std::string brief_line(const Plan& p, bool names_model) {
    if (is_stand_in(p)) return "Model and cluster are not known.";
    std::string factors;
    for (const Axis a : p.layout.order)
        if (const std::int64_t f = factor_in_force(p, a); f > 1)
            factors += sentence(factors.empty() ? "" : ", ", name_of(a), " ", f);
    return sentence(names_model ? p.model.name + " on " : "", p.cluster.gpus, " × ",
                    p.cluster.gpu.name.empty() ? p.cluster.gpu.id : p.cluster.gpu.name, ": ",
                    factors.empty() ? "nothing is cut" : sentence(factors, "; ZeRO ", p.layout.zero),
                    ". A batch of ", p.training.global_batch, " samples of ", p.training.sequence_length,
                    " tokens", brief_modifiers(p), ".");
}

// Returns what stands around one view on a sheet by itself.
ViewSheet sheet_around(const Scene& scene, ViewId view, const PictureRequest& request,
                       const HiddenAnswer& hidden, const ViewStates& states) {
    ViewSheet out;
    if (request.title) out.title = title_of(scene.plan);
    // The title of a lesson's step names no model.
    const bool named = out.title.find(scene.plan.model.name) != std::string::npos;
    if (request.caption) out.caption = brief_line(scene.plan, !named);
    out.covered = is_covered(hidden, view, states);
    out.figures_covered = hidden.covers(kFiguresPlace);
    out.memory_said = hidden.memory_said;
    return out;
}

// Returns the screen of the request; without one, that of a new window with the request's selection.
Screen screen_of(const PictureRequest& request, const Evaluation& evaluation) {
    if (request.screen) {
        Screen screen = *request.screen;
        if (request.run) screen.run = request.run;
        static_cast<void>(show_named_view(screen.views, request.view));
        if (request.mesh_figure > 0) choose_figure(screen.views.mesh, request.mesh_figure);
        stand_still(screen.views);
        return screen;
    }
    Screen screen;
    screen.settings.theme = request.theme;
    screen.selection = selection_at_first(evaluation);
    if (request.group) screen.selection.choose(*request.group);
    screen.hidden_answer = request.hidden_answer;
    screen.task = request.task;
    screen.run = request.run;
    screen.views.mesh.plain = request.uncolored;
    screen.views.compare.moves = request.moves;
    screen.views.mesh.figure = request.mesh_figure;
    if (const auto view = show_named_view(screen.views, request.view); view && !request.page.empty())
        show_named_page(screen.views, *view, request.page);
    if (request.rank >= 0) {
        screen.selection.rank = request.rank;
        screen.selection.topic = Selection::Topic::rank;
    }
    return screen;
}

std::vector<std::string_view> names_of_pictures() {
    std::vector<std::string_view> out;
    for (const std::string_view name : view_names()) {
        out.push_back(name);
        if (out.size() == 1) out.push_back(kReview);
    }
    return out;
}

void refuse_unfit(const PictureRequest& request, std::string_view ending) {
    const auto known = picture_views();
    if (std::find(known.begin(), known.end(), request.view) == known.end()) {
        const std::string all = join(known, ", ");
        throw Error(ErrorKind::usage, "", "",
                    "there is no picture of \"" + request.view + "\"; the closest is \""
                        + std::string(nearest(request.view, {known.begin(), known.end()}))
                        + "\"; there are: " + all);
    }
    if (ending != "png" && ending != "svg" && ending != "pdf")
        throw Error(ErrorKind::usage, "", "",
                    "a picture is .png, .svg or .pdf, not \"." + std::string(ending) + "\"");
    const bool as_high = request.size.y == 0;
    if (!(request.size.x >= kLeastPicture.x && (as_high || request.size.y >= kLeastPicture.y)
          && request.size.x <= kMostPicture.x && request.size.y <= kMostPicture.y))
        throw Error(ErrorKind::usage, "", "", "a picture is " + picture_limits_words());
    if (!(request.scale >= 0.5f && request.scale <= 8))
        throw Error(ErrorKind::usage, "", "", "a scale is 0.5 to 8");
    if (request.after && (ending != "png" || request.view != kDashboardName))
        throw Error(ErrorKind::usage, "", "", "only a PNG of the dashboard moves with an edit");
    const Vec2 drawn = request.size * (1 / request.text);
    if (!(request.text >= kLeastType && request.text <= kMostType) || drawn.x < kLeastPicture.x
        || (!as_high && drawn.y < kLeastPicture.y))
        throw Error(ErrorKind::usage, "", "",
                    "type is 0.5 to 4 times as large, and a picture must have room for it");
}

std::string picture_of_review(const Presets& presets, const Plan& plan, const PictureRequest& request,
                              std::string_view ending, const FontFiles& fonts) {
    ReviewRequest review;
    review.size = request.size;
    review.theme = request.screen ? request.screen->settings.theme : request.theme;
    review.pages = {ReviewPage::summary};
    review.first_page_only = true;
    review.text_runs = request.text_runs;
    review.outlines = request.outlines;
    Plan shown = plan;
    shown.scene = scene_as_saved(ViewStates{}, Selection{}, std::nullopt);
    return make_review_picture(presets, shown, review, ending, request.scale, fonts);
}

// Takes as B what the decision on the plan proposes.
void propose(const Plan& plan, const Evaluation& now, CompareViewState& compare) {
    if (!now.step) return;
    const std::optional<PlanDecision> decision = decide(plan, now);
    if (decision && decision->proposal)
        compare.propose(with_true_title(plan, in_place_of(plan, decision->proposal->plan)));
}

// Adds to what the search found what the decision on the plan proposes.
void say_beside(const Plan& plan, const Evaluation& now, SearchViewState& search) {
    std::optional<PlanDecision> decision = decide_by_two_edits(plan, now);
    if (!decision || !search.found || !search.found->report) return;
    search.beside = beside_words(plan, with_search(std::move(*decision), now, *search.found->report));
}

// Works out what the window makes in the background: a tornado, compared plans and the way between them.
void work_out(const PictureRequest& request, const Presets& presets, const Plan& plan,
              const Evaluation& evaluation, std::uint64_t revision, ViewStates& views) {
    StepViewState& step = views.step;
    const bool tornado = step.part == StepViewState::kSensitivity || wants_tornado_table(views);
    if (request.view == view_of(ViewId::step).name && tornado && evaluation.valid) {
        step.tornado.of.forget();
        step.tornado.of.update(revision, [&] { return sensitivity_of(plan, presets); });
    }
    if (request.view == view_of(ViewId::search).name && evaluation.valid)
        say_beside(plan, evaluation, views.search);
    if (request.view == view_of(ViewId::scale).name && evaluation.valid) {
        ScaleViewState& scale = views.scale;
        scale.of.forget();
        const bool outlined = request.outlined && !request.compared.empty();
        const Plan* other = request.reaches ? &*request.reaches : nullptr;
        scale.put_beside(outlined ? &request.compared.front() : other, outlined, revision);
        scale.of.update({revision, scale.page},
                        [&] { return scale_picture_of(plan, scale.beside, scale_request(scale.page)); });
    }
    for (const Plan& other : request.compared) {
        CompareViewState& c = views.compare;
        if (c.kept.empty())
            c.pin(other, assess(other));
        else
            (void)c.add(other, assess(other));
    }
    if (request.view != view_of(ViewId::compare).name || !evaluation.valid) return;
    CompareViewState& compare = views.compare;
    const KeptPlan* const a = compare.pinned();
    if (a == nullptr) return propose(plan, evaluation, compare);
    compare.path.forget();
    compare.path.update({revision, compare.version}, [&] { return path_between(*a->plan, plan); });
}

// Draws frames until nothing is worked out in the background any more.
void settle(const Shell& shell, const std::function<void(int)>& frames) {
    if (!shell.works_beside() && !shell.wants_frame()) return;
    while (shell.works_beside()) {
        if (kHasThreads)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        else
            run_slices(0.1);
        frames(1);
    }
    frames(2);
}

}  // namespace

std::span<const std::string_view> picture_views() {
    static const std::vector<std::string_view> names = names_of_pictures();
    return names;
}

namespace {

bool shows(ViewId id, const PictureRequest& request, const Screen& screen) {
    if (request.view != kDashboardName) return view_named(request.view) == id;
    const ViewId in_pane = screen.views.in_pane[static_cast<std::size_t>(view_of(id).pane)];
    return (screen.full ? *screen.full : in_pane) == id;
}

// Returns the text of the plan in the picture: it opens elsewhere, with the view of the picture. A run's
// stand-in is no plan to hand on: empty.
std::string plan_inside(const Presets& presets, const Plan& plan, const PictureRequest& request,
                        const Screen& screen) {
    if (is_stand_in(plan)) return {};
    Plan written = without_own_presets(plan, presets);
    const bool dashboard = request.view == kDashboardName;
    written.scene =
        scene_as_saved(screen.views, screen.selection, dashboard ? std::nullopt : view_named(request.view));
    return write_plan(written);
}

// Takes the pictures of an edit: the window before, how what it shows glides, the outlines of before, and the
// window after.
std::vector<MovingFrame> frames_of_edit(Shell& shell, Offscreen& surface, const PictureRequest& request) {
    constexpr double kBefore_s = 1.6, kAfter_s = 2.4, kEach_s = 0.1, kGlide_s = 0.8, kOutlines_s = 1.2,
                     kSettled_s = 4;
    std::vector<MovingFrame> out;
    double at_s = kUntouched_s + 1;
    const auto take = [&](double seconds) {
        surface.frame({}, at_s, [&](const FrameInfo& info) { shell.frame(info); });
        out.push_back({surface.read(), seconds});
    };
    take(kBefore_s);
    shell.edit_plan(*request.after, request.after_words);
    const double edited_s = at_s;
    for (; at_s < edited_s + kGlide_s; at_s += kEach_s) take(kEach_s);
    take(kOutlines_s);
    at_s = edited_s + kSettled_s;
    const auto wait = [&](int count) {
        for (int i = 0; i < count; ++i)
            surface.frame({}, at_s += 1 / 60.0, [&](const FrameInfo& info) { shell.frame(info); });
    };
    wait(2);
    settle(shell, wait);
    take(kAfter_s);
    return out;
}

// Returns what a PDF reads aloud in the place of the picture. A lesson's picture says no figures: it may
// stand next to the question about them.
std::string instead_of_picture(const PictureRequest& request, const Plan& plan, const Evaluation& e,
                               const HiddenAnswer& hidden) {
    std::string out = "Picture: " + std::string(request.view) + ".";
    if (request.in_lesson || request.onto != nullptr || hidden.covers(kFiguresPlace)) return out;
    out += " " + title_of(plan) + ". " + brief_line(plan, false);
    const PlanVerdict verdict = verdict_of(e);
    return verdict.sentence.empty() ? out : out + " " + verdict.sentence;
}

std::string draw_picture(const Presets& presets, const Plan& plan, const PictureRequest& request,
                         std::string_view ending, const FontFiles& fonts) {
    if (request.view == kReview) return picture_of_review(presets, plan, request, ending, fonts);
    const bool vector = ending != "png", as_high = request.size.y == 0;
    Vec2 size = request.size;
    if (as_high) size.y = std::max(kLeastPicture.y, std::round(size.x * 9 / 16));
    const float scale = vector ? 1 : request.scale;
    Offscreen surface(size, scale, fonts);
    surface.record_text(request.text_runs != nullptr);
    Window window(presets, plan, {});
    window.evaluate();
    Screen screen = screen_of(request, window.evaluation);
    if (request.reaches) {
        screen.axes.of_pair = true;
        extend_axes(window.evaluation, screen.axes);
        extend_axes(assess(*request.reaches), screen.axes);
    }
    // The window searches in the background; here the search is done before the first frame.
    if (shows(ViewId::search, request, screen) && window.evaluation.valid)
        search_to_the_end(plan, screen.views.search);
    const std::string text = plan_inside(presets, plan, request, screen);
    std::optional<Shell> shell;  // of the whole window
    if (request.view == kDashboardName) {
        Host host;
        host.searches = true;
        shell.emplace(presets, plan, std::move(host));
        shell->show(screen);
        shell->ui_state().without_bars = true;
    } else {
        window.show(screen);
        window.state.for_picture = true;
        window.state.picture_grows = as_high;
        work_out(request, presets, plan, window.evaluation, window.evaluated, window.views);
    }
    const auto draw = [&](const FrameInfo& info, Page* page) {
        if (shell) return shell->frame(info, page);
        Ui ui(window.state, info, theme_of(window.settings.theme), frame_canvas(info, page));
        Hover next;
        Scene scene = window.scene(next);
        scene.in_lesson = scene.in_lesson || request.in_lesson;
        const KeptPlan* const a = request.outlined ? window.views.compare.pinned() : nullptr;
        if (a != nullptr) keep_outline(scene, *a->evaluation);
        const ViewId view = *view_named(request.view);
        draw_view_sheet(ui, scene, view, window.views, window.evaluated,
                        sheet_around(scene, view, request, window.hidden_answer, window.views));
    };
    const auto hidden = [&] { return (shell ? shell->ui_state() : window.state).hidden; };
    // The picture grows in height until all fits. It never shrinks: a wider part may need less height again.
    for (int i = 0; as_high && i < kMostTries; ++i) {
        surface.frame({}, i / 60.0, [&](const FrameInfo& info) { draw(info, nullptr); });
        const float highest = kMostPicture.y / request.text;
        if (hidden() <= 0 || size.y >= highest) break;
        size.y = std::min(highest, size.y + hidden());
        surface.resize(size, scale);
    }
    double from_s = 0;
    const auto frames = [&](int count) {
        for (int i = 0; i < count; ++i)
            surface.frame({}, from_s + i / 60.0, [&](const FrameInfo& info) { draw(info, nullptr); });
    };
    frames(2);  // the first lays out, the second draws what the first found out
    if (shell) {
        from_s = kUntouched_s;  // by then the window looks for better layouts, and so does its picture
        frames(1);
        settle(*shell, frames);
    }
    if (request.text_runs != nullptr) *request.text_runs = surface.text_runs();
    if (request.fits != nullptr && !(*request.fits = hidden() <= 0)) return {};
    if (request.onto != nullptr) {
        request.onto->begin_piece("Figure",
                                  instead_of_picture(request, plan, window.evaluation, window.hidden_answer));
        surface.frame({}, from_s + 2 / 60.0, [&](const FrameInfo& info) { draw(info, request.onto); });
        request.onto->end_piece();
        return {};
    }
    std::vector<PngText> words{{"Title", title_of(plan)}};
    if (!text.empty()) words.push_back({"pentamesh.plan", text});
    if (shell && request.after) return encode_moving_png(frames_of_edit(*shell, surface, request), words);
    if (!vector) return encode_png(surface.read(), words);
    const PageFormat format = ending == "pdf"    ? PageFormat::pdf
                              : request.outlines ? PageFormat::svg_outlines
                                                 : PageFormat::svg;
    Page page(format, size, fonts, title_of(plan), text);
    page.begin_piece("Figure", instead_of_picture(request, plan, window.evaluation, window.hidden_answer));
    surface.frame({}, from_s + 2 / 60.0, [&](const FrameInfo& info) { draw(info, &page); });
    page.end_piece();
    return page.finish();
}

}  // namespace

std::string make_picture(const Presets& presets, const Plan& plan, const PictureRequest& request,
                         std::string_view ending, const FontFiles& fonts) {
    refuse_unfit(request, ending);
    PictureRequest drawn = request;  // larger type: less of the same is drawn, larger
    drawn.size = request.size * (1 / request.text);
    drawn.scale = request.scale * request.text;
    return draw_picture(presets, plan, drawn, ending, fonts);
}

std::string plan_in_picture(const Presets& presets, const Plan& plan, const PictureRequest& request) {
    return plan_inside(presets, plan, request, screen_of(request, assess(plan)));
}

}  // namespace pentamesh::ui
