#include "core/teach/glossary.h"

#include "core/base/files.h"
#include "core/base/json_reader.h"
#include "core/base/text.h"
#include "core/memory/memory.h"
#include "core/mesh/places.h"
#include "core/plan/names.h"
#include "core/plan/problem.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace pentamesh {
namespace {

using nlohmann::json;

struct GlossaryReader {
    const std::string& origin;

    [[noreturn]] void fail(const std::string& pointer, const std::string& what) const {
        throw Error(ErrorKind::invalid, origin, pointer, what);
    }

    [[nodiscard]] std::string text(const json& value, const std::string& pointer) const {
        if (!value.is_string() || value.get_ref<const std::string&>().empty())
            fail(pointer, "found " + shown_json(value) + ", must be a text");
        return value.get<std::string>();
    }

    [[nodiscard]] GlossaryEntry entry(const json& object, const std::string& pointer) const {
        if (!object.is_object()) fail(pointer, "found " + shown_json(object) + ", must be an object");
        GlossaryEntry e;
        for (const auto& [key, value] : object.items()) {
            const std::string at = pointer + "/" + escape_token(key);
            if (key == "id")
                e.id = id(value, at);
            else if (key == "term")
                e.term = text(value, at);
            else if (key == "text")
                e.text = text(value, at);
            else if (key == "axis")
                e.axis = axis(value, at);
            else if (key == "kind")
                e.name = kind(value, at);
            else if (key == "also")
                e.also = names(value, at);
            else
                fail(at, "is no key of an entry; there are: id, term, also, axis, kind, text");
        }
        for (const auto& [key, value] :
             {std::pair<const char*, const std::string&>{"id", e.id}, {"term", e.term}, {"text", e.text}})
            if (value.empty()) fail(pointer, std::string(key) + " is missing");
        if (e.name && e.axis.empty()) fail(pointer, "a name needs the axis that it hangs under");
        return e;
    }

    [[nodiscard]] std::string id(const json& value, const std::string& at) const {
        std::string s = text(value, at);
        const bool plain = std::all_of(s.begin(), s.end(), [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
        });
        if (!plain) fail(at, "found " + shown_json(value) + ", must be of a-z, 0-9, - and _");
        return s;
    }
    [[nodiscard]] std::string axis(const json& value, const std::string& at) const {
        constexpr std::array<std::string_view, 5> kAxes{"dp", "tp", "pp", "cp", "ep"};
        std::string s = text(value, at);
        if (std::find(kAxes.begin(), kAxes.end(), s) == kAxes.end())
            fail(at, "found " + shown_json(value) + ", must be dp, tp, pp, cp or ep");
        return s;
    }
    [[nodiscard]] bool kind(const json& value, const std::string& at) const {
        const std::string s = text(value, at);
        if (s != "name" && s != "term")
            fail(at, "found " + shown_json(value) + ", must be \"name\" or \"term\"");
        return s == "name";
    }
    [[nodiscard]] std::vector<std::string> names(const json& value, const std::string& at) const {
        if (!value.is_array()) fail(at, "found " + shown_json(value) + ", must be a list of texts");
        std::vector<std::string> out;
        for (std::size_t i = 0; i < value.size(); ++i)
            out.push_back(text(value[i], at + "/" + std::to_string(i)));
        return out;
    }
};

char lower(char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}
bool same(std::string_view a, std::string_view b) {
    return a.size() == b.size()
           && std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return lower(x) == lower(y); });
}

// Returns 2 where `text` has `word` at the begin of a word, 1 inside one, 0 nowhere, without regard to case.
int stands(std::string_view word, std::string_view text) {
    int best = 0;
    for (std::size_t i = 0; i + word.size() <= text.size(); ++i) {
        if (!same(text.substr(i, word.size()), word)) continue;
        const bool begins = i == 0 || std::isalnum(static_cast<unsigned char>(text[i - 1])) == 0;
        best = std::max(best, begins ? 2 : 1);
    }
    return best;
}

int word_score(const GlossaryEntry& e, std::string_view word) {
    if (same(e.term, word) || same(e.id, word)) return 9;
    int score = 3 * stands(word, e.term);
    for (const std::string& other : e.also)
        score = std::max(score, same(other, word) ? 8 : 2 * stands(word, other));
    if (score == 0 && stands(word, e.text) == 2) score = 1;
    return score;
}

}  // namespace

