#include "app/cli/output.h"
#include "app/tables/plan_tables.h"
#include "core/advice/advice.h"
#include "core/base/files.h"
#include "core/base/number.h"
#include "core/base/text.h"
#include "core/explain/lane_picture.h"
#include "core/mesh/places.h"
#include "core/pipeline/stages.h"
#include "core/pipeline/trace.h"
#include "core/plan/names.h"
#include "core/sharding/sharding.h"
#include "core/step/compute.h"
#include "core/step/exposure.h"
#include "core/step/step.h"

#include <array>
#include <cmath>
#include <iterator>
#include <optional>

namespace pentamesh::cli {
namespace {

struct TimelineOptions {
    std::string costs, trace;
};

// Reads F=1,I=1,W=1,comm=0,FB=3: the costs of a micro-batch on a whole stage.
struct Costs {
    double f = 0, i = 0, w = 0, comm = 0, pair = 0;
};

[[noreturn]] void refuse_costs(const std::string& text, const std::string& why) {
    refuse("--costs " + text + ": " + why + "; write it as F=1,I=1,W=1,comm=0");
}

constexpr double kLongestCost = 1e9;  // seconds; sums of them stay figures

Costs parse_costs(const std::string& text) {
    Costs costs;
    struct Key {
        std::string_view name;
        double* value;
        bool seen = false;
    };
    std::array<Key, 5> keys{
        {{"F", &costs.f}, {"I", &costs.i}, {"W", &costs.w}, {"comm", &costs.comm}, {"FB", &costs.pair}}};
    for (const std::string_view piece : split(text, ',')) {
        const std::string part(piece);
        const std::size_t equals = std::min(part.find('='), part.size());
        Key* key = nullptr;
        for (Key& k : keys)
            if (k.name == part.substr(0, equals)) key = &k;
        if (!key) refuse_costs(text, "\"" + part.substr(0, equals) + "\" is not one of F, I, W, comm, FB");
        const std::string number = equals < part.size() ? part.substr(equals + 1) : "";
        const std::optional<double> value = parse_double(number);
        if (!value || *value < 0) refuse_costs(text, "\"" + number + "\" is no time");
        if (*value > kLongestCost) refuse_costs(text, "\"" + number + "\" is more than 1e9 s");
        *key->value = *value;
        key->seen = true;
    }
    for (std::size_t k = 0; k < 3; ++k)
        if (!keys[k].seen) refuse_costs(text, std::string(keys[k].name) + " is missing");
    return costs;
}

// Replays the plan's schedule with one's own costs; the rest of the plan does not matter.
void replay(const Plan& plan, const Costs& costs, Evaluation& e) {
    const ScheduleShape shape = shape_of(plan, e.microbatches);
    if (e.microbatches < 1 || !accepts(shape)) return;
    e.costs = uniform_costs(shape, costs.f, costs.i, costs.w, costs.comm, costs.pair);
    run_timeline(shape, e.costs, e.timeline);
}

// Names devices as "stage 3, layers 24–31, head, nodes 6–7".
std::string trace_of(const Plan& plan, const Evaluation& e, bool own_costs) {
    TraceNames names{title_of(plan), {}, {}, 0};
    std::optional<StepTrace> step;
    if (e.step && !own_costs) {
        step.emplace(plan, e.timeline, e.comm, e.work, *e.step);
        names.step_s = e.step->time_s;
        names.kernels = [&](int device, std::size_t op, std::vector<TraceSlice>& out) {
            step->add(device, op, out);
        };
    }
    if (!e.timeline.empty()) {
        const auto places = stage_places(plan, e.mesh, e.timeline.shape, e.comm.stages);
        for (std::size_t d = 0; d < places.size(); ++d)
            names.device.push_back(stage_text(static_cast<int>(d), places[d], domain_name(plan.cluster)));
    }
    return chrome_trace(e.timeline, e.costs, names);
}

// Writes every operation on a line; times are in seconds, exact.
std::string csv_of(const Timeline& t) {
    std::string out = "device,op,chunk,microbatch,backward_chunk,backward_microbatch,start_s,end_s\r\n";
    for (std::size_t d = 0; d + 1 < t.order.begin.size(); ++d)
        for (std::size_t i = t.order.begin[d]; i < t.order.begin[d + 1]; ++i) {
            const Op& op = t.order.ops[i];
            const bool pair = op.kind == OpKind::FB;
            out += std::to_string(d) + "," + std::string(letters_of(op.kind)) + "," + std::to_string(op.chunk)
                   + "," + std::to_string(op.microbatch) + ","
                   + (pair ? std::to_string(op.backward_chunk) : "") + ","
                   + (pair ? std::to_string(op.backward_microbatch) : "") + "," + exact_text(t.start[i]) + ","
                   + exact_text(t.end[i]) + "\r\n";
        }
    return out;
}

Bubble bubble_of(const Evaluation& e) {
    if (e.timeline.empty()) return {};
    Timeline two;
    run_iterations(e.timeline.shape, e.costs, 2, two);
    return measure_bubble(e.timeline, e.costs, &two);
}

Json json_of_bubble(const Bubble& b) {
    return {{"work", b.work},
            {"makespan", b.makespan},
            {"span", b.span},
            {"back_to_back", b.steady.value_or(0)},
            {"fraction", b.fraction},
            {"overhead", b.overhead},
            {"closed_form",
             {{"formula", b.form.formula},
              {"measure", b.form.span_measure ? "span" : "makespan"},
              {"bubble", b.form.bubble},
              {"overhead", b.form_overhead},
              {"exact_when", b.form.exact_when},
              {"equal_stages", b.equal_stages},
              {"holds", b.form_holds()}}}};
}

// Adds the measures of docs/schedules.md, and the closed form next to the measure that it gives.
void add_bubble_lines(const Bubble& b, Section& s) {
    s.lines.push_back("Makespan bubble " + time_text(b.makespan) + ": fraction " + percent_text(b.fraction)
                      + " of the makespan, overhead " + percent_text(b.overhead)
                      + " of the work; span bubble " + time_text(b.span)
                      + "; two steps back to back: " + time_text(b.steady.value_or(0)) + " a step.");
    std::string form = std::string(b.form.formula) + " gives " + percent_text(b.form_overhead)
                       + " of the work, the " + (b.form.span_measure ? "span" : "makespan") + " bubble";
    if (b.form_holds())
        form += ", as measured.";
    else
        form += std::string(", if stages are equal and ") + b.form.exact_when + ".";
    s.lines.push_back(std::move(form));
}

int timeline(const Context& context, const OnPlan<TimelineOptions>& options) {
    const LoadedPlan loaded = load_plan_and_sets(context, options.plan);
    const Plan& plan = loaded.plan;
    const bool own_costs = !options.costs.empty();
    const Costs own = own_costs ? parse_costs(options.costs) : Costs{};
    if (own_costs && plan.layout.pp == 1 && plan.layout.virtual_stages > 1)
        throw Error(ErrorKind::invalid, "", "/layout/pp",
                    "a schedule of several chunks a device needs at least 2 pipeline stages; pp is 1");
    Evaluation e = assess(plan);
    if (own_costs) replay(plan, own, e);
    if (e.timeline.empty() && e.valid)
        throw Error(ErrorKind::invalid, "", "/training/global_batch",
                    "the schedule has too many operations to list");
    if (!options.trace.empty() && e.valid) {
        write_output(options.trace, trace_of(plan, e, own_costs));
    } else if (options.forms.csv) {
        print(csv_of(e.timeline));
    } else if (context.json) {
        Json out = json_of_timeline(e.timeline, true);
        if (!e.timeline.empty()) out["bubble"] = json_of_bubble(bubble_of(e));
        if (!e.valid) void_figures(out);
        put_followed(loaded.followed, out);
        print_json(std::move(out), e);
    } else {
        Section section = timeline_section(e);
        if (e.valid && e.timeline.shape.devices > 1 && !e.timeline.empty())
            add_bubble_lines(bubble_of(e), section);
        print_document(options.forms, {"", {std::move(section)}});
    }
    return status_of(e);
}

}  // namespace

void add_timeline(Options& app, Context& context) {
    auto& options = run_with(app, context, timeline);
    add_plan_argument(app, options.plan);
    app.add_option("--costs", options.costs,
                   "costs of a whole stage instead of the model's: F=1,I=1,W=1,comm=0[,FB=3]");
    add_forms(app, context, options.forms);
    app.add_option("--trace", options.trace, "write a Chrome trace to this file, which Perfetto opens")
        .type_name("FILE")
        .excludes("--json")
        .excludes("--csv");
}

namespace {

constexpr std::array kStates{TensorState::parameters, TensorState::gradients, TensorState::optimizer,
                             TensorState::activations};
constexpr std::array kMoments{Moment::at_rest, Moment::computing};

// Returns the sizes of a shape's own dimensions.
Json sizes(const Placement& p, const std::array<std::int64_t, 3>& all) {
    Json out = Json::array();
    for (std::size_t i = 0; i < all.size(); ++i)
        if (p.dims[i] != Dim::none) out.push_back(all[i]);
    return out;
}

Json json_of_tensor(const Placement& p) {
    Json dims = Json::array();
    for (const Dim d : p.dims)
        if (d != Dim::none) dims.push_back(name_of(d));
    Json axes = Json::object();
    for (const Axis a : all_of<Axis>()) {
        const AxisPlacement& on = p.axis[a];
        if (on.size <= 1) continue;
        Json axis{{"placement", name_of(on.spread)}};
        if (on.spread == Spread::cut) {
            axis["along"] = name_of(on.dim);
            axis["parts"] = on.parts;
        }
        axes[p.expert && a == Axis::tp ? "etp" : key_of(a)] = std::move(axis);
    }
    return {{"name", name_of(p.id)},
            {"kind", name_of(p.kind)},
            {"place", name_of(p.place)},
            {"state", name_of(p.state)},
            {"moment", name_of(p.moment)},
            {"layers", p.layers},
            {"dimensions", std::move(dims)},
            {"shape", sizes(p, p.shape)},
            {"local_shape", sizes(p, p.local)},
            {"axes", std::move(axes)},
            {"bytes", whole(p.bytes_whole)},
            {"bytes_per_rank", whole(p.bytes_per_rank)}};
}

// Lists all placements, each with its state.
Table table_of_all(const std::vector<Placement>& stored) {
    Table t = tensors_table(stored);
    t.columns.insert(t.columns.begin(), {"state"});
    for (std::size_t i = 0; i < stored.size(); ++i) {
        Table::Row row{name_of(stored[i].state)};
        std::move(t.rows[i].begin(), t.rows[i].end(), std::back_inserter(row));
        t.rows[i] = std::move(row);
    }
    return t;
}

Answer tensors(const Context&, const Plan& plan, const OnPlan<>&) {
    const Evaluation e = assess(plan);
    Json list = Json::array();
    Document document;
    std::vector<Placement> stored;  // at rest
    if (e.valid)
        for (const TensorState state : kStates)
            for (const Moment moment : kMoments) {
                const std::vector<Placement> placements = list_placements(plan, e.mesh, state, moment);
                for (const Placement& p : placements) list.push_back(json_of_tensor(p));
                if (moment == Moment::at_rest)
                    stored.insert(stored.end(), placements.begin(), placements.end());
                if (moment == Moment::at_rest)
                    document.sections.push_back({std::string(name_of(state)), {}, tensors_table(placements)});
            }
    return with_problems(e, {{{"tensors", std::move(list)}}, table_of_all(stored), std::move(document)});
}

}  // namespace

void add_tensors(Options& app, Context& context) {
    add_forms(app, context, answer_with(app, context, tensors).forms);
}

// `layer` says what one GPU does in one layer, step by step.

namespace {

struct LanesOptions {
    std::int64_t stage = -1;  // the one that works longest
    bool layer = false;       // one layer with its own calls
};
struct LayerOptions {
    std::string kind, notation = "jax";
    std::int64_t rank = 0;
};

// A tensor can be cut by these axes: those of its mesh that have more than one rank.
constexpr std::array kDenseAxes{GroupKind::tp, GroupKind::cp}, kExpertAxes{GroupKind::etp, GroupKind::ep};
constexpr std::array kWeightAxes{GroupKind::fsdp, GroupKind::dp_shard,  GroupKind::dp_replicate,
                                 GroupKind::edp,  GroupKind::edp_shard, GroupKind::edp_replicate,
                                 GroupKind::dp,   GroupKind::dp_cp};

Json json_of_layer_tensor(const LayerTensor& t, const GroupSummaries& groups, Notation notation, bool dp) {
    Json global = Json::array(), local = Json::array(), placement = Json::object();
    std::string dims;
    bool expert = false;
    for (const LayerDim& d : t.dims) {
        global.push_back(std::llround(d.size));
        local.push_back(std::llround(d.local));
        dims += (dims.empty() ? "" : " ") + std::string(d.symbol);
        expert |= d.name == DimName::tokens || (t.weight && d.name == DimName::experts && t.dims.size() > 2);
    }
    const auto say = [&](GroupKind axis, bool always) {
        if (groups[axis].degree <= 1) return;
        const std::string p = placement_of(t, axis);
        if (always || p != "replicate") placement[std::string(name_of(axis))] = p;
    };
    for (const GroupKind axis : expert ? kExpertAxes : kDenseAxes) say(axis, t.dims.size() > 1);
    for (const GroupKind axis : expert ? kDenseAxes : kExpertAxes) say(axis, false);
    for (const GroupKind axis : kWeightAxes) say(axis, false);
    return {{"name", t.name},
            {"global", std::move(global)},
            {"local", std::move(local)},
            {"dims", std::move(dims)},
            {"placement", std::move(placement)},
            {"text", text_of(t, notation, dp)},
            {"bytes", whole(std::round(t.bytes()))}};
}

Json json_of_layer_kept(const std::vector<KeptTensor>& list) {
    Json out = Json::array();
    for (const KeptTensor& k : list)
        out.push_back(
            {{"name", k.name}, {"activation", name_of(k.activation)}, {"bytes", whole(std::round(k.bytes))}});
    return out;
}

Json json_of_layer_step(const LayerStep& s, const GroupSummaries& groups, Notation notation, bool dp) {
    const bool speaks = is_collective(s.op);
    Json in = Json::array(), out = Json::array();
    for (const LayerTensor& t : s.in) in.push_back(json_of_layer_tensor(t, groups, notation, dp));
    for (const LayerTensor& t : s.out) out.push_back(json_of_layer_tensor(t, groups, notation, dp));
    return {{"n", s.n},
            {"phase", name_of(s.phase)},
            {"op", name_of(s.op)},
            {"what", words_of(s.what)},
            {"again", s.recomputed},
            {"per", s.per_run    ? "run"
                    : s.per_step ? "step"
                                 : "micro-batch"},
            {"axis", speaks ? Json(name_of(s.group)) : Json()},
            {"group", s.ranks},
            {"line", line_of(s, notation, dp)},
            {"in", std::move(in)},
            {"out", std::move(out)},
            {"flops", whole(std::round(s.flops))},
            {"bytes_moved", whole(std::round(s.bytes_moved))},
            {"message_bytes", whole(std::round(s.message_bytes))},
            {"sent_bytes", whole(std::round(s.sent_bytes))},
            {"calls", s.calls},
            {"time_s", s.time_s},
            {"kept", json_of_layer_kept(s.kept)},
            {"freed", json_of_layer_kept(s.freed)},
            {"stash_bytes", whole(std::round(s.stash_bytes))}};
}

Json json_of_layer_totals(const LayerTotals& t) {
    Json calls = Json::object();
    for (const LayerCallSum& c : t.calls)
        calls[std::string(name_of(c.group))][std::string(name_of(c.op))] = whole(c.calls);
    return {{"kept_bytes", whole(std::round(t.kept_bytes))},
            {"peak_bytes", whole(std::round(t.peak_bytes))},
            {"flops_forward", whole(std::round(t.flops_forward))},
            {"flops_backward", whole(std::round(t.flops_backward))},
            {"flops_again", whole(std::round(t.flops_recomputed))},
            {"time_forward_s", t.time_forward_s},
            {"time_backward_s", t.time_backward_s},
            {"calls", std::move(calls)}};
}

Notation notation_of(const std::string& word) {
    for (const Notation n : all_of<Notation>())
        if (name_of(n) == word) return n;
    refuse("--notation: \"" + shown_text(word) + "\" is not one of megatron, dtensor, jax");
}

// Returns true for the MoE layer. Where no kind is asked for, it is chosen if the model has one.
bool is_moe(const Plan& plan, const std::string& word) {
    const LayerTypes types = layer_types(plan.model);
    const LayerCounts counts = count_layers(plan.model, types, 0, plan.model.layers);
    const bool moe = sum_of(counts, types.moe()) > 0, dense = sum_of(counts, types.all() & ~types.moe()) > 0;
    if (word.empty()) return moe;
    if (word != "dense" && word != "moe")
        refuse("--kind: \"" + shown_text(word) + "\" is not one of dense, moe");
    if (word == "moe" && !moe) refuse("--kind moe: the model has no MoE layer");
    if (word == "dense" && !dense) refuse("--kind dense: every layer of the model is a MoE layer");
    return word == "moe";
}

Document document_of(const Plan& plan, const Evaluation& e, const LayerList& list, Notation notation,
                     bool dp) {
    const LayerTotals& t = list.totals;
    const LayerTypes types = layer_types(plan.model);
    Section head{
        sentence("One layer (", words_of(types[list.type]), "), one micro-batch, rank ", list.rank), {}, {}};
    head.lines = {"Kept for the backward: " + memory_text(t.kept_bytes)
                      + "; at most alive: " + memory_text(t.peak_bytes),
                  "FLOPs: " + three_digits(t.flops_forward / 1e12) + " TFLOP forward, "
                      + three_digits(t.flops_backward / 1e12) + " backward"
                      + (t.flops_recomputed > 0
                             ? ", of these " + three_digits(t.flops_recomputed / 1e12) + " again"
                             : ""),
                  "Steps one after the other: " + time_text(t.time_forward_s) + " forward, "
                      + time_text(t.time_backward_s) + " backward"};
    Document d{title_of(plan), {std::move(head)}};
    d.sections.push_back(
        {"Steps",
         {},
         columns_of(layer_table(list, notation, dp), {"n", "phase", "line", "what", "again", "axis",
                                                      "sent_bytes", "time_s", "kept", "stash_bytes"})});
    if (!t.calls.empty())
        d.sections.push_back({"Said, by axis and collective", {}, layer_calls_table(list, e.comm)});
    return d;
}

Answer answer_layer(const Context&, const Plan& plan, const OnPlan<LayerOptions>& options) {
    const Notation notation = notation_of(options.notation);
    const Evaluation e = assess(plan);
    if (!e.valid || e.mesh.world == 0)
        return with_problems(e, {{{"kind", nullptr}, {"steps", Json::array()}, {"totals", nullptr}}, {}, {}});
    if (options.rank < 0 || options.rank >= e.mesh.world)
        refuse(sentence("--rank ", options.rank, ": the plan has ranks 0 to ", e.mesh.world - 1));
    const bool moe = is_moe(plan, options.kind), dp = e.groups[GroupKind::dp].degree > 1;
    const int type = usual_type(plan.model, layer_types(plan.model), moe);
    const LayerList list = timed_layer(plan, e.mesh, e.groups, type, options.rank);
    Json steps = Json::array();
    for (const LayerStep& s : list.steps) steps.push_back(json_of_layer_step(s, e.groups, notation, dp));
    Json json{{"kind", moe ? "moe" : "dense"},   {"notation", name_of(notation)},
              {"micro_batch", list.micro_batch}, {"rank", list.rank},
              {"steps", std::move(steps)},       {"totals", json_of_layer_totals(list.totals)}};
    return with_problems(
        e, {std::move(json), layer_table(list, notation, dp), document_of(plan, e, list, notation, dp)});
}

}  // namespace

namespace {

Answer answer_lanes(const Context&, const Plan& plan, const OnPlan<LanesOptions>& options) {
    const Evaluation e = assess(plan);
    const int stages = std::max(e.comm.stages.devices, 1);
    if (options.stage < -1 || options.stage >= stages)
        refuse(sentence("--stage ", options.stage, ": the plan has stages 0 to ", stages - 1));
    const auto stage = static_cast<int>(options.stage);
    const std::optional<LanePicture> picture =
        options.layer ? layer_picture(plan, e, stage) : lane_picture(plan, e, stage);
    if (!picture && e.step)
        refuse(sentence("--layer: no layer", stage >= 0 ? sentence(" of stage ", stage) : std::string(),
                        " makes a call of its own: tp, cp and ep are off there. Leave --layer out."));
    if (!picture)
        return with_problems(
            e, {{{"lanes", Json::array()}, {"blocks", Json::array()}, {"title", nullptr}}, {}, {}});
    Json lanes = Json::array({{{"name", "compute"}, {"tier", nullptr}}}), blocks = Json::array();
    for (const TrafficLane lane : all_of<TrafficLane>())
        lanes.push_back({{"name", lane_name(plan, *picture, lane)}, {"tier", picture->tier[lane]}});
    const Table table = lanes_table(plan, *picture);
    for (const LanePiece& p : picture->pieces)
        blocks.push_back({{"lane", lane_name(plan, *picture, p.lane)},
                          {"what", name_of(p.kind)},
                          {"call", p.kind == LanePieceKind::call ? Json(p.what) : Json()},
                          {"axis", p.kind == LanePieceKind::compute ? Json() : Json(name_of(p.axis))},
                          {"layer", p.unit},
                          {"pass", p.forward ? "forward" : "backward"},
                          {"start", p.start_s},
                          {"end", p.end_s},
                          {"queued_s", p.queued_s},
                          {"hidden", p.hidden_s}});
    Json json{{"stage", picture->stage},
              {"once_a_step", picture->once},
              {"layers", picture->layers},
              {"title", picture->title},
              {"sentence", picture->sentence},
              {"assumed", picture->assumed},
              {"forward_s", picture->forward_s},
              {"end_s", picture->end_s},
              {"waits_s", picture->waits_s},
              {"hidden_s", picture->hidden_s},
              {"slowed_by_traffic_s", picture->slowed_s},
              {"paired_share", picture->paired ? Json(picture->paired_share) : Json()},
              {"alone_end_s", picture->paired ? Json(picture->alone.front().end_s) : Json()},
              {"lanes", std::move(lanes)},
              {"blocks", std::move(blocks)}};
    const std::string of_stage = sentence("stage ", picture->stage);
    Section head{picture->layers > 0
                     ? sentence("One of ", picture->layers,
                                picture->layers == 1 ? " layer of " : " like layers of ", of_stage)
                 : picture->once ? sentence("What ", of_stage, " does once a step")
                                 : sentence("One micro-batch of ", of_stage),
                 {picture->title, picture->sentence, picture->assumed},
                 {}};
    if (picture->paired) head.lines.insert(head.lines.begin(), picture->alone.front().title);
    for (const LaneMark& m : picture->marks) head.lines.push_back(m.what + ": " + m.why + ".");
    Document d{title_of(plan), {std::move(head)}};
    d.sections.push_back({"On the lanes", {}, table});
    return with_problems(e, {std::move(json), table, std::move(d)});
}

}  // namespace

void add_lanes(Options& app, Context& context) {
    auto& options = answer_with(app, context, answer_lanes);
    app.add_option("--stage", options.stage,
                   "a stage of the pipeline; the one that works longest if it is left out");
    app.add_flag("--layer", options.layer,
                 "one of its layers, part by part, with the calls of tp, cp and ep that it makes itself");
    add_forms(app, context, options.forms);
}

void add_layer(Options& app, Context& context) {
    auto& options = answer_with(app, context, answer_layer);
    app.add_option("--kind", options.kind,
                   "which layer; the MoE layer where it is left out and the model has one")
        .type_name("{dense,moe}");
    app.add_option("--rank", options.rank, "whose groups the collectives name; default 0");
    app.add_option("--notation", options.notation, "whose words; jax where it is left out")
        .type_name("{megatron,dtensor,jax}");
    add_forms(app, context, options.forms);
}

}  // namespace pentamesh::cli
