#include "core/interop/export.h"

#include "core/base/files.h"
#include "core/base/text.h"
#include "core/interop/import.h"
#include "core/memory/memory_costs.h"
#include "core/memory/state_words.h"
#include "core/mesh/mesh.h"
#include "core/pipeline/sequence.h"
#include "core/pipeline/stages.h"
#include "core/plan/edits.h"
#include "core/plan/names.h"
#include "core/plan/software.h"
#include "core/rules/rules.h"
#include "core/rules/software_runs.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace pentamesh::interop {
namespace {

// Returns true if a line of the draft names the field already: "master_weights none: ...".
bool is_named(const Export& made, const std::string& field) {
    const auto begins = [&](const std::string& n) {
        return n.starts_with(field + " ") || n.starts_with(field + ":");
    };
    return std::any_of(made.notes.begin(), made.notes.end(), begins)
           || std::any_of(made.lost.begin(), made.lost.end(),
                          [&](const Unsaid& u) { return u.pointer == "/training/" + field; });
}

// Says in which types the tool keeps what it trains, where they are not the plan's.
void note_types(const Export& made, const Plan& ours, const Plan& theirs, std::vector<std::string>& out) {
    const Training &a = ours.training, &b = theirs.training;
    const bool differs[] = {a.parameters != b.parameters, a.gradients != b.gradients,
                            a.optimizer_state != b.optimizer_state && a.optimizer != Optimizer::adamw_8bit,
                            master_bytes(a).linear != master_bytes(b).linear};
    static constexpr const char* kFields[] = {"parameters", "gradients", "optimizer_state", "master_weights"};
    for (std::size_t i = 0; i < std::size(differs); ++i) {
        if (!differs[i] || is_named(made, kFields[i])) continue;
        out.push_back("types of parameters, gradients and optimizer states: the text comes to "
                      + state_words(theirs) + ", and not to the plan's " + state_words(ours));
        return;
    }
}

// Says what else of the training comes out otherwise, field by field.
void note_fields(const Export& made, const Plan& ours, const Plan& theirs, std::vector<std::string>& out) {
    const Training &a = ours.training, &b = theirs.training;
    const Layout& l = ours.layout;
    const auto add = [&](const char* field, std::string_view mine, std::string_view read) {
        if (mine == read || is_named(made, field)) return;
        out.push_back(plain(field, " ", mine, ": the text comes to ", read));
    };
    const auto word = [](const auto value) { return pentamesh::name_of(value); };
    const auto on = [](bool is) { return std::string_view(is ? "on" : "off"); };
    if (!is_named(made, "tf32")) add("compute", word(a.compute), word(b.compute));
    add("attention", word(a.attention), word(b.attention));
    add("cuda_graphs", word(a.cuda_graphs), word(b.cuda_graphs));
    if (a.loss_kernel != LossKernel::by_software)
        add("loss_kernel", word(a.loss_kernel), word(b.loss_kernel));
    if (data_ranks(ours) * l.cp > 1) add("overlap/dp", on(a.overlap.dp), on(b.overlap.dp));
    if (l.tp > 1) add("overlap/tp", on(a.overlap.tp), on(b.overlap.tp));
    if (!ours.model.moe) return;
    if (l.ep > 1) add("overlap/ep", on(a.overlap.ep), on(b.overlap.ep));
    add("fused_experts", on(a.fused_experts), on(b.fused_experts));
    add("experts_one_by_one", on(a.experts_one_by_one), on(b.experts_one_by_one));
    if (a.routing_sizes != RoutingSizes::by_software)
        add("routing_sizes", word(a.routing_sizes), word(b.routing_sizes));
}

// Returns what the text, as it is read back, trains otherwise than the plan, where no line of the draft says
// so. What is lost of the layout does not hide it.
std::vector<std::string> other_training(const ExportDraft& draft) {
    const Export& made = draft.out;
    std::vector<std::string> out;
    if (draft.tool.reader == Reader::none || draft.tool.reader == Reader::model) return out;
    if (!made.refused.empty()) return out;
    ImportRequest r;
    r.text = made.text;
    r.path = draft.tool.name;
    r.tool = draft.tool.name;
    r.gpus = draft.plan.cluster.gpus;
    r.own_model = draft.plan.model;
    Import read;
    try {
        read = import_settings(r, draft.presets);
    } catch (const Error&) {
        return out;
    }
    if (!read.plan) return out;
    note_types(made, draft.plan, *read.plan, out);
    note_fields(made, draft.plan, *read.plan, out);
    const std::int64_t rows = draft.plan.model.vocab_multiple;
    if (rows > 0 && rows != vocab_multiple_of(*read.plan) && read.plan->model.vocab_multiple != rows)
        out.push_back(plain("vocab_multiple ", rows, ": the text comes to ", vocab_multiple_of(*read.plan)));
    return out;
}

}  // namespace