const GlossaryEntry* Glossary::find(std::string_view term) const {
    for (const GlossaryEntry& e : entries)
        if (e.id == term) return &e;
    for (const GlossaryEntry& e : entries)
        if (same(e.term, term)
            || std::any_of(e.also.begin(), e.also.end(), [&](const std::string& a) { return same(a, term); }))
            return &e;
    return nullptr;
}

Glossary load_glossary(std::string_view text, const std::string& origin) {
    const json document = parse_json(text, origin);
    const GlossaryReader reader{origin};
    if (!document.is_object() || !document.contains("entries") || !document["entries"].is_array())
        reader.fail("", "a glossary is an object with a list of entries");
    Glossary out;
    for (std::size_t i = 0; i < document["entries"].size(); ++i) {
        const std::string at = "/entries/" + std::to_string(i);
        GlossaryEntry e = reader.entry(document["entries"][i], at);
        for (const GlossaryEntry& before : out.entries)
            if (before.id == e.id) reader.fail(at + "/id", "\"" + e.id + "\" stands twice");
        out.entries.push_back(std::move(e));
    }
    return out;
}

int glossary_match(const GlossaryEntry& entry, std::string_view typed) {
    int score = 0;
    while (!typed.empty()) {
        const std::size_t end = std::min(typed.find(' '), typed.size());
        const std::string_view word = typed.substr(0, end);
        typed.remove_prefix(std::min(end + 1, typed.size()));
        if (word.empty()) continue;
        const int points = word_score(entry, word);
        if (points == 0) return -1;
        score += points;
    }
    return score;
}

// Says what a term of the glossary is in a plan: a table from its id to a function of the plan and its
// evaluation.

namespace {

struct OpenPlan {
    const Plan& p;
    const Evaluation& e;

