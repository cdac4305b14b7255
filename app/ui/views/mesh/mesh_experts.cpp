#include "app/ui/views/mesh/mesh_experts.h"

#include "app/ui/kit/format.h"
#include "app/ui/views/mesh/mesh_cells.h"
#include "app/ui/views/mesh/mesh_draw.h"
#include "app/ui/views/mesh/mesh_figure.h"
#include "app/ui/views/mesh/mesh_large.h"
#include "app/ui/views/mesh/mesh_layout.h"
#include "app/ui/views/shards/view.h"
#include "core/base/text.h"
#include "core/mesh/mesh.h"
#include "core/mesh/places.h"
#include "core/sharding/sharding.h"
#include "core/teach/expert_loads.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pentamesh::ui {

namespace {

constexpr double kFirstSkew = 1.25;  // where skewed is chosen and the plan is even
constexpr float kSwitch = 170, kStepper = 96, kListField = 240, kNamed = 240;
constexpr float kLeastBar = 2;  // width of an expert in its GPU's cell

std::int64_t experts_in(const Scene& scene) {
    return scene.plan.model.moe ? scene.plan.model.moe->experts : 0;
}
std::int64_t ep_ranks(const Scene& scene) {
    return scene.evaluation.mesh.expert[Axis::ep].size;
}

// The sum of k^-a over k = 1 ... n.
double power_sum(std::int64_t n, double a) {
    double sum = 0;
    for (std::int64_t k = 1; k <= n; ++k) sum += std::pow(static_cast<double>(k), -a);
    return sum;
}

// `list`: as it is typed, which may be a published name.
std::string words_of(const ShownLoads& shown, const Scene& scene, std::string_view list) {
    const double busiest = scene.plan.training.router_imbalance;
    const std::string times = trimmed(busiest) + " × the mean";
    switch (shown.form) {
    case LoadForm::even: return "every expert gets as many tokens";
    case LoadForm::list:
        if (const NamedLoad* named = named_load(list))
            return std::string(named->words) + "; the busiest ep rank gets " + times;
        return "a full bar has the most tokens; the busiest ep rank gets " + times;
    case LoadForm::skewed:
        if (shown.load.empty())
            return "no ep rank can get " + times + ": there are " + thousands(ep_ranks(scene)) + " of them";
        return "the busiest ep rank gets " + times
               + ", as the plan says; assumed of the others: the k-th busiest gets k^−"
               + significant(shown.exponent, 2) + " of that";
    }
    return {};
}

// Typed text becomes loads, and the plan's number follows from them.
std::optional<PlanEdit> take_list(Scene const& scene, MeshViewState& state, ExpertLoads& drawn) {
    std::vector<double> loads;
    const std::int64_t ranks = ep_ranks(scene);
    if (const NamedLoad* named = named_load(state.load_list)) {
        loads = expert_loads_of(*named, experts_in(scene), scene.plan.model.moe->top_k);
    } else if (std::string wrong = read_loads(state.load_list, experts_in(scene), ranks, loads);
               !wrong.empty()) {
        scene.next_hover.message = std::move(wrong);
        return std::nullopt;
    }
    drawn.load = std::move(loads);
    drawn.imbalance = imbalance_of(drawn.load, ranks);
    if (drawn.imbalance == scene.plan.training.router_imbalance) return std::nullopt;
    return imbalance_edit(scene, drawn.imbalance);
}

}  // namespace

std::optional<double> skew_exponent(std::int64_t ranks, double imbalance) {
    if (!(imbalance > 1) || !(imbalance < static_cast<double>(ranks))) return std::nullopt;
    // The busiest's load over the mean is ranks / sum of k^-a: it grows with a, from 1 to `ranks`.
    double low = 0, high = 1;
    const auto load = [ranks](double a) { return static_cast<double>(ranks) / power_sum(ranks, a); };
    while (load(high) < imbalance && high < 64) high *= 2;
    for (int i = 0; i < 60; ++i) (load((low + high) / 2) < imbalance ? low : high) = (low + high) / 2;
    return (low + high) / 2;
}

std::string read_loads(std::string_view text, std::int64_t experts, std::int64_t ranks,
                       std::vector<double>& out) {
    out.clear();
    double sum = 0;
    while (true) {
        while (!text.empty() && (text.front() == ' ' || text.front() == ',' || text.front() == '\n'))
            text.remove_prefix(1);
        if (text.empty()) break;
        const std::string word(text.substr(0, text.find_first_of(" ,\n")));
        text.remove_prefix(word.size());
        const Quantity read = parse_quantity(word, Dimension::count);
        const double load = read.value.value_or(-1);
        if (!std::isfinite(load) || load < 0)
            return "\"" + word + "\" is no load: numbers from 0 on, by expert";
        out.push_back(load);
        sum += load;
    }
    const auto count = static_cast<std::int64_t>(out.size());
    if (count != experts && count != ranks)
        return thousands(count) + " loads are given, but there are " + thousands(experts) + " experts on "
               + thousands(ranks) + " ep ranks";
    if (!(sum > 0)) return "no expert has a load";
    if (count == experts) return {};
    std::vector<double> each(static_cast<std::size_t>(experts));
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
        const Range held = experts_of(experts, ranks, rank);
        for (std::int64_t e = held.begin; e < held.end; ++e)
            each[static_cast<std::size_t>(e)] =
                out[static_cast<std::size_t>(rank)] / static_cast<double>(held.size());
    }
    out = std::move(each);
    return {};
}

