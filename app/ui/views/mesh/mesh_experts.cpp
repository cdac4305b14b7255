#include "app/ui/views/mesh/mesh_parts.h"

#include "app/ui/kit/format.h"
#include "app/ui/views/mesh/mesh_axes.h"
#include "app/ui/views/shards/view.h"
#include "core/base/quantity.h"
#include "core/mesh/mesh.h"
#include "core/mesh/places.h"
#include "core/sharding/sharding.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace pentamesh::ui {

namespace {

constexpr double kFirstSkew = 1.25;  // where skewed is chosen and the plan is even
constexpr float kSwitch = 170, kStepper = 96, kListField = 240;
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

std::string words_of(const ShownLoads& shown, const Scene& scene) {
    const double busiest = scene.plan.training.router_imbalance;
    const std::string times = trimmed(busiest) + " × the mean";
    switch (shown.form) {
    case LoadForm::even: return "every expert gets as many tokens";
    case LoadForm::list: return "a full bar has the most tokens; the busiest ep rank gets " + times;
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
    if (std::string wrong = read_loads(state.load_list, experts_in(scene), ranks, loads); !wrong.empty()) {
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
        ui.label(row, "Tokens of the experts, in the cells above: " + words_of(shown, scene) + ".",
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
                          "tokens of each expert: 3, 1, 2 ..."))
            if (std::optional<PlanEdit> typed = take_list(scene, state, drawn)) edit = std::move(typed);
        row.cut_left(8);
    }
    if (row.w > 60) ui.label(row, words_of(shown, scene), ui.small());
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

}  // namespace pentamesh::ui
