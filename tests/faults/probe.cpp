// Asks the engine what users ask it, and prints a line an answer: its name and a hash. `mutate` compares the
// lines of a changed engine with the right one's: a change that no answer shows needs no test. `probe NAME`
// prints an answer whole.
#include "core/advice/advice.h"
#include "core/base/files.h"
#include "core/decide/compare.h"
#include "core/decide/scale.h"
#include "core/decide/search.h"
#include "core/explain/traffic.h"
#include "core/explain/verdict.h"
#include "core/interop/export.h"
#include "core/interop/fabric_text.h"
#include "core/interop/import.h"
#include "core/io/hf_families.h"
#include "core/memory/memory_costs.h"
#include "core/mesh/places.h"
#include "core/runs/calibrate.h"
#include "core/runs/hang.h"
#include "core/runs/measured.h"
#include "core/runs/run_layout.h"
#include "core/sharding/placement.h"
#include "core/step/compute.h"
#include "core/step/constants.h"
#include "core/step/step.h"
#include "core/teach/glossary.h"
#include "core/teach/hand_in.h"
#include "core/teach/lesson.h"
#include "core/teach/loaf.h"
#include "core/teach/map.h"
#include "core/teach/wire_race.h"
#include "tests/asked.h"
#include "tests/core/shipped_lessons.h"
#include "tests/faults/dump.h"

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

using namespace pentamesh;
namespace fs = std::filesystem;
using nlohmann::json;
using probe::dump;
using test::files_in;
using test::five_best;
using test::presets;

