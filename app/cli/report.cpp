#include "app/cli/output.h"
#include "app/tables/plan_tables.h"
#include "app/tables/review.h"
#include "app/ui/review/pages.h"
#include "app/ui/review/review.h"
#include "app/ui/views/search/search_found.h"
#include "core/advice/advice.h"
#include "core/base/text.h"
#include "core/decide/mends.h"
#include "core/decide/search.h"
#include "core/explain/verdict.h"
#include "core/io/plan_json.h"
#include "core/mesh/mesh.h"
#include "core/mesh/places.h"
#include "core/plan/names.h"
#include "core/plan/software.h"
#include "core/sharding/sharding.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <system_error>
#include <utility>

namespace pentamesh::cli {
namespace {

// Lists what would make a plan fit; without rows where it fits, or nothing does.
Section mends_section(const Plan& plan, const Evaluation& e) {
    Section s{
        "What makes it fit?",
        {},
        {{{"change"}, {"memory", Shown::memory}, {"step", Shown::seconds}, {"fits"}, {"gives up"}}, {}}};
    const std::vector<MemoryMend> mends = find_mends(plan, e);
    for (const MemoryMend& m : mends)
        s.table.rows.push_back(
            {m.change, whole_cell(m.memory_bytes), m.step_s, std::string(fit_cell(m.fit)), m.gives_up});
    if (!mends.empty())
        s.lines.push_back("As it is: " + memory_text(e.memory.peak()) + " of " + memory_text(e.memory.hbm)
                          + ", " + time_text(e.step->time_s)
                          + " a step. Each row changes one kind of thing, by the change of that kind that "
                            "costs least and fits.");
    return s;
}

// Says of which software the figures are. A plan that names none is one of Megatron-LM, and its file does not
// tell the two apart.
std::string software_words(const Plan& plan) {
    const bool usual = plan.training.software == Training{}.software;
    return sentence("Defaults and memory are those of ", facts_of(plan.training.software).name,
                    usual ? ", as of every plan that names no training.software." : " (training.software).");
}

Document document_of(const Plan& plan, const Evaluation& e, bool explained) {
    Document document{title_of(plan), {{"", {asked_line(plan, e.microbatches)}, {}}}};
    document.sections.front().lines.push_back(software_words(plan));
    if (!plan.notes.empty()) document.sections.front().lines.push_back(plan.notes);
    document.sections.push_back(problems_section(e));
    if (Section mends = mends_section(plan, e); !mends.table.rows.empty())
        document.sections.push_back(std::move(mends));
    document.sections.push_back(step_section(e));
    if (Section cost = cost_section(plan, e); !cost.table.rows.empty())
        document.sections.push_back(std::move(cost));
    document.sections.push_back(groups_section(plan, e, kinds_of(e)));
    document.sections.push_back(memory_section(plan, e));
    document.sections.push_back(comm_section(plan, e));
    document.sections.push_back(timeline_section(e));
    document.sections.push_back(parameters_section(e.parameters));
    if (explained) document.sections.push_back(explanations_section(plan, e));
    return document;
}

// Puts pictures over the tables of the same question.
void add_pictures(const Context& context, const Plan& plan, const Evaluation& e, Document& document) {
    const FontFiles fonts = find_fonts(context.data_folder);
    for (Section& s : document.sections)
        if (s.figure) s.svg = ui::report_figure(context.presets, plan, e, *s.figure, fonts);
}

// Lists what one edit each gives, as a review's first page does.
Json json_of_tried(const Plan& plan, const Evaluation& e) {
    Json out = Json::array();
    const TriedEdits edits = try_each_edit(plan, e);
    for (const auto* list : {&edits.fit, &edits.unfit})
        for (const SearchResult& r : *list)
            out.push_back({{"change", ui::change_words(plan, r.choice)},
                           {"step_s", r.step_s},
                           {"step_change", r.step_s / e.step->time_s - 1},
                           {"memory_bytes", whole(r.memory_bytes)},
                           {"fits", fits(r.fit)},
                           {"verdict", verdict_of_fit(r.fit)}});
    return out;
}

// Lists what makes a plan fit that does not; `set` has the arguments of --set that make the change.
Json json_of_mends(const Plan& plan, const Evaluation& e) {
    Json out = Json::array();
    for (const MemoryMend& m : find_mends(plan, e))
        out.push_back({{"kind", name_of(m.kind)},
                       {"change", m.change},
                       {"set", sets_between(plan, m.plan)},
                       {"step_before_s", e.step->time_s},
                       {"step_s", m.step_s},
                       {"memory_before_bytes", whole(e.memory.peak())},
                       {"memory_bytes", whole(m.memory_bytes)},
                       {"verdict", verdict_of_fit(m.fit)},
                       {"keeps_numerics", m.keeps_numerics},
                       {"time_counted", m.time_counted},
                       {"gives_up", m.gives_up}});
    return out;
}

Json json_of_report(const Plan& plan, const Evaluation& e) {
    Json out = Json::object();
    add_validity(out, e);
    out["plan"] = plan_to_json(plan);
    out["software"] = name_of(plan.training.software);
    out["parameters"] = json_of_parameters(plan.model.name, e.parameters);
    out["groups"] = json_of_groups(plan, e, kinds_of(e));
    out["memory"] = json_of_memory(plan, e);
    out["comm"] = json_of_comm(plan, e);
    out["timeline"] = json_of_timeline(e.timeline, false);
    out["step"] = json_of_step(e);
    if (!e.valid)
        for (const char* part : {"groups", "memory", "comm", "timeline"}) void_figures(out[part]);
    if (e.valid) {
        out["failure"] = json_of_failure(plan, e);
        out["explanations"] = json_rows(explanations_table(plan, e));
        if (e.step) out["tried"] = json_of_tried(plan, e);
        if (e.step && !e.memory.fits()) out["mends"] = json_of_mends(plan, e);
    }
    if (Json cost = json_of_cost(plan, e); !cost.is_null()) out["cost"] = std::move(cost);
    return out;
}

Answer report(const Context& context, const Plan& plan, const OnPlan<>& options) {
    const Evaluation e = assess(plan);
    const Forms& forms = options.forms;
    Answer out;
    if (context.json)
        out.json = json_of_report(plan, e);  // it tries each edit
    else if (forms.csv)
        out.csv = figures_table(json_of_report(plan, e));
    else
        out.document = document_of(plan, e, forms.markdown || forms.html);
    if (forms.html) add_pictures(context, plan, e, out.document);
    out.errors = errors_of(e);
    return out;
}

}  // namespace

void add_report(Options& app, Context& context) {
    auto& options = answer_with(app, context, report);
    add_forms(app, context, options.forms);
    app.add_flag("--html", options.forms.html, "write one HTML file with pictures")
        .excludes("--json")
        .excludes("--csv")
        .excludes("--markdown");
}

namespace {

Json json_of(const Range& r) {
    return Json::array({r.begin, r.end});
}

Json json_of(const std::vector<Range>& ranges) {
    Json out = Json::array();
    for (const Range& r : ranges) out.push_back(json_of(r));
    return out;
}

Json json_of(const Coordinates& c) {
    Json out = Json::object();
    for (const Axis a : all_of<Axis>()) out[key_of(a)] = c[a];
    return out;
}

// Returns the slowest tier that this rank's own group crosses: its first and last member are farthest apart.
int slowest_tier(const Plan& plan, const std::vector<std::int64_t>& members) {
    return members.size() > 1 ? tier_between(plan.cluster, members.front(), members.back()) : 0;
}

Json json_of_coordinates(const Evaluation& e, std::int64_t rank) {
    Json dense = json_of(dense_coordinates(e.mesh, rank));
    dense.erase("ep");
    Json out{{"dense", std::move(dense)}};
    if (!e.mesh.has_experts) return out;
    const Coordinates c = expert_coordinates(e.mesh, rank);
    out["expert"] = json_of_expert_axes([&](Axis a) { return std::optional<std::int64_t>(c[a]); });
    return out;
}

Json json_of_rank_groups(const Plan& plan, const Evaluation& e, std::int64_t rank) {
    Json groups = Json::array();
    for (const GroupKind kind : kinds_of(e)) {
        const std::vector<std::int64_t> members = group_members(e.mesh, kind, rank);
        groups.push_back({{"axis", name_of(kind)},
                          {"group", group_index(e.mesh, kind, rank)},
                          {"degree", members.size()},
                          {"slowest_tier", std::string(tier_name(plan.cluster, slowest_tier(plan, members)))},
                          {"ranks", members}});
    }
    return groups;
}

Json json_of_contents(const Plan& plan, const Evaluation& e, const RankContents& c) {
    Json chunks = Json::array();
    for (const RankChunk& chunk : c.chunks)
        chunks.push_back({{"virtual_stage", chunk.virtual_stage}, {"layers", json_of(chunk.layers)}});
    Json out{{"stage", c.stage},
             {"chunks", std::move(chunks)},
             {"embedding", c.embedding},
             {"head", c.head},
             {"mtp_layers", c.mtp_layers},
             {"heads", json_of(c.heads)},
             {"kv_heads", json_of(c.kv_heads)},
             {"ffn", json_of(c.ffn)},
             {"vocabulary", json_of(c.vocabulary)},
             {"sequence", json_of(c.sequence)},
             {"sequence_between_regions", json_of(c.sequence_between)}};
    if (plan.model.moe) {
        out["experts"] = json_of(c.experts);
        out["expert_ffn"] = json_of(c.expert_ffn);
    }
    const auto stage = static_cast<std::size_t>(c.stage);
    if (stage < e.memory.stage.size()) out["memory"] = json_of_memory(plan, e)["stages"][stage];
    return out;
}

Section coordinates_section(const Plan& plan, const Evaluation& e, std::int64_t rank) {
    Section s{"Its groups",
              {},
              {{{"axis"},
                {"coordinate in the group", Shown::count},
                {"ranks", Shown::count},
                {"slowest tier"},
                {"talks to"}},
               {}}};
    for (const GroupKind kind : kinds_of(e)) {
        const std::vector<std::int64_t> members = group_members(e.mesh, kind, rank);
        if (members.size() < 2) continue;
        std::string others;
        std::size_t own = 0, shown = 0;
        for (std::size_t i = 0; i < members.size(); ++i) {
            if (members[i] == rank)
                own = i;
            else if (++shown <= 8)
                others += (others.empty() ? "" : " ") + std::to_string(members[i]);
        }
        if (shown > 8) others += " ...";
        s.table.rows.push_back({std::string(name_of(kind)), std::to_string(own),
                                std::to_string(members.size()),
                                std::string(tier_name(plan.cluster, slowest_tier(plan, members))), others});
    }
    if (s.table.rows.empty()) s.lines.emplace_back("It talks to nobody.");
    return s;
}

Section contents_section(const Plan& plan, const Evaluation& e, const RankContents& c) {
    Section s{"What it holds", {}, {{{"what"}, {"which"}}, {}}};
    const auto row = [&](const char* what, const Range& r) {
        if (r.size() > 0)
            s.table.rows.push_back({what, with_commas(r.begin) + " to " + with_commas(r.end - 1)});
    };
    s.table.rows.push_back({"pipeline stage", std::to_string(c.stage)});
    for (const RankChunk& chunk : c.chunks) row("layers", chunk.layers);
    if (c.embedding) s.table.rows.push_back({"embedding", "yes"});
    if (c.head) s.table.rows.push_back({"head", "yes"});
    row("attention heads", c.heads);
    row("kv heads", c.kv_heads);
    row("MLP columns", c.ffn);
    row("vocabulary", c.vocabulary);
    if (plan.model.moe) {
        row("experts", c.experts);
        row("expert columns", c.expert_ffn);
    }
    for (const Range& r : c.sequence) row("tokens of a sequence", r);
    const auto stage = static_cast<std::size_t>(c.stage);
    if (stage < e.memory.stage.size())
        s.table.rows.push_back(
            {"memory", memory_text(e.memory.stage[stage].total()) + " of " + memory_text(e.memory.hbm)});
    return s;
}

struct RankOptions {
    std::string rank;
    std::string hosts;
};

// Reads a number; one too large for any rank becomes the largest number.
std::int64_t number_of(const std::string& text) {
    std::int64_t n = 0;
    const char* const end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, n);
    if (text.empty() || at != end || error == std::errc::invalid_argument)
        refuse("RANK is \"" + text + "\", which is no whole number");
    return error == std::errc() ? n : std::numeric_limits<std::int64_t>::max();
}

Answer answer_rank(const Context&, const Plan& plan, const OnPlan<RankOptions>& options) {
    const Evaluation e = assess(plan);
    const std::int64_t rank = number_of(options.rank);
    Json json{{"rank", rank}};
    if (e.mesh.world == 0 || !e.valid) {
        add_validity(json, e);
        return {std::move(json), {}, {}, errors_of(e)};
    }
    if (rank < 0 || rank >= e.mesh.world)
        throw Error(ErrorKind::invalid, "", "",
                    "there is no rank " + options.rank + ": the plan has ranks 0 to "
                        + std::to_string(e.mesh.world - 1));
    const RankContents contents = contents_of(plan, e.mesh, rank);
    const Hosts hosts = load_hosts(options.hosts, plan, e.mesh);
    json["node"] = plan.cluster.tiers.empty() ? 0 : rank / domain_of(plan.cluster, 0);
    json["coordinates"] = json_of_coordinates(e, rank);
    json["groups"] = json_of_rank_groups(plan, e, rank);
    json["holds"] = json_of_contents(plan, e, contents);
    if (!hosts.names.empty()) json["host"] = hosts.of(rank);
    Document document{"Rank " + with_commas(rank) + " of " + with_commas(e.mesh.world)
                          + (hosts.names.empty() ? "" : " on " + hosts.of(rank)),
                      {coordinates_section(plan, e, rank), contents_section(plan, e, contents)}};
    return with_problems(e, {json, figures_table(json), std::move(document)});
}

}  // namespace