    [[nodiscard]] std::int64_t degree(GroupKind k) const { return e.groups[k].degree; }
    [[nodiscard]] bool on(GroupKind k) const { return degree(k) > 1; }
    [[nodiscard]] bool gathers() const { return p.layout.zero == 3 && on(GroupKind::fsdp); }
    [[nodiscard]] const StageMemory* fullest() const {
        return e.memory.stage.empty() ? nullptr : &e.memory.stage[e.memory.peak_stage];
    }
};

std::string axis(const OpenPlan& h, GroupKind k) {
    const GroupSummary& g = h.e.groups[k];
    if (g.degree <= 1) return "1 here: it cuts nothing";
    return caption_of(h.p, h.e, k).text();
}

template <GroupKind k>
std::string axis_of(const OpenPlan& h) {
    return axis(h, k);
}

// Says how often a collective is called and how much it sends, over all axes.
template <Collective c>
std::string collective_of(const OpenPlan& h) {
    double calls = 0, bytes = 0;
    for (const Operation& o : h.e.comm.operations)
        if (o.collective == c && !o.on_other_stage) calls += o.count_per_step, bytes += o.sent_bytes_per_rank;
    if (calls <= 0) return "none here";
    return whole_text(calls) + " a step on " + rows_device_text(h.e.comm) + ", which sends "
           + bytes_text(bytes);
}

std::string of_step(const OpenPlan& h, double seconds) {
    return h.e.step && h.e.step->time_s > 0
               ? time_text(seconds) + ", " + percent_text(seconds / h.e.step->time_s) + " of the step"
               : "";
}

std::string exposed(const OpenPlan& h) {
    return h.e.step ? of_step(h, exposed_of(*h.e.step)) : "";
}

std::string of_fullest(const OpenPlan& h, double StageMemory::*part) {
    const StageMemory* s = h.fullest();
    return s ? memory_text(s->*part) + " on the fullest GPU" : "";
}

// Returns the bytes of a parameter of a matrix, as nearly all are.
std::string bytes_per_parameter(const OpenPlan& h) {
    const Training& t = h.p.training;
    const double weights = parameter_bytes(h.p).linear, gradients = gradient_bytes(t).linear,
                 master = master_bytes(t).linear, states = optimizer_bytes(t).linear - master;
    const double all = weights + gradients + master + states;
    return sentence(three_digits(weights), " + ", three_digits(gradients), " + ", three_digits(master), " + ",
                    three_digits(states), " = ", three_digits(all),
                    " here (weights, gradients, master copy, optimizer): ",
                    memory_text(all * static_cast<double>(h.e.parameters.total)), " in all");
}

std::string replicas(const OpenPlan& h) {
    const std::int64_t dp = h.degree(GroupKind::dp);
    return dp > 0 ? sentence(dp, " here, of ", count_text(h.e.mesh.world / dp, "GPU"), " each") : "";
}

std::string order(const OpenPlan& h) {
    std::string t;
    for (const Axis a : h.p.layout.order) {
        const std::int64_t size = a == Axis::ep ? h.degree(GroupKind::ep) : h.e.mesh.dense[a].size;
        if (size > 1) t += sentence(t.empty() ? "" : ", ", name_of(a), " ", size);
    }
    return t.empty() ? "one rank" : t + ", innermost first";
}

std::string schedule(const OpenPlan& h) {
    if (!h.on(GroupKind::pp)) return "no pipeline here";
    const Layout& l = h.p.layout;
    std::string t(name_of(l.schedule));
    if (l.virtual_stages > 1) t += sentence(", ", l.virtual_stages, " chunks a device");
    return sentence(t, ", ", h.e.microbatches, " micro-batches over ", h.degree(GroupKind::pp), " stages");
}

std::string tiers_from(const OpenPlan& h, std::size_t i) {
    if (i >= h.p.cluster.tiers.size()) return "the cluster has none";
    const Tier& t = h.p.cluster.tiers[i];
    return sentence(t.name, ": ", bytes_text(t.bytes_per_s), "/s a GPU, one direction",
                    t.oversubscription > 1 ? ", oversubscribed 1:" + three_digits(t.oversubscription) : "");
}

std::string straggler(const OpenPlan& h) {
    if (!h.e.step) return {};
    if (h.p.training.straggler_cv <= 0) return "none is assumed in this plan";
    return sentence(percent_text(h.p.training.straggler_cv), " spread over ", h.e.mesh.world,
                    " GPUs: ", of_step(h, h.e.step->straggler_s));
}

struct Row {
    std::string_view id;
    std::string (*text)(const OpenPlan&);
};

constexpr std::array kRows{
    Row{"dp", axis_of<GroupKind::dp>},
    Row{"dp_shard", axis_of<GroupKind::dp_shard>},
    Row{"dp_replicate", axis_of<GroupKind::dp_replicate>},
    Row{"tp", axis_of<GroupKind::tp>},
    Row{"pp", axis_of<GroupKind::pp>},
    Row{"cp", axis_of<GroupKind::cp>},
    Row{"ep", axis_of<GroupKind::ep>},
    Row{"etp", axis_of<GroupKind::etp>},
    Row{"edp", axis_of<GroupKind::edp>},
    Row{"gtp_remat", axis_of<GroupKind::gtp_remat>},
    Row{"sp",
        [](const OpenPlan& h) -> std::string {
            if (!h.on(GroupKind::tp)) return "off: there is no tp";
            return h.p.layout.sequence_parallel ? sentence("on, over tp ", h.degree(GroupKind::tp)) : "off";
        }},
    Row{"device-mesh", order},
    Row{"order", order},
    Row{"rank", [](const OpenPlan& h) { return sentence("0 to ", h.e.mesh.world - 1, " here"); }},
    Row{"world-size",
        [](const OpenPlan& h) {
            return sentence(h.e.mesh.world, " here, of ", count_text(h.p.cluster.gpus, "GPU"));
        }},
    Row{"replica", replicas},
    Row{"stage", [](const OpenPlan& h) { return sentence(h.degree(GroupKind::pp), " here"); }},
    Row{"all-reduce", collective_of<Collective::all_reduce>},
    Row{"reduce-scatter", collective_of<Collective::reduce_scatter>},
    Row{"all-gather", collective_of<Collective::all_gather>},
    Row{"all-to-all", collective_of<Collective::all_to_all>},
    Row{"p2p", collective_of<Collective::send_recv>},
    Row{"exposed", exposed},
    Row{"sync-point",
        [](const OpenPlan& h) {
            const std::string peers = sync_peers_text(h.e.comm);
            if (peers.empty()) return std::string("the layers wait for nobody here");
            return sentence("the layers wait for ", peers, " ",
                            whole_text(h.e.comm.sync_points_per_microbatch),
                            " times in each micro-batch here");
        }},
    Row{"fast-domain",
        [](const OpenPlan& h) -> std::string {
            if (h.p.cluster.tiers.empty()) return {};
            return sentence(count_text(domain_of(h.p.cluster, 0), "GPU"), " on ",
                            std::string(tier_name(h.p.cluster, 0)));
        }},
    Row{"nvlink", [](const OpenPlan& h) { return tiers_from(h, 0); }},
    Row{"infiniband", [](const OpenPlan& h) { return tiers_from(h, 1); }},
    Row{"spine", [](const OpenPlan& h) { return tiers_from(h, 2); }},
    Row{"oversubscription",
        [](const OpenPlan& h) -> std::string {
            for (const Tier& t : h.p.cluster.tiers)
                if (t.oversubscription > 1) return t.name + ": 1:" + three_digits(t.oversubscription);
            return "none here";
        }},
    Row{"hbm",
        [](const OpenPlan& h) {
            return sentence(memory_text(h.p.cluster.gpu.hbm_bytes), " at ",
                            bytes_text(h.p.cluster.gpu.hbm_bytes_per_s), "/s; the fullest GPU needs ",
                            memory_text(h.e.memory.peak()));
        }},
    Row{"straggler", straggler},
    Row{"parameters", [](const OpenPlan& h) { return sentence(h.e.parameters.total, " here"); }},
    Row{"active-parameters",
        [](const OpenPlan& h) {
            return sentence(h.e.parameters.active, " here, ", h.e.parameters.active_without_embedding,
                            " without the embedding's table");
        }},
    Row{"gradients", [](const OpenPlan& h) { return of_fullest(h, &StageMemory::gradients); }},
    Row{"optimizer-state", [](const OpenPlan& h) { return of_fullest(h, &StageMemory::optimizer); }},
    Row{"activations", [](const OpenPlan& h) { return of_fullest(h, &StageMemory::activations); }},
    Row{"master-weights",
        [](const OpenPlan& h) -> std::string { return std::string(name_of(h.p.training.master_weights)); }},
    Row{"bytes-per-parameter", bytes_per_parameter},
    Row{"in-flight",
        [](const OpenPlan& h) -> std::string {
            const StageMemory* s = h.fullest();
            return s ? sentence(three_digits(s->in_flight), " on the fullest GPU") : "";
        }},
    Row{"recompute", [](const OpenPlan& h) -> std::string { return words_of(h.p.training.recompute); }},
    Row{"precision",
        [](const OpenPlan& h) {
            return sentence("computes in ", name_of(h.p.training.compute), ", keeps weights in ",
                            name_of(h.p.training.parameters), " and gradients in ",
                            name_of(h.p.training.gradients));
        }},
    Row{"batch",
        [](const OpenPlan& h) {
            return sentence(count_text(h.p.training.global_batch, "sequence"), " of ",
                            h.p.training.sequence_length, " tokens");
        }},
    Row{"micro-batch", [](const OpenPlan& h) { return count_text(h.p.training.micro_batch, "sequence"); }},
    Row{"microbatches",
        [](const OpenPlan& h) {
            return sentence(h.e.microbatches, " here: ", h.p.training.global_batch, " / (",
                            h.p.training.micro_batch, " × ", h.degree(GroupKind::dp), ")");
        }},
    Row{"accumulation",
        [](const OpenPlan& h) {
            return sentence("over ", h.e.microbatches,
                            h.e.microbatches == 1 ? " micro-batch" : " micro-batches");
        }},
    Row{"bubble",
        [](const OpenPlan& h) -> std::string {
            if (!h.on(GroupKind::pp)) return "none: there is no pipeline";
            return h.e.step ? of_step(h, schedule_bubble_s(*h.e.step)) : "";
        }},
    Row{"schedule", schedule},
    Row{"virtual-stage", schedule},
    Row{"mfu", [](const OpenPlan& h) -> std::string { return h.e.step ? percent_text(h.e.step->mfu) : ""; }},
    Row{"hfu", [](const OpenPlan& h) -> std::string { return h.e.step ? percent_text(h.e.step->hfu) : ""; }},
    Row{"tokens-per-second",
        [](const OpenPlan& h) -> std::string {
            return h.e.step ? three_digits(h.e.step->tokens_per_s) + " here" : "";
        }},
    Row{"step-time",
        [](const OpenPlan& h) -> std::string {
            return h.e.step ? time_text(h.e.step->time_s) + " ± " + percent_text(h.e.step->error) : "";
        }},
    Row{"hidden", [](const OpenPlan& h) { return sentence(h.p.model.hidden, " here"); }},
    Row{"head", [](const OpenPlan& h) { return sentence(h.p.model.heads, " here"); }},
    Row{"gqa",
        [](const OpenPlan& h) {
            return sentence(h.p.model.heads, " query heads, ", h.p.model.kv_heads, " of keys and values");
        }},
    Row{"layer", [](const OpenPlan& h) { return sentence(h.p.model.layers, " here"); }},
    Row{"moe",
        [](const OpenPlan& h) -> std::string {
            if (!h.p.model.moe) return "the model is dense";
            return sentence(h.p.model.moe->experts, " experts, ", h.p.model.moe->top_k, " for each token");
        }},
    Row{"imbalance",
        [](const OpenPlan& h) -> std::string {
            return h.p.model.moe ? three_digits(h.p.training.router_imbalance) + " × the mean here"
                                 : "the model is dense";
        }},
    Row{"sequence-length",
        [](const OpenPlan& h) { return sentence(h.p.training.sequence_length, " tokens"); }},
};

struct Name {
    std::string_view id;
    bool (*used)(const OpenPlan&);
};

// Returns true if the plan's pipeline runs a schedule of this term; nullopt where no schedule has it.
std::optional<bool> runs(const OpenPlan& h, std::string_view term) {
    for (const Schedule s : all_of<Schedule>())
        if (traits_of(s).term == term)
            return h.on(GroupKind::pp) && traits_of(h.p.layout.schedule).term == term;
    return std::nullopt;
}
template <int stage>
bool zero_is(const OpenPlan& h) {
    return h.p.layout.zero == stage && h.on(stage == 0 ? GroupKind::dp : GroupKind::fsdp);
}

constexpr std::array kNamesUsed{
    Name{"ddp", zero_is<0>},
    Name{"zero-1", zero_is<1>},
    Name{"zero-2", zero_is<2>},
    Name{"zero-3", zero_is<3>},
    Name{"fsdp", [](const OpenPlan& h) { return h.gathers() && !h.on(GroupKind::dp_replicate); }},
    Name{"hsdp", [](const OpenPlan& h) { return h.gathers() && h.on(GroupKind::dp_replicate); }},
    Name{"megatron-tp", [](const OpenPlan& h) { return h.on(GroupKind::tp); }},
    Name{"megatron-sp",
         [](const OpenPlan& h) { return h.on(GroupKind::tp) && h.p.layout.sequence_parallel; }},
    Name{"async-tp", [](const OpenPlan& h) { return h.on(GroupKind::tp) && h.p.training.overlap.tp; }},
    Name{"ring-attention",
         [](const OpenPlan& h) {
             return h.on(GroupKind::cp)
                    && (h.p.layout.cp_comm == CpComm::ring || h.p.layout.cp_comm == CpComm::ulysses_ring);
         }},
    Name{"head-tail",
         [](const OpenPlan& h) { return h.on(GroupKind::cp) && h.p.layout.cp_comm != CpComm::ulysses; }},
    Name{"ulysses",
         [](const OpenPlan& h) {
             return h.on(GroupKind::cp)
                    && (h.p.layout.cp_comm == CpComm::ulysses || h.p.layout.cp_comm == CpComm::ulysses_ring);
         }},
    Name{"cp-allgather",
         [](const OpenPlan& h) { return h.on(GroupKind::cp) && h.p.layout.cp_comm == CpComm::allgather; }},
    Name{"topk-routing", [](const OpenPlan& h) { return h.p.model.moe.has_value(); }},
    Name{"switch", [](const OpenPlan& h) { return h.p.model.moe && h.p.model.moe->top_k == 1; }},
    Name{"folding", [](const OpenPlan& h) { return h.e.mesh.has_experts && h.on(GroupKind::ep); }},
};

}  // namespace

