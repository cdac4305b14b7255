#include "app/cli/output.h"

#include "app/platform/platform.h"
#include "app/tables/decide_tables.h"
#include "app/tables/plan_tables.h"
#include "app/tables/review.h"
#include "app/tables/table.h"
#include "app/ui/shell/files.h"
#include "core/advice/advice.h"
#include "core/base/files.h"
#include "core/base/json_reader.h"
#include "core/base/text.h"
#include "core/explain/sequence_parallel.h"
#include "core/interop/import.h"
#include "core/io/plan_json.h"
#include "core/memory/memory_costs.h"
#include "core/memory/state_words.h"
#include "core/mesh/places.h"
#include "core/pipeline/follow.h"
#include "core/plan/edits.h"
#include "core/plan/names.h"
#include "core/plan/problem.h"
#include "core/runs/run_file.h"
#include "core/runs/run_layout.h"
#include "core/step/constants.h"
#include "core/step/step.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

namespace pentamesh::cli {
namespace {

std::string* taken = nullptr;  // takes what is printed; nullptr: standard output does
int own_streams = 0;
std::vector<std::filesystem::path> inputs;

bool write_out(const std::string& text) {
    if (taken) {
        *taken += text;
        return true;
    }
    errno = 0;
    const bool written =
        std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
    if (!written && errno != EPIPE)
        throw Error(ErrorKind::io, "standard output", "",
                    "cannot be written: " + std::generic_category().message(errno));
    return written;
}

}  // namespace

std::string read_input(const std::string& name) {
    note_input(name);
    return name == "-" ? read_stream(std::cin, "-") : read_file(name);
}

bool print(const std::string& text) {
    return write_out(printable(text));
}

bool print_json(const std::string& json) {
    return write_out(printable_json(json));
}

void say_error(const std::string& line) {
    std::cerr << printable(line) << "\n";
}

void print_to(const std::string& file, const std::string& text) {
    if (file.empty() || file == "-")
        print(text);
    else
        write_output(file, text);
}

void write_output(const std::filesystem::path& file, const std::string& text) {
    refuse_input(file);
    write_file(file, text);
}

void note_input(const std::string& name) {
    if (name != "-") inputs.emplace_back(name);
}

void forget_inputs() {
    inputs.clear();
}

void refuse_input(const std::filesystem::path& file) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(file, ignored)) return;
    for (const std::filesystem::path& input : inputs)
        if (std::filesystem::equivalent(input, file, ignored))
            throw Error(ErrorKind::usage, file.string(), "",
                        "is a file that was read, and would be lost: write to another one");
}

bool has_own_streams() {
    return own_streams > 0;
}

std::size_t output_width() {
    return taken ? 0 : terminal_width();
}

KeptOutput::KeptOutput() : before_(std::exchange(taken, &text_)) {}

KeptOutput::~KeptOutput() {
    taken = before_;
}

struct OwnStreams::Impl {
    std::istringstream in;
    std::ostringstream err;
    KeptOutput out;
    std::streambuf *old_in, *old_err;
    explicit Impl(const std::string& input)
        : in(input), old_in(std::cin.rdbuf(in.rdbuf())), old_err(std::cerr.rdbuf(err.rdbuf())) {
        ++own_streams;
    }
    ~Impl() {
        --own_streams;
        std::cin.rdbuf(old_in);
        std::cin.clear();  // the end of one input is not that of the next
        std::cerr.rdbuf(old_err);
    }
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;
};

OwnStreams::OwnStreams(const std::string& input) : impl_(std::make_unique<Impl>(input)) {}
OwnStreams::~OwnStreams() = default;

const std::string& OwnStreams::output() const {
    return impl_->out.text();
}

std::string OwnStreams::messages() const {
    return impl_->err.str();
}

namespace {

constexpr const char* kStyle = R"(<style>
:root { color-scheme: light dark; }
body { font: 15px/1.5 Inter, system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .2rem .8rem .2rem 0; border-bottom: 1px solid color-mix(in srgb, currentColor 18%, transparent); vertical-align: top; }
th { font-weight: 600; } .number { text-align: right; }
figure { margin: 1rem 0; } figure svg { max-width: 100%; height: auto; border-radius: 6px; }
@media print { body { max-width: none; margin: 0; } figure, tr { break-inside: avoid; } }
</style>)";

}  // namespace