void add_rank(Options& app, Context& context) {
    auto& options = answer_with(app, context, answer_rank);
    app.add_option("RANK", options.rank, "which GPU, from 0").required();
    add_hosts(app, options.hosts);
    add_forms(app, context, options.forms);
}

namespace {

struct GroupsOptions {
    std::vector<std::string> axes;
    std::string hosts;
    bool summary = false;
};

GroupKind kind_named(const std::string& name) {
    std::vector<std::string_view> known;
    for (const GroupKind kind : all_of<GroupKind>()) {
        if (name_of(kind) == name) return kind;
        known.push_back(name_of(kind));
    }
    refuse("--axis " + shown_text(name) + ": there is no such axis; the closest is \""
           + std::string(nearest(name, known)) + "\"");
}

// Returns the kinds asked for, in the order of the kinds; all that the plan has where no kind was asked for.
std::vector<GroupKind> asked_for(const GroupsOptions& options, const Evaluation& e) {
    std::vector<GroupKind> there = kinds_of(e);
    if (options.axes.empty()) return there;
    std::vector<GroupKind> kinds;
    for (const std::string& name : options.axes) {
        const GroupKind kind = kind_named(name);
        if (std::find(there.begin(), there.end(), kind) == there.end())
            throw Error(ErrorKind::invalid, "", "",
                        "--axis " + name
                            + (is_of_weight_shards(kind) ? ": the plan has no weight_shards beyond tp"
                               : e.mesh.has_experts
                                   ? ": the experts' data parallelism has shards or copies, not both; "
                                     "\"edp\" has all of it"
                                   : ": the plan has no expert mesh"));
        kinds.push_back(kind);
    }
    std::sort(kinds.begin(), kinds.end());
    kinds.erase(std::unique(kinds.begin(), kinds.end()), kinds.end());
    return kinds;
}

// Writes text in pieces, so that a long text is never held whole.
class Stream {
  public:
    // Returns false if the reader has closed.
    bool add(std::string_view text) {
        held_ += text;
        return held_.size() < kPiece || flush();
    }
    bool flush() {
        wanted_ = wanted_ && print_json(held_);
        held_.clear();
        return wanted_;
    }

