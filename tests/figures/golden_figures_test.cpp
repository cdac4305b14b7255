// Holds the figures of plans against tests/golden/figures: a wrong sign somewhere in the engine is a line of
// difference, whether or not a test has thought of it.
#include "core/advice/advice.h"
#include "core/decide/compare.h"
#include "core/decide/scale.h"
#include "core/decide/search.h"
#include "core/evaluate.h"
#include "core/explain/traffic.h"
#include "core/explain/verdict.h"
#include "core/io/plan_json.h"
#include "core/memory/memory_costs.h"
#include "core/mesh/places.h"
#include "core/sharding/placement.h"
#include "core/step/compute.h"
#include "core/teach/glossary.h"
#include "core/teach/loaf.h"
#include "core/teach/map.h"
#include "core/teach/wire_race.h"
#include "tests/asked.h"
#include "tests/core/shipped.h"
#include "tests/figures/figures.h"

#include <algorithm>
#include <cstdint>
#include <doctest/doctest.h>
#include <optional>
#include <string>
#include <vector>

using namespace pentamesh;
using namespace pentamesh::test;

namespace {

struct Variant {
    const char *name, *plan;
    std::vector<std::string> sets;
    bool layers = false;  // its layers are listed: no other plan's are like them
};

// They use what no shipped plan does.
const std::vector<Variant>& variants() {
    static const std::vector<Variant> all{
        {"plain replicas", "hsdp-64", {"layout.zero=0", "layout.dp_shard=1", "layout.dp_replicate=64"}},
        {"ZeRO-2 of torchtitan",
         "hsdp-64",
         {"layout.zero=2", "training.software=torchtitan", "training.gradients=bf16"}},
        {"ZeRO-3 of DeepSpeed, offload",
         "hsdp-64",
         {"training.software=deepspeed", "layout.dp_shard=64", "layout.dp_replicate=1",
          "training.offload.optimizer=0.5", "training.offload.parameters=0.25"}},
        {"ring",
         "hsdp-64",
         {"layout.cp=4", "layout.dp_shard=4", "layout.dp_replicate=4", "training.sequence_length=32768"},
         true},
        {"Ulysses",
         "hsdp-64",
         {"layout.cp=4", "layout.dp_shard=4", "layout.dp_replicate=4", "layout.cp_comm=ulysses"},
         true},
        {"Ulysses and ring",
         "hsdp-64",
         {"layout.cp=8", "layout.dp_shard=8", "layout.dp_replicate=1", "layout.cp_comm=ulysses+ring",
          "layout.cp_inner=4", "training.sequence_length=65536"},
         true},
        {"GPipe, full recomputation",
         "llama-3-70b-3d",
         {"layout.schedule=gpipe", "layout.virtual_stages=1", "training.recompute=full"}},
        {"looped BFS, a block recomputed",
         "llama-3-70b-3d",
         {"layout.schedule=looped-bfs", R"(training.recompute={"method": "block", "layers": 2})"}},
        {"ZB-H1", "llama-3-70b-3d", {"layout.schedule=zb-h1", "layout.virtual_stages=1"}},
        {"ZB-H2", "llama-3-70b-3d", {"layout.schedule=zb-h2", "layout.virtual_stages=1"}},
        {"ZB-V, selective recomputation",
         "llama-3-70b-3d",
         {"layout.schedule=zb-v", "layout.virtual_stages=2", "training.recompute=selective"}},
        {"DualPipeV", "llama-3-70b-3d", {"layout.schedule=dualpipev", "layout.virtual_stages=2"}},
        {"uneven stages, stragglers",
         "llama-3-70b-3d",
         {"layout.schedule=1f1b", "layout.virtual_stages=1", "layout.stage_layers=[18,21,22,19]",
          "training.straggler_cv=0.02"}},
        {"modules recomputed, offload",
         "llama-3-70b-3d",
         {R"(training.recompute={"modules": ["core_attn", "layernorm", "mlp"]})",
          "training.offload.activations_layers=2", "training.offload.optimizer=1"},
         true},
        {"tp hidden, dropout, graphs",
         "llama-3-70b-3d",
         {"training.overlap.tp=true", "training.dropout=true", "training.cuda_graphs=layers",
          "training.software=megatron-bridge"}},
        {"attention unfused, SGD",
         "llama-3-70b-3d",
         {"layout.sequence_parallel=false", "training.attention=math", "training.optimizer=sgd-momentum"},
         true},
        {"experts folded",
         "mixtral-8x7b-ep",
         {"layout.tp=2", "layout.etp=1", "layout.ep=8", "layout.dp_shard=32", "training.router_imbalance=1.2",
          "training.overlap.ep=true"},
         true},
        {"experts by all-gather, Muon",
         "mixtral-8x7b-ep",
         {"layout.ep_comm=allgather", "training.optimizer=muon"},
         true},
        {"indexer",
         "deepseek-v3-2048",
         {"model=deepseek-v3.2", "layout.ep_comm=hybridep",
          R"(training.recompute={"modules": ["mla_up_proj", "moe_act", "shared_experts"]})"},
         true},
        {"Mamba",
         "hsdp-64",
         {"model=nemotron-h-8b", "layout.tp=4", "layout.dp_shard=16", "layout.dp_replicate=1"}},
        {"Mamba and experts",
         "hsdp-64",
         {"model=nemotron-3-super", "layout.ep=8", "layout.tp=4", "layout.dp_shard=16",
          "layout.dp_replicate=1"},
         true},
        {"linear attention of AutoModel",
         "hsdp-64",
         {"model=qwen3-next-80b-a3b", "layout.ep=8", "layout.dp_shard=64", "layout.dp_replicate=1",
          "training.software=automodel"},
         true},
        {"windows",
         "hsdp-64",
         {"model=gemma-3-27b", "layout.tp=2", "layout.pp=2", "layout.dp_shard=16", "layout.dp_replicate=1",
          "layout.zero=1"},
         true},
        {"an MLP beside experts", "hsdp-64", {"model=gemma-4-26b-a4b", "layout.ep=8"}, true},
        {"MXFP8",
         "llama-3-70b-3d",
         {"cluster=b200-ib", "cluster.gpus=256", "training.compute=fp8", "training.fp8_recipe=mxfp8"}},
        {"fp4",
         "moe-nvl72",
         {"training.compute=fp4", "training.fused_experts=true", "training.cuda_graphs=iteration"},
         true},
        {"a torus of MaxText",
         "hsdp-64",
         {"cluster=tpu-v6e-pod", "cluster.gpus=64", "training.software=maxtext", "layout.dp_shard=64",
          "layout.dp_replicate=1"}},
        {"PCIe, Nanotron",
         "hsdp-64",
         {"cluster=l40s-pcie", "cluster.gpus=64", "layout.zero=1", "layout.tp=4", "layout.dp_shard=16",
          "layout.dp_replicate=1", "training.software=nanotron"}},
        {"states in 8 bits, torchtitan of 2024",
         "hsdp-64",
         {"cluster=mi300x-roce", "cluster.gpus=64", "training.optimizer=adamw-8bit",
          "training.software=torchtitan-2024"}},
        {"learned positions, FSDP",
         "hsdp-64",
         {"model=gpt2", "training.sequence_length=1024", "layout.zero=0", "training.software=fsdp"}},
        {"a batch that does not divide", "llama-3-8b-fsdp", {"training.micro_batch=8"}},
    };
    return all;
}

Plan plan_of(const Variant& v) {
    return with_sets(presets().plan(v.plan), v.sets, presets());
}

// A timeline has up to a million blocks: their sums, and those of one device.
void put_timeline(Figures& f, const Timeline& t) {
    if (t.empty()) return;
    f.put("timeline.makespan", t.makespan);
    f.put("timeline.device", t.device);
    double starts = 0, ends = 0;
    for (std::size_t i = 0; i < t.start.size(); ++i) {
        const auto weight = static_cast<double>(i % 7 + 1);  // an exchange of two is seen
        starts += weight * t.start[i], ends += weight * t.end[i];
    }
    f.put("timeline.starts", starts), f.put("timeline.ends", ends);
    f.put("timeline.blocks", t.start.size());
    f.put("timeline.bubble", t.bubble_fraction());
    f.put("timeline.steady", steady_part(t));
}

void put_figures(Figures& f, const Plan& p, const Evaluation& e) {
    f.put("problems", e.problems);
    f.put("parameters", e.parameters);
    f.put("mesh", e.mesh);
    for (const GroupSummary& g : e.groups)
        if (g.degree > 1) f.put("group " + std::string(enumerator_name(g.kind)), g);
    f.put("microbatches", e.microbatches);
    f.put("memory.stage", e.memory.stage);
    f.put("memory.peak_stage", e.memory.peak_stage);
    f.put("memory.states", e.states.stage);
    f.put("comm.operations", e.comm.operations);
    f.put("comm.by_axis", e.comm.by_axis);
    f.put("comm.sync_points", e.comm.sync_points_per_microbatch);
    f.put("comm.busiest_device", e.comm.busiest_device);
    f.put("in_flight", e.in_flight);
    f.put("costs", e.costs);
    put_timeline(f, e.timeline);
    f.put("verdict", verdict_of(e));
    f.put("name", layout_name(p, e.mesh));
    f.put("asked", asked_line(p, e.microbatches));
    if (!e.step) return;
    f.put("step", *e.step);
    f.put("waterfall", waterfall(*e.step));
    f.put("range", range_sentence(*e.step));
    f.put("cost", cost_of(p, e.step->tokens_per_s));
    f.put("tail", step_tail(*e.step, e.comm));
}

// These plans differ most: their words and tensors are asked.
constexpr const char* kExplained[] = {"llama-3-70b-3d", "deepseek-v3-2048", "mixtral-8x7b-ep",
                                      "llama-3.1-405b-131k", "hsdp-64"};

void put(Figures& f, const std::string& label, const Explanation& x) {
    if (x.empty()) return;
    f.put_once(label, x.whole_title() + ": " + x.formula + " = " + x.substituted + " " + x.result);
}

void put_explanations(Figures& f, const Plan& p, const Evaluation& e) {
    for (const StepPart part :
         {StepPart::compute, StepPart::recompute, StepPart::bubble, StepPart::exposed, StepPart::optimizer,
          StepPart::straggler, StepPart::products, StepPart::uneven})
        put(f, "explained.step." + std::string(enumerator_name(part)), explain_step(p, e, part));
    for (const MemoryCategory c :
         {MemoryCategory::parameters, MemoryCategory::gradients, MemoryCategory::optimizer,
          MemoryCategory::activations, MemoryCategory::buffers})
        put(f, "explained." + std::string(enumerator_name(c)),
            explain_memory(p, e.mesh, e.memory, e.memory.peak_stage, c));
    int n = 0;
    for (const Operation& o : e.comm.operations)
        put(f, "explained.operation " + std::to_string(n++), explain_operation(p, e, o));
}

void put_parts(Figures& f, const Plan& p, const Evaluation& e) {
    const std::int64_t last = e.mesh.world - 1;
    std::vector<BufferBytes> buffers;
    list_buffers(p, e.mesh, e.memory.stage[static_cast<std::size_t>(e.memory.peak_stage)], buffers);
    f.put("buffers", buffers);
    for (const SavingStep& s : savings(p, e.in_flight))
        f.put("saving " + label_of(s), figure_text(s.saved) + " to " + figure_text(s.fullest.total()) + ": "
                                           + std::string(reason_of(s)));
    f.put("contents", contents_of(p, e.mesh, last));
    int n = 0;
    for (const Operation& o : e.comm.operations)
        f.put("phases " + std::to_string(n++), collective_phases(p, e, o));
    for (const GroupKind kind : all_of<GroupKind>()) {
        f.put("traffic " + std::string(enumerator_name(kind)), traffic_matrix(p, e, kind, 4));
        f.put("caption " + std::string(enumerator_name(kind)), caption_of(p, e, kind));
    }
    f.put("rank", explain_rank(p, e.mesh, last));
    f.put("blame", blame(p, e, {0, last}));
    f.put("blame.place", shared_place_text(p, e, blame(p, e, {0, 1})));
    f.put("node", lose_node(p, e.mesh, 1));
}

void put_tensors(Figures& f, const Plan& p, const Evaluation& e) {
    const std::int64_t last = e.mesh.world - 1;
    for (const TensorState state :
         {TensorState::parameters, TensorState::gradients, TensorState::optimizer, TensorState::activations})
        for (const Moment moment : {Moment::at_rest, Moment::computing}) {
            int n = 0;
            for (const Placement& t : list_placements(p, e.mesh, state, moment)) {
                const std::string label = "tensor " + std::string(enumerator_name(state)) + " "
                                          + std::string(enumerator_name(moment)) + " " + std::to_string(n++)
                                          + " " + std::string(enumerator_name(t.id));
                const Part part = part_of(p, e.mesh, t, last);
                f.put(label, "layers " + std::to_string(t.layers) + ", bytes " + figure_text(t.bytes_whole)
                                 + ", rank " + figure_text(t.bytes_per_rank) + ", local "
                                 + value_text(t.local) + ", last " + part_words(t, part) + " "
                                 + figure_text(part.bytes));
                if (state != TensorState::gradients)
                    put(f, label + ", explained", explain_tensor(p, e.mesh, t, 0));
            }
        }
}

void put_layers(Figures& f, const Plan& p, const Evaluation& e) {
    for (int type = 0; type < layer_types(p.model).size(); ++type) {
        const LayerList list = timed_layer(p, e.mesh, e.groups, type, e.mesh.world - 1, 8);
        const std::string label = "layer " + std::to_string(type);
        f.put(label, list.totals);
        for (const LayerStep& s : list.steps) {
            std::string text = line_of(s, Notation::dtensor, true);
            add_named(text, "flops", value_text(s.flops), false);
            add_named(text, "bytes", value_text(s.bytes_moved), false);
            add_named(text, "message", value_text(s.message_bytes), false);
            add_named(text, "sent", value_text(s.sent_bytes), false);
            add_named(text, "calls", value_text(s.calls), false);
            add_named(text, "time", value_text(s.time_s), false);
            add_named(text, "stash", value_text(s.stash_bytes), false);
            add_named(text, "recomputed", value_text(s.recomputed), false);
            for (const KeptTensor& t : s.kept) add_named(text, "keeps " + t.name, value_text(t.bytes), false);
            for (const KeptTensor& t : s.freed)
                add_named(text, "frees " + t.name, value_text(t.bytes), false);
            f.put(label + " step " + std::to_string(s.n), text);
        }
    }
}

void put_sentences(Figures& f, const Plan& p, const Evaluation& e) {
    for (int type = 0; type < layer_types(p.model).size(); ++type)
        for (const LayerStep& s : timed_layer(p, e.mesh, e.groups, type, 0, 8).steps)
            f.put_once("step " + std::to_string(type) + "." + std::to_string(s.n), sentence_of(s));
}

}  // namespace