ShownLoads shown_loads(const Scene& scene, const ExpertLoads& drawn) {
    ShownLoads out;
    const std::int64_t experts = experts_in(scene), ranks = ep_ranks(scene);
    const double busiest = scene.plan.training.router_imbalance;
    if (experts <= 0 || ranks <= 1) return out;
    // A list holds as long as the plan's number follows from it.
    if (loads_hold(scene, drawn, experts)) {
        double sum = 0;
        for (const double l : drawn.load) sum += l;
        out.form = LoadForm::list;
        out.load = drawn.load;
        if (sum > 0) {
            for (double& l : out.load) l *= static_cast<double>(experts) / sum;
            return out;
        }
        out = {};
    }
    out.load.assign(static_cast<std::size_t>(experts), 1.0);
    if (busiest <= 1) return out;
    out.form = LoadForm::skewed;
    const std::optional<double> a = skew_exponent(ranks, busiest);
    if (!a) {
        out.load.clear();
        return out;
    }
    out.exponent = *a;
    for (std::int64_t e = 0; e < experts; ++e) {
        const std::int64_t owner = owner_of_expert(experts, ranks, e);
        out.load[static_cast<std::size_t>(e)] = busiest * std::pow(static_cast<double>(owner + 1), -*a);
    }
    return out;
}

std::optional<PlanEdit> draw_load_row(Ui& ui, Rect row, const Scene& scene, MeshViewState& state,
                                      ExpertLoads& drawn) {
    const ShownLoads shown = shown_loads(scene, drawn);
    const double now = scene.plan.training.router_imbalance;
    static constexpr std::array<std::string_view, 3> kNames{"even", "skewed", "list"};
    std::optional<PlanEdit> edit;
    row = row.inset(0, 3);
    if (ui.state().for_picture) {
        ui.label(row,
                 "Tokens of the experts, in the cells above: " + words_of(shown, scene, state.load_list)
                     + ".",
                 ui.small());
        return edit;
    }
    const bool lists = state.listing || shown.form == LoadForm::list;
    const int at = lists ? 2 : static_cast<int>(shown.form);
    const int picked = ui.segments("mesh.load", row.cut_left(std::min(kSwitch, row.w)), kNames, at);
    row.cut_left(8);
    if (picked != at) {
        state.listing = picked == 2;
        if (picked != 2) drawn.load.clear();
        if (picked == 0 && now > 1) edit = imbalance_edit(scene, 1);
        if (picked == 1 && now <= 1) edit = imbalance_edit(scene, kFirstSkew);
    }
    if (!lists && shown.form == LoadForm::skewed && row.w > kStepper) {
        const Ui::Step step = ui.stepper("mesh.imbalance", row.cut_left(kStepper), trimmed(now) + " ×", true,
                                         !shown.load.empty(), true, false);
        if (step.by != 0) edit = imbalance_edit(scene, stepped_imbalance(now, step.by));
        row.cut_left(8);
    }
    if (lists && row.w > kListField) {
        if (ui.text_field("mesh.loads", row.cut_left(kListField), state.load_list,
                          "tokens of each: 3, 1, 2 ..., or W1"))
            if (std::optional<PlanEdit> typed = take_list(scene, state, drawn)) edit = std::move(typed);
        row.cut_left(8);
        if (row.w > kNamed) {
            std::vector<std::string_view> names;
            for (const NamedLoad& n : kNamedLoads)
                if (n.offered) names.push_back(n.name);
            const auto at_name = std::find(names.begin(), names.end(), state.load_list);
            const int now_named = at_name == names.end() ? -1 : static_cast<int>(at_name - names.begin());
            const Rect cell = row.cut_left(kNamed - 60);
            const int named = ui.segments("mesh.named", cell, names, now_named);
            if (ui.hovers(cell)) ui.tooltip("Loads that Megatron-LM's benchmark of token imbalance names");
            if (named != now_named) {
                state.load_list = names[static_cast<std::size_t>(named)];
                if (std::optional<PlanEdit> taken = take_list(scene, state, drawn)) edit = std::move(taken);
            }
            row.cut_left(8);
        }
    }
    if (row.w > 60) ui.label(row, words_of(shown, scene, state.load_list), ui.small());
    return edit;
}