  private:
    static constexpr std::size_t kPiece = std::size_t{64} << 10;
    std::string held_;
    bool wanted_ = true;
};

// Writes the list of an axis' groups as pretty() writes it at that depth. Returns false if the reader has
// closed.
bool write_groups(Stream& out, const Mesh& mesh, GroupKind kind) {
    const Split split = split_factors(mesh, kind);
    std::string number;
    bool wanted = out.add("["), first_group = true;
    for_each_sum(split.rest.span(), [&](std::int64_t first) {
        if (!wanted) return;
        wanted = out.add(first_group ? "\n        [" : ",\n        [");
        first_group = false;
        bool first_rank = true;
        for_each_sum(split.group.span(), [&](std::int64_t offset) {
            if (!wanted) return;
            number = first_rank ? "" : ", ";
            first_rank = false;
            wanted = out.add(number += std::to_string(first + offset));
        });
        wanted = wanted && out.add("]");
    });
    return wanted && out.add("\n      ]");
}

// A million ranks are a hundred megabytes of text: the lists are written where the rest has a null for each.
void print_with_ranks(Json out, const Mesh& mesh, std::span<const GroupKind> kinds) {
    for (Json& axis : out["axes"]) axis["ranks"] = nullptr;
    const std::string text = pretty(out);
    constexpr std::string_view kMark =
        "\"ranks\": null";  // no string holds it: quotes in strings are escaped
    Stream stream;
    std::size_t from = 0;
    for (std::size_t i = 0; i < out["axes"].size(); ++i) {
        const std::size_t at = text.find(kMark, from) + kMark.size() - 4;
        if (!stream.add(std::string_view(text).substr(from, at - from))) return;
        if (!write_groups(stream, mesh, kinds[i])) return;
        from = at + 4;
    }
    stream.add(std::string_view(text).substr(from));
    stream.flush();
}

int groups(const Context& context, const OnPlan<GroupsOptions>& options) {
    const LoadedPlan loaded = load_plan_and_sets(context, options.plan);
    const Plan& plan = loaded.plan;
    const Evaluation e = assess(plan);
    const std::vector<GroupKind> kinds = asked_for(options, e);
    const Hosts hosts = load_hosts(options.hosts, plan, e.mesh);
    if (context.json) {
        Json out = json_of_groups(plan, e, kinds);
        if (!hosts.names.empty()) {
            out["hosts"] = hosts.names;
            out["gpus_per_host"] = hosts.gpus_each;
        }
        if (!e.valid) void_figures(out);
        add_validity(out, e);
        put_followed(loaded.followed, out);
        if (options.summary)
            print_json(pretty(out));
        else
            print_with_ranks(std::move(out), e.mesh, kinds);
    } else if (options.forms.csv) {
        print_csv(groups_section(plan, e, kinds).table);
    } else {
        Document document{"", {groups_section(plan, e, kinds)}};
        constexpr auto kAll = std::numeric_limits<std::size_t>::max();
        if (!options.summary && e.valid)
            document.sections.push_back({"Ranks of each group", {}, ranks_table(e, kinds, kAll, hosts)});
        print_document(options.forms, document);
    }
    return status_of(e);
}

}  // namespace

