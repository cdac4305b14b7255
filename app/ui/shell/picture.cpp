#include "app/ui/shell/picture.h"

#include "app/ui/kit/format.h"
#include "core/base/error.h"
#include "core/io/plan_json.h"
#include "core/plan/factors.h"
#include "core/plan/names.h"
#include "render/page.h"
#include "render/png.h"

#include <algorithm>
#include <array>

namespace pentamesh::ui {

namespace {

constexpr std::array<std::string_view, 11> kViews{"dashboard", "review",   "mesh", "zoom",    "shards", "map",
                                                  "memory",    "timeline", "comm", "tensors", "step"};

struct ViewStates {
    MeshViewState mesh;
    ShardsViewState shards;
    MemoryViewState memory;
    TimelineViewState timeline;
    CommViewState comm;
    TensorsViewState tensors;
    MapViewState map;
    StepViewState step;
    ZoomViewState zoom;
};

void draw_one(Ui& ui, Rect room, Scene& scene, std::string_view view, ViewStates& states) {
    Canvas& c = ui.canvas();
    c.push_clip(room.inset(-2));
    Rect head = room.cut_top(24);
    room.cut_top(4);
    const auto titled = [&](ViewId id) {
        const float w = c.text_width(title_of(id), ui.title());
        c.text_in(head, title_of(id), ui.title());
        head.cut_left(w + 16);
    };
    if (view == "mesh") {
        titled(ViewId::mesh);
        draw_mesh_words(ui, head, room, scene, states.mesh, 1);
        draw_mesh_cells(ui, scene, states.mesh);
    } else if (view == "shards") {
        titled(ViewId::shards);
        draw_shards(ui, head, room, scene, states.shards, 1);
    } else if (view == "zoom") {
        titled(ViewId::zoom);
        draw_zoom(ui, {}, room, scene, states.zoom, 1);
    } else if (view == "map") {
        titled(ViewId::map);
        draw_map(ui, head, room, scene, states.map, 1);
    } else if (view == "memory") {
        titled(ViewId::memory);
        draw_memory(ui, head, room, scene, states.memory);
    } else if (view == "timeline") {
        titled(ViewId::timeline);
        draw_timeline(ui, head, room, scene, states.timeline, 1);
    } else if (view == "comm") {
        titled(ViewId::comm);
        draw_comm(ui, head, room, scene, states.comm, 1);
    } else if (view == "tensors") {
        titled(ViewId::tensors);
        draw_tensors(ui, head, room, scene, states.tensors, 1);
    } else if (view == "step") {
        titled(ViewId::step);
        static_cast<void>(draw_step(ui, head, room, scene, states.step, 1));
    }
    c.pop_clip();
}

void draw_problems(Ui& ui, Rect room, const Scene& scene) {
    Canvas& c = ui.canvas();
    ui.section(room.cut_top(18), "PROBLEMS AND ADVICE", std::to_string(scene.evaluation.problems.size()));
    room.cut_top(6);
    if (scene.evaluation.problems.empty()) c.text(room.min(), "Nothing to mend.", ui.small());
    for (const Problem& p : scene.evaluation.problems) {
        const float h = c.paragraph_height(room.w - 18, p.message, ui.style(12), 18);
        if (h > room.h) break;
        const Color mark = p.severity == Severity::error     ? ui.theme().bad
                           : p.severity == Severity::warning ? ui.theme().amber
                                                             : ui.theme().link;
        c.rect({room.x, room.y + 5, 8, 8}, mark, p.severity == Severity::info ? 4.0f : 1.0f);
        c.paragraph({room.x + 18, room.y, room.w - 18, h}, p.message, ui.style(12), 18);
        room.cut_top(h + 8);
    }
}

void draw_review(Ui& ui, Rect room, Scene& scene, ViewStates& states) {
    constexpr float kGap = 24;
    Rect right = room.cut_right(room.w * 0.36f);
    room.cut_right(kGap);
    Rect mesh = room.cut_top(room.h * 0.46f);
    room.cut_top(kGap / 2);
    Rect memory = room.cut_top(room.h * 0.45f);
    room.cut_top(kGap / 2);
    draw_one(ui, mesh, scene, "mesh", states);
    draw_one(ui, memory, scene, "memory", states);
    draw_one(ui, room, scene, "timeline", states);
    const Rect comm = right.cut_top(right.h * 0.56f);
    right.cut_top(kGap / 2);
    draw_one(ui, comm, scene, "comm", states);
    draw_problems(ui, right, scene);
}

void draw_sheet(Ui& ui, Scene& scene, std::string_view view, ViewStates& states) {
    const Vec2 size = ui.frame().size;
    Canvas& c = ui.canvas();
    c.rect({0, 0, size.x, size.y}, ui.theme().window);
    Rect room = Rect{0, 0, size.x, size.y}.inset(24, 18);
    const Plan& p = scene.plan;
    c.text_in(room.cut_top(24), p.name.empty() ? p.model.name : p.name,
              {Face::semibold, 16, ui.theme().text, 0});
    const std::string line = assumptions_line(p, scene.evaluation);
    room.cut_top(c.paragraph(room, line, ui.small(), 18) + 8);
    const Rect status = room.cut_bottom(24);
    if (view == "review")
        draw_review(ui, room, scene, states);
    else
        draw_one(ui, room, scene, view, states);
    draw_status(ui, {status.x - 16, status.y, status.w + 32, status.h}, scene, -1, nullptr);
}

}  // namespace

std::span<const std::string_view> picture_views() {
    return kViews;
}

std::string assumptions_line(const Plan& p, const Evaluation& e) {
    const Layout& l = p.layout;
    std::string s = p.model.name + ", " + count_text(static_cast<double>(e.parameters.total))
                    + " parameters, on " + thousands(p.cluster.gpus) + " × "
                    + (p.cluster.gpu.name.empty() ? p.cluster.gpu.id : p.cluster.gpu.name) + " (";
    for (const Tier& t : p.cluster.tiers)
        s += (&t == p.cluster.tiers.data() ? "" : ", ") + t.name + " " + bandwidth_text(t.bytes_per_s)
             + (&t == &p.cluster.tiers.back() ? "" : " to " + thousands(t.domain))
             + (t.oversubscription > 1 ? " 1:" + trimmed(t.oversubscription) : "");
    std::string factors;
    for (const Axis a : l.order) {
        const std::int64_t f = a == Axis::dp_replicate ? resolved_dp_replicate(p) : factor_of(l, a);
        if (f > 1) factors += " " + std::string(name_of(a)) + " " + thousands(f);
    }
    s += factors.empty() ? "). Layout: nothing is parallel" : "). Layout, inner to outer:" + factors;
    if (l.ep > 1 && l.etp) s += " etp " + thousands(*l.etp);
    s += "; ZeRO-" + std::to_string(l.zero);
    if (l.tp > 1) s += l.sequence_parallel ? ", sequence parallel" : ", no sequence parallel";
    if (l.pp > 1)
        s += ", " + std::string(name_of(l.schedule))
             + (l.virtual_stages > 1 ? " × " + std::to_string(l.virtual_stages) : "");
    const Training& t = p.training;
    s += ". Batch " + thousands(t.global_batch) + " × " + thousands(t.sequence_length)
         + " tokens, micro-batch " + thousands(t.micro_batch) + ", " + std::string(name_of(t.compute))
         + ", gradients " + std::string(name_of(t.gradients)) + ", " + std::string(name_of(t.optimizer))
         + ", recompute " + std::string(name_of(t.recompute)) + ".";
    return s;
}

std::string make_picture(const Presets& presets, const Plan& plan, const PictureRequest& request,
                         std::string_view ending, const FontFiles& fonts) {
    if (std::find(kViews.begin(), kViews.end(), request.view) == kViews.end()) {
        std::string all;
        for (const auto v : kViews) all += (all.empty() ? "" : ", ") + std::string(v);
        throw Error(ErrorKind::usage, "", "",
                    "there is no picture of \"" + request.view + "\"; there are: " + all);
    }
    if (ending != "png" && ending != "svg" && ending != "pdf")
        throw Error(ErrorKind::usage, "", "",
                    "a picture is .png, .svg or .pdf, not \"." + std::string(ending) + "\"");
    if (!(request.size.x >= 200 && request.size.y >= 150 && request.size.x <= 20000
          && request.size.y <= 20000))
        throw Error(ErrorKind::usage, "", "", "a picture is 200x150 to 20000x20000");
    if (!(request.scale >= 0.5f && request.scale <= 8))
        throw Error(ErrorKind::usage, "", "", "a scale is 0.5 to 8");
    const bool vector = ending != "png";
    Offscreen surface(request.size, vector ? 1 : request.scale, fonts);
    surface.record_text(request.text_runs != nullptr);
    const std::string text = write_plan(plan);
    Shell shell(presets, plan, {});
    shell.settings().theme = request.theme;
    shell.selection().axis = request.axis;
    shell.selection().expert = is_expert(request.axis);
    if (request.rank >= 0) {
        shell.selection().rank = request.rank;
        shell.selection().topic = Selection::Topic::rank;
    }
    UiState state;
    state.still = true;
    ViewStates states;
    Selection selection = shell.selection();
    if (request.rank >= 0 && request.rank < shell.evaluation().mesh.world)
        show_rank(states.zoom, plan, shell.evaluation().mesh, request.rank);
    const auto draw = [&](const FrameInfo& info, Page* page) {
        if (request.view == "dashboard") {
            shell.frame(info, page);
            return;
        }
        Ui ui(state, info, theme_of(request.theme), frame_canvas(info, page));
        Hover none, next;
        Scene scene{plan, shell.evaluation(), presets, selection, none, next, -1, nullptr, &shell.glossary()};
        draw_sheet(ui, scene, request.view, states);
    };
    // The first frame lays out, the second draws what the first found out.
    for (int i = 0; i < 2; ++i)
        surface.frame({}, i / 60.0, [&](const FrameInfo& info) { draw(info, nullptr); });
    if (request.text_runs != nullptr) *request.text_runs = surface.text_runs();
    if (!vector)
        return encode_png(surface.read(), {{"Title", plan.name.empty() ? plan.model.name : plan.name},
                                           {"pentamesh.plan", text}});
    Page page(ending == "svg" ? PageFormat::svg : PageFormat::pdf, request.size, fonts, plan.name, text);
    surface.frame({}, 2 / 60.0, [&](const FrameInfo& info) { draw(info, &page); });
    return page.finish();
}

}  // namespace pentamesh::ui