void draw_node_loads(Canvas& c, const Theme& theme, Rect r, const Scene& scene, const ShownLoads& loads,
                     std::int64_t first_rank) {
    if (loads.form == LoadForm::even || loads.load.empty()) return;
    const Mesh& mesh = scene.evaluation.mesh;
    const Factor& ep = mesh.expert[Axis::ep];
    const std::int64_t experts = static_cast<std::int64_t>(loads.load.size());
    const CellGrid g = node_grid(r, std::min(domain_of(scene.plan.cluster, 0), mesh.world));
    // Bars are of experts where they have room, else of the GPU's mean.
    std::vector<double> height(loads.load);
    const float each = g.cell.x / static_cast<float>(experts_of(experts, ep.size, 0).size());
    if (each < kLeastBar)
        for (std::int64_t rank = 0; rank < ep.size; ++rank) {
            const Range held = experts_of(experts, ep.size, rank);
            double sum = 0;
            for (std::int64_t e = held.begin; e < held.end; ++e)
                sum += loads.load[static_cast<std::size_t>(e)];
            for (std::int64_t e = held.begin; e < held.end; ++e)
                height[static_cast<std::size_t>(e)] =
                    sum / static_cast<double>(std::max<std::int64_t>(1, held.size()));
        }
    const double most = *std::max_element(height.begin(), height.end());
    if (!(most > 0)) return;
    const Color empty = mix(theme.window, theme.panel, 0.7f);
    for (std::int64_t i = 0; i < g.count && first_rank + i < mesh.world; ++i) {
        const Range held = experts_of(experts, ep.size, (first_rank + i) / ep.stride % ep.size);
        const Vec2 at = cell_position(g, i);
        const std::int64_t bars = each < kLeastBar ? std::min<std::int64_t>(1, held.size()) : held.size();
        const float w = g.cell.x / static_cast<float>(std::max<std::int64_t>(1, bars));
        for (std::int64_t b = 0; b < bars; ++b) {
            const double share = height[static_cast<std::size_t>(held.begin + b)] / most;
            const float free = g.cell.y * static_cast<float>(1 - share);
            if (free >= 0.5f) c.rect({at.x + static_cast<float>(b) * w, at.y, w, free}, empty);
        }
    }
}

namespace {

constexpr float kTokenBoxHeight = 156;

// Holds how tokens reach the nodes of their experts.
struct TokenWay {
    std::int64_t nodes = 0, most = 0;  // of a fold's row; that one token reaches
    bool to_all = false, once = false;
    MeshAxis ep;
    std::string node;  // the name of one
};

// Says by which wires a token goes.
std::string way_words(const TokenWay& way, const Cluster& cluster) {
    const std::string wire(tier_name(cluster, way.ep.tier)), inside(tier_name(cluster, 0));
    return std::string(ui::words_of(way.ep.mark.dash)) + ": "
           + (way.to_all ? "every token goes to every rank, over " + wire
              : way.once ? "once to a " + way.node + " over " + wire + ", then " + inside + " inside it"
                         : "a copy for each expert, over " + wire + " where it leaves its " + way.node);
}

// Draws the GPUs of a node; returns those that the token goes to. `at`: which of the `hit` nodes that it
// reaches this one is; < 0: none of them.
std::vector<std::int64_t> draw_token_node(Ui& ui, const CellGrid& grid, std::int64_t at, std::int64_t hit,
                                          std::int64_t gpus, std::int64_t top_k, Color color) {
    std::vector<std::int64_t> chosen;
    const std::int64_t held = at < 0 ? 0 : top_k / hit + (at < top_k % hit ? 1 : 0);
    const std::int64_t marks = std::min(held, gpus);
    for (std::int64_t k = 0; k < marks; ++k) chosen.push_back((k * gpus / marks + 2 * at) % gpus);
    const Color other = mix(ui.theme().window, ui.theme().secondary, 0.2f);
    for (std::int64_t gpu = 0; gpu < grid.count; ++gpu) {
        const bool own = std::find(chosen.begin(), chosen.end(), gpu) != chosen.end();
        ui.canvas().rect(cell_rect(grid, gpu), own ? color : other);
    }
    return chosen;
}

// Draws the nodes of a row. The experts that the token goes to spread over the first of equally spaced ones.
void draw_token_nodes(Ui& ui, Rect box, const TokenWay& way, std::int64_t gpus, std::int64_t top_k) {
    constexpr std::int64_t kMostNodes = 8;
    Canvas& c = ui.canvas();
    const Theme& theme = ui.theme();
    const MeshAxis& ep = way.ep;
    const std::int64_t drawn = std::min(way.nodes, kMostNodes), hit = std::min(way.most, drawn);
    const Rect names = box.cut_bottom(15);
    const float gap = 6, w = (box.w - gap * static_cast<float>(drawn - 1)) / static_cast<float>(drawn);
    const float high = std::min(32.0f, w * 0.7f);
    const auto place = [&](std::int64_t i) {
        return Rect{box.x + static_cast<float>(i) * (w + gap), box.bottom() - high - 2, w, high};
    };
    const Vec2 token{place(0).x + w * 0.3f, place(0).y - 7};
    for (std::int64_t i = 0; i < drawn; ++i) {
        const Rect r = place(i);
        std::int64_t at = -1;  // which of the nodes that are hit
        for (std::int64_t h = 0; h < hit; ++h)
            if (h * drawn / hit == i) at = h;
        const bool reached = at >= 0 || way.to_all;
        c.box(r, mix(theme.window, ep.color, reached ? 0.12f : 0.0f), reached ? ep.color : theme.hairline,
              reached ? 1.5f : 1.0f, 4);
        const CellGrid g = node_grid(r, gpus);
        const std::vector<std::int64_t> chosen = draw_token_node(ui, g, at, hit, gpus, top_k, ep.color);
        const auto arrive = [&](float x, float y) {
            const float top = token.y - 8 - 3 * static_cast<float>(i);
            c.curve(token, {token.x + (x - token.x) * 0.2f, top}, {x, top}, {x, y}, ep.color, 1.3f,
                    ep.mark.dash);
        };
        if (i > 0 && reached && (way.once || way.to_all))
            arrive(r.center().x, r.y);
        else if (i > 0 && reached)
            for (const std::int64_t gpu : chosen) arrive(cell_position(g, gpu).x + g.cell.x / 2, r.y);
        const std::string name = i == 0 ? way.node + " 0" : thousands(i);
        if (c.text_width(name, ui.style(11)) <= w + gap)
            c.text_in({r.x - gap / 2, names.y, w + gap, names.h}, name, ui.style(11, Tone::secondary),
                      Align::center);
    }
    c.circle(token, 3.5f, theme.text);
}

}  // namespace