void add_groups(Options& app, Context& context) {
    auto& options = run_with(app, context, groups);
    add_plan_argument(app, options.plan);
    app.add_option("--axis", options.axes, "only these axes, as tp, dp_cp or edp")
        .count(1, kGroupKindCount)
        .type_name("AXIS");
    add_hosts(app, options.hosts);
    app.add_flag("--summary", options.summary, "without the ranks");
    add_forms(app, context, options.forms);
}

namespace {

Model load_model(const Context& context, const std::string& name) {
    const Presets& presets = context.presets;
    if (presets.has(PresetKind::model, name)) return presets.model(name);
    std::error_code ignored;
    if (name != "-" && !std::filesystem::exists(name, ignored)) {
        std::vector<std::string_view> ids;
        for (const Presets::Entry& e : presets.list(PresetKind::model)) ids.push_back(e.id);
        throw Error(ErrorKind::io, name, "",
                    "there is no such file, and no such model preset; the closest preset is \""
                        + std::string(nearest(name, ids)) + "\"");
    }
    return parse_model(read_input(name), name, presets);
}

struct ParamsOptions {
    std::string name;
    Forms forms;
};

int params(const Context& context, const ParamsOptions& options) {
    const std::string& name = options.name;
    const Model model = load_model(context, name);
    const ParameterCounts counts = count_parameters(model);
    if (!counts_all(counts)) throw Error(ErrorKind::invalid, name, "", uncounted_text(model));
    const Section section = parameters_section(counts);
    const bool preset = context.presets.has(PresetKind::model, name);
    return print_answer(
        context, options.forms,
        {json_of_parameters(preset ? name : model.name, counts), section.table, {model.name, {section}}});
}

}  // namespace