std::optional<bool> used_in(std::string_view id, const Plan& plan, const Evaluation& evaluation) {
    for (const Name& n : kNamesUsed)
        if (n.id == id) return n.used({plan, evaluation});
    return runs({plan, evaluation}, id);
}

std::string in_this_plan(std::string_view id, const Plan& plan, const Evaluation& evaluation) {
    if (!evaluation.valid) {
        const auto computed = computed_terms();
        const bool known = std::find(computed.begin(), computed.end(), id) != computed.end();
        return known ? "—: " + first_error(evaluation.problems) : "";
    }
    for (const Row& r : kRows)
        if (r.id == id) return r.text({plan, evaluation});
    const std::optional<bool> used = used_in(id, plan, evaluation);
    return !used ? "" : *used ? "used here" : "not used here";
}

std::vector<std::string_view> computed_terms() {
    std::vector<std::string_view> out;
    for (const Row& r : kRows) out.push_back(r.id);
    for (const Name& n : kNamesUsed) out.push_back(n.id);
    for (const Schedule schedule : all_of<Schedule>()) {
        const std::string_view term = traits_of(schedule).term;
        if (std::find(out.begin(), out.end(), term) == out.end()) out.push_back(term);
    }
    return out;
}

namespace {

std::string where_text(const Plan& plan, const GroupSummary& s) {
    if (s.by_tier[0] == s.groups) return sentence("all inside ", tier_name(plan.cluster, 0));
    const std::string_view slow = tier_name(plan.cluster, s.slowest_tier);
    if (s.by_tier[0] == 0) return sentence("all across ", slow);
    return sentence(s.by_tier[0], " inside ", tier_name(plan.cluster, 0), ", ", s.groups - s.by_tier[0],
                    " across ", slow);
}

// Collects an axis' calls in every layer; where it has none there, all its calls. Calls that are not counted
// by the layer (messages between stages, the shards of a layer that a step gathers) are left out where a
// layer has calls.
void collect_calls(const Evaluation& e, GroupKind group, AxisCaption& out) {
    const auto of_layer = [](const Operation& o) {
        return o.unit == Unit::every_layer || o.unit == Unit::dense_layer || o.unit == Unit::moe_layer;
    };
    const auto in_layer = [&](const Operation& o) { return o.group == group && of_layer(o); };
    const auto& all = e.comm.operations;
    const bool layers = std::any_of(all.begin(), all.end(), in_layer);
    LayerCalls calls;
    for (const Operation& o : all) {
        if (o.group != group || (layers && !of_layer(o))) continue;
        if (std::find(out.collectives.begin(), out.collectives.end(), o.collective) == out.collectives.end())
            out.collectives.push_back(o.collective);
        if (o.unit == Unit::boundary) out.calls_per_boundary = 2;  // of two stages each has one of them
        calls.add(o);
        if (!o.on_other_stage) out.calls_per_step += o.count_per_step;
    }
    if (layers) out.calls_per_layer = calls.most();
}

std::int64_t position_in_group(const GroupFactors& f, std::int64_t rank) {
    std::int64_t position = 0, below = 1;
    for (const Factor& x : f.span()) {
        position += rank / x.stride % x.size * below;
        below *= x.size;
    }
    return position;
}

std::int64_t member_at(const GroupFactors& f, std::int64_t first, std::int64_t position) {
    for (const Factor& x : f.span()) {
        first += position % x.size * x.stride;
        position /= x.size;
    }
    return first;
}

}  // namespace