TEST_CASE("golden figures of shipped plans") {
    Figures f("plans");
    for (const Presets::Entry& entry : presets().list(PresetKind::plan)) {
        const Plan p = presets().plan(entry.id);
        f.about(entry.id);
        put_figures(f, p, assess(p));
    }
    CHECK(f.differing() == 0);
}

TEST_CASE("golden figures of settings that no shipped plan has") {
    Figures f("variants");
    for (const Variant& v : variants()) {
        CAPTURE(std::string(v.name));
        const Plan p = plan_of(v);
        f.about(v.name);
        const Evaluation e = assess(p);
        put_figures(f, p, e);
    }
    CHECK(f.differing() == 0);
}

TEST_CASE("golden figures of what a plan consists of") {
    Figures f("parts");
    for (const char* id : kExplained) {
        const Plan p = presets().plan(id);
        const Evaluation e = evaluate(p);
        f.about(id);
        put_parts(f, p, e);
        put_explanations(f, p, e);
    }
    CHECK(f.differing() == 0);
}

TEST_CASE("golden figures of tensors") {
    Figures f("tensors");
    for (const char* id : kExplained) {
        const Plan p = presets().plan(id);
        f.about(id);
        put_tensors(f, p, evaluate(p));
    }
    CHECK(f.differing() == 0);
}