namespace {

std::string wanted;  // the answer that is printed whole

// FNV-1a, of 64 bits.
std::uint64_t hash_of(std::string_view text) {
    std::uint64_t h = 14695981039346656037U;
    for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211U;
    return h;
}

// Prints one answer. What the engine refuses is an answer, too.
template <typename Ask>
void answer(const std::string& name, const Ask& ask) {
    std::string text;
    const auto say = [&](const auto&... x) { (dump(text, x), ...); };
    try {
        ask(say);
    } catch (const std::exception& e) {
        text += e.what();
    }
    if (name == wanted) std::cout << text;
    if (wanted.empty()) std::cout << name << ' ' << std::hex << hash_of(text) << std::dec << std::endl;
}

void ask_figures(const Plan& p, const Evaluation& e, const auto& say) {
    say(e.valid, e.problems, e.parameters, e.mesh, e.groups, e.microbatches, e.memory.stage,
        e.memory.peak_stage, e.comm.operations, e.comm.by_axis, e.comm.sync_points_per_microbatch,
        e.comm.busiest_device, e.in_flight, e.costs, e.timeline.start, e.timeline.end, e.timeline.device,
        e.timeline.makespan, e.step, e.states.stage);
    say(plan_line(p), asked_line(p, e.microbatches), verdict_of(e), layout_name(p, e.mesh));
    if (!e.step) return;
    say(waterfall(*e.step), range_sentence(*e.step), cost_of(p, e.step->tokens_per_s),
        step_tail(*e.step, e.comm));
    for (const StepPart part :
         {StepPart::compute, StepPart::recompute, StepPart::bubble, StepPart::exposed, StepPart::optimizer,
          StepPart::straggler, StepPart::products, StepPart::uneven})
        say(explain_step(p, e, part));
}

void ask_parts(const Plan& p, const Evaluation& e, const auto& say) {
    for (const MemoryCategory c :
         {MemoryCategory::parameters, MemoryCategory::gradients, MemoryCategory::optimizer,
          MemoryCategory::activations, MemoryCategory::buffers})
        say(explain_memory(p, e.mesh, e.memory, e.memory.peak_stage, c));
    std::vector<BufferBytes> buffers;
    list_buffers(p, e.mesh, e.memory.stage[static_cast<std::size_t>(e.memory.peak_stage)], buffers);
    say(buffers, savings(p, e.in_flight));
    const std::int64_t last = e.mesh.world - 1;
    for (const TensorState state :
         {TensorState::parameters, TensorState::gradients, TensorState::optimizer, TensorState::activations})
        for (const Moment moment : {Moment::at_rest, Moment::computing})
            for (const Placement& t : list_placements(p, e.mesh, state, moment)) {
                const Part part = part_of(p, e.mesh, t, last);
                say(t, part, part_words(t, part), explain_tensor(p, e.mesh, t, 0));
            }
    say(contents_of(p, e.mesh, last));
    for (int type = 0; type < layer_types(p.model).size(); ++type) {
        const LayerList list = timed_layer(p, e.mesh, e.groups, type, last, 8);
        say(list);
        for (const LayerStep& s : list.steps) say(line_of(s, Notation::dtensor, true), sentence_of(s));
    }
    for (const Operation& o : e.comm.operations) say(collective_phases(p, e, o), explain_operation(p, e, o));
    for (const GroupKind kind : all_of<GroupKind>())
        say(traffic_matrix(p, e, kind, 8), caption_of(p, e, kind));
    say(explain_rank(p, e.mesh, last), blame(p, e, {0, last}));
}

void ask_lessons_views(const Plan& p, const Evaluation& e, const auto& say) {
    for (const MapStyle style : {MapStyle::modifiers, MapStyle::own_rows}) {
        const std::vector<MapRow> rows = map_rows(p, e, style);
        say(rows, map_levels(p, rows));
    }
    say(pipeline_or_sharding(p, e), map_recipe(p, e), map_combinations(p, e), zero_rungs(p, e),
        loaf_of(p, e, GroupKind::tp, e.mesh.world - 1, 8));
    const WireRace race = wire_race(p, e);
    say(race, sentence_of(race, p.cluster));
    StrategyPrices prices;
    price_strategies(p, 4, prices);
    for (const StrategyPrice& price : prices.price) say(price, price_sentence(price), state_sentence(price));
    for (const std::string_view id : computed_terms()) say(in_this_plan(id, p, e), used_in(id, p, e));
}

void ask_plan(const std::string& name, const Plan& p) {
    answer("report " + name, [&](const auto& say) { ask_figures(p, assess(p), say); });
    const Evaluation e = evaluate(p);
    if (!e.step) return;
    answer("parts " + name, [&](const auto& say) { ask_parts(p, e, say); });
    answer("teach " + name, [&](const auto& say) { ask_lessons_views(p, e, say); });
}

void ask_decisions(const std::string& name, const Plan& p) {
    answer("scale " + name, [&](const auto& say) {
        for (const bool weak : {false, true}) {
            ScaleRequest r;
            r.weak = weak, r.most_values = 9;
            const Scale s = scale_of(p, r);
            say(s, words_of(p, s));
        }
    });
    answer("sensitivity " + name, [&](const auto& say) {
        const Sensitivity s = sensitivity_of(p, presets());
        say(s, s.by_reach());
    });
    answer("nearby " + name, [&](const auto& say) { say(best_of_each_edit(p)); });
}

void ask_search(const std::string& name, const Plan& p, const SpaceRequest& request, Goal goal) {
    answer("search " + name, [&](const auto& say) {
        std::optional<SpaceError> error;
        const SearchSpace space = search_space(p, request, error);
        say(error);
        if (error) return;
        const SearchReport r = five_best(p, space, goal);
        say(r.counts.layouts, r.counts.left_out, r.rejected, r.results, r.ties, r.base, r.nothing_fits);
    });
}

void ask_compare(const std::string& name, const Plan& a, const Plan& b) {
    answer("compare " + name, [&](const auto& say) {
        const std::vector<Plan> plans{a, b};
        const std::vector<Evaluation> e{evaluate(a), evaluate(b)};
        say(compare(plans, e));
    });
}

void ask_import(const std::string& name, const interop::ImportRequest& r) {
    answer("import " + name, [&](const auto& say) {
        const interop::Import made = interop::import_settings(r, presets());
        say(made.kind, made.plan, made.settings.mapped, made.settings.unmapped, made.settings.ignored,
            made.settings.not_known, made.hosts, made.problems, made.recipes);
    });
}

void ask_interop() {
    const json golden = json::parse(read_file("tests/golden/interop.json"));
    for (const json& c : golden["cases"]) {
        interop::ImportRequest r;
        r.text = c["text"], r.path = c["file_name"];
        if (c.contains("gpus") && c["gpus"].is_number()) r.gpus = c["gpus"];
        if (c.contains("model") && c["model"].is_string()) r.model = c["model"];
        ask_import(c["id"], r);
    }
    for (const fs::path& file : files_in("tests/fuzz/seeds/import")) {
        interop::ImportRequest r;
        r.text = read_file(file.string()), r.path = file.filename().string();
        ask_import(r.path, r);
    }
    for (const auto& item : golden["plans"].items())
        answer("export " + item.key(), [&](const auto& say) {
            const Plan p = parse_plan(item.value().dump(), item.key(), presets());
            for (const interop::Tool* tool : interop::written_tools())
                say(interop::export_plan(p, tool->name, presets()));
        });
    for (const fs::path& file : files_in("tests/golden/hf_configs"))
        answer("config " + file.stem().string(), [&](const auto& say) {
            Plan p = presets().plan("single-gpu");
            p.model_source = {};
            const std::string text = read_file(file.string());
            p.model = model_from_hf(std::string_view(text), file.string());
            say(p, count_parameters(p.model));
        });
    const Cluster cluster = presets().cluster("h100-sxm-ib");
    for (const fs::path& file : files_in("tests/fuzz/seeds/fabric"))
        answer("fabric " + file.stem().string(), [&](const auto& say) {
            const std::string text = read_file(file.string());
            const auto tool = interop::fabric_tool(text);
            if (tool) say(interop::read_fabric(*tool, text, "-", cluster));
        });
}

void ask_lessons() {
    for (const fs::path& file : files_in("assets/lessons")) {
        if (file.extension() != ".md" || file.parent_path().filename() == "courses") continue;
        answer("lesson " + file.stem().string(), [&](const auto& say) {
            const Lesson lesson = test::parse_shipped(file).lesson;
            for (std::size_t i = 0; i < lesson.steps.size(); ++i) {
                const LessonStep& step = lesson.steps[i];
                const Plan p = plan_shown(lesson, i, presets().plan("mesh-8"), presets());
                const Evaluation e = evaluate(p);
                say(step.title, expand(step.words, p, e, presets()));
                if (step.task) say(judge_task(*step.task, p, p, e, presets()));
                if (!step.question) continue;
                const Solution s = solve(*step.question, p, e, presets());
                say(s, answer_words(*step.question, s), hide_answer(step, s, step.words, p, e, presets()));
            }
        });
    }
}

void ask_runs() {
    const Plan plan = presets().plan("llama-3-8b-fsdp");
    const Mesh mesh = build_mesh(plan);
    for (const fs::path& file : files_in("tests/fuzz/seeds/run_file"))
        answer("run " + file.filename().string(), [&](const auto& say) {
            std::vector<runs::RunFile> files{runs::read_run_file(file, runs::parts_by(&mesh))};
            const runs::RunFile& f = files.front();
            say(f.kind, f.rank, f.steps, f.step_s, f.parts, f.spans, f.groups, f.calls, f.warnings);
            const runs::Measured m = runs::measure(files, &plan, presets());
            say(m.predicted_s, m.measured_s, m.parts, m.collectives, m.links, m.problems, m.summary);
        });
    for (const char* folder : {"gpu_error_1st", "lock_gil_1st", "lock_gil_2nd"})
        answer(std::string("hang ") + folder, [&](const auto& say) {
            const fs::path place = fs::path("tests/golden/runs") / folder;
            const runs::HangRun r = runs::read_hang(place, nullptr, presets());
            // The numbers of groups are given as threads meet them, so they are no answer.
            say(r.plan, r.hang.verdict, r.hang.missing, r.hang.held_up, r.hang.warnings);
            const Hosts hosts;
            for (const runs::Culprit& c : r.hang.culprits) say(runs::culprit_words(r, c, hosts));
            for (const runs::WaitingCall& w : runs::waiting_by_call(r.hang)) say(runs::waiting_words(r, w));
        });
    answer("calibrate", [&](const auto& say) {
        std::vector<MeasuredRun> all = read_measured_file("presets/published_runs.json", presets());
        std::erase_if(
            all, [&](const MeasuredRun& r) { return r.plan.cluster.gpu.id != "h100-sxm" || !r.has_time(); });
        if (all.size() > 4) all.resize(4);
        const Calibrated made = calibrate(all, {}, all.front().plan.cluster, "these");
        say(made.constants, made.runs, made.links, made.before, made.after, made.left_out);
    });
}

}  // namespace

int main(int argc, char** argv) {
    fs::current_path(TREE);
    for (int i = 1; i < argc; ++i) wanted += (i > 1 ? " " : "") + std::string(argv[i]);
    for (const Presets::Entry& entry : presets().list(PresetKind::plan))
        ask_plan(entry.id, presets().plan(entry.id));
    const Plan dense = presets().plan("llama-3-70b-3d"), experts = presets().plan("mixtral-8x7b-ep");
    ask_decisions("llama-3-70b-3d", dense);
    ask_decisions("mixtral-8x7b-ep", experts);
    ask_search("dense", dense, {{"tp", "pp", "recompute"}, {}, false}, Goal::tokens);
    ask_search("experts", experts, {{"tp", "ep", "zero"}, {"memory<=70GiB"}, false}, Goal::memory);
    ask_compare("sharded and replicated", presets().plan("llama-3-8b-fsdp"), presets().plan("hsdp-64"));
    ask_compare("dense", dense, with_sets(dense, {"layout.tp=4", "layout.dp_shard=16"}, presets()));
    ask_interop();
    ask_lessons();
    ask_runs();
    return 0;
}