void draw_token_way(Ui& ui, Rect room, const Scene& scene, const ExpertFold& fold) {
    constexpr float kBoxWidth = 330;
    const std::int64_t nodes = fold.domain > 0 ? fold.row / fold.domain : 0;
    if (room.w < kBoxWidth || room.h < kTokenBoxHeight || nodes < 2 || !scene.plan.model.moe) return;
    const Moe& moe = *scene.plan.model.moe;
    if (moe.top_k < 1 || moe.top_k > moe.experts) return;
    const EpComm kernel = scene.plan.layout.ep_comm;
    const std::int64_t limit = moe.max_nodes_per_token;
    const TokenWay way{nodes,
                       std::min({nodes, moe.top_k, limit > 0 ? limit : nodes}),
                       kernel == EpComm::allgather,
                       kernel == EpComm::deepep || kernel == EpComm::hybridep,
                       mesh_axis(ui.theme(), scene.plan, scene.evaluation, GroupKind::ep),
                       std::string(domain_name(scene.plan.cluster))};
    Canvas& c = ui.canvas();
    Rect box{room.x, room.y, std::min(room.w, 540.0f), kTokenBoxHeight};
    c.box(box, ui.theme().panel, ui.theme().hairline, 1, 8);
    box = box.inset(14, 8);
    c.text_in(box.cut_top(18), "One token's way through a layer", ui.title());
    c.text_in(box.cut_top(17),
              thousands(moe.top_k) + " of " + thousands(moe.experts) + " experts, on at most "
                  + thousands(way.most) + " of the " + thousands(nodes) + " " + way.node + "s; an example",
              ui.small());
    c.text_in(box.cut_bottom(17), way_words(way, scene.plan.cluster), ui.small());
    box.cut_bottom(4);
    draw_token_nodes(ui, box, way, fold.domain, moe.top_k);
}