std::string to_text(const Document& document, std::size_t width) {
    std::string out = document.title.empty() ? "" : document.title + "\n";
    for (const Section& s : document.sections) {
        if (!s.title.empty()) out += (out.empty() ? "" : "\n") + s.title + "\n";
        for (const std::string& line : s.lines) out += "  " + line + "\n";
        if (s.table.rows.empty()) continue;
        constexpr std::size_t kIndent = 2;
        const std::string table = write_text(worded(s.table), width > kIndent ? width - kIndent : 0);
        for (const std::string_view line : split_lines(table)) out += "  " + std::string(line) + "\n";
    }
    return out;
}

std::string to_markdown(const Document& document) {
    std::string out = document.title.empty() ? "" : "# " + markdown_text(document.title) + "\n";
    for (const Section& s : document.sections) {
        if (!s.title.empty()) out += (out.empty() ? "## " : "\n## ") + markdown_text(s.title) + "\n";
        for (const std::string& line : s.lines) out += "\n" + markdown_text(line) + "\n";
        if (s.table.rows.empty()) continue;
        out += "\n" + write_table(worded(s.table), TableFormat::markdown);
    }
    return out;
}

std::string to_html(const Document& document) {
    std::string out = "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>"
                      + html_text(document.title) + "</title>\n" + kStyle + "\n<h1>"
                      + html_text(document.title) + "</h1>\n";
    for (const Section& s : document.sections) {
        if (!s.title.empty()) out += "<h2>" + html_text(s.title) + "</h2>\n";
        for (const std::string& line : s.lines) out += "<p>" + html_text(line) + "</p>\n";
        if (!s.svg.empty()) out += "<figure>\n" + s.svg + "</figure>\n";
        if (s.table.rows.empty()) continue;
        out += write_table(worded(s.table), TableFormat::html);
    }
    return out + "</html>\n";
}

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
                       {"message", p.said()},
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

std::string verdict_of_fit(MemoryFit fit) {
    std::string verdict(name_of(fit));
    std::replace(verdict.begin(), verdict.end(), ' ', '_');
    return verdict;
}

void put_fit(Json& out, std::optional<MemoryFit> fit) {
    out["fits"] = fit ? Json(fits(*fit)) : Json(nullptr);
    out["may_fit"] = fit ? Json(fit != MemoryFit::no) : Json(nullptr);
    out["verdict"] = fit ? Json(verdict_of_fit(*fit)) : Json(nullptr);
}

Json json_of_memory(const Plan& plan, const Evaluation& e) {
    Json out{{"unit", "bytes"},
             {"hbm", whole(e.memory.hbm)},
             {"stages", json_rows(memory_table(e.memory))},
             {"peak_stage", e.memory.peak_stage},
             {"peak", whole(e.memory.peak())},
             {"bytes_per_parameter", bytes_per_parameter(plan)},
             {"states", state_words(plan)}};
    put_fit(out, fit_of(e.memory));
    if (!e.valid) return out;
    if (!e.memory.stage.empty()) out["room_for_buffers"] = whole(room_for_buffers(e.memory));
    out["headroom"] = json_rows(headroom_table(e.memory));
    out["savings"] = json_rows(savings_table(savings(plan, e.memory)));
    return out;
}

