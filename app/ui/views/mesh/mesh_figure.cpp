#include "app/ui/views/mesh/mesh_figure.h"

#include "app/ui/kit/data_table.h"
#include "app/ui/kit/format.h"
#include "app/ui/scene/colors.h"
#include "app/ui/views/mesh/mesh_cells.h"
#include "app/ui/views/mesh/mesh_draw.h"
#include "app/ui/views/mesh/mesh_menu.h"
#include "app/ui/views/mesh/view.h"
#include "core/mesh/places.h"
#include "core/runs/measured.h"
#include "core/runs/run_layout.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace pentamesh::ui {

using runs::RunFile;
using runs::RunPart;

namespace {

constexpr auto kFigures = std::to_array<MeshFigure>({
    {"groups", "groups"},
    {"memory", "memory used", FigureOf::plan, FigureKind::memory},
    {"work", "compute of a step", FigureOf::plan, FigureKind::compute},
    {"idle", "idle in the pipeline", FigureOf::plan, FigureKind::idle},
    {"waits", "waits for all axes", FigureOf::plan, FigureKind::waits},
    {"waits-tp", "waits for tp", FigureOf::plan, FigureKind::waits, RunPart::tp},
    {"waits-cp", "waits for cp", FigureOf::plan, FigureKind::waits, RunPart::cp},
    {"waits-ep", "waits for ep", FigureOf::plan, FigureKind::waits, RunPart::ep},
    {"waits-pp", "waits for pp", FigureOf::plan, FigureKind::waits, RunPart::pp},
    {"waits-dp", "waits for dp", FigureOf::plan, FigureKind::waits, RunPart::dp},
    {"run-step", "measured step", FigureOf::run, FigureKind::step},
    {"run-work", "measured compute", FigureOf::run, FigureKind::compute},
    {"run-idle", "measured idle", FigureOf::run, FigureKind::idle},
    {"run-waits", "measured waits for all axes", FigureOf::run, FigureKind::waits},
    {"run-waits-tp", "measured waits for tp", FigureOf::run, FigureKind::waits, RunPart::tp},
    {"run-waits-cp", "measured waits for cp", FigureOf::run, FigureKind::waits, RunPart::cp},
    {"run-waits-ep", "measured waits for ep", FigureOf::run, FigureKind::waits, RunPart::ep},
    {"run-waits-pp", "measured waits for pp", FigureOf::run, FigureKind::waits, RunPart::pp},
    {"run-waits-dp", "measured waits for dp", FigureOf::run, FigureKind::waits, RunPart::dp},
    {"run-total-tp", "measured tp, with what is hidden", FigureOf::run, FigureKind::total, RunPart::tp},
    {"run-total-cp", "measured cp, with what is hidden", FigureOf::run, FigureKind::total, RunPart::cp},
    {"run-total-ep", "measured ep, with what is hidden", FigureOf::run, FigureKind::total, RunPart::ep},
    {"run-total-pp", "measured pp, with what is hidden", FigureOf::run, FigureKind::total, RunPart::pp},
    {"run-total-dp", "measured dp, with what is hidden", FigureOf::run, FigureKind::total, RunPart::dp},
    {"off-step", "step, measured less planned", FigureOf::difference, FigureKind::step},
    {"off-work", "compute, measured less planned", FigureOf::difference, FigureKind::compute},
    {"off-idle", "idle, measured less planned", FigureOf::difference, FigureKind::idle},
    {"off-waits", "waits for all axes, measured less planned", FigureOf::difference, FigureKind::waits},
    {"off-waits-tp", "waits for tp, measured less planned", FigureOf::difference, FigureKind::waits,
     RunPart::tp},
    {"off-waits-cp", "waits for cp, measured less planned", FigureOf::difference, FigureKind::waits,
     RunPart::cp},
    {"off-waits-ep", "waits for ep, measured less planned", FigureOf::difference, FigureKind::waits,
     RunPart::ep},
    {"off-waits-pp", "waits for pp, measured less planned", FigureOf::difference, FigureKind::waits,
     RunPart::pp},
    {"off-waits-dp", "waits for dp, measured less planned", FigureOf::difference, FigureKind::waits,
     RunPart::dp},
});

constexpr std::array kCommunication{RunPart::tp, RunPart::cp, RunPart::ep,
                                    RunPart::pp, RunPart::dp, RunPart::unnamed};

// Returns true if the file divides the step of one rank of this mesh.
bool is_of_rank(const RunFile& f, const Mesh& mesh) {
    return f.kind == runs::RunFileKind::kineto && f.rank >= 0 && f.rank < mesh.world
           && (f.world < 0 || f.world == mesh.world);
}

std::optional<double> sum_of_waits(const RunFile& f) {
    std::optional<double> sum;
    for (const RunPart p : kCommunication)
        if (f.parts[p]) sum = sum.value_or(0) + f.parts[p]->measured_s;
    return sum;
}

// Returns what a file measured; nullopt where it does not say.
std::optional<double> measured_in(const RunFile& f, const MeshFigure& figure) {
    const auto part = [&](RunPart p) -> std::optional<double> {
        if (!f.parts[p]) return std::nullopt;
        return figure.kind == FigureKind::total ? f.parts[p]->total_s : f.parts[p]->measured_s;
    };
    switch (figure.kind) {
    case FigureKind::step: return f.step_s > 0 ? std::optional(f.step_s) : std::nullopt;
    case FigureKind::compute: return part(RunPart::compute);
    case FigureKind::idle: return part(RunPart::idle);
    case FigureKind::waits:
    case FigureKind::total: return figure.axis ? part(*figure.axis) : sum_of_waits(f);
    case FigureKind::memory: break;
    }
    return std::nullopt;
}

// Returns what the plan has in its place, as `pentamesh measured` divides it.
double planned_for(const Scene& scene, const RunFile& f, const MeshFigure& figure) {
    const Evaluation& e = scene.evaluation;
    if (figure.kind == FigureKind::step) return e.step->time_s;
    EnumArray<RunPart, bool> measured{};
    for (const RunPart p : all_of<RunPart>()) measured[p] = f.parts[p].has_value();
    const auto parts = runs::predict_parts(e, runs::Division::trace, stage_of_rank(e.mesh, f.rank), measured);
    if (figure.kind == FigureKind::compute) return parts[RunPart::compute];
    if (figure.kind == FigureKind::idle) return parts[RunPart::idle];
    if (figure.axis) return parts[*figure.axis];
    double sum = 0;
    for (const RunPart p : kCommunication) sum += parts[p];
    return sum;
}

double planned_in(const StageTime& t, const MeshFigure& figure) {
    if (figure.kind == FigureKind::compute) return t.compute_s;
    if (figure.kind == FigureKind::idle) return t.idle_s;
    double sum = 0;
    for (const GroupKind k : all_of<GroupKind>())
        if (!figure.axis || runs::part_of_kind(k) == *figure.axis) sum += t.exposed_s[k];
    return sum;
}

std::vector<double> values_by_stage(const Scene& scene, const MeshFigure& figure) {
    const Evaluation& e = scene.evaluation;
    std::vector<double> out;
    if (figure.kind == FigureKind::memory)
        for (const StageMemory& s : e.memory.stage) out.push_back(s.total());
    else if (e.step)
        for (const StageTime& t : stage_times(scene.plan, e.comm, e.work, *e.step))
            out.push_back(planned_in(t, figure));
    if (std::ssize(out) != e.mesh.dense[Axis::pp].size) out.clear();
    return out;
}

std::vector<std::pair<std::int64_t, double>> values_by_rank(const Scene& scene, const MeshFigure& figure) {
    std::vector<std::pair<std::int64_t, double>> out;
    const bool differs = figure.of == FigureOf::difference;
    if (scene.run == nullptr || (differs && !scene.evaluation.step)) return out;
    for (const RunFile& f : scene.run->files) {
        if (!is_of_rank(f, scene.evaluation.mesh)) continue;
        const std::optional<double> value = measured_in(f, figure);
        if (value) out.emplace_back(f.rank, *value - (differs ? planned_for(scene, f, figure) : 0));
    }
    // The first of two files of one rank counts, as where calls are matched.
    std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    out.erase(
        std::unique(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.first == b.first; }),
        out.end());
    return out;
}