GroupKind group_listed_under(const Evaluation& e, GroupKind kind) {
    if (kind != GroupKind::dp_shard && kind != GroupKind::dp_replicate && kind != GroupKind::dp) return kind;
    for (const GroupKind k : {kind, GroupKind::dp, GroupKind::fsdp, GroupKind::dp_cp, GroupKind::dp_shard,
                              GroupKind::dp_replicate})
        if (e.comm.by_axis[k].count > 0) return k;
    return kind;
}

AxisCaption caption_of(const Plan& plan, const Evaluation& e, GroupKind kind) {
    const GroupSummary& s = e.groups[kind];
    AxisCaption out;
    out.kind = kind;
    out.groups = s.groups;
    out.degree = s.degree;
    out.inside_fast = s.by_tier[0];
    out.slowest_tier = tier_name(plan.cluster, s.slowest_tier);
    if (s.degree <= 1) {
        out.where = sentence(name_of(kind), " is 1: it cuts nothing");
        return out;
    }
    out.where = sentence(count_text(s.groups, "group"), " of ", s.degree, ", ", where_text(plan, s));
    const GroupKind under = group_listed_under(e, kind);
    collect_calls(e, under, out);
    if (out.collectives.empty()) return out;
    for (const Collective c : out.collectives)
        out.talk += sentence(out.talk.empty() ? "" : " + ", words_of(c));
    if (e.groups[under].degree != s.degree)
        out.talk += sentence(" over ", name_of(under), " (", where_text(plan, e.groups[under]), ")");
    if (out.calls_per_layer > 0)
        out.talk += sentence(", ", whole_text(out.calls_per_layer), " per layer");
    else if (out.calls_per_boundary > 0)
        out.talk += sentence(", ", out.calls_per_boundary, " per micro-batch over every stage boundary, ",
                             whole_text(out.calls_per_step), " per step on ", rows_device_text(e.comm));
    else if (out.calls_per_step > 0)
        out.talk += sentence(", ", whole_text(out.calls_per_step), " per step on ", rows_device_text(e.comm));
    return out;
}