TEST_CASE("golden figures of layers") {
    Figures f("layers");
    const auto list = [&](const std::string& name, const Plan& p) {
        const Evaluation e = evaluate(p);
        if (!e.valid) return;
        f.about(name);
        put_layers(f, p, e);
        put_sentences(f, p, e);
    };
    for (const char* id : kExplained) list(id, presets().plan(id));
    list("broken-tp-over-ib", presets().plan("broken-tp-over-ib"));  // fewer heads of keys than ranks
    for (const Variant& v : variants())
        if (v.layers) list(v.name, plan_of(v));
    CHECK(f.differing() == 0);
}

TEST_CASE("golden figures of teaching") {
    Figures f("teaching");
    for (const char* id : kExplained) {
        const Plan p = presets().plan(id);
        const Evaluation e = evaluate(p);
        f.about(id);
        for (const MapStyle style : {MapStyle::modifiers, MapStyle::own_rows}) {
            const std::string label = "map " + std::string(enumerator_name(style));
            const std::vector<MapRow> rows = map_rows(p, e, style);
            f.put(label, rows);
            f.put(label + " levels", map_levels(p, rows));
            for (std::size_t i = 0; i < rows.size(); ++i) {
                const CompactWords words = compact_words(rows[i]);
                f.put(label + " " + std::to_string(i) + " words", collectives_text(rows[i]) + "; "
                                                                      + short_setting(rows[i]) + "; "
                                                                      + words.cuts + "; " + words.talks);
            }
        }
        f.put("pipeline or sharding", pipeline_or_sharding(p, e));
        f.put("recipe", map_recipe(p, e));
        f.put("combinations", map_combinations(p, e));
        f.put("rungs", zero_rungs(p, e));
        f.put("loaf", loaf_of(p, e, GroupKind::tp, e.mesh.world - 1, 3));
        const WireRace race = wire_race(p, e);
        f.put("race", race);
        f.put("race in words", sentence_of(race, p.cluster));
        StrategyPrices prices;
        price_strategies(p, 4, prices);
        for (const StrategyPrice& price : prices.price) {
            const std::string label = "price " + std::string(enumerator_name(price.strategy));
            f.put(label, price_sentence(price) + " " + state_sentence(price) + price.why_not);
            f.put(label + ", memory", price.fullest.total());
            f.put(label + ", traffic", price.traffic);
        }
        for (const std::string_view id_of_term : computed_terms())
            f.put("term " + std::string(id_of_term),
                  in_this_plan(id_of_term, p, e) + " " + value_text(used_in(id_of_term, p, e)));
    }
    CHECK(f.differing() == 0);
}