Json json_of_comm(const Plan& plan, const Evaluation& e) {
    Json operations = json_rows(comm_table(plan, e));
    for (std::size_t i = 0; i < operations.size(); ++i) {
        operations[i]["collective"] = name_of(e.comm.operations[i].collective);
        operations[i]["elsewhere"] = e.comm.operations[i].on_other_stage;
        const WaitsBecause why = e.comm.operations[i].waits_because;
        operations[i]["waits_because"] = why == WaitsBecause::nothing ? Json(nullptr) : Json(name_of(why));
    }
    Json by_axis = Json::object();
    for (const GroupKind kind : all_of<GroupKind>())
        if (const AxisTraffic& t = e.comm.by_axis[kind]; t.count > 0)
            by_axis[key_of(kind)] = {{"count", whole(t.count)},
                                     {"sent_bytes_per_rank", whole(t.sent_bytes_per_rank)},
                                     {"payload_bytes", whole(t.payload_bytes)},
                                     {"time_s", t.time_s},
                                     {"exposed_s", t.exposed_s}};
    Json sequence = nullptr;  // of one layer of one micro-batch
    if (const auto bytes = sequence_parallel_bytes(plan, e))
        sequence = {{"on", bytes->on},
                    {"without_bytes", whole(bytes->without_bytes)},
                    {"with_bytes", whole(bytes->with_bytes)},
                    {"again_bytes", whole(bytes->again_bytes)}};
    return {{"operations", std::move(operations)},
            {"by_axis", std::move(by_axis)},
            {"sequence_parallel", std::move(sequence)},
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
                {"slowed_by_traffic_s", s.slowed_by_traffic_s},
                {"bubble_s", s.bubble_s},
                {"uneven_s", s.uneven_s},
                {"exposed_comm_s", std::move(exposed)},
                {"offload_s", s.offload_s},
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

namespace {

bool looks_like_file(const std::string& name) {
    return name.find_first_of("/\\.") != std::string::npos;
}

// Returns true for the JSON of a plan, in the place of its name.
bool is_plan_itself(const std::string& name) {
    return name.starts_with("{");
}

}  // namespace

void add_sets(Options& app, std::vector<std::string>& sets) {
    app.add_option("--set", sets,
                   "change a field of the plan first, as layout.tp=4 or /layout/tp=4; may be repeated")
        .type_name("POINTER=VALUE")
        .repeatable();
}

void add_plan_argument(Options& app, PlanArgument& argument) {
    app.add_option("PLAN", argument.name,
                   "a plan file, a plan preset's id, a picture with a plan inside, a config.json, the plan's "
                   "JSON itself, or - for standard input")
        .required();
    add_plan_options(app, argument);
}

void add_sets_of_second(Options& app, std::vector<std::string>& sets, const std::string& more) {
    app.add_option("--set-b", sets,
                   "change a field of the second plan, as layout.tp=4; without PLAN_B: of a copy of PLAN. "
                       + more)
        .type_name("POINTER=VALUE")
        .repeatable();
}

void add_plan_options(Options& app, PlanArgument& argument) {
    add_sets(app, argument.sets);
    app.add_option("--constants", argument.constants, "take the constants of a file that `calibrate` wrote")
        .type_name("FILE");
}

void add_json_flag(Options& app, Context& context) {
    app.add_flag("--json", context.json, "write JSON");
}

std::filesystem::path file_of(const Context& context, const PlanArgument& argument) {
    if (argument.name == "-" || is_plan_itself(argument.name)
        || context.presets.has(PresetKind::plan, argument.name))
        return {};
    return argument.name;
}

namespace {

struct PlanText {
    std::string text, name;  // `name` is the plan's name in errors
};

// Returns a plan around a model's own settings: a model by itself gets the layout that `import` gives it, and
// standard error says so.
std::string plan_around(const Context& context, const std::string& config, const std::string& name) {
    interop::ImportRequest request;
    request.text = config;
    request.path = name;
    request.tool = "hf";
    const interop::Import in = interop::import_settings(request, context.presets);
    if (!in.plan) {
        for (const interop::ImportProblem& p : in.problems)
            if (p.severity == Severity::error) throw Error(ErrorKind::invalid, name, "", p.message);
        throw Error(ErrorKind::invalid, name, "", "no plan can be made of this model");
    }
    say_error(sentence("pentamesh: ", name, " is a model, not a plan: ",
                       count_text(in.plan->cluster.gpus, "GPU"), " of \"", in.plan->cluster.name,
                       "\" without a layout stand in. Change that with --set cluster.gpus=8, --set "
                       "layout.tp=8 and the like"));
    return write_plan(*in.plan);
}

PlanText text_of(const Context& context, const PlanArgument& argument) {
    const Presets& presets = context.presets;
    if (is_plan_itself(argument.name)) return {argument.name, "the plan"};
    if (presets.has(PresetKind::plan, argument.name)) {
        const std::string file = (presets.root() / "plans" / (argument.name + ".plan.json")).string();
        return {read_file(file), file};
    }
    std::error_code ignored;
    if (!looks_like_file(argument.name) && argument.name != "-"
        && !std::filesystem::exists(argument.name, ignored)) {
        std::vector<std::string_view> ids;
        for (const Presets::Entry& e : presets.list(PresetKind::plan)) ids.push_back(e.id);
        throw Error(ErrorKind::io, argument.name, "",
                    "there is no such file, and no such plan preset; the closest preset is \""
                        + std::string(nearest(argument.name, ids)) + "\"");
    }
    std::string text = ui::plan_text_inside(read_input(argument.name), argument.name);
    if (const std::string words = runs::run_file_words(text); !words.empty())
        throw Error(ErrorKind::invalid, argument.name, "", words);
    if (ui::is_model_text(text)) text = plan_around(context, text, argument.name);
    return {std::move(text), argument.name};
}

}  // namespace

LoadedPlan load_plan_and_sets(const Context& context, const PlanArgument& argument) {
    const PlanText in = text_of(context, argument);
    LoadedPlan loaded{parse_plan(in.text, in.name, context.presets, argument.sets), std::nullopt};
    constexpr const char* kSoftware = "/training/software";
    const std::optional<nlohmann::json> text = try_parse_json(in.text);
    const std::vector<std::string> set = pointers_of_sets(argument.sets);
    loaded.names_software = (text && text->contains(nlohmann::json::json_pointer(kSoftware)))
                            || std::find(set.begin(), set.end(), kSoftware) != set.end();
    if (!argument.constants.empty())
        loaded.plan = with_constants_of(
            loaded.plan, read_constants(read_input(argument.constants), argument.constants, context.presets),
            context.presets);
    if (argument.sets.empty()) return loaded;
    try {
        loaded.before = parse_plan(in.text, in.name, context.presets);
    } catch (const Error&) {  // --set mends what is wrong with it: there is no plan to go back to
        return loaded;
    }
    const Followed followed = follow(*loaded.before, loaded.plan, pointers_of_sets(argument.sets));
    loaded.plan = followed.plan;
    loaded.followed = followed.edits;
    if (const std::string words = words_of(followed); !words.empty()) say_error("pentamesh: " + words);
    loaded.plan = with_true_words(*loaded.before, std::move(loaded.plan), context.presets);
    if (const std::string lost = lost_words_text(*loaded.before, loaded.plan); !lost.empty())
        say_error("pentamesh: " + lost);
    return loaded;
}

void throw_as_set_b(const Error& error, const std::vector<std::string>& sets) {
    constexpr std::string_view kSet = "--set ";
    const auto is_of_b = [&](const std::string& text) {
        return text.starts_with(kSet) && std::any_of(sets.begin(), sets.end(), [&](const std::string& set) {
                   const std::string_view rest = std::string_view(text).substr(kSet.size());
                   return rest.starts_with(shown_text(set)) || rest.starts_with(shown_json(set));
               });
    };
    const auto named = [&](const std::string& text) {
        return is_of_b(text) ? "--set-b " + text.substr(kSet.size()) : text;
    };
    throw Error(error.kind(), named(error.path()), error.pointer(), named(error.message()));
}

void put_followed(const std::vector<Edit>& followed, Json& out) {
    if (followed.empty() || !out.is_object()) return;
    Json& fields = out["followed"] = Json::object();
    for (const Edit& e : followed)
        fields[e.path] = std::visit([](const auto& v) { return Json(v); }, e.value);
}

Plan load_plan(const Context& context, const PlanArgument& argument) {
    return load_plan_and_sets(context, argument).plan;
}

void add_hosts(Options& app, std::string& hosts) {
    app.add_option("--hosts", hosts,
                   "the hosts' names in the order of ranks: node[01-04,7], or a file of them")
        .type_name("LIST");
}

Hosts load_hosts(const std::string& hosts, const Plan& plan, const Mesh& mesh) {
    if (hosts.empty() || mesh.world < 1) return {};
    return load_hosts(hosts, mesh.world, std::max<std::int64_t>(1, node_size(mesh, plan.cluster)));
}

Hosts load_hosts(const std::string& hosts, std::int64_t world, std::int64_t node) {
    if (hosts.empty() || world < 1) return {};
    std::error_code ignored;
    const bool file =
        hosts == "-"
        || (std::filesystem::exists(hosts, ignored) && !std::filesystem::is_directory(hosts, ignored));
    Hosts out = hosts_of(file ? read_input(hosts) : hosts, world, node);
    const std::int64_t nodes = (world + node - 1) / node;
    // A single word may be the name of a file; one of a host in its domain has several dots.
    const bool as_file =
        hosts.find_first_of("/\\") != std::string::npos || std::count(hosts.begin(), hosts.end(), '.') == 1;
    if (!file && out.names.size() == 1 && (nodes > 1 || as_file))
        throw Error(ErrorKind::io, hosts, "",
                    "there is no such file, and as a host it would hold all " + count_text(world, "rank")
                        + " of " + count_text(nodes, "node")
                        + ": --hosts takes a list, as node[01-04,7], or a file of names");
    return out;
}

std::vector<std::string> errors_of(const Evaluation& evaluation) {
    std::vector<std::string> out;
    if (evaluation.valid) return out;
    for (const Problem& p : evaluation.problems)
        if (p.severity == Severity::error)
            out.push_back("pentamesh: " + (p.pointer.empty() ? "" : p.pointer + ": ") + p.said()
                          + (p.fix.empty() ? "" : " Change: " + words_of(p.fix) + "."));
    return out;
}

int status_of(const Evaluation& evaluation) {
    for (const std::string& line : errors_of(evaluation)) say_error(line);
    return evaluation.valid ? 0 : 1;
}

void refuse(const std::string& why) {
    throw Error(ErrorKind::usage, "", "", why);
}

namespace {

// Puts the traces and Inspector files of a folder in its place.
std::vector<std::string> with_files_of_folders(const std::vector<std::string>& names) {
    std::vector<std::string> out;
    for (const std::string& name : names) {
        std::error_code ignored;
        if (name == "-" || !std::filesystem::is_directory(name, ignored)) {
            out.push_back(name);
            continue;
        }
        const std::vector<std::filesystem::path> found = runs::run_files_in(name);
        if (found.empty())
            throw Error(ErrorKind::invalid, name, "",
                        "this folder has no traces of PyTorch and no files of the NCCL Inspector; name a log "
                        "itself, and `pentamesh hang` reads a folder of dumps");
        for (const std::filesystem::path& file : found) out.push_back(file.string());
    }
    return out;
}

}  // namespace

runs::Measured measure_files(const Presets& presets, const std::vector<std::string>& files, const Plan* plan,
                             const std::string& hosts) {
    std::optional<Mesh> mesh;
    if (plan != nullptr) mesh = build_mesh(*plan);
    const runs::PartOfGroup part_of = runs::parts_by(mesh ? &*mesh : nullptr);
    std::vector<runs::RunFile> read;
    for (const std::string& file : with_files_of_folders(files)) {
        note_input(file);
        read.push_back(file == "-" ? runs::read_run_text(read_input(file), file, part_of)
                                   : runs::read_run_file(file, part_of));
    }
    std::int64_t world = 0;  // as the files say it
    for (const runs::RunFile& f : read) world = std::max(world, f.world);
    if (!hosts.empty() && !mesh && world == 0)
        throw Error(ErrorKind::usage, hosts, "",
                    "the files do not say how many ranks the run has: --plan says it");
    const Hosts named = mesh ? load_hosts(hosts, *plan, *mesh) : load_hosts(hosts, world, world);
    return runs::measure(std::move(read), plan, presets, named);
}

namespace {

constexpr double kFirst = 0.5, kEach = 0.2;  // seconds until it is said first, and between two

double now_s() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

void add_form_flags(Options& app, Context& context, Forms& forms) {
    const Option json = app.add_flag("--json", context.json, "write JSON");
    const Option csv = app.add_flag("--csv", forms.csv, "write CSV").excludes(json);
    app.add_flag("--markdown", forms.markdown, "write Markdown").excludes(json).excludes(csv);
}

void add_forms(Options& app, Context& context, Forms& forms) {
    add_form_flags(app, context, forms);
    add_output_file(app, context);
}

void add_output_file(Options& app, Context& context) {
    app.add_option("-o,--output", context.output, "write to this file").type_name("FILE");
}

bool is_picture(const std::string& file) {
    static constexpr std::array<std::string_view, 5> kTexts{"", ".txt", ".md", ".csv", ".json"};
    const std::string ending = std::filesystem::path(file).extension().string();
    return !file.empty() && std::find(kTexts.begin(), kTexts.end(), ending) == kTexts.end();
}

void print_document(const Forms& forms, const Document& document) {
    print(forms.html       ? to_html(document)
          : forms.markdown ? to_markdown(document)
                           : to_text(document, output_width()));
}

void print_csv(const Table& table) {
    print(write_table(table, TableFormat::csv));
}

Table figures_table(const Json& json) {
    Table flat{{{"place"}, {"value"}}, {}};
    const auto add = [&flat](const auto& self, const std::string& place, const Json& v) -> void {
        if (!v.is_structured()) {
            flat.rows.push_back({place, v.is_string() ? v.get<std::string>() : v.is_null() ? "" : v.dump()});
            return;
        }
        std::size_t i = 0;
        for (const auto& item : v.items()) {
            const std::string key = v.is_array() ? std::to_string(i++) : item.key();
            self(self, place + "/" + key, item.value());
        }
    };
    add(add, "", json);
    return flat;
}

int print_answer(const Context& context, const Forms& forms, const Answer& answer) {
    if (context.json)
        print_json(pretty(answer.json));
    else if (!forms.csv)
        print_document(forms, answer.document);
    else if (!answer.csv.columns.empty())
        print_csv(answer.csv);
    for (const std::string& line : answer.errors) say_error(line);
    return answer.errors.empty() ? 0 : 1;
}

Answer with_problems(const Evaluation& e, Answer answer) {
    if (!e.valid) void_figures(answer.json);
    add_validity(answer.json, e);
    answer.errors = errors_of(e);
    return answer;
}

Progress::Progress()
    : shown_(!has_own_streams() && is_terminal(StandardStream::error)), next_s_(now_s() + kFirst) {}

Progress::~Progress() {
    if (said_) std::cerr << "\r\x1b[K" << std::flush;
}

bool Progress::due() {
    const double now = now_s();
    if (now < next_s_) return false;
    next_s_ = now + kEach;
    return true;
}

void Progress::say(const std::string& words) {
    std::string line = printable(words);  // of one line: the next one takes its place
    std::replace(line.begin(), line.end(), '\n', ' ');
    std::cerr << "\r\x1b[K" << line << std::flush;
    said_ = true;
}

// `memory` and `comm` print one part of the evaluation each.

namespace {

template <Json (*JsonOf)(const Plan&, const Evaluation&),
          Section (*SectionOf)(const Plan&, const Evaluation&)>
Answer answer_part(const Context&, const Plan& plan, const OnPlan<>&) {
    const Evaluation e = assess(plan);
    const Section section = SectionOf(plan, e);
    return with_problems(e, {JsonOf(plan, e), section.table, {"", {section}}});
}

}  // namespace

void add_memory(Options& app, Context& context) {
    add_forms(app, context, answer_with(app, context, answer_part<json_of_memory, memory_section>).forms);
}

void add_comm(Options& app, Context& context) {
    add_forms(app, context, answer_with(app, context, answer_part<json_of_comm, comm_section>).forms);
}

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
        s.lines.push_back(std::string(name_of(p.severity)) + ": " + p.said()
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
    if (c.mtp > 0) s.table.rows.push_back({"multi-token prediction, on top", c.mtp});
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

Section memory_section(const Plan& plan, const Evaluation& e) {
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
    s.lines.push_back(state_words(plan) + ".");
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
    if (const auto bytes = sequence_parallel_bytes(plan, e)) s.lines.push_back(words_of(*bytes));
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