std::size_t stage_at(const Factor& pp, std::int64_t rank) {
    return static_cast<std::size_t>(rank / pp.stride % pp.size);
}

}  // namespace

std::span<const MeshFigure> mesh_figures() {
    return kFigures;
}

std::optional<int> figure_named(std::string_view name) {
    const auto at =
        std::find_if(kFigures.begin(), kFigures.end(), [&](const MeshFigure& f) { return f.name == name; });
    if (at == kFigures.end()) return std::nullopt;
    return static_cast<int>(at - kFigures.begin());
}

bool offers_figure(const Scene& scene, const MeshFigure& figure) {
    const Evaluation& e = scene.evaluation;
    if (figure.of == FigureOf::groups) return true;
    if (!e.valid) return false;
    if (figure.of != FigureOf::plan)
        return scene.run != nullptr && std::ranges::any_of(scene.run->files, [&](const RunFile& f) {
                   return is_of_rank(f, e.mesh) && measured_in(f, figure).has_value();
               });
    if (figure.kind == FigureKind::memory) return true;
    if (!e.step) return false;
    if (figure.kind == FigureKind::idle) return e.mesh.dense[Axis::pp].size > 1;
    if (figure.kind == FigureKind::compute) return true;
    return std::ranges::any_of(all_of<GroupKind>(), [&](GroupKind k) {
        return e.comm.by_axis[k].time_s > 0 && (!figure.axis || runs::part_of_kind(k) == *figure.axis);
    });
}