namespace {

void put_result(Figures& f, const std::string& label, const SearchResult& r) {
    f.put(label, r.choice);
    f.put(label + ", figures",
          "step " + figure_text(r.step_s) + ", tokens " + figure_text(r.tokens_per_s) + ", mfu "
              + figure_text(r.mfu) + ", bubble " + figure_text(r.bubble_s) + ", exposed "
              + figure_text(r.exposed_s) + ", memory " + figure_text(r.memory_bytes) + ", headroom "
              + figure_text(r.headroom) + ", cost " + figure_text(r.cost_per_token * 1e6) + ", alike "
              + std::to_string(r.alike) + ", changes " + std::to_string(r.changes) + ", slow link "
              + figure_text(r.slow_link_s) + ", slow stage " + figure_text(r.slow_stage_s)
              + (r.pareto ? ", pareto" : "") + (r.tied ? ", tied" : ""));
}

void put_search(Figures& f, const Plan& p, const SpaceRequest& request, Goal goal) {
    std::optional<SpaceError> error;
    const SearchSpace space = search_space(p, request, error);
    REQUIRE(!error);
    const SearchReport r = five_best(p, space, goal);
    f.put("layouts", r.counts.layouts), f.put("left out", r.counts.left_out);
    f.put("base", r.base), f.put("ties", r.ties), f.put("ties in words", tie_words(r));
    f.put("nothing fits", r.nothing_fits);
    for (const Rejection& x : r.rejected)
        f.put("rejected " + std::string(enumerator_name(x.code)), std::to_string(x.count) + " " + x.message);
    for (std::size_t i = 0; i < r.results.size(); ++i)
        put_result(f, "result " + std::to_string(i), r.results[i]);
}

void put_decisions(Figures& f, const Plan& p) {
    for (const ScaleOver over : {ScaleOver::gpus, ScaleOver::batch, ScaleOver::sequence, ScaleOver::tp})
        for (const bool weak : {false, true}) {
            if (weak && over != ScaleOver::gpus) continue;
            ScaleRequest r;
            r.over = over, r.weak = weak, r.most_values = 7;
            const Scale s = scale_of(p, r);
            const std::string label =
                std::string("scale ") + std::string(enumerator_name(over)) + (weak ? ", weak" : "");
            f.put(label, s);
            f.put(label + " in words", words_of(p, s));
        }
    const Sensitivity s = sensitivity_of(p, presets());
    f.put("sensitivity order", s.by_reach());
    for (const SensitivityRow& row : s.rows) {
        const auto nudge = [](const std::optional<Nudge>& n) {
            if (!n) return std::string("none");
            return n->value + " " + figure_text(n->step_s) + " s " + figure_text(n->same_tokens_s) + " s "
                   + figure_text(n->memory_bytes) + " " + std::string(enumerator_name(n->fit)) + n->refused;
        };
        f.put("sensitivity " + row.id + (row.down || !row.up ? "" : " " + row.up->value),
              row.name + " " + row.value + ", reach " + figure_text(row.reach_s) + ", down " + nudge(row.down)
                  + ", up " + nudge(row.up));
    }
    const std::vector<SearchResult> nearby = best_of_each_edit(p);
    for (std::size_t i = 0; i < nearby.size(); ++i) put_result(f, "nearby " + std::to_string(i), nearby[i]);
}

}  // namespace

TEST_CASE("golden figures of decisions") {
    Figures f("decisions");
    const Plan dense = presets().plan("llama-3-70b-3d"), experts = presets().plan("mixtral-8x7b-ep");
    f.about("llama-3-70b-3d");
    put_decisions(f, dense);
    f.about("mixtral-8x7b-ep");
    put_decisions(f, experts);
    f.about("search for tokens");
    put_search(f, dense, {{"tp", "pp", "recompute"}, {}, false}, Goal::tokens);
    f.about("search for memory");
    put_search(f, experts, {{"tp", "ep", "zero"}, {"memory<=70GiB"}, false}, Goal::memory);
    f.about("sharded and replicated");
    std::vector<Plan> plans{presets().plan("llama-3-8b-fsdp"), presets().plan("hsdp-64")};
    f.put("comparison", compare(plans, std::vector<Evaluation>{evaluate(plans[0]), evaluate(plans[1])}));
    f.about("another tp");
    plans = {dense, with_sets(dense, {"layout.tp=4", "layout.dp_shard=16"}, presets())};
    f.put("comparison", compare(plans, std::vector<Evaluation>{evaluate(plans[0]), evaluate(plans[1])}));
    CHECK(f.differing() == 0);
}