namespace {

constexpr float kNode = 44, kRanks = 15, kBrace = 26, kHead = 34, kBetween = 24;  // heights
constexpr float kNames = 108;                                                     // width left of the lines
constexpr float kMore = 26;  // height of the words in place of rows

std::string ranks_words(std::int64_t first, std::int64_t count) {
    return thousands(first) + "–" + thousands(first + count - 1);
}

// "1 node", "16 nodes".
std::string count_words(std::int64_t nodes, const Cluster& cluster) {
    return thousands(nodes) + " " + std::string(domain_name(cluster)) + (nodes == 1 ? "" : "s");
}

// The rows that are drawn, by their number; -1 stands for those left out.
struct ShownRows {
    std::array<std::int64_t, 4> row{};
    std::size_t count = 0;
};
ShownRows shown_rows(const ExpertFold& f) {
    ShownRows out;
    const bool cut = f.rows > f.shown;
    for (std::int64_t i = 0; i < (cut ? f.shown / 2 : f.rows); ++i) out.row[out.count++] = i;
    if (cut) out.row[out.count++] = -1, out.row[out.count++] = f.rows - 1;
    return out;
}

// Places nodes: those of a row stand below those of the line that they are.
struct Columns {
    float x = 0, pitch = 0, width = 0;
    [[nodiscard]] Rect at(std::int64_t i, float y) const {
        return {x + static_cast<float>(i) * pitch, y, width, kNode};
    }
};

Columns columns_in(Rect room, std::int64_t nodes) {
    const float w = room.w - kNames;
    const float pitch = std::min(96.0f, w / static_cast<float>(nodes));
    return {room.x + kNames, pitch, pitch * 0.82f};
}

struct Painted {
    const MeshAxis* axis = nullptr;  // whose hops run along the line
    Color color;
};

// The axis that runs along a line: of a dense one the first that leaves the node, of a row of experts ep.
Painted along(const Theme& theme, const MeshAxes& axes, bool experts) {
    Painted p{nullptr, theme.secondary};
    for (const MeshAxis& a : axes.span()) {
        if (experts ? a.kind != GroupKind::ep : a.kind == GroupKind::pp) continue;
        p = {&a, a.color};
        if (!a.inside()) break;
    }
    return p;
}

void draw_nodes(Ui& ui, const Scene& scene, const Columns& columns, float y, std::int64_t first_rank,
                std::int64_t nodes, std::int64_t domain, const Painted& paint, std::int64_t rank) {
    Canvas& c = ui.canvas();
    for (std::int64_t i = 0; i < nodes; ++i) {
        const Rect r = columns.at(i, y);
        if (i > 0 && paint.axis != nullptr && !paint.axis->inside())
            draw_link(c, ui.theme().window,
                      std::array<Vec2, 2>{Vec2{columns.at(i - 1, y).right(), r.center().y},
                                          Vec2{r.x, r.center().y}},
                      paint.color, paint.axis->mark.dash);
        draw_node(ui.canvas(), ui.theme(), r, scene, rank, nullptr, paint.color, first_rank / domain + i);
        const std::string words = ranks_words(first_rank + i * domain, domain);
        const TextStyle style = ui.style(11, Tone::secondary);
        if (c.text_width(words, style) <= columns.pitch)
            c.text_in({r.center().x - columns.pitch / 2, r.bottom() + 1, columns.pitch, kRanks}, words, style,
                      Align::center);
    }
}

void brace(Canvas& c, float left, float right, float y, Color color) {
    c.polyline({{left, y - 5}, {left, y}, {right, y}, {right, y - 5}}, color, 1.3f);
}

void arrow_head(Canvas& c, Vec2 at, Vec2 back, Color color) {
    const Vec2 side{back.y * 0.6f, -back.x * 0.6f};
    c.polygon({at, at + back + side, at + back - side}, color);
}

// Names the parts of the line: the first stays, the others wrap, the second by an arrow to its row.
void draw_parts(Ui& ui, const Columns& columns, const ExpertFold& f, float y, float row0, float row1) {
    Canvas& c = ui.canvas();
    const std::int64_t nodes = f.row / f.domain;
    for (std::int64_t part = 0; part < f.rows; ++part) {
        const float left = columns.at(part * nodes, y).x,
                    right = columns.at((part + 1) * nodes - 1, y).right();
        const Color color = part == 0 ? ui.theme().secondary : ui.theme().text;
        brace(c, left, right, y + 6, color);
        const std::string words = "ranks " + ranks_words(f.first_rank + part * f.row, f.row)
                                  + (part == 0 ? " stay" : " wrap beneath");
        const TextStyle style = ui.style(11).in(color);
        const float w = c.text_width(words, style);
        if (w <= right - left + 12)
            c.text_in({left - 6, y + 8, right - left + 12, 16}, words, style, Align::center);
        const float x = (left + right) / 2;
        if (part == 0) {
            c.line({x, y + 25}, {x, row0 - kHead + 2}, color, 1.3f);
            arrow_head(c, {x, row0 - kHead + 8}, {0, -7}, color);
        } else if (part == 1 && (f.rows <= f.shown || f.shown > 2)) {
            const float turn = y + kBrace + 8, in = columns.at(nodes - 1, y).right() + 26;
            c.polyline(
                {{x, y + 25}, {x, turn}, {in, turn}, {in, row1 + kNode / 2}, {in - 14, row1 + kNode / 2}},
                color, 1.5f, false, Dash::dashed);
            arrow_head(c, {in - 20, row1 + kNode / 2}, {8, 0}, color);
        }
    }
}

void name_line(Ui& ui, Rect room, float y, std::string_view name, const std::string& more) {
    ui.canvas().text_in({room.x, y + 4, kNames - 8, 20}, name, ui.style(14, Tone::text, Face::semibold));
    ui.canvas().text_in({room.x, y + 24, kNames - 8, 16}, more, ui.style(11, Tone::secondary));
}

// Frames the GPUs that cut the same experts between them, where they are neighbours in a row of their node.
void frame_etp(Canvas& c, const Scene& scene, Rect node, const MeshAxis& etp, std::int64_t first_rank) {
    const CellGrid g = node_grid(node, domain_of(scene.plan.cluster, 0));
    if (etp.stride() != 1 || g.level[0].cols % etp.degree != 0) return;
    for (std::int64_t i = 0; i + etp.degree <= g.count && first_rank + i < scene.evaluation.mesh.world;
         i += etp.degree) {
        const Vec2 a = cell_position(g, i), b = cell_position(g, i + etp.degree - 1) + g.cell;
        c.frame(Rect{a.x, a.y, b.x - a.x, b.y - a.y}.inset(-1.5f), etp.color, 1.5f, 2);
    }
}

// Draws the experts' rows, and how their copies reach each other.
void draw_rows(Ui& ui, Rect room, const Scene& scene, const Columns& columns, const ExpertFold& f, float y,
               std::int64_t rank, const ShownLoads& loads) {
    Canvas& c = ui.canvas();
    const MeshAxes axes = axes_of(ui.theme(), scene.plan, scene.evaluation, true);
    const Painted ep = along(ui.theme(), axes, true);
    // Returns the axis along which the first ranks of two rows differ: edp, or the outer of its parts.
    const auto between = [&](std::int64_t above, std::int64_t below) {
        const MeshAxis* out = nullptr;
        for (const MeshAxis& a : axes.span())
            if (is_data_parallel(a.kind)
                && a.place_of(f.first_rank + above * f.row) != a.place_of(f.first_rank + below * f.row))
                out = &a;
        return out;
    };
    const std::int64_t nodes = f.row / f.domain;
    const ShownRows shown = shown_rows(f);
    float last = -1;
    for (std::size_t i = 0; i < shown.count; ++i) {
        const std::int64_t row = shown.row[i];
        if (row < 0) {
            const std::string words =
                thousands(f.rows - f.shown / 2 - 1) + " more rows, each a copy of all experts";
            c.text_in({columns.x, y - 14, room.right() - columns.x, kMore}, words, ui.small());
            y += kMore;
            last = -1;
            continue;
        }
        Painted paint = ep;
        if (row > 0) paint.color = mix(ui.theme().window, ep.color, 0.5f);
        if (const MeshAxis* edp = last >= 0 ? between(row - 1, row) : nullptr; edp != nullptr)
            for (std::int64_t n = 0; n < nodes; ++n) {
                const float x = columns.at(n, y).center().x;
                draw_link(c, ui.theme().window, std::array<Vec2, 2>{Vec2{x, last + kRanks + 1}, Vec2{x, y}},
                          edp->color, edp->mark.dash);
            }
        draw_nodes(ui, scene, columns, y, f.first_rank + row * f.row, nodes, f.domain, paint, rank);
        for (std::int64_t n = 0; n < nodes; ++n) {
            const std::int64_t first = f.first_rank + row * f.row + n * f.domain;
            draw_node_loads(c, ui.theme(), columns.at(n, y), scene, loads, first);
            for (const MeshAxis& a : axes.span())
                if (a.kind == GroupKind::etp) frame_etp(c, scene, columns.at(n, y), a, first);
        }
        const std::string words = "row " + thousands(row) + (row == 0 ? "" : ", a copy");
        if (row == 0)
            name_line(ui, room, y, "Experts", words);
        else
            c.text_in({room.x, y + 14, kNames - 8, 16}, words, ui.style(11, Tone::secondary));
        last = y + kNode;
        y += kNode + kRanks + kBetween;
    }
}

}  // namespace