std::string figure_text(const MeshFigure& figure, double value) {
    if (figure.kind == FigureKind::memory) return memory_text(value);
    if (figure.of != FigureOf::difference) return time_text(value);
    const std::string by = difference_text(value, time_text);
    return by.empty() ? time_text(0) : by;
}

std::optional<double> FigureValues::of(const Mesh& mesh, std::int64_t rank) const {
    if (rank < 0 || rank >= mesh.world) return std::nullopt;
    if (!by_stage.empty()) return by_stage[stage_at(mesh.dense[Axis::pp], rank)];
    const auto at = std::ranges::lower_bound(by_rank, rank, {}, &std::pair<std::int64_t, double>::first);
    if (at == by_rank.end() || at->first != rank) return std::nullopt;
    return at->second;
}

FigureValues figure_values(const Scene& scene, const MeshFigure& figure) {
    FigureValues out{.figure = &figure, .by_stage = {}, .by_rank = {}};
    if (figure.of == FigureOf::plan)
        out.by_stage = values_by_stage(scene, figure);
    else
        out.by_rank = values_by_rank(scene, figure);
    const FigureEnds all = ends_of(out, scene.evaluation.mesh, 0, scene.evaluation.mesh.world);
    out.low = all.low, out.high = all.high;
    return out;
}

FigureEnds ends_of(const FigureValues& values, const Mesh& mesh, std::int64_t begin, std::int64_t end) {
    FigureEnds out;
    end = std::min(end, mesh.world);
    const auto add = [&](double value, std::int64_t ranks) {
        out.low = out.known == 0 ? value : std::min(out.low, value);
        out.high = out.known == 0 ? value : std::max(out.high, value);
        out.known += ranks;
    };
    if (values.by_stage.empty()) {
        const auto from =
            std::ranges::lower_bound(values.by_rank, begin, {}, &std::pair<std::int64_t, double>::first);
        for (auto at = from; at != values.by_rank.end() && at->first < end; ++at) add(at->second, 1);
        return out;
    }
    const Factor& pp = mesh.dense[Axis::pp];
    std::int64_t seen = 0;
    for (std::int64_t rank = begin; rank < end && seen <= pp.size; ++seen) {
        const std::int64_t next = std::min(end, (rank / pp.stride + 1) * pp.stride);
        add(values.by_stage[stage_at(pp, rank)], next - rank);
        rank = next;
    }
    out.known = std::max<std::int64_t>(0, end - begin);
    return out;
}

int shade_of(const FigureValues& values, const std::optional<FigureRange>& range, double value) {
    if (range && (value < range->low || value > range->high)) return kPaleShade;
    constexpr int kMost = kFigureShades - 1;
    if (values.same()) return kMost * 2 / 3;
    const double share = (value - values.low) / (values.high - values.low);
    return std::clamp(static_cast<int>(std::lround(share * kMost)), 0, kMost);
}