Export export_plan(const Plan& plan, std::string_view tool, const Presets& presets) {
    const Tool* const of = tool_called(tool);
    if (!of || !of->write)
        throw Error(ErrorKind::usage, "", "", "no settings of " + std::string(tool) + " are written");
    ExportDraft draft(plan, *of, presets);
    of->write(draft);
    const std::vector<std::string> others = other_training(draft);
    if (others.empty()) return std::move(draft.out);
    // The head of the text names them too.
    ExportDraft noted(plan, *of, presets);
    for (const std::string& other : others) noted.note(other);
    of->write(noted);
    return std::move(noted.out);
}

// Writes values and settings in the frameworks' formats.

namespace {

using Json = nlohmann::ordered_json;

template <typename... F>
struct Cases : F... {
    using F::operator()...;
};
template <typename... F>
Cases(F...) -> Cases<F...>;

// Returns "0.1", "1.0": always with a point.
std::string decimal(double x) {
    std::string s = Json(x).dump();
    return s;
}

template <typename T, typename F>
std::string listed(const std::vector<T>& all, const F& text) {
    return "[" + join(all, ", ", text) + "]";
}

// Returns a text in double quotes: the escapes of JSON are understood by YAML and by Python.
std::string in_quotes(const std::string& s) {
    return Json(s).dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Puts quotes around words that YAML takes for something else, and others that need them.
std::string yaml_word(const std::string& s) {
    static constexpr std::string_view own[] = {"yes",   "no",   "on", "off", "true",
                                               "false", "null", "y",  "n",   "~"};
    std::string low;
    bool plain = !s.empty() && !(s[0] >= '0' && s[0] <= '9');
    for (const char c : s) {
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        plain =
            plain
            && (letter || c == '_' || c == '/' || (c == '-' && !low.empty()) || (c == '.' && !low.empty()));
        low.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
    }
    if (std::find(std::begin(own), std::end(own), low) != std::end(own)) return "'" + s + "'";
    return plain ? s : in_quotes(s);
}

// Returns a value of a file, with the format's words for true and false, and its form of a word.
template <typename Word>
std::string value_text(const Value& value, const char* yes, const char* no, Word word) {
    return std::visit(
        Cases{[](std::int64_t n) { return std::to_string(n); }, [](double x) { return decimal(x); },
              [&](bool b) { return std::string(b ? yes : no); },
              [&](const std::string& s) { return word(s); }, [](const Verbatim& b) { return b.text; },
              [](const std::vector<std::int64_t>& v) {
                  return listed(v, [](std::int64_t n) { return std::to_string(n); });
              },
              [&](const std::vector<std::string>& v) { return listed(v, word); },
              [&](const Parts& v) {
                  return listed(v, [&](const std::vector<std::string>& p) { return listed(p, word); });
              }},
        value);
}

std::string yaml_value(const Value& value) {
    return value_text(value, "true", "false", yaml_word);
}

Json json_value(const Value& value) {
    return std::visit(Cases{[](const Verbatim& b) { return b.text == "null" ? Json(nullptr) : Json(b.text); },
                            [](const auto& x) { return Json(x); }},
                      value);
}

void put_at(Json& root, std::string_view name, Json value) {
    Json* at = &root;
    for (std::size_t dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.')) {
        at = &(*at)[std::string(name.substr(0, dot))];
        name.remove_prefix(dot + 1);
    }
    (*at)[std::string(name)] = std::move(value);
}

struct Branch {
    std::string name, value;
    std::vector<Branch> below;
    Branch& at(std::string_view key) {
        for (Branch& b : below)
            if (b.name == key) return b;
        return below.emplace_back(Branch{std::string(key), {}, {}});
    }
};

void write_branch(const Branch& b, std::size_t level, std::string& out) {
    for (const Branch& child : b.below) {
        out += std::string(2 * level, ' ') + child.name + ":";
        if (child.below.empty())
            out += " " + child.value + "\n";
        else
            out += "\n", write_branch(child, level + 1, out);
    }
}

std::string one_line_of(std::string_view text) {
    std::string out;
    for (const char c : text) out.push_back(static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c);
    return out;
}

}  // namespace

std::vector<std::string> head_lines(const ExportDraft& draft) {
    const Plan& p = draft.plan;
    const Layout& l = p.layout;
    const auto n = [](std::int64_t x) { return std::to_string(x); };
    const std::string order = join(l.order, "-", [](const Axis a) { return pentamesh::name_of(a); });
    std::vector<std::string> out{
        "Pentamesh plan \"" + p.name + "\" for " + std::string(draft.tool.called) + ": " + p.model.name
            + " on " + n(p.cluster.gpus) + " GPUs (" + p.cluster.name + ")",
        "tp " + n(l.tp) + ", cp " + n(l.cp) + ", pp " + n(l.pp) + ", ep " + n(l.ep) + ", dp_shard "
            + n(l.dp_shard) + ", dp_replicate " + n(replicas(p)) + ", ZeRO-" + std::to_string(l.zero)
            + ", order " + order + " (innermost first)"};
    if (!draft.out.lost.empty()) out.emplace_back("Lost, the framework cannot say it:");
    for (const Unsaid& u : draft.out.lost) out.push_back("  " + u.pointer + ": " + u.why);
    if (!draft.out.notes.empty()) out.emplace_back("Not said here:");
    for (const std::string& s : draft.out.notes) out.push_back("  " + s);
    for (std::string& line : out) line = one_line_of(line);
    return out;
}

std::string as_comment(const std::vector<std::string>& lines) {
    std::string out;
    for (const std::string& line : lines) out += "# " + line + "\n";
    return out;
}

std::string python_text(const Value& value) {
    return value_text(value, "True", "False", in_quotes);
}

std::string shell_word(std::string_view word) {
    const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'
               || c == '-' || c == '.' || c == '/' || c == '+' || c == ',' || c == ':' || c == '=';
    });
    if (plain) return std::string(word);
    std::string out = "'";
    for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
}