RankExplanation explain_rank(const Plan& plan, const Mesh& mesh, std::int64_t rank) {
    RankExplanation out;
    out.rank = rank;
    out.node = rank / node_size(mesh, plan.cluster);
    out.dense = dense_coordinates(mesh, rank);
    out.expert = expert_coordinates(mesh, rank);
    out.stage = out.dense[Axis::pp];
    out.text = sentence("Rank ", rank, ": node ", out.node, ", stage ", out.stage);
    for (int k = 0; k < kGroupKindCount; ++k) {
        const auto kind = static_cast<GroupKind>(k);
        const GroupFactors f = group_factors(mesh, kind);
        std::int64_t degree = 1;
        for (const Factor& x : f.span()) degree *= x.size;
        if (degree == 1) continue;
        const std::int64_t first = first_rank_of_group(mesh, kind, rank), at = position_in_group(f, rank);
        RankGroup g{kind, group_index(mesh, kind, rank), at, degree};
        g.previous = member_at(f, first, (at + degree - 1) % degree);
        g.next = member_at(f, first, (at + 1) % degree);
        g.tier = tier_between(plan.cluster, first, member_at(f, first, degree - 1));
        out.groups.push_back(g);
        if (f.count == 1 && kind != GroupKind::pp
            && (k <= static_cast<int>(GroupKind::pp) || kind == GroupKind::gtp_remat || is_expert(kind)))
            out.text +=
                sentence(out.groups.size() == 1 ? "; " : ", ", name_of(kind), " ", at, " of ", degree);
    }
    out.text += '.';
    return out;
}