bool repeats_by_stage(const FigureValues& values, const Mesh& mesh, std::int64_t step) {
    const Factor& pp = mesh.dense[Axis::pp];
    return !values.by_stage.empty() && pp.size <= std::ssize(CellGrid{}.palette) && mesh.world % step == 0
           && (pp.stride % step == 0 || step % pp.stride == 0);
}

std::vector<FigureRun> figure_runs(const FigureValues& values, const Mesh& mesh,
                                   const std::optional<FigureRange>& range, std::int64_t step) {
    std::vector<FigureRun> out;
    const auto add = [&](std::int64_t cell) {
        const FigureEnds ends = ends_of(values, mesh, cell * step, (cell + 1) * step);
        if (ends.known == 0) return;
        const int shade = shade_of(values, range, ends.high);
        if (!out.empty() && out.back().shade == shade && out.back().first / step + out.back().count == cell)
            ++out.back().count;
        else
            out.push_back({cell * step, 1, shade});
    };
    if (!values.by_stage.empty())
        for (std::int64_t cell = 0; cell * step < mesh.world; ++cell) add(cell);
    std::int64_t last = -1;
    for (const auto& [rank, value] : values.by_rank)
        if (rank / step != last) add(last = rank / step);
    return out;
}

namespace {

Color pale_cell(const Theme& theme) {
    return mix(theme.window, theme.secondary, theme.id == ThemeId::light ? 0.12f : 0.1f);
}

// Returns the colour in which other views draw what the figure is of.
Color base_color(const Theme& theme, const MeshFigure& figure) {
    if (figure.axis) return color_of(theme, *figure.axis);
    if (figure.kind == FigureKind::memory) return theme.memory[theme.id == ThemeId::light ? 2 : 1];
    if (figure.kind == FigureKind::idle) return theme.bad;
    return theme.backward;
}

}  // namespace

Color color_of_shade(const Theme& theme, const MeshFigure& figure, int shade) {
    if (shade == kPaleShade) return pale_cell(theme);
    const Color base = base_color(theme, figure);
    const bool light = theme.id == ThemeId::light;
    const Color near = mix(theme.window, base, light ? 0.28f : 0.4f);
    const Color far = light ? mix(base, rgb(0x000000), 0.6f) : mix(base, rgb(0xffffff), 0.75f);
    const float k = static_cast<float>(shade) / static_cast<float>(kFigureShades - 1);
    return k < 0.5f ? mix(near, base, 2 * k) : mix(base, far, 2 * k - 1);
}

bool shows_figure(const Scene& scene, const MeshViewState& state) {
    return state.figure > 0 && scene.evaluation.valid && !state.plain && !scene.asked;
}

void update_figure(const Scene& scene, MeshViewState& state, std::uint64_t revision) {
    const auto make = [&] { return figure_values(scene, kFigures[static_cast<std::size_t>(state.figure)]); };
    if (!state.shown_figure.values.update({revision, state.figure, scene.run}, make) || !state.range) return;
    const FigureValues& v = *state.shown_figure.values;
    if (state.range->high < v.low || state.range->low > v.high)
        state.range.reset();  // it would leave out all
}

void choose_figure(MeshViewState& state, int figure) {
    state.figure = figure;
    state.range.reset();
    if (figure <= 0) return;
    state.both = state.folds = state.zooms = state.token.shown = false;
    state.second = -1;
}