std::string flags_text(const std::vector<WrittenSetting>& settings) {
    std::string out;
    for (const WrittenSetting& s : settings) {
        std::string value;
        if (const bool* on = std::get_if<bool>(&s.value)) {
            if (!*on) continue;
        } else if (const std::string* word = std::get_if<std::string>(&s.value)) {
            value = " " + shell_word(*word);
        } else if (const auto* words = std::get_if<std::vector<std::string>>(&s.value)) {
            for (const std::string& w : *words) value += " " + shell_word(w);
        } else if (const auto* numbers = std::get_if<std::vector<std::int64_t>>(&s.value)) {
            for (const std::int64_t n : *numbers) value += " " + std::to_string(n);
        } else {
            value = " " + yaml_value(s.value);
        }
        out += "    " + s.name + value + "\n";
    }
    return out;
}

std::string yaml_text(const std::vector<WrittenSetting>& settings) {
    Branch root;
    for (const WrittenSetting& s : settings) {
        Branch* at = &root;
        std::string_view name = s.name;
        for (std::size_t dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.')) {
            at = &at->at(name.substr(0, dot));
            name.remove_prefix(dot + 1);
        }
        at->at(name).value = yaml_value(s.value);
    }
    std::string out;
    write_branch(root, 0, out);
    return out;
}