std::string_view sentence_of(Axis axis) {
    switch (axis) {
    case Axis::tp:
        return "tp cuts every layer through its width: each GPU has a part of every matrix, and their "
               "results "
               "are added up.";
    case Axis::cp: return "cp cuts each sample through its tokens, attention included: for a long context.";
    case Axis::ep:
        return "ep deals out the experts of a layer: each GPU keeps a few, and tokens travel to them.";
    case Axis::dp_shard: return "dp_shard are the copies that share out one state; ZeRO says how much of it.";
    case Axis::dp_replicate:
        return "dp_replicate are the copies that share nothing: each has its own part of the batch.";
    case Axis::pp:
        return "pp cuts the stack between layers: each GPU keeps whole layers and hands on what they make.";
    }
    return {};
}

std::string_view sentence_of_zero(int stage) {
    static constexpr std::array<std::string_view, 4> kRungs{
        "ZeRO-0: every copy keeps all of the state.", "ZeRO-1: the copies share out the optimizer's state.",
        "ZeRO-2: the copies share out the optimizer's state and the gradients.",
        "ZeRO-3: the copies share out the optimizer's state, the gradients and the weights, which are "
        "gathered "
        "when they are used."};
    return kRungs[static_cast<std::size_t>(std::clamp(stage, 0, 3))];
}

}  // namespace pentamesh