namespace {

// Colours the cells by their stage; a cell of several ranks has the colour of the largest of their values.
void color_by_stage(const Theme& theme, const FigureValues& values, const Mesh& mesh,
                    const std::optional<FigureRange>& range, CellGrid& cells) {
    const Factor& pp = mesh.dense[Axis::pp];
    cells.digits = 1;
    cells.digit[0] = {static_cast<std::int32_t>(pp.stride), static_cast<std::int32_t>(pp.size), 1};
    cells.palette_size = static_cast<int>(pp.size);
    for (std::int64_t s = 0; s < pp.size; ++s) {
        const FigureEnds ends = ends_of(values, mesh, s * pp.stride, s * pp.stride + cells.step);
        cells.palette[static_cast<std::size_t>(s)] =
            color_of_shade(theme, *values.figure, shade_of(values, range, ends.high));
    }
}

// The sizes of a cell's rank and of its value: 0 where there is no room for it.
struct FigureType {
    float rank = 0, value = 0;
};

FigureType type_in(Ui& ui, Vec2 cell, const FigureValues& values, std::int64_t world) {
    constexpr float kLine = 1.3f;
    Canvas& c = ui.canvas();
    const std::string rank = std::to_string(std::max<std::int64_t>(0, world - 1));
    const auto fits = [&](const std::string& words, float size, Face face) {
        return c.text_width(words, ui.style(size, Tone::text, face)) + (size > 11 ? 6.0f : 3.0f) <= cell.x;
    };
    const auto value_fits = [&](float size) {
        return values.known() && fits(figure_text(*values.figure, values.low), size, Face::semibold)
               && fits(figure_text(*values.figure, values.high), size, Face::semibold);
    };
    static constexpr std::array<FigureType, 4> kBoth{{{28, 20}, {20, 16}, {16, 13}, {13, 11}}};
    for (const FigureType& t : kBoth)
        if (fits(rank, t.rank, Face::regular) && value_fits(t.value) && kLine * (t.rank + t.value) <= cell.y)
            return t;
    for (const float size : {13.0f, 11.0f, 9.0f})
        if (fits(rank, size, Face::regular) && kLine * size <= cell.y) return {size, 0};
    return {};
}

// Writes rank and value into the cells that have room for them.
void write_figures(Ui& ui, const MeshPlace& m, const Scene& scene, const FigureValues& values,
                   const std::optional<FigureRange>& range) {
    Canvas& c = ui.canvas();
    const Mesh& mesh = scene.evaluation.mesh;
    const FigureType type = type_in(ui, m.grid.cell, values, mesh.world);
    if (type.rank == 0 || m.merged()) return;
    for_each_seen_node(m.layout, m.grid, m.zoom, m.area, [&](std::int64_t node) {
        const std::int64_t end = std::min(mesh.world, (node + 1) * m.layout.node.size);
        for (std::int64_t rank = node * m.layout.node.size; rank < end; ++rank) {
            Rect box = m.cell(rank);
            const std::optional<double> value = values.of(mesh, rank);
            const int shade = value ? shade_of(values, range, *value) : kPaleShade;
            const Color ink = ink_on(color_of_shade(ui.theme(), *values.figure, shade));
            if (type.value > 0 && value) {
                const float lines = 1.3f * (type.rank + type.value);
                box = {box.x, box.center().y - lines / 2, box.w, lines};
                c.text_in(box.cut_bottom(1.3f * type.value), figure_text(*values.figure, *value),
                          ui.style(type.value, Tone::text, Face::semibold).in(ink), Align::center);
            }
            c.text_in(box, std::to_string(rank), ui.style(type.rank).in(ink), Align::center);
        }
    });
}

}  // namespace

void draw_figure_cells(Ui& ui, const MeshPlace& m, const Scene& scene, MeshViewState& state) {
    ShownFigure& shown = state.shown_figure;
    const std::optional<FigureRange>& range = state.range;
    const FigureValues& values = *shown.values;
    if (values.figure == nullptr) return;
    const Mesh& mesh = scene.evaluation.mesh;
    Canvas& c = ui.canvas();
    CellGrid cells = m.grid;
    cells.count = static_cast<std::int32_t>(std::min<std::int64_t>(mesh.world, cells.count));
    merge_small_cells(m.layout, cells, c.scale());
    color_plainly(pale_cell(ui.theme()), cells);
    if (repeats_by_stage(values, mesh, cells.step)) {
        color_by_stage(ui.theme(), values, mesh, range, cells);
        c.cells(cells);
    } else {
        c.cells(cells);
        const auto make = [&] { return figure_runs(values, mesh, range, cells.step); };
        for (const FigureRun& run : shown.runs.get({*shown.values.key(), range, cells.step}, make)) {
            CellGrid part = cells;
            part.first = static_cast<std::int32_t>(run.first),
            part.count = static_cast<std::int32_t>(run.count);
            color_plainly(color_of_shade(ui.theme(), *values.figure, run.shade), part);
            c.cells(part);
        }
    }
    draw_missing_cells(c, ui.theme(), m, scene);
    write_figures(ui, m, scene, values, range);
}

