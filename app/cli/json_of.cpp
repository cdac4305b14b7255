#include "app/cli/json_of.h"

#include "app/cli/plan_argument.h"
#include "app/tables/comm.h"
#include "app/tables/memory.h"
#include "app/tables/review.h"
#include "app/tables/step.h"
#include "core/memory/savings.h"
#include "core/mesh/failure.h"
#include "core/mesh/places.h"
#include "core/plan/names.h"
#include "core/step/cost.h"
#include "core/step/error_range.h"
#include "core/step/step.h"

#include <array>
#include <cmath>
#include <vector>

namespace pentamesh::cli {
namespace {

Json json_of_op(const Op& op, double start, double end) {
    Json out{{"op", letters_of(op.kind)}, {"chunk", op.chunk}, {"microbatch", op.microbatch}};
    if (op.kind == OpKind::FB) {
        out["backward_chunk"] = op.backward_chunk;
        out["backward_microbatch"] = op.backward_microbatch;
    }
    out["start"] = start;
    out["end"] = end;
    return out;
}

}  // namespace

Json whole(double x) {
    if (!std::isfinite(x) || std::abs(x) > 9e18) return x;
    return std::llround(x);
}

namespace {

Json json_of_fix(const std::vector<Edit>& fix) {
    Json out = Json::array();
    for (const Edit& edit : fix)
        out.push_back({{"op", "replace"},
                       {"path", edit.path},
                       {"value", std::visit([](const auto& v) { return Json(v); }, edit.value)}});
    return out;
}

Json json_of_problems(const std::vector<Problem>& problems) {
    Json out = Json::array();
    for (const Problem& p : problems)
        out.push_back({{"severity", name_of(p.severity)},
                       {"code", name_of(p.code)},
                       {"rule", name_of(p.rule)},
                       {"pointer", p.pointer},
                       {"message", p.message},
                       {"fix", json_of_fix(p.fix)}});
    return out;
}

}  // namespace

Json json_of_import_problems(const std::vector<interop::ImportProblem>& problems) {
    Json out = Json::array();
    for (const interop::ImportProblem& p : problems)
        out.push_back({{"severity", name_of(p.severity)},
                       {"code", p.code},
                       {"message", p.message},
                       {"fix", json_of_fix(p.fix)}});
    return out;
}

Json json_of_error(const Error& error) {
    return {{"valid", false},
            {"problems", Json::array({{{"severity", "error"},
                                       {"code", "not-a-plan"},
                                       {"file", error.path()},
                                       {"pointer", error.pointer()},
                                       {"message", error.message()},
                                       {"fix", Json::array()}}})}};
}

Json json_of_groups(const Plan& plan, const Evaluation& e, std::span<const GroupKind> kinds) {
    Json axes = Json::array();
    if (e.valid && e.mesh.world > 0)
        for (const GroupKind kind : kinds) {
            const GroupSummary& s = e.groups[kind];
            Json tiers = Json::array();
            for (std::size_t t = 0; t < plan.cluster.tiers.size() && t < kMaxTiers; ++t)
                tiers.push_back({{"tier", plan.cluster.tiers[t].name}, {"groups", s.by_tier[t]}});
            axes.push_back({{"axis", name_of(kind)},
                            {"degree", s.degree},
                            {"groups", s.groups},
                            {"tiers", std::move(tiers)},
                            {"slowest_tier", tier_name(plan.cluster, s.slowest_tier)}});
        }
    return {{"world_size", e.mesh.world}, {"axes", std::move(axes)}};
}

void put_fit(Json& out, std::optional<MemoryFit> fit) {
    out["fits"] = fit ? Json(fit == MemoryFit::yes) : Json(nullptr);
    out["may_fit"] = fit ? Json(fit != MemoryFit::no) : Json(nullptr);
}

Json json_of_memory(const Plan& plan, const Evaluation& e) {
    Json out{{"unit", "bytes"},
             {"hbm", whole(e.memory.hbm)},
             {"stages", json_rows(memory_table(e.memory))},
             {"peak_stage", e.memory.peak_stage},
             {"peak", whole(e.memory.peak())}};
    put_fit(out, fit_of(e.memory));
    if (!e.valid) return out;
    if (!e.memory.stage.empty()) out["room_for_buffers"] = whole(room_for_buffers(e.memory));
    std::vector<double> in_flight;
    for (const StageMemory& s : e.memory.stage) in_flight.push_back(s.in_flight);
    out["headroom"] = json_rows(headroom_table(e.memory));
    out["savings"] = json_rows(savings_table(savings(plan, in_flight)));
    return out;
}

Json json_of_comm(const Plan& plan, const Evaluation& e) {
    Json operations = json_rows(comm_table(plan, e));
    for (std::size_t i = 0; i < operations.size(); ++i) {
        operations[i]["collective"] = name_of(e.comm.operations[i].collective);
        operations[i]["elsewhere"] = e.comm.operations[i].on_other_stage;
    }
    Json by_axis = Json::object();
    for (const GroupKind kind : all_of<GroupKind>())
        if (const AxisTraffic& t = e.comm.by_axis[kind]; t.count > 0)
            by_axis[key_of(kind)] = {{"count", whole(t.count)},
                                     {"sent_bytes_per_rank", whole(t.sent_bytes_per_rank)},
                                     {"payload_bytes", whole(t.payload_bytes)},
                                     {"time_s", t.time_s},
                                     {"exposed_s", t.exposed_s}};
    return {{"operations", std::move(operations)},
            {"by_axis", std::move(by_axis)},
            {"sums", json_rows(axes_traffic_table(e))},
            {"by_link", json_rows(links_traffic_table(plan, e))},
            {"sync_points_per_microbatch", whole(e.comm.sync_points_per_microbatch)}};
}

Json json_of_timeline(const Timeline& t, bool ops) {
    Json devices = json_rows(devices_table(t));
    for (std::size_t d = 0; ops && d < devices.size(); ++d) {
        Json list = Json::array();
        for (std::size_t i = t.order.begin[d]; i < t.order.begin[d + 1]; ++i)
            list.push_back(json_of_op(t.order.ops[i], t.start[i], t.end[i]));
        devices[d]["ops"] = std::move(list);
    }
    return {{"schedule", name_of(t.shape.schedule)},
            {"stages", t.shape.devices},
            {"microbatches", t.shape.microbatches},
            {"chunks", chunks_of(t.shape)},
            {"makespan", t.makespan},
            {"unit", "s"},
            {"bubble_fraction", t.bubble_fraction()},
            {"devices", std::move(devices)}};
}

Json json_of_failure(const Plan& plan, const Evaluation& e) {
    const Failure f = lose_node(plan, e.mesh, 0);
    if (f.axes.empty()) return nullptr;
    return {{"node", 0},
            {"lost", f.lost},
            {"waiting", f.waiting},
            {"replicas_hit", f.replicas_hit},
            {"replicas", f.replicas},
            {"state_survives", f.state_survives},
            {"axes", json_rows(failure_table(f))}};
}

namespace {

// Adds the ranges of the figures that `out` has under these keys; `error` is the step's.
void put_ranges(Json& out, std::initializer_list<const char*> keys, double error) {
    for (const char* key : keys) {
        if (!out.contains(key)) continue;
        const Band band = band_of(out[key].get<double>(), error);
        out["ranges"][key] = {{"low", band.low}, {"high", band.high}};
    }
}

}  // namespace

Json json_of_step(const Evaluation& e) {
    if (!e.step) return nullptr;
    const Step& s = *e.step;
    Json exposed = Json::object();
    for (const GroupKind kind : all_of<GroupKind>())
        if (e.comm.by_axis[kind].count > 0) exposed[key_of(kind)] = s.exposed_comm_s[kind];
    Json out = {{"time_s", s.time_s},
                {"compute_s", s.compute_s},
                {"ideal_s", s.ideal_s},
                {"below_peak_s", s.compute_s - s.ideal_s},
                {"below_peak",
                 {{"products_s", s.below.products},
                  {"attention_s", s.below.attention},
                  {"memory_s", s.below.moving},
                  {"starts_s", s.below.starts}}},
                {"recompute_s", s.recompute_s},
                {"bubble_s", s.bubble_s},
                {"uneven_s", s.uneven_s},
                {"exposed_comm_s", std::move(exposed)},
                {"optimizer_s", s.optimizer_s},
                {"straggler_s", s.straggler_s},
                {"model_flops_per_gpu", s.model_flops_per_gpu},
                {"tflops_per_gpu", s.tflops_per_gpu},
                {"mfu", s.mfu},
                {"mfu_causal", mfu_causal(s)},
                {"hfu", s.hfu},
                {"tokens_per_s", s.tokens_per_s},
                {"tokens_per_step", whole(s.tokens_per_step)},
                {"gpu_hours_per_billion", gpu_hours_of_billion(e.mesh.world, s.tokens_per_s)},
                {"error", s.error},
                {"error_90", s.error_90},
                {"nearest_run", s.calibrated > 0 ? Json(nullptr) : Json(s.nearest_run)},
                {"measured_run_near", s.calibrated > 0 || s.nearest_run < kFarRun},
                {"calibrated_from", s.calibrated},
                {"parts", json_rows(step_table(s))}};
    put_ranges(
        out,
        {"time_s", "tokens_per_s", "mfu", "mfu_causal", "hfu", "tflops_per_gpu", "gpu_hours_per_billion"},
        s.error);
    return out;
}

Json json_of_cost(const Plan& plan, const Evaluation& e) {
    const Cost c = cost_of(plan, e.step ? e.step->tokens_per_s : 0);
    Json out = Json::object();
    const auto put = [&](const char* key, const std::optional<double>& value) {
        if (value) out[key] = *value;
    };
    put("days", c.days);
    put("gpu_hours", c.gpu_hours);
    put("cost", c.money);
    if (c.money && !plan.cluster.currency.empty()) out["currency"] = plan.cluster.currency;
    put("energy_kwh", c.kwh);
    put("hours_between_failures", c.hours_between_failures);
    put("checkpoint_every_s", c.checkpoint_every_s);
    put("goodput", c.goodput);
    put("days_with_failures", c.days_with_failures);
    if (e.step) put_ranges(out, {"days", "gpu_hours", "cost", "energy_kwh"}, e.step->error);
    return out.empty() ? Json(nullptr) : out;
}

Json json_of_parameters(const std::string& name, const ParameterCounts& counts) {
    Json by_kind = Json::object();
    for (const TensorKind kind : all_of<TensorKind>()) by_kind[key_of(kind)] = counts.by_kind[kind];
    return {{"model", name},           {"total", counts.total},
            {"active", counts.active}, {"active_without_embedding", counts.active_without_embedding},
            {"mtp", counts.mtp},       {"by_kind", std::move(by_kind)}};
}

void void_figures(Json& out) {
    for (auto& [key, value] : out.items()) {
        if (value.is_number() || value.is_boolean()) value = nullptr;
        if (value.is_object()) void_figures(value);
    }
}

void add_validity(Json& out, const Evaluation& e) {
    out["valid"] = e.valid;
    out["problems"] = json_of_problems(e.problems);
}

void print_json(Json out, const Evaluation& e) {
    add_validity(out, e);
    print_json(pretty(out));
}

}  // namespace pentamesh::cli