void add_params(Options& app, Context& context) {
    auto& options = run_with(app, context, params);
    app.add_option("MODEL", options.name,
                   "a model preset's id, a Hugging Face config.json, a plan's model object in a file, or -")
        .required();
    add_forms(app, context, options.forms);
}

// `presets` and `schema` list the presets that ship and the user's own, and the fields that a plan may have.

namespace {

int presets(const Context& context, const Forms& forms) {
    Json out = Json::object();
    Document document;
    for (const auto& [title, kind] : kPresetLists) {
        Section section{title, {}, {{{"id"}, {"name"}}, {}}};
        Json list = Json::array();
        for (const Presets::Entry& e : context.presets.list(kind)) {
            list.push_back(
                {{"id", e.id}, {"name", e.name}, {kind == PresetKind::plan ? "notes" : "source", e.source}});
            if (!e.efficiency_source.empty()) list.back()["efficiency_source"] = e.efficiency_source;
            if (!e.broken.empty()) list.back()["broken"] = e.broken;
            if (e.own) {
                list.back()["own"] = true;
                list.back()["file"] = e.file.string();
            }
            section.table.rows.push_back(
                {e.id, (e.own ? "your own: " : "") + (e.broken.empty() ? e.name : "broken: " + e.broken)});
        }
        out[title] = std::move(list);
        document.sections.push_back(std::move(section));
    }
    return print_answer(context, forms, {out, figures_table(out), std::move(document)});
}

int schema(const Context& /*context*/, const std::string& /*what*/) {
    print(plan_schema());
    return 0;
}

}  // namespace

void add_presets(Options& app, Context& context) {
    add_forms(app, context, run_with(app, context, presets));
}

void add_schema(Options& app, Context& context) {
    app.add_option("WHAT", run_with(app, context, schema), "plan").required().one_of({"plan"});
}

}  // namespace pentamesh::cli