ExpertFold fold_of(const Scene& scene, std::int64_t rank) {
    ExpertFold f;
    const Mesh& mesh = scene.evaluation.mesh;
    if (!mesh.has_experts || scene.plan.cluster.tiers.empty()) return f;
    const Factor& pp = mesh.dense[Axis::pp];
    const std::int64_t line = mesh.world / pp.size;
    const std::int64_t row = mesh.expert[Axis::tp].size * mesh.expert[Axis::ep].size;
    f.domain = domain_of(scene.plan.cluster, 0);
    // The inner axes of the experts' mesh fill a row, and a stage's ranks are neighbours in both meshes.
    const bool outermost = pp.size == 1 || (pp.stride == line && mesh.expert[Axis::pp].stride == line);
    const bool rows = mesh.expert[Axis::ep].size > 1 && mesh.expert[Axis::ep].stride < row
                      && mesh.expert[Axis::tp].stride < row && row % f.domain == 0 && line % row == 0;
    constexpr std::int64_t kMostNodes = 1024;  // of a line: more have no pixel each
    if (!outermost || !rows || line / f.domain > kMostNodes) return f;
    f.line = line, f.row = row, f.rows = line / row;
    f.first_rank = rank / line * line;
    f.stage = pp.size > 1 ? rank / line : -1;
    return f;
}

std::string fold_words(const ExpertFold& f) {
    const std::string whose = f.stage >= 0 ? " GPUs of a stage" : " GPUs";
    return "The same " + thousands(f.line) + whose + " serve two meshes: one line for the dense layers, "
           + (f.rows == 1 ? "and the same line for the experts."
                          : "folded into " + thousands(f.rows) + " rows of " + thousands(f.row)
                                + " for the experts.");
}

float fold_height(const ExpertFold& f) {
    const bool cut = f.rows > f.shown;
    const auto rows = static_cast<float>(cut ? f.shown / 2 + 1 : f.rows);
    return 20 + kNode + kRanks + kBrace + kHead + 14 + rows * (kNode + kRanks + kBetween) + (cut ? kMore : 0);
}

void draw_fold(Ui& ui, Rect room, const Scene& scene, const ExpertFold& f, const ShownLoads& loads) {
    Canvas& c = ui.canvas();
    const std::int64_t rank = std::max<std::int64_t>(0, scene.selection.rank);
    const Columns columns = columns_in(room, f.line / f.domain);
    const MeshAxes dense = axes_of(ui.theme(), scene.plan, scene.evaluation, false);
    const Painted line = along(ui.theme(), dense, false);
    // Words that would reach the arrow between two rows begin right of it.
    const auto title = [&](float y, const MeshAxis* axis, const std::string& words, float arrow) {
        if (axis == nullptr) return;
        TextStyle name = ui.style(12, Tone::text, Face::semibold);
        const std::string of = axis_label(axis->kind) + " " + thousands(axis->degree);
        const float w = c.text_width(of, name);
        c.text_in({columns.x, y, w + 2, 18}, of, name);
        float x = columns.x + w + 8;
        if (arrow < room.right() && x + c.text_width(words, ui.small()) > arrow - 6) x = arrow + 10;
        c.text_in({x, y, room.right() - x, 18}, words, ui.small());
    };
    const std::string where = (f.stage >= 0 ? "stage " + thousands(f.stage) + ": " : std::string())
                              + count_words(f.line / f.domain, scene.plan.cluster) + " in one line";
    float y = room.y;
    title(y, line.axis, where, room.right());
    y += 20;
    name_line(ui, room, y, "Dense", "attention, router");
    draw_nodes(ui, scene, columns, y, f.first_rank, f.line / f.domain, f.domain, line, rank);
    y += kNode + kRanks;
    const float row0 = y + kBrace + kHead + 14, row1 = row0 + kNode + kRanks + kBetween;
    draw_parts(ui, columns, f, y, row0, row1);
    const MeshAxes experts = axes_of(ui.theme(), scene.plan, scene.evaluation, true);
    const std::int64_t held = scene.plan.model.moe ? scene.plan.model.moe->experts : 0;
    // etp stands next to ep, also where it cuts nothing.
    const std::int64_t etp = scene.evaluation.mesh.expert[Axis::tp].size;
    title(row0 - 20, along(ui.theme(), experts, true).axis,
          "etp " + thousands(etp) + ": " + count_words(f.row / f.domain, scene.plan.cluster)
              + (f.row == f.domain ? " holds all " : " hold all ") + thousands(held) + " experts once"
              + (etp > 1 ? ", each cut over " + thousands(etp) + " GPUs" : ""),
          f.rows > 1 ? columns.at(f.row / f.domain - 1, row0).right() + 26 : room.right());
    draw_rows(ui, room, scene, columns, f, row0, rank, loads);
    // Right of the rows, and of the arrow to the second one.
    const float right = columns.at(f.row / f.domain - 1, row0).right() + 52;
    constexpr float kLeastWide = 1100;
    if (room.w >= kLeastWide)
        draw_token_way(ui, {right, row0 + 2, room.right() - right, room.bottom() - row0 + 8}, scene, f);
}