std::string json_text(const std::vector<WrittenSetting>& settings, const std::vector<std::string>& head) {
    Json root = Json::object();
    if (!head.empty()) root["_comment"] = head;
    for (const WrittenSetting& s : settings) put_at(root, s.name, json_value(s.value));
    return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

// The exporters ask a plan these questions; several of them share these losses.

void ExportDraft::put(std::string_view pointer, Value value) {
    const std::string_view name = flag_of(tool.name, pointer);
    if (name.empty())
        throw std::logic_error("no spelling of " + std::string(pointer) + " for " + std::string(tool.name));
    say(std::string(name), std::move(value));
}

void ExportDraft::say_as(const char* section, std::string name, Value value) {
    if (is("bridge")) return say(std::string(section) + "." + name, std::move(value));
    std::replace(name.begin(), name.end(), '_', '-');
    say("--" + name, std::move(value));
}

std::string number_text(std::int64_t n) {
    return std::to_string(n);
}

std::int64_t replicas(const Plan& plan) {
    return std::max<std::int64_t>(1, replicas_in_force(plan));
}

std::int64_t data_ranks(const Plan& plan) {
    return plan.layout.dp_shard * replicas(plan);
}

// A domain larger than a machine is a rack of NVLink: its machines have four GPUs.
std::int64_t gpus_per_host(const Plan& plan) {
    constexpr std::int64_t largest_machine = 16, of_a_rack = 4;
    const std::int64_t gpus = plan.cluster.gpus;
    std::int64_t n = plan.cluster.tiers.empty() ? 1 : domain_of(plan.cluster, 0);
    if (n > largest_machine && n < gpus) n = of_a_rack;
    n = std::clamp<std::int64_t>(n, 1, std::min(gpus, largest_machine / 2));
    while (gpus % n != 0) --n;
    return n;
}

std::vector<std::int64_t> chunk_layers(const Plan& plan) {
    std::vector<std::int64_t> out;
    layers_of_chunks(plan, out);
    return out;
}

bool is_even(const std::vector<std::int64_t>& layers) {
    return std::adjacent_find(layers.begin(), layers.end(), std::not_equal_to<>()) == layers.end();
}

std::string hub_name(const ExportDraft& draft) {
    constexpr std::string_view hub = "huggingface.co/";
    const std::string& id = draft.plan.model_source.preset;
    for (const Presets::Entry& e : draft.presets.list(PresetKind::model)) {
        const std::size_t at = e.source.find(hub);
        if (e.id != id || id.empty() || at == std::string::npos) continue;
        const std::string name = e.source.substr(at + hub.size());
        const std::size_t owner = name.find('/');
        if (owner == std::string::npos) continue;
        return name.substr(0, name.find_first_of("/ ,;)", owner + 1));
    }
    return id.empty() ? draft.plan.model.name : id;
}

void lose_lacks(ExportDraft& draft, Software software) {
    const Lacks lacks = lacks_of(draft.plan, software);
    for (const Lack l : all_of<Lack>()) {
        if (!lacks.has(l) || kind_of(l) == LackKind::warned) continue;
        const std::string words = words_of(l, draft.plan, software);
        if (kind_of(l) == LackKind::refused)
            draft.refuse(words);
        else
            draft.lose(std::string(pointer_of(l)), words);
    }
}

void lose_order(ExportDraft& draft, const AxisOrder& order, const char* theirs) {
    if (!order_in(draft.plan, {&order, 1})) draft.lose("/layout/order", "order: ", theirs);
}

void refuse_by_rules(ExportDraft& draft, Rule rule, Software software) {
    Plan plan = draft.plan;
    plan.training.software = software;
    const Mesh mesh = build_mesh(plan);
    const GroupSummaries groups{};
    const ResolvedPlan resolved(plan, mesh, groups);
    std::vector<Problem> found;
    Rules rules{resolved, true, found};
    check_frameworks(rules);
    check_modules(rules);
    check_notices(rules);
    // transformer_config.py, __post_init__, raises for these two modules; the others do nothing there.
    const bool raises = plan.training.recompute.modules.any_of(
        RecomputeModules(RecomputeModule::moe_act, RecomputeModule::mla_up_proj));
    for (const Problem& p : found) {
        if (p.rule != rule || p.severity != Severity::warning) continue;
        if (p.code == ProblemCode::recompute_module_missing && !raises)
            draft.note(p.message);
        else
            draft.refuse(p.message);
    }
}

void lose_finer_choices(ExportDraft& draft, bool says_ep_comm) {
    const Plan& p = draft.plan;
    const Layout& l = p.layout;
    const std::string who(draft.tool.name);
    if (l.weight_shards.value_or(1) > 1)
        draft.lose("/layout/weight_shards", who, " cuts no weights but tp's");
    if (p.model.mtp_layers > 0 && l.mtp_chunk && *l.mtp_chunk + 1 < l.pp * l.virtual_stages)
        draft.lose("/layout/mtp_chunk", who, " has the prediction layers in the last stage");
    if (traits_of(l.schedule).in_groups && l.pp > 1 && l.microbatch_group.value_or(l.pp) != l.pp)
        draft.lose("/layout/microbatch_group", who, " takes micro-batches in groups of pp");
    if (!says_ep_comm && p.model.moe && l.ep > 1 && l.ep_comm != EpComm::alltoall)
        draft.lose("/layout/ep_comm", who, " has no setting for how tokens find their experts (", l.ep_comm,
                   ")");
}

GradientReduction usual_reduction(const Plan& plan, Software software) {
    Plan theirs = plan;
    theirs.training.software = software;
    theirs.layout.gradient_reduction = GradientReduction::by_software;
    return gradient_reduction_of(theirs);
}

void lose_reduction(ExportDraft& draft, GradientReduction theirs) {
    const GradientReduction ours = gradient_reduction_of(draft.plan);
    if (zero_in_force(draft.plan) < 2 || microbatches_of(draft.plan) <= 1 || ours == theirs) return;
    const std::string what = "gradient_reduction " + std::string(pentamesh::name_of(ours)) + ": "
                             + std::string(draft.tool.name) + " reduces gradients by "
                             + std::string(pentamesh::name_of(theirs))
                             + ", which no setting of this file changes";
    if (draft.plan.layout.gradient_reduction == GradientReduction::by_software) return draft.note(what);
    draft.lose("/layout/gradient_reduction", what);
}

void lose_dropout(ExportDraft& draft, std::string_view who) {
    if (draft.plan.training.dropout) draft.lose("/training/dropout", "dropout: ", who, " has none");
}

void lose_recompute(ExportDraft& draft, std::string_view who, bool selective) {
    const RecomputeChoice& r = draft.plan.training.recompute;
    const bool whole = r == RecomputeChoice(Recompute::full);
    if (!r.any() || whole || (selective && r == RecomputeChoice(Recompute::selective))) return;
    for (const Unsaid& lost : draft.out.lost)
        if (lost.pointer == "/training/recompute") return;  // by lose_lacks
    draft.lose("/training/recompute", "recompute ", words_of(r), ": ", who,
               selective ? " recomputes all layers, operations by a list of its own, or nothing"
                         : " recomputes all layers or nothing");
}

void lose_schedule(ExportDraft& draft, std::string_view who) {
    draft.lose("/layout/schedule", who, " has no schedule ", draft.plan.layout.schedule);
}

void note_training(ExportDraft& draft, bool optimizer) {
    const Training& t = draft.plan.training;
    if (t.router_imbalance > 1) draft.note("router_imbalance: what the router does, no setting");
    if (t.straggler_cv > 0) draft.note("straggler_cv: what the machines do, no setting");
    if (!t.overlap.cp && draft.plan.layout.cp > 1)
        draft.note("overlap of context parallelism: the framework's own affair");
    if (!optimizer) return;
    if (t.optimizer != Optimizer::adamw) draft.note("optimizer ", t.optimizer, ": set it in your own code");
}

// Writes PyTorch's DeviceMesh: init_device_mesh numbers ranks row by row, the last dimension fastest, so the
// outermost axis comes first. torch/distributed/device_mesh.py.

namespace {

struct Dimension {
    std::string name;
    std::int64_t size = 1;
    GroupKind kind = GroupKind::tp;
};

// Returns the axes outermost first, without those of one rank.
std::vector<Dimension> dense_dimensions(const Mesh& mesh) {
    std::vector<Dimension> out;
    for (auto it = mesh.order.rbegin(); it != mesh.order.rend(); ++it)
        if (mesh.dense[*it].size > 1)
            out.push_back({std::string(pentamesh::name_of(*it)), mesh.dense[*it].size, group_of(*it)});
    if (out.empty()) out.push_back({"dp_shard", 1, GroupKind::dp_shard});
    return out;
}

// Returns the same ranks folded for the experts: etp in the place of tp, edp in those of both dp axes.
std::vector<Dimension> expert_dimensions(const Mesh& mesh) {
    std::vector<Dimension> out;
    for (auto it = mesh.order.rbegin(); it != mesh.order.rend(); ++it) {
        const std::int64_t size = mesh.expert[*it].size;
        if (size <= 1) continue;
        const char* name = *it == Axis::tp         ? "etp"
                           : *it == Axis::ep       ? "ep"
                           : *it == Axis::pp       ? "pp"
                           : *it == Axis::dp_shard ? "edp_shard"
                                                   : "edp_replicate";
        const GroupKind kind = *it == Axis::tp                         ? GroupKind::etp
                               : *it == Axis::ep                       ? GroupKind::ep
                               : *it == Axis::pp                       ? GroupKind::pp
                               : !has_kind(mesh, GroupKind::edp_shard) ? GroupKind::edp
                               : *it == Axis::dp_shard                 ? GroupKind::edp_shard
                                                                       : GroupKind::edp_replicate;
        out.push_back({name, size, kind});
    }
    return out;
}

std::string tuple_text(const std::vector<std::string>& items) {
    std::string out = "(";
    for (std::size_t i = 0; i < items.size(); ++i) out += (i > 0 ? ", " : "") + items[i];
    return out + (items.size() == 1 ? ",)" : ")");
}

std::string mesh_call_text(const std::vector<Dimension>& dimensions) {
    std::vector<std::string> sizes, names;
    for (const Dimension& d : dimensions) {
        sizes.push_back(number_text(d.size));
        names.push_back("\"" + d.name + "\"");
    }
    return "init_device_mesh(\"cuda\", " + tuple_text(sizes) + ", mesh_dim_names=" + tuple_text(names) + ")";
}

std::string ranks_text(const std::vector<std::int64_t>& ranks) {
    return python_text(Value(ranks));
}

// Writes all groups of a small world; the groups of the first and the last rank of a large one.
void check_of(const Mesh& mesh, const Dimension& d, std::string& text) {
    constexpr std::int64_t small_world = 256;
    text += "    \"" + d.name + "\": [";
    if (mesh.world <= small_world) {
        const std::vector<std::int64_t> all = all_groups(mesh, d.kind);
        for (std::size_t at = 0; at < all.size(); at += static_cast<std::size_t>(d.size)) {
            const auto begin = all.begin() + static_cast<std::ptrdiff_t>(at);
            text += (at > 0 ? ", " : "") + ranks_text({begin, begin + static_cast<std::ptrdiff_t>(d.size)});
        }
    } else {
        text += ranks_text(group_members(mesh, d.kind, 0)) + ", "
                + ranks_text(group_members(mesh, d.kind, mesh.world - 1));
    }
    text += "],\n";
}

}  // namespace

void export_device_mesh(ExportDraft& draft) {
    const Plan& p = draft.plan;
    const Mesh mesh = build_mesh(p);
    const std::vector<Dimension> dense = dense_dimensions(mesh);
    draft.note("zero, schedule, sequence parallelism, model and batch: a mesh says only ranks");
    std::string text =
        as_comment(head_lines(draft)) + "from torch.distributed.device_mesh import init_device_mesh\n\n";
    text += "# Outermost axis first: the last one is that of neighbouring ranks.\nmesh = "
            + mesh_call_text(dense) + "\n";
    if (mesh.has_experts && !expert_dimensions(mesh).empty())
        text += "# The same ranks folded for the experts.\nexpert_mesh = "
                + mesh_call_text(expert_dimensions(mesh)) + "\n";
    text += "\n# Ranks that the plan puts into one group, as a check.\nexpected = {\n";
    for (const Dimension& d : dense) check_of(mesh, d, text);
    text += "}\n";
    if (mesh.has_experts) {
        text += "expected_experts = {\n";
        for (const Dimension& d : expert_dimensions(mesh))
            if (d.kind != GroupKind::pp) check_of(mesh, d, text);
        text += "}\n";
    }
    text += "\n\ndef groups_of(mesh, name):\n    axis = mesh.mesh_dim_names.index(name)\n"
            "    rows = mesh.mesh.movedim(axis, -1).reshape(-1, mesh.mesh.size(axis)).tolist()\n"
            "    return sorted(sorted(row) for row in rows)\n\n\n"
            "for name, groups in expected.items():\n    found = groups_of(mesh, name)\n"
            "    assert all(group in found for group in groups), (name, groups)\n";
    if (mesh.has_experts)
        text += "for name, groups in expected_experts.items():\n    found = groups_of(expert_mesh, name)\n"
                "    assert all(group in found for group in groups), (name, groups)\n";
    draft.out.text = std::move(text);
}

}  // namespace pentamesh::interop
