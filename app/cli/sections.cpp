#include "app/cli/sections.h"

#include "app/tables/groups.h"
#include "core/base/text.h"
#include "core/explain/explain_step.h"
#include "core/explain/plan_line.h"
#include "core/mesh/places.h"
#include "core/plan/edit_words.h"
#include "core/plan/names.h"
#include "core/rules/first_error.h"

#include <cmath>

namespace pentamesh::cli {
namespace {

// A plan with errors has no figures: the section says why. True: nothing else belongs into it.
bool say_void(const Evaluation& e, Section& s) {
    if (e.valid) return false;
    s.table = {};
    s.lines = {"—: " + first_error(e.problems)};
    return true;
}

std::string count(double x) {
    return with_commas(std::llround(x));
}

}  // namespace

std::string summary_line(const Plan& plan, const Evaluation& e) {
    const Gpu& gpu = plan.cluster.gpu;
    return sentence(plan.model.name, " on ", plan.cluster.gpus, " × ", gpu.name.empty() ? gpu.id : gpu.name,
                    ". ", plan_line(plan), " ", e.microbatches,
                    e.microbatches == 1 ? " micro-batch" : " micro-batches", " per step.");
}

Section problems_section(const Evaluation& e) {
    Section s{"Problems and advice", {}, {}};
    constexpr std::array<const char*, 3> words{"error", "warning", "note"};
    for (const Problem& p : e.problems) {
        const std::string change = words_of(p.fix);
        s.lines.push_back(std::string(words[static_cast<std::size_t>(p.severity)]) + ": " + p.message
                          + (change.empty() ? "" : " Change: " + change + "."));
    }
    if (e.problems.empty()) s.lines.emplace_back("None.");
    return s;
}

Section parameters_section(const ParameterCounts& c) {
    Section s{"Parameters", {}, {{"kind", "numbers"}, {}}};
    for (int i = 0; i < kTensorKindCount; ++i) {
        const std::int64_t n = c.by_kind[static_cast<std::size_t>(i)];
        if (n > 0) s.table.rows.push_back({std::string(name_of(static_cast<TensorKind>(i))), with_commas(n)});
    }
    s.table.rows.push_back({"total", with_commas(c.total)});
    if (c.active != c.total)
        s.table.rows.push_back({"used by one token, the whole embedding counted", with_commas(c.active)});
    if (c.mtp > 0) s.table.rows.push_back({"multi-token prediction, besides", with_commas(c.mtp)});
    return s;
}

Section groups_section(const Plan& plan, const Evaluation& e, std::span<const GroupKind> kinds) {
    Section s{"Who talks to whom, over which wire?", {}, {{"axis", "ranks", "groups", "slowest tier"}, {}}};
    if (say_void(e, s)) return s;
    for (const Tier& t : plan.cluster.tiers) s.table.head.push_back("over " + t.name);
    s.table.head.emplace_back("means");
    for (const GroupKind kind : kinds) {
        const GroupSummary& g = e.groups[static_cast<std::size_t>(kind)];
        if (g.degree <= 1) continue;
        std::vector<std::string> row{std::string(name_of(kind)), with_commas(g.degree), with_commas(g.groups),
                                     std::string(tier_name(plan.cluster, g.slowest_tier))};
        for (std::size_t t = 0; t < plan.cluster.tiers.size(); ++t)
            row.push_back(t < kMaxTiers ? with_commas(g.by_tier[t]) : "");
        row.emplace_back(meaning_of(kind));
        s.table.rows.push_back(std::move(row));
    }
    if (s.table.rows.empty()) s.lines.emplace_back("Nobody: every group is a single rank.");
    return s;
}

std::vector<Section> rank_sections(const Evaluation& e, std::span<const GroupKind> kinds) {
    std::vector<Section> out;
    if (!e.valid) return out;
    for (const GroupKind kind : kinds) {
        const auto degree = static_cast<std::size_t>(e.groups[static_cast<std::size_t>(kind)].degree);
        if (degree <= 1) continue;
        Section s{std::string(name_of(kind)) + ": " + std::string(meaning_of(kind)), {}, {}};
        const std::vector<std::int64_t> ranks = all_groups(e.mesh, kind);
        for (std::size_t from = 0; from + degree <= ranks.size(); from += degree)
            s.lines.push_back(folded_ranks(std::span(ranks).subspan(from, degree)));
        out.push_back(std::move(s));
    }
    return out;
}

Section memory_section(const Plan&, const Evaluation& e) {
    Section s{"What does each GPU hold?",
              {},
              {{"stage", "layers", "parameters", "gradients", "optimizer", "activations", "buffers", "total",
                "in flight"},
               {}}};
    if (say_void(e, s)) return s;
    if (e.memory.stage.empty()) {
        s.lines.emplace_back("The layout cannot be laid out.");
        return s;
    }
    for (const StageMemory& m : e.memory.stage)
        s.table.rows.push_back({std::to_string(m.stage), std::to_string(m.layers), memory_text(m.parameters),
                                memory_text(m.gradients), memory_text(m.optimizer),
                                memory_text(m.activations), memory_text(m.buffers), memory_text(m.total()),
                                three_digits(m.in_flight)});
    s.lines.push_back("Stage " + std::to_string(e.memory.peak_stage)
                      + " holds most: " + memory_text(e.memory.peak()) + " of " + memory_text(e.memory.hbm)
                      + (e.memory.fits() ? ", which fits." : ", which does not fit."));
    return s;
}

Section comm_section(const Plan& plan, const Evaluation& e) {
    Section s{"What do they say to each other?",
              {},
              {{"axis", "what", "collective", "ranks", "tier", "phase", "calls", "message", "sent per step",
                "time", "exposed"},
               {}}};
    if (say_void(e, s)) return s;
    for (const Operation& o : e.comm.operations)
        s.table.rows.push_back(
            {std::string(name_of(o.group)), std::string(o.what), std::string(name_of(o.collective)),
             with_commas(o.group_size), std::string(tier_name(plan.cluster, o.tier)),
             std::string(name_of(o.phase)), count(o.count_per_step), bytes_text(o.message_bytes),
             bytes_text(o.sent_bytes_per_rank), time_text(o.time_s), time_text(o.exposed_s)});
    if (s.table.rows.empty())
        s.lines.emplace_back("Nothing.");
    else
        s.lines.emplace_back("In one step, " + rows_device_text(e.comm) + ".");
    return s;
}

Section timeline_section(const Evaluation& e) {
    const Timeline& t = e.timeline;
    Section s{"When does each stage work?",
              {},
              {{"device", "busy", "bubble", "idle within its span", "micro-batches held"}, {}}};
    if (say_void(e, s)) return s;
    if (t.empty()) {
        s.lines.emplace_back("No timeline.");
        return s;
    }
    s.lines.push_back(std::string(name_of(t.shape.schedule)) + ", " + count_text(t.shape.devices, "device")
                      + ", " + std::to_string(t.shape.microbatches)
                      + " micro-batches: " + time_text(t.makespan) + ", of which bubble "
                      + percent_text(t.bubble_fraction()) + ".");
    for (std::size_t d = 0; d < t.device.size(); ++d) {
        const DeviceTime& time = t.device[d];
        s.table.rows.push_back({std::to_string(d), time_text(time.busy),
                                percent_text(t.makespan > 0 ? 1 - time.busy / t.makespan : 0),
                                time_text(time.idle_within_span()), three_digits(time.peak_in_flight)});
    }
    return s;
}

Section explanations_section(const Plan& plan, const Evaluation& e) {
    Section s{"How the numbers came about",
              {},
              {{"number", "formula", "with this plan's numbers", "result", "source"}, {}}};
    const auto add = [&](const Explanation& x) {
        if (!x.empty()) s.table.rows.push_back({x.title, x.formula, x.substituted, x.result, x.source});
    };
    if (say_void(e, s)) return s;
    if (!e.memory.stage.empty())
        for (int c = 0; c < kMemoryCategoryCount; ++c)
            add(explain_memory(plan, e.mesh, e.memory, e.memory.peak_stage, static_cast<MemoryCategory>(c)));
    for (const Operation& o : e.comm.operations) add(explain_operation(plan, e, o));
    if (!e.step) return s;
    for (const StepPart part : {StepPart::compute, StepPart::recompute, StepPart::bubble, StepPart::uneven,
                                StepPart::optimizer, StepPart::straggler})
        add(explain_step(plan, e, part));
    for (int i = 0; i < kGroupKindCount; ++i)
        if (e.step->exposed_comm_s[static_cast<std::size_t>(i)] > 0)
            add(explain_step(plan, e, StepPart::exposed, static_cast<GroupKind>(i)));
    return s;
}

Section step_section(const Evaluation& e) {
    Section s{"How long is a step?", {}, {{"part", "time", "share"}, {}}};
    if (say_void(e, s)) return s;
    if (!e.step) {
        s.lines.emplace_back("No time comes out: see the problems.");
        return s;
    }
    const Step& step = *e.step;
    const auto row = [&](const std::string& name, double t) {
        if (t > 1e-6 * step.time_s)
            s.table.rows.push_back({name, time_text(t), percent_text(t / step.time_s)});
    };
    row("compute", step.compute_s);
    row("recomputation", step.recompute_s);
    row("pipeline bubble", schedule_bubble_s(step));
    row("uneven stages", step.uneven_s);
    for (int i = 0; i < kGroupKindCount; ++i)
        row("exposed " + std::string(name_of(static_cast<GroupKind>(i))),
            step.exposed_comm_s[static_cast<std::size_t>(i)]);
    row("optimizer", step.optimizer_s);
    row("stragglers", step.straggler_s);
    row("step", step.time_s);
    s.lines.push_back("MFU " + percent_text(step.mfu) + ", HFU " + percent_text(step.hfu) + ", "
                      + three_digits(step.tflops_per_gpu) + " TFLOP/s per GPU, " + count(step.tokens_per_s)
                      + " tokens/s, " + count(step.tokens_per_step) + " tokens per step.");
    s.lines.push_back("An estimate: of the published runs left out of the fit, half lie within "
                      + percent_text(step.error) + ".");
    return s;
}

}  // namespace pentamesh::cli