namespace {

std::string capital(std::string_view words) {
    std::string out(words);
    if (!out.empty() && out.front() >= 'a' && out.front() <= 'z')
        out.front() = static_cast<char>(out.front() - 'a' + 'A');
    return out;
}

// Returns "stage 3", "rank 45": the first that has the value.
std::string holder_of(const FigureValues& values, double value) {
    for (std::size_t s = 0; s < values.by_stage.size(); ++s)
        if (values.by_stage[s] == value) return "stage " + std::to_string(s);
    for (const auto& [rank, of_rank] : values.by_rank)
        if (of_rank == value) return "rank " + thousands(rank);
    return "";
}

// Returns "8 of 64 ranks have a file"; empty for the figures of a plan.
std::string files_words(const FigureValues& values, const Mesh& mesh) {
    if (!values.by_stage.empty()) return "";
    return thousands(std::ssize(values.by_rank)) + " of " + thousands(mesh.world) + " ranks have a file";
}

std::string same_words(const FigureValues& values, bool some) {
    return std::string("the same on all ") + (some ? "ranks with a file: " : "GPUs: ")
           + figure_text(*values.figure, values.high);
}

std::string ends_words(const MeshFigure& figure, const FigureEnds& ends) {
    const std::string low = figure_text(figure, ends.low), high = figure_text(figure, ends.high);
    return low == high ? high : low + " to " + high;
}

}  // namespace

MeshCaption figure_caption(const Scene& scene, const FigureValues& values, bool nodes) {
    if (values.figure == nullptr) return {"", ""};
    const MeshFigure& f = *values.figure;
    if (!values.known()) return {capital(f.title) + ": no open file says it of a rank of this plan.", ""};
    const std::string files = files_words(values, scene.evaluation.mesh);
    if (values.same())
        return files.empty() ? MeshCaption{"No GPU differs in this figure.", ""}
                             : MeshCaption{"No rank with a file differs in this figure.", files + "."};
    const bool differs = f.of == FigureOf::difference;
    MeshCaption out{capital(f.title) + ": " + figure_text(f, values.high) + " on "
                        + holder_of(values, values.high) + (differs ? ", the largest." : ", the most."),
                    std::string(differs ? "The smallest is " : "The least is ") + figure_text(f, values.low)
                        + ", on " + holder_of(values, values.low) + "."};
    if (nodes)
        out.plain += " A " + std::string(domain_name(scene.plan.cluster)) + " has the colour of its largest.";
    if (!files.empty()) out.plain += " " + files + ".";
    return out;
}

std::string figure_tooltip(const Scene& scene, const FigureValues& values, std::int64_t rank, bool nodes) {
    if (values.figure == nullptr) return "";
    const MeshFigure& f = *values.figure;
    const Mesh& mesh = scene.evaluation.mesh;
    const std::string title(f.title);
    const std::optional<double> own = values.of(mesh, rank);
    std::string out = title + ": " + (own ? figure_text(f, *own) : "no file of this rank");
    if (!nodes) return out;
    const auto box = [&](std::string_view name, std::int64_t size) {
        const std::int64_t begin = rank / size * size, end = std::min(mesh.world, begin + size);
        const FigureEnds ends = ends_of(values, mesh, begin, end);
        out += "\n" + std::string(name) + " " + thousands(rank / size) + ": "
               + (ends.known == 0 ? "no file" : ends_words(f, ends));
        if (ends.known > 0 && ends.known < end - begin)
            out += ", " + thousands(ends.known) + " of " + thousands(end - begin) + " ranks";
    };
    const MeshInBoxes boxes = in_boxes(scene);
    box(domain_name(scene.plan.cluster), boxes.domain);
    if (boxes.pod > 0) box("pod", boxes.pod);
    return out;
}

