// `move` says what moves from one layout of a model to another, and how long that takes at least.
#include "core/sharding/move.h"
#include "app/cli/output.h"
#include "app/tables/move_tables.h"
#include "app/ui/shell/picture.h"
#include "core/advice/advice.h"
#include "core/base/text.h"
#include "core/plan/names.h"

#include <filesystem>
#include <optional>
#include <utility>

namespace pentamesh::cli {
namespace {

struct MoveCommand {
    PlanArgument plan, second;
    std::string state = "weights";
    bool apart = false;
    std::int64_t rank = 0;
    Forms forms;
    std::string file;
    bool light = false;
};

// Without PLAN_B it is a copy of PLAN, with the settings of both.
PlanArgument second_of(const MoveCommand& options) {
    PlanArgument b = options.second;
    if (!b.name.empty()) return b;
    if (b.sets.empty()) refuse("move: name PLAN_B, or say with --set-b what differs in it");
    b.name = options.plan.name;
    b.sets.insert(b.sets.begin(), options.plan.sets.begin(), options.plan.sets.end());
    b.constants = options.plan.constants;
    return b;
}

Plan load_second(const Context& context, const PlanArgument& second, const std::vector<std::string>& sets) {
    try {
        return load_plan(context, second);
    } catch (const Error& e) {
        throw_as_set_b(e, sets);
    }
}

Json json_of_move_bytes(const MoveBytes& b) {
    return {{"needed_bytes", whole(b.needed)},
            {"stays_bytes", whole(b.stays)},
            {"moved_bytes", whole(b.moved())}};
}

Json json_of_move(const Move& m, const MoveEnd& a, const MoveEnd& b, const std::vector<MovePiece>& pieces,
                  std::int64_t rank) {
    const std::vector<Tier>& tiers = move_tiers(a.plan, b.plan);
    Json wires = Json::array(), causes = Json::array(), kinds = Json::array(), tensors = Json::array(),
         parts = Json::array();
    for (std::size_t i = 0; i < tiers.size() && i < m.all.over.size(); ++i)
        wires.push_back({{"tier", tiers[i].name},
                         {"moved_bytes", whole(m.all.over[i])},
                         {"per_rank_bytes", whole(m.mean().over[i])},
                         {"at_least_s", m.at_least_s[i]}});
    for (const MoveCause c : all_of<MoveCause>()) {
        const bool is_new = c == MoveCause::new_gpu;
        causes.push_back({{"axis", name_of(c)},
                          {"from", is_new ? m.gpus_a : size_of_cause(a, c)},
                          {"to", is_new ? m.gpus_b : size_of_cause(b, c)},
                          {"moved_bytes", whole(m.by_cause[c])},
                          {"because", words_of(c)}});
    }
    for (const TensorState s : {TensorState::parameters, TensorState::optimizer}) {
        if (s == TensorState::optimizer && !m.options.optimizer) continue;
        Json kind{{"kind", name_of(s)}};
        kind.update(json_of_move_bytes(m.by_state[s == TensorState::optimizer ? 1 : 0]));
        kinds.push_back(std::move(kind));
    }
    for (const MoveOfTensor& t : m.tensors) {
        Json tensor{{"tensor", name_of(t.id)}, {"kind", name_of(t.state)}, {"layers", t.layers}};
        tensor.update(json_of_move_bytes(t.bytes));
        tensors.push_back(std::move(tensor));
    }
    for (const MovePiece& p : pieces)
        parts.push_back({{"tensor", name_of(p.id)},
                         {"kind", name_of(p.state)},
                         {"layers", p.layers},
                         {"from_rank", p.from},
                         {"handed_on", p.handed_on},
                         {"tier", p.tier < 0 ? Json() : Json(wire_words(tiers, p.tier))},
                         {"bytes", whole(p.bytes)}});
    Json out{{"model", b.plan.model.name},
             {"from", {{"plan", title_of(a.plan)}, {"gpus", m.gpus_a}}},
             {"to", {{"plan", title_of(b.plan)}, {"gpus", m.gpus_b}, {"first_gpu", m.first_gpu}}}};
    out.update(json_of_move_bytes(m.all));
    out.update({{"by_tier", std::move(wires)},
                {"by_axis", std::move(causes)},
                {"by_kind", std::move(kinds)},
                {"tensors", std::move(tensors)},
                {"farthest", m.tensors.empty() ? Json() : Json(name_of(m.tensors[m.farthest].id))},
                {"rank", {{"rank", rank}, {"pieces", std::move(parts)}}},
                {"bound_s", m.bound_s},
                {"slowest_tier", m.bound_s > 0 ? Json(wire_words(tiers, m.slowest)) : Json()},
                {"sentence", move_sentence(m, tiers)},
                {"assumed", move_assumed(m, a.plan, b.plan)}});
    return out;
}

Document move_document(const Move& m, const MoveEnd& a, const MoveEnd& b, const Evaluation& of_b,
                       const std::vector<MovePiece>& pieces, std::int64_t rank) {
    const std::vector<Tier>& tiers = move_tiers(a.plan, b.plan);
    Section head{"", {move_sentence(m, tiers)}, move_wires_table(m, tiers)};
    if (fit_of(of_b.memory) == MemoryFit::no)
        head.lines.push_back("B does not fit as it stands: " + memory_text(of_b.memory.peak()) + " of "
                             + memory_text(of_b.memory.hbm) + ".");
    head.lines.push_back("A: " + title_of(a.plan) + ". B: " + title_of(b.plan) + ".");
    head.lines.push_back(move_assumed(m, a.plan, b.plan));
    Section tensors{"By tensor, of all GPUs", {}, move_tensors_table(m, tiers)};
    if (m.all.moved() > 0 && !m.tensors.empty())
        tensors.lines.push_back(sentence("Farthest: ", name_of(m.tensors[m.farthest].id), "."));
    Table own = move_pieces_table(pieces, tiers);
    constexpr std::size_t kMostRows = 100;
    if (own.rows.size() > kMostRows) {
        own.left_out = own.rows.size() - kMostRows;
        own.rows.resize(kMostRows);
    }
    return {"From one layout to another",
            {std::move(head),
             {"Which axis makes it move", {}, move_causes_table(m, a, b)},
             std::move(tensors),
             {sentence("Rank ", rank, " of B"), {}, std::move(own)}}};
}

// Draws the page `move` of Compare, from A to B.
void draw_move(const Context& context, const MoveCommand& options, const Plan& a, const Plan& b) {
    ui::PictureRequest request;
    request.view = "compare", request.page = "move";
    request.rank = options.rank;
    request.compared = {a};
    request.moves = {options.state == "all", options.apart};
    if (options.light) request.theme = ui::ThemeId::light;
    std::string ending = std::filesystem::path(options.file).extension().string();
    if (!ending.empty()) ending.erase(0, 1);
    write_output(options.file,
                 ui::make_picture(context.presets, b, request, ending, find_fonts(context.data_folder)));
}

int move_plans(const Context& context, const MoveCommand& options) {
    const PlanArgument second = second_of(options);
    if (options.plan.name == "-" && second.name == "-")
        refuse("standard input has one plan, not two: save it to a file");
    const Plan a = load_plan(context, options.plan), b = load_second(context, second, options.second.sets);
    const Evaluation ea = assess(a), eb = assess(b);
    int status = 0;
    for (const Evaluation* e : {&ea, &eb})
        if (const int one = status_of(*e); one != 0) status = one;
    if (status != 0) return status;
    if (options.rank < 0 || options.rank >= eb.mesh.world)
        refuse(sentence("--rank ", options.rank, ": B has ranks 0 to ", eb.mesh.world - 1));
    const MoveEnd from{a, ea.mesh}, to{b, eb.mesh};
    const MoveOptions how{options.state == "all", options.apart};
    const Forms& forms = options.forms;
    const Move m = move_between(from, to, how);
    if (is_picture(options.file)) {
        draw_move(context, options, a, b);
        if (!context.json && !forms.csv && !forms.markdown) return 0;
    }
    const std::vector<MovePiece> pieces = pieces_of_rank(from, to, how, options.rank);
    std::optional<KeptOutput> kept;
    if (!options.file.empty() && options.file != "-" && !is_picture(options.file)) kept.emplace();
    const int said = print_answer(context, forms,
                                  {json_of_move(m, from, to, pieces, options.rank),
                                   move_pieces_table(pieces, move_tiers(a, b)),
                                   move_document(m, from, to, eb, pieces, options.rank)});
    if (kept) write_output(options.file, kept->text());
    return said;
}

}  // namespace

void add_move(Options& app, Context& context) {
    auto& options = run_with(app, context, move_plans);
    add_plan_argument(app, options.plan);
    app.add_option("PLAN_B", options.second.name, "the layout to go to; a copy of PLAN if it is left out");
    app.add_option("--set-b", options.second.sets,
                   "change a field of the second plan, as layout.tp=4; without PLAN_B: of a copy of PLAN")
        .type_name("POINTER=VALUE")
        .repeatable();
    app.add_option("--state", options.state,
                   "which state moves: the weights, or the optimizer's states and master copies too")
        .type_name("{weights,all}")
        .one_of({"weights", "all"})
        .show_default();
    app.add_flag("--apart", options.apart,
                 "B has GPUs of its own, in nodes after those of A: a trainer and those who sample");
    app.add_option("--rank", options.rank, "the rank of B whose pieces are listed; default 0");
    add_form_flags(app, context, options.forms);
    app.add_option(
           "-o,--output", options.file,
           "write to this file, .txt, .md, .csv or .json; a picture of the page move of Compare: .png, "
           ".svg or .pdf")
        .type_name("FILE");
    app.add_flag("--light", options.light, "the picture in light colours, as for paper");
}

}  // namespace pentamesh::cli