void draw_fold_lines(Canvas& c, const Theme& theme, const MeshLayout& layout, const CellGrid& grid,
                     const ExpertFold& f) {
    const std::int64_t nodes = f.row / f.domain, line = f.line / f.domain;
    if (layout.row_nodes % line != 0 || layout.has_pods) return;
    const Rect last = box_rect(layout.node, layout.node.count - 1, grid, 1);
    for (std::int64_t i = nodes; i < layout.row_nodes; i += nodes) {
        if (i % line == 0) continue;  // another stage begins
        const Rect a = box_rect(layout.node, i - 1, grid, 1), b = box_rect(layout.node, i, grid, 1);
        const float x = (a.right() + b.x) / 2;
        c.line({x, a.y - 4}, {x, last.bottom() + 4}, theme.text, 1.5f, Dash::dashed);
    }
}

namespace {

// Returns the kinds that can be chosen for one of the meshes.
std::vector<GroupKind> kinds_to_offer(const Scene& scene, bool experts) {
    static constexpr GroupKind kDense[] = {GroupKind::tp,       GroupKind::gtp_remat,
                                           GroupKind::cp,       GroupKind::dp_without_gtp_remat,
                                           GroupKind::dp_shard, GroupKind::dp_replicate,
                                           GroupKind::pp,       GroupKind::dp,
                                           GroupKind::dp_cp,    GroupKind::mp};
    static constexpr GroupKind kExpert[] = {GroupKind::etp,           GroupKind::ep,  GroupKind::edp_shard,
                                            GroupKind::edp_replicate, GroupKind::edp, GroupKind::pp,
                                            GroupKind::etp_ep};
    static constexpr std::pair<GroupKind, GroupKind> kParts[] = {
        {GroupKind::dp, GroupKind::dp_shard},    {GroupKind::dp, GroupKind::dp_replicate},
        {GroupKind::dp_cp, GroupKind::dp_shard}, {GroupKind::dp_cp, GroupKind::dp_replicate},
        {GroupKind::dp_cp, GroupKind::cp},       {GroupKind::dp_cp, GroupKind::dp},
        {GroupKind::mp, GroupKind::tp},          {GroupKind::mp, GroupKind::pp},
        {GroupKind::etp_ep, GroupKind::ep},      {GroupKind::etp_ep, GroupKind::etp}};
    std::vector<GroupKind> out;
    const auto degree = [&](GroupKind k) { return scene.evaluation.groups[k].degree; };
    const auto offer = [&](GroupKind k) {
        // A combination that equals one of its parts says nothing new.
        const auto same = [&](const auto& of) { return of.first == k && degree(of.second) == degree(k); };
        if (degree(k) > 1 && std::ranges::none_of(kParts, same)) out.push_back(k);
    };
    if (experts)
        for (const GroupKind k : kExpert) offer(k);
    else
        for (const GroupKind k : kDense) offer(k);
    return out;
}
std::vector<GroupKind> kinds_to_offer(const Scene& scene) {
    return kinds_to_offer(scene, scene.selection.expert());
}

constexpr std::array<std::string_view, 6> kMeshes{"dense", "experts", "both", "fold", "zoom", "token"};
constexpr std::array<std::string_view, 4> kOneMesh{"places", "fold", "zoom", "token"};

// A dense model has no page of a token, but a plan may become one while the page is shown.
std::span<const std::string_view> meshes_of(const Scene& scene, bool token) {
    if (scene.evaluation.mesh.has_experts) return kMeshes;
    return std::span<const std::string_view>(kOneMesh).first(token ? 4 : 3);
}

constexpr float meshes_width(const Scene& scene, bool token = false) {
    return scene.evaluation.mesh.has_experts ? 340 : token ? 228 : 172;
}

// Draws the switch between the meshes, and the fold of the ranks; returns what is shown, in words.
std::string_view mesh_switch(Ui& ui, Rect& row, Scene& scene, MeshViewState& state) {
    const auto names = meshes_of(scene, state.token.shown);
    const bool experts = scene.evaluation.mesh.has_experts;
    const int fold = experts ? 3 : 1, zoom = fold + 1, token = fold + 2;
    const int shown = state.token.shown          ? token
                      : state.zooms              ? zoom
                      : state.folds              ? fold
                      : !experts                 ? 0
                      : state.both               ? 2
                      : scene.selection.expert() ? 1
                                                 : 0;
    if (ui.state().for_picture) return names[static_cast<std::size_t>(shown)];
    const int picked =
        ui.segments("mesh.which", row.cut_left(meshes_width(scene, state.token.shown) - 8), names, shown);
    row.cut_left(8);
    if (picked == shown) return {};
    state.zooms = picked == zoom;
    state.folds = picked == fold;
    state.token.shown = picked == token;
    state.both = experts && picked == 2;
    if (experts && picked < 2) scene.selection.show_mesh(picked == 1);
    if (picked >= fold || state.both) choose_figure(state, 0);  // they show groups
    return {};
}

}  // namespace