namespace {

constexpr float kLegendRow = 22, kScaleBar = 12, kMostScale = 360, kNarrowLegend = 560;

// Draws the bar of the scale, pale where the range leaves it out, and takes the drag that sets the range.
void draw_scale(Ui& ui, Rect bar, const FigureValues& values, MeshViewState& state) {
    Canvas& c = ui.canvas();
    const double span = values.high - values.low;
    const auto value_at = [&](float x) {
        return values.low + span * std::clamp((x - bar.x) / bar.w, 0.0f, 1.0f);
    };
    const Rect grip{bar.x - 4, bar.y - 4, bar.w + 8, bar.h + 8};
    const Hit hit = ui.area("mesh.scale", grip, 0, true, false);
    if (hit.hovered)
        ui.tooltip("Range\nDrag from here to here: what lies outside is pale. A double click shows all.");
    if (hit.held && std::abs(hit.drag.x) > 3) {
        const double a = value_at(ui.state().press.x), b = value_at(ui.frame().mouse.x);
        state.range = FigureRange{std::min(a, b), std::max(a, b)};
    }
    if (hit.double_clicked) state.range.reset();
    const float each = bar.w / kFigureShades;
    for (int i = 0; i < kFigureShades; ++i) {
        const double value = values.low + span * (i + 0.5) / kFigureShades;
        const bool out = state.range && (value < state.range->low || value > state.range->high);
        const float x = bar.x + each * static_cast<float>(i);
        c.rect({x, bar.y, each + 0.5f, bar.h},
               color_of_shade(ui.theme(), *values.figure, out ? kPaleShade : i));
    }
    c.frame(bar, ui.theme().secondary, 1);
    if (!state.range) return;
    for (const double end : {state.range->low, state.range->high}) {
        const float x = bar.x + bar.w * static_cast<float>(span > 0 ? (end - values.low) / span : 0);
        c.line({x, bar.y - 3}, {x, bar.bottom() + 3}, ui.theme().text, 2);
    }
}

}  // namespace

float figure_legend_height(float width) {
    return width < kNarrowLegend ? 2 * kLegendRow : kLegendRow;
}

void draw_figure_legend(Ui& ui, Rect room, const Scene& scene, MeshViewState& state) {
    const FigureValues& values = *state.shown_figure.values;
    if (values.figure == nullptr) return;
    Canvas& c = ui.canvas();
    const MeshFigure& f = *values.figure;
    Rect row = room.cut_top(kLegendRow);
    const std::string title(f.title);
    const Rect name{row.x, row.y, std::min(row.w, c.text_width(title, ui.title()) + 2), row.h};
    const Hit hit = ui.area("mesh.figure", name);
    if (hit.hovered) ui.tooltip("Colour of the cells\nA click chooses another figure, or the groups.");
    if (hit.clicked) open_mesh_menu(state, MeshMenu::figures, name);
    if (hit.focused) ui.focus_ring(name, 3);
    write_left(ui, row, title, ui.title(), 14);
    if (room.h >= kLegendRow) row = room.cut_top(kLegendRow);
    const auto swatch = [&](int shade, const std::string& words) {
        if (row.w < c.text_width(words, ui.small()) + 20) return;
        c.box({row.x, row.center().y - 6, 12, 12}, color_of_shade(ui.theme(), f, shade), ui.theme().hairline);
        row.cut_left(18);
        write_left(ui, row, words, ui.small(), 16);
    };
    if (!values.known()) return swatch(kPaleShade, "no file");
    const std::int64_t missing =
        values.by_stage.empty() ? scene.evaluation.mesh.world - std::ssize(values.by_rank) : 0;
    if (values.same()) {
        swatch(shade_of(values, {}, values.high), same_words(values, missing > 0));
    } else {
        const std::string low = figure_text(f, values.low), high = figure_text(f, values.high);
        write_left(ui, row, low, ui.small(Tone::text), 8);
        const float right = c.text_width(high, ui.small()) + 24,
                    rest = missing > 0 || state.range ? 130.0f : 0.0f;
        const Rect bar{row.x, row.center().y - kScaleBar / 2,
                       std::clamp(row.w - right - rest, 60.0f, kMostScale), kScaleBar};
        draw_scale(ui, bar, values, state);
        row.cut_left(bar.w + 8);
        write_left(ui, row, high, ui.small(Tone::text), 16);
    }
    if (missing > 0) swatch(kPaleShade, "no file: " + plural(missing, "GPU", "GPUs"));
    if (state.range && !values.same())
        swatch(kPaleShade,
               "outside " + figure_text(f, state.range->low) + " to " + figure_text(f, state.range->high));
}

}  // namespace pentamesh::ui
