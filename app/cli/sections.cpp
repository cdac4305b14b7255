#include "app/cli/sections.h"

#include "app/tables/comm.h"
#include "app/tables/memory.h"
#include "app/tables/review.h"
#include "app/tables/step.h"
#include "core/base/text.h"
#include "core/plan/edit_words.h"
#include "core/plan/names.h"
#include "core/plan/problem.h"
#include "core/step/step.h"

#include <cmath>

namespace pentamesh::cli {
namespace {

// A plan with errors has no figures: the section says why. Returns true if nothing else belongs into it.
bool say_void(const Evaluation& e, Section& s) {
    if (e.valid) return false;
    s.table = {};
    s.lines = {"—: " + first_error(e.problems)};
    return true;
}

}  // namespace

Section problems_section(const Evaluation& e) {
    Section s{"Problems and advice", {}, {}};
    for (const Problem& p : e.problems) {
        const std::string change = words_of(p.fix);
        s.lines.push_back(std::string(name_of(p.severity)) + ": " + p.message
                          + (change.empty() ? "" : " Change: " + change + "."));
    }
    if (e.problems.empty()) s.lines.emplace_back("None.");
    return s;
}

Section parameters_section(const ParameterCounts& c) {
    Section s{"Parameters", {}, {{{"kind"}, {"numbers", Shown::count}}, {}}};
    for (const TensorKind kind : all_of<TensorKind>())
        if (const std::int64_t n = c.by_kind[kind]; n > 0) s.table.rows.push_back({name_of(kind), n});
    s.table.rows.push_back({"total", c.total});
    if (c.active != c.total)
        s.table.rows.push_back({"used by one token, the whole embedding counted", c.active});
    if (c.active_without_embedding != c.total)
        s.table.rows.push_back(
            {"used by one token, without the embedding's table", c.active_without_embedding});
    if (c.mtp > 0) s.table.rows.push_back({"multi-token prediction, besides", c.mtp});
    return s;
}

Section groups_section(const Plan& plan, const Evaluation& e, std::span<const GroupKind> kinds) {
    Section s{
        "Who talks to whom, over which wire?",
        {},
        without(groups_table(plan, e, kinds, false), {"per_fast_domain", "sharing_node", "collectives"})};
    s.figure = ui::ReportFigure::placement;
    if (!say_void(e, s) && s.table.rows.empty())
        s.lines.emplace_back("Nobody: every group is a single rank.");
    return s;
}

Section memory_section(const Plan&, const Evaluation& e) {
    Section s{
        "What does each GPU hold?",
        {},
        columns_of(memory_table(e.memory), {"stage", "layers", "parameters", "gradients", "optimizer",
                                            "activations", "buffers", "total", "in_flight_microbatches"})};
    s.figure = ui::ReportFigure::memory;
    if (say_void(e, s)) return s;
    if (e.memory.stage.empty()) {
        s.lines.emplace_back("The layout cannot be laid out.");
        return s;
    }
    s.lines.push_back("Stage " + std::to_string(e.memory.peak_stage)
                      + " holds most: " + memory_text(e.memory.peak()) + " of " + memory_text(e.memory.hbm)
                      + ", which " + std::string(name_of(e.memory.fit())) + ".");
    return s;
}

Section comm_section(const Plan& plan, const Evaluation& e) {
    Section s{"What do they say to each other?",
              {},
              columns_of(comm_table(plan, e),
                         {"axis", "what", "collective", "group_size", "tier", "phase", "count_per_step",
                          "message_bytes", "sent_bytes_per_rank", "time_s", "exposed_s"})};
    if (say_void(e, s)) return s;
    if (s.table.rows.empty())
        s.lines.emplace_back("Nothing.");
    else
        s.lines.emplace_back("In one step, " + rows_device_text(e.comm) + ".");
    return s;
}

Section timeline_section(const Evaluation& e) {
    const Timeline& t = e.timeline;
    Section s{"When does each stage work?", {}, devices_table(t)};
    s.figure = ui::ReportFigure::pipeline;
    if (say_void(e, s)) return s;
    if (t.empty()) {
        s.lines.emplace_back("No timeline.");
        return s;
    }
    s.lines.push_back(std::string(name_of(t.shape.schedule)) + ", " + count_text(t.shape.devices, "device")
                      + ", " + std::to_string(t.shape.microbatches) + " micro-batches: "
                      + time_text(t.makespan) + ", of which bubble " + percent_text(t.bubble_fraction())
                      + (t.shape.devices > 1 ? " on the average device, uneven stages included." : "."));
    return s;
}

Section explanations_section(const Plan& plan, const Evaluation& e) {
    Section s{"How the numbers came about", {}, explanations_table(plan, e)};
    static_cast<void>(say_void(e, s));
    return s;
}

Section step_section(const Evaluation& e) {
    Section s{"How long is a step?", {}, {}};
    s.figure = ui::ReportFigure::time;
    if (say_void(e, s)) return s;
    if (!e.step) {
        s.lines.emplace_back("No time comes out: see the problems.");
        return s;
    }
    const Step& step = *e.step;
    s.table = columns_of(step_table(step), {"part", "time_s", "share"});
    s.lines.push_back("MFU " + percent_text(step.mfu)
                      + (shows_causal_mfu(step) ? ", MFU (causal) " + percent_text(mfu_causal(step)) : "")
                      + ", HFU " + percent_text(step.hfu) + ", " + three_digits(step.tflops_per_gpu)
                      + " TFLOP/s per GPU, " + whole_text(std::round(step.tokens_per_s)) + " tokens/s, "
                      + whole_text(step.tokens_per_step) + " tokens per step.");
    s.lines.push_back("An estimate. " + range_sentence(step));
    return s;
}

Section cost_section(const Plan& plan, const Evaluation& e) {
    Section s{"What does the training take?", {}, cost_table(plan, e.step ? &*e.step : nullptr)};
    if (!s.table.rows.empty())
        s.lines.emplace_back("Made of what the plan gives; nothing is assumed. Checkpoint interval and "
                             "goodput: Young 1974, Daly 2006; the time to start again is not counted.");
    return s;
}

}  // namespace pentamesh::cli