void draw_page_switch(Ui& ui, Rect& head_row, Rect& room, Scene& scene, MeshViewState& state, bool single) {
    if (ui.state().for_picture) return;
    // "out", "all", "fly" and the choice of the fold stand in the same row.
    const float controls = single ? 0 : scene.evaluation.mesh.has_experts ? 390 : 240;
    Rect place = head_place(head_row, room, meshes_width(scene, state.token.shown) + controls);
    place.w = std::max(place.w, head_row.right() - place.x);
    static_cast<void>(mesh_switch(ui, place, scene, state));
    head_row = place;
}

namespace {

float axis_width(Ui& ui, std::string_view label) {
    return ui.canvas().text_width(label, ui.small()) + 28;
}

constexpr std::string_view kAll = "all";

// Returns true for a combination of axes: where there is no room for it, the brackets still reach it.
bool can_go(const Selection& selection, GroupKind kind) {
    return kind != selection.group && kind > GroupKind::pp && !is_expert(kind);
}

}  // namespace

float switch_width(Ui& ui, const Scene& scene) {
    float width = meshes_width(scene) + axis_width(ui, kAll);
    for (const GroupKind k : kinds_to_offer(scene)) width += axis_width(ui, axis_label(k));
    return width;
}

float least_switch_width(Ui& ui, const Scene& scene) {
    float width = meshes_width(scene, false) + axis_width(ui, kAll);
    for (const GroupKind k : kinds_to_offer(scene))
        if (!can_go(scene.selection, k)) width += axis_width(ui, axis_label(k));
    return width;
}

bool can_choose(const Scene& scene, GroupKind kind) {
    const std::vector<GroupKind> kinds = kinds_to_offer(scene, is_expert(kind));
    return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

void axis_switch(Ui& ui, Rect row, Rect axes, Scene& scene, MeshViewState& state) {
    Selection& sel = scene.selection;
    if (!scene.evaluation.mesh.has_experts) sel.show_mesh(false);
    std::string mesh(mesh_switch(ui, row, scene, state));
    if (!axes.empty()) row = axes;
    mesh =
        mesh == "places" || mesh.empty() ? "" : mesh + ", ";  // in a picture, which has words in their place
    std::vector<GroupKind> kinds = kinds_to_offer(scene);
    if (kinds.empty()) return;
    if (std::find(kinds.begin(), kinds.end(), sel.group) == kinds.end()) {
        const bool all = sel.all_axes;
        sel.choose(kinds.front());
        sel.all_axes = all;
    }
    // A low pane has no row for them: their names are whole, or not there.
    if (!ui.state().for_picture && row.w < axis_width(ui, kAll) + axis_width(ui, axis_label(sel.group)))
        return;
    const auto width_of = [&](GroupKind k) { return axis_width(ui, axis_label(k)); };
    float width = axis_width(ui, kAll);
    for (const GroupKind k : kinds) width += width_of(k);
    // If there is no room, combinations go first.
    for (std::size_t i = kinds.size(); i-- > 1 && width > row.w;)
        if (can_go(sel, kinds[i])) {
            width -= width_of(kinds[i]);
            kinds.erase(kinds.begin() + static_cast<std::ptrdiff_t>(i));
        }
    std::vector<std::string> labels{ui.state().for_picture ? "all axes" : std::string(kAll)};
    for (const GroupKind k : kinds) labels.push_back(axis_label(k));
    const std::vector<std::string_view> views(labels.begin(), labels.end());
    const bool figure = shows_figure(scene, state);  // then no axis is shown
    const auto at =
        figure ? -1
        : sel.all_axes
            ? 0
            : static_cast<int>(std::find(kinds.begin(), kinds.end(), sel.group) - kinds.begin()) + 1;
    if (ui.state().for_picture) {
        if (!figure) ui.canvas().text_in(row, mesh + labels[static_cast<std::size_t>(at)], ui.small());
        return;
    }
    std::optional<Color> ground;
    if (at > 0) ground = color_of(ui.theme(), sel.group);
    const int picked =
        ui.segments("mesh.axis", {row.x, row.y, std::min(width, row.w), row.h}, views, at, ground);
    if (picked == at) return;
    choose_figure(state, 0);
    if (picked == 0)
        sel.all_axes = true;
    else
        sel.choose(kinds[static_cast<std::size_t>(picked) - 1]);
}

void next_axis(Scene& scene, MeshViewState& state) {
    const ViewKeys& keys = scene.keys;
    const int by = keys.pressed({Key::right_bracket}) ? 1 : keys.pressed({Key::left_bracket}) ? -1 : 0;
    if (by == 0) return;
    const auto kinds = kinds_to_offer(scene);
    if (kinds.empty()) return;
    const auto at = std::find(kinds.begin(), kinds.end(), scene.selection.group);
    const auto n = static_cast<std::ptrdiff_t>(kinds.size());
    const auto i = at == kinds.end() ? 0 : ((at - kinds.begin()) + by + n) % n;
    choose_figure(state, 0);
    scene.selection.choose(kinds[static_cast<std::size_t>(i)]);
}

}  // namespace pentamesh::ui
