// Tests plans as frameworks' settings: tests/golden/interop.json says what each export must have, and reading
// a written text back gives the same layout, which the importers' own tests hold against the frameworks'
// parsers.
#include "core/advice/advice.h"
#include "core/interop/export.h"
#include "core/interop/import.h"
#include "core/io/plan_json.h"
#include "core/memory/state_words.h"
#include "core/pipeline/sequence.h"
#include "core/pipeline/stages.h"
#include "core/plan/edits.h"
#include "core/plan/names.h"
#include "tests/core/plans.h"
#include "tests/core/shipped.h"
#include "tests/near.h"
#include "tests/sanitized.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <sstream>

using namespace pentamesh;
using namespace pentamesh::interop;
using nlohmann::json;

namespace {

using test::presets;

std::vector<std::int64_t> layers_of(const Plan& p) {
    std::vector<std::int64_t> out;
    layers_of_chunks(p, out);
    return out;
}

// Returns the kinds whose groups of ranks must be equal; ZeRO 0 does not separate the two dp axes.
std::vector<GroupKind> kinds_of(const Plan& p) {
    std::vector<GroupKind> out{GroupKind::tp, GroupKind::cp, GroupKind::pp, GroupKind::dp};
    if (p.layout.zero > 0) out.insert(out.end(), {GroupKind::dp_shard, GroupKind::dp_replicate});
    if (p.model.moe) out.insert(out.end(), {GroupKind::ep, GroupKind::etp, GroupKind::edp});
    return out;
}

// Names the difference between two layouts that should run in the same way; empty where there is no
// difference. `said` is the written plan, `read` the plan read back.
std::string difference(const Plan& said, const Plan& read, std::string_view target) {
    const Layout &a = said.layout, &b = read.layout;
    if (said.cluster.gpus != read.cluster.gpus) return "gpus";
    const bool shared = a.dp_shard * a.cp > 1 && said.cluster.gpus > 1;
    if (shared && a.zero != b.zero) return "zero";
    const Mesh x = build_mesh(said), y = build_mesh(read);
    if (shared || a.zero == 0)
        for (const GroupKind kind : kinds_of(said))
            if (all_groups(x, kind) != all_groups(y, kind)) return "groups of " + std::string(name_of(kind));
    if (a.tp > 1 && a.sequence_parallel != b.sequence_parallel) return "sequence_parallel";
    const bool says_cp = target != "torchtitan";  // there the attention backend decides
    if (a.cp > 1 && says_cp && a.cp_comm != b.cp_comm) return "cp_comm";
    if (a.cp > 1 && says_cp && a.cp_inner.value_or(1) != b.cp_inner.value_or(1)) return "cp_inner";
    if (a.weight_shards.value_or(1) != b.weight_shards.value_or(1)) return "weight_shards";
    if (a.zero == 3 && shared && reshard_of(said) != reshard_of(read)) return "reshard";
    if (said.model.moe && a.ep > 1 && a.ep_comm != b.ep_comm) return "ep_comm";
    if (a.pp == 1) return "";
    if (a.schedule != b.schedule) return "schedule";
    if (layers_of(said) != layers_of(read)) return "stage_layers";
    if (a.schedule == Schedule::interleaved
        && a.microbatch_group.value_or(a.pp) != b.microbatch_group.value_or(b.pp))
        return "microbatch_group";
    return "";
}

Import back(const Plan& plan, std::string_view target, const std::string& text, const std::string& model) {
    ImportRequest r;
    r.text = text;
    r.path = "exported";
    r.tool = target;
    r.gpus = plan.cluster.gpus;
    r.model = model;
    return import_settings(r, presets());
}

bool contains(const std::string& text, std::string_view word) {
    return text.find(word) != std::string::npos;
}

// ---- random plans --------------------------------------------------------------------------------------

class Dice {
  public:
    explicit Dice(unsigned seed) : engine_(seed) {}
    std::int64_t below(std::int64_t n) {
        return static_cast<std::int64_t>(engine_() % static_cast<unsigned long>(n));
    }
    bool chance(int percent) { return below(100) < percent; }
    template <typename T>
    T one_of(std::initializer_list<T> all) {
        return all.begin()[below(static_cast<std::int64_t>(all.size()))];
    }

  private:
    std::mt19937 engine_;
};

using AxisOrder = std::array<Axis, kAxisCount>;
constexpr AxisOrder kReplicasInside{Axis::tp,       Axis::cp,           Axis::ep,
                                    Axis::dp_shard, Axis::dp_replicate, Axis::pp};
constexpr AxisOrder kReplicasOutside{Axis::tp, Axis::cp,       Axis::ep,
                                     Axis::pp, Axis::dp_shard, Axis::dp_replicate};

// Most of the plan can be written in the framework's settings, some of it cannot.
Plan random_plan(Dice& dice, std::string_view target) {
    const bool few_axes = target == "deepspeed" || target == "accelerate";
    const bool small = few_axes || target == "picotron";  // no sequence parallelism there
    const bool dense = small || target == "nanotron";
    const char* id =
        dense ? dice.one_of({"llama-2-7b", "llama-3-8b", "llama-3-70b", "llama-2-13b"})
              : dice.one_of({"llama-3-8b", "llama-3-70b", "mixtral-8x7b", "deepseek-v3", "qwen3-30b-a3b"});
    Plan p = presets().plan("single-gpu");
    p.model = presets().model(id);
    p.model_source = {id, {}};
    p.cluster = presets().cluster("h100-sxm-ib");
    Layout& l = p.layout;
    l = Layout();
    l.tp = dice.one_of<std::int64_t>({1, 1, 2, 4});
    l.cp = dice.one_of<std::int64_t>({1, 1, 1, 2, 4});
    l.pp = few_axes && dice.chance(90) ? 1 : dice.one_of<std::int64_t>({1, 2, 4, 5, 8});
    l.dp_shard = dice.one_of<std::int64_t>({1, 2, 4, 8});
    l.dp_replicate = dice.one_of<std::int64_t>({1, 1, 2, 3});
    l.zero = static_cast<int>(dice.below(4));
    if (dice.chance(70)) {
        if (target == "torchtitan") l.zero = dice.chance(80) ? 3 : 0;
        if (target == "nanotron") l.zero = static_cast<int>(dice.below(2));
        if (target == "picotron") l.zero = 0;
    }
    l.order = target == "picotron" || (target == "megatron" && dice.chance(20)) ? kReplicasOutside
                                                                                : kReplicasInside;
    if (dice.chance(10))
        std::swap(l.order[static_cast<std::size_t>(dice.below(6))],
                  l.order[static_cast<std::size_t>(dice.below(6))]);
    l.sequence_parallel = small ? dice.chance(10) : dice.chance(70);
    l.cp_comm = dice.one_of({CpComm::ring, CpComm::allgather, CpComm::ulysses, CpComm::ulysses_ring});
    if (l.cp_comm == CpComm::ulysses_ring) l.cp_inner = 2;
    if (l.pp > 1) {
        l.schedule =
            dice.one_of({Schedule::one_f_one_b, Schedule::one_f_one_b, Schedule::interleaved, Schedule::gpipe,
                         Schedule::zb_v, Schedule::looped_bfs, Schedule::dualpipev});
        if (l.schedule == Schedule::interleaved || l.schedule == Schedule::looped_bfs)
            l.virtual_stages = dice.one_of<std::int64_t>({2, 3, 4});
        if (l.schedule == Schedule::zb_v || l.schedule == Schedule::dualpipev) l.virtual_stages = 2;
    }
    if (l.pp > 1 && dice.chance(30)) {  // one layer more here, one less there
        l.stage_layers = layers_of(p);
        const auto n = static_cast<std::int64_t>(l.stage_layers.size());
        ++l.stage_layers[static_cast<std::size_t>(dice.below(n))],
            --l.stage_layers[static_cast<std::size_t>(dice.below(n))];
    }
    if (p.model.moe) {
        l.ep = dice.one_of<std::int64_t>({1, 2, 4, 8});
        if (dice.chance(50)) l.etp = l.ep > 1 ? 1 : l.tp;
        l.ep_comm = dice.one_of(
            {EpComm::alltoall, EpComm::alltoall, EpComm::deepep, EpComm::hybridep, EpComm::allgather});
    }
    if (l.zero == 3 && dice.chance(30)) l.reshard = Reshard::never;
    if (target == "maxtext" && dice.chance(80)) {  // it has little else
        l.zero = dice.chance(80) ? 3 : 0;
        l.reshard = Reshard::by_software;
        if (p.model.moe) l.etp = l.tp;
        if (l.pp > 1) {
            l.schedule = dice.one_of({Schedule::gpipe, Schedule::looped_bfs});
            l.virtual_stages = l.schedule == Schedule::gpipe ? 1 : 2;
            l.stage_layers.clear();
        }
    }
    if (target == "maxtext" && l.zero == 0)  // copies are copies there, and have one name
        l.dp_replicate = *l.dp_replicate * std::exchange(l.dp_shard, 1);
    p.cluster.gpus = l.tp * l.cp * l.pp * l.dp_shard * *l.dp_replicate;
    Training& t = p.training;
    t = Training();
    t.micro_batch = dice.one_of<std::int64_t>({1, 2});
    const std::int64_t microbatches = l.pp * l.virtual_stages * (1 + dice.below(3));
    t.global_batch = t.micro_batch * l.dp_shard * *l.dp_replicate * microbatches;
    t.sequence_length = 4096;
    t.recompute = dice.one_of<RecomputeChoice>(
        {Recompute::none, Recompute::none, Recompute::selective, Recompute::full});
    t.overlap.dp = dice.chance(50);
    return p;
}

// Returns what a text says for a setting: "" where it has the setting without a value, nullopt where it has
// it not.
std::optional<std::string> said_of(const std::string& text, std::string_view target,
                                   const std::string& name) {
    if (target == "deepspeed" || target == "picotron") {
        json at = json::parse(text);
        for (std::size_t from = 0; from <= name.size();) {
            const std::size_t dot = std::min(name.find('.', from), name.size());
            const std::string key = name.substr(from, dot - from);
            if (!at.is_object() || !at.contains(key)) return std::nullopt;
            at = json(at[key]);
            from = dot + 1;
        }
        return at.dump();
    }
    std::optional<std::string> out;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        const std::size_t begin = line.find_first_not_of(' ');
        if (begin == std::string::npos || line[begin] == '#') continue;
        const std::size_t at = line.find(name, begin);
        if (at == std::string::npos || (at != begin && line[at - 1] != '.')) continue;
        std::string rest = line.substr(at + name.size());
        if (!rest.empty() && std::string_view(" =:").find(rest.front()) == std::string_view::npos) continue;
        rest.erase(0, std::min(rest.find_first_not_of(" =:"), rest.size()));
        if (rest.ends_with(',')) rest.pop_back();
        out = rest;
    }
    return out;
}

// A value of "must" in the golden file, whose "_about" says what each form means.
bool is_wanted(const json& want, const std::optional<std::string>& got) {
    if (want.is_array())
        return std::ranges::any_of(want, [&](const json& one) { return is_wanted(one, got); });
    if (want.is_null() || !got) return want.is_null() && !got;
    if (want == "*") return true;
    if (want == true) return got->empty() || *got == "true" || *got == "True";
    if (!want.is_string()) return *got == want.dump();
    const std::string word = want;
    return *got == word || *got == "\"" + word + "\"";
}

bool has_all(const json& set, const std::string& text, std::string_view target) {
    return std::ranges::all_of(set.items(), [&](const auto& item) {
        return is_wanted(item.value(), said_of(text, target, item.key()));
    });
}

void round_trips(int wanted) {
    unsigned seed = 7;
    for (const std::string_view target :
         {"megatron", "bridge", "torchtitan", "deepspeed", "accelerate", "nanotron", "picotron", "maxtext"}) {
        const std::string framework(target);
        CAPTURE(framework);
        Dice dice(seed++);
        int said = 0, limited = 0;
        for (int tries = 0; said < wanted && tries < 60000; ++tries) {
            const Plan plan = random_plan(dice, target);
            if (!evaluate(plan, {.timeline = false, .messages = false}).valid) continue;
            const Export made = export_plan(plan, target, presets());
            if (!made.lost.empty() || !made.refused.empty()) {
                ++limited;
                continue;
            }
            ++said;
            const Import read = back(plan, target, made.text, plan.model_source.preset);
            if (!read.plan) {
                for (const ImportProblem& p : read.problems) CHECK(p.message == "");
                INFO(made.text);
                FAIL("it cannot be read back");
            }
            const std::string differs = difference(plan, *read.plan, target);
            if (!differs.empty()) {
                INFO(made.text);
                INFO(write_plan(plan));
                FAIL_CHECK(differs);
                break;
            }
        }
        CHECK(said == wanted);
        CHECK(limited > 0);
    }
}

}  // namespace

TEST_CASE("an export says what the golden cases ask, and names what the framework has not") {
    // Each word of `cannot` may have these names; the file's own note allows the same.
    const std::map<std::string, std::vector<std::string>> called{
        {"cp", {"cp", "cp_comm"}}, {"allgather", {"cp_comm"}},
        {"ulysses", {"cp_comm"}},  {"pp", {"pp"}},
        {"gpipe", {"schedule"}},   {"dualpipe", {"schedule"}},
        {"zb-v", {"schedule"}},    {"interleaved", {"schedule"}},
        {"fp8", {"compute"}}};
    int exact = 0, limited = 0, trips = 0;
    const json file = test::golden("interop.json");
    for (const json& c : file["export"]) {
        const std::string id = c["plan"], framework = c["framework"];
        CAPTURE(id);
        CAPTURE(framework);
        const Plan plan = parse_plan(file["plans"][id].dump(), id, presets());
        const std::string_view target = tool_called(framework)->name;
        const Export made = export_plan(plan, target, presets());
        CHECK_FALSE(made.text.empty());
        if (c.contains("cannot")) {
            ++limited;
            for (const std::string word : c["cannot"]) {
                CAPTURE(word);
                const auto it = called.find(word);
                const std::vector<std::string> names = it == called.end() ? std::vector{word} : it->second;
                CHECK(std::any_of(made.lost.begin(), made.lost.end(), [&](const Unsaid& u) {
                    return std::any_of(names.begin(), names.end(),
                                       [&](const std::string& n) { return u.pointer.ends_with("/" + n); });
                }));
            }
            continue;
        }
        ++exact;
        CHECK(made.lost.empty());
        CHECK(made.refused.empty());
        if (!c.contains("round_trip")) continue;
        ++trips;
        const Import read = back(plan, target, made.text, plan.model_source.preset);
        REQUIRE(read.plan);
        CHECK(difference(plan, *read.plan, target) == "");
    }
    CHECK(exact > 80);
    CHECK(limited > 70);
    CHECK(trips > 50);
}

TEST_CASE("each setting of an export has the value that the golden cases ask for") {
    int settings = 0;
    const json file = test::golden("interop.json");
    for (const json& c : file["export"]) {
        const std::string id = c["plan"], framework = c["framework"];
        if (c.contains("cannot") || framework == "device-mesh") continue;
        CAPTURE(id);
        CAPTURE(framework);
        const std::string_view target = tool_called(framework)->name;
        const Export made =
            export_plan(parse_plan(file["plans"][id].dump(), id, presets()), target, presets());
        for (const auto& item : c["must"].items()) {
            CAPTURE(item.key());
            const auto got = said_of(made.text, target, item.key());
            CAPTURE(got.value_or("not there"));
            CHECK(is_wanted(item.value(), got));
            ++settings;
        }
        if (c.contains("any_of"))
            for (const json& sets : c["any_of"])
                CHECK(
                    std::ranges::any_of(sets, [&](const json& s) { return has_all(s, made.text, target); }));
    }
    CHECK(settings > 500);
}

TEST_CASE(
    "a device mesh has the golden cases' dimensions, outermost first, and lists the mesh's own groups") {
    const json file = test::golden("interop.json");
    int meshes = 0, lists = 0;
    for (const json& c : file["export"]) {
        if (c["framework"] != "device-mesh" || c.contains("cannot")) continue;
        const std::string id = c["plan"];
        CAPTURE(id);
        const Plan plan = parse_plan(file["plans"][id].dump(), id, presets());
        const std::string text = export_plan(plan, "device-mesh", presets()).text;
        std::string sizes, names;
        for (const json& dimension : c["must"]["mesh"]) {
            sizes += (sizes.empty() ? "" : ", ") + dimension[1].dump();
            names += (names.empty() ? "" : ", ") + dimension[0].dump();
        }
        const char* comma = c["must"]["mesh"].size() == 1 ? "," : "";  // a tuple of one
        if (!names.empty())
            CHECK(text.find("\nmesh = init_device_mesh(\"cuda\", (" + sizes + comma + "), mesh_dim_names=("
                            + names + comma + "))")
                  != std::string::npos);
        ++meshes;
        const Mesh mesh = build_mesh(plan);
        for (const GroupKind kind : {GroupKind::tp, GroupKind::pp, GroupKind::cp, GroupKind::dp_shard,
                                     GroupKind::dp_replicate, GroupKind::ep}) {
            const std::string key = "    \"" + std::string(name_of(kind)) + "\": ";
            const std::size_t at = text.find(key);
            if (at == std::string::npos) continue;
            const std::string line = text.substr(at + key.size(), text.find('\n', at) - at - key.size() - 1);
            // A large mesh lists some of its groups.
            for (const json& group : json::parse(line)) {
                const std::vector<std::int64_t> ranks = group;
                CHECK(ranks == group_members(mesh, kind, ranks.at(0)));
            }
            ++lists;
        }
    }
    CHECK(meshes == 21);
    CHECK(lists > 30);
}

TEST_CASE("a few random plans of each framework come back with the same layout, or the loss is named") {
    round_trips(40);
}

TEST_CASE("hundreds of random plans of each framework come back with the same layout, or the loss is named") {
    round_trips(
        test::rounds(test::kSanitized ? 100 : 400));  // it takes longer than all other tests of the engine
}

TEST_CASE("the table of spellings names settings that the importers map to the same field") {
    const auto leaf = [](std::string_view name) {
        const std::size_t dot = name.rfind('.');
        return std::string(dot == std::string_view::npos ? name : name.substr(dot + 1));
    };
    int rows = 0;
    Dice dice(1);
    for (const std::string_view target :
         {"megatron", "bridge", "torchtitan", "deepspeed", "accelerate", "nanotron", "picotron", "maxtext"}) {
        const std::string_view framework = target;
        std::set<std::string> seen;
        for (int i = 0; i < 60; ++i) {
            const Plan plan = random_plan(dice, target);
            if (!evaluate(plan, {.timeline = false, .messages = false}).valid) continue;
            const Export made = export_plan(plan, target, presets());
            const Import read = back(plan, target, made.text, "");
            for (const SpelledField& f : flags_of(framework)) {
                CAPTURE(std::string(f.name));
                CAPTURE(std::string(f.pointer));
                const auto is_it = [&](const Listed& l) { return leaf(l.setting) == leaf(f.name); };
                for (const Listed& l : read.settings.mapped)
                    if (is_it(l) && contains(l.path, f.pointer.substr(0, f.pointer.rfind('/'))))
                        seen.insert(leaf(f.name));
            }
        }
        rows += static_cast<int>(seen.size());
        const std::string name(target);
        CAPTURE(name);
        CHECK(seen.size() >= (target == "megatron" || target == "bridge" ? 30U : 5U));
    }
    CHECK(rows > 110);
    CHECK(flag_of("megatron", "/layout/tp") == "--tensor-model-parallel-size");
    CHECK(flag_of("torchtitan", "/layout/etp") == "");
}

// Megatron-LM pads a tokenizer's words to a multiple (_set_padded_vocab_size): NullTokenizer's were
// --vocab-size
// + 1 up to core 0.17 and are --vocab-size since c9dfe347. --padded-vocab-size is taken as it stands.
TEST_CASE("Megatron's vocabulary has the plan's rows by either rule of its tokenizer") {
    for (const std::int64_t vocab : {32000, 50257, 128255, 128256, 131072})
        for (const std::int64_t tp : {1, 2, 8})
            for (const std::int64_t multiple : {1, 128}) {
                Plan p = presets().plan("llama-3-8b-fsdp");
                p.cluster.gpus = 8;
                p.layout = Layout();
                p.layout.tp = tp, p.layout.dp_shard = 8 / tp, p.layout.zero = 1;
                p.model.vocab = vocab, p.model.vocab_multiple = multiple, p.model_source = {};
                const Export made = export_plan(p, "megatron", presets());
                const std::int64_t unit = multiple * tp;
                const auto padded = [&](std::int64_t words) { return (words + unit - 1) / unit * unit; };
                const std::int64_t said = std::stoll(said_of(made.text, "megatron", "--vocab-size").value());
                const auto rows = said_of(made.text, "megatron", "--padded-vocab-size");
                CAPTURE(vocab);
                CAPTURE(unit);
                for (const std::int64_t words : {said, said + 1})
                    CHECK((rows ? std::stoll(*rows) : padded(words)) == padded(vocab));
                CHECK(said < padded(vocab));  // the end of a document is a token, at most the one behind
                const Import read = back(p, "megatron", made.text, "");
                REQUIRE(read.plan);
                CHECK(read.plan->model.vocab == vocab);
            }
}

TEST_CASE("an export lists dropout, types of state and modules of recomputation that it cannot say") {
    Plan p = presets().plan("llama-3-8b-fsdp");
    const auto loses = [&](std::string_view tool, std::string_view pointer) {
        const Export made = export_plan(p, tool, presets());
        return std::any_of(made.lost.begin(), made.lost.end(),
                           [&](const Unsaid& u) { return u.pointer == pointer; });
    };
    const auto notes = [&](std::string_view tool, std::string_view words) {
        const Export made = export_plan(p, tool, presets());
        return std::any_of(made.notes.begin(), made.notes.end(),
                           [&](const std::string& n) { return contains(n, words); });
    };
    for (const std::string_view tool : {"torchtitan", "nanotron", "picotron"}) {
        CAPTURE(std::string(tool));
        p.training.dropout = false;
        CHECK_FALSE(loses(tool, "/training/dropout"));
        p.training.dropout = true;
        CHECK(loses(tool, "/training/dropout"));
    }
    for (const std::string_view tool : {"deepspeed", "accelerate"}) CHECK(notes(tool, "dropout"));
    CHECK_FALSE(loses("megatron", "/training/dropout"));
    p.training.dropout = false;
    p.training.recompute = {RecomputeModules(RecomputeModule::mlp), 0, RecomputeMethod::block};
    for (const std::string_view tool : {"torchtitan", "accelerate", "nanotron", "picotron"})
        CHECK(loses(tool, "/training/recompute"));
    CHECK_FALSE(loses("megatron", "/training/recompute"));
    p.training.recompute = Recompute::none;
    p.training.optimizer_state = Dtype::bf16;
    for (const std::string_view tool : {"torchtitan", "accelerate"})
        CHECK(notes(tool, "types of parameters"));
    // A norm that is fused keeps nothing of its own: Megatron runs it, and it saves nothing.
    p.training.optimizer_state = Dtype::fp32;
    p.training.recompute = {RecomputeModules(RecomputeModule::layernorm), 0, RecomputeMethod::block};
    CHECK(notes("megatron", "layernorm saves nothing"));
    CHECK(export_plan(p, "megatron", presets()).refused.empty());
    const auto kept = [&] { return evaluate(p, {.timeline = false}).memory.stage.front().activations; };
    const auto with = kept();
    p.training.recompute = Recompute::none;
    CHECK(kept() == test::near(with));
}

TEST_CASE("a plan's name cannot break out of the head of a text") {
    Plan plan = presets().plan("mesh-8");
    plan.name = "a\nrm -rf \"$HOME\" # ' \\ \x01 b";
    for (const Tool* tool : written_tools()) {
        const std::string_view name = tool->name;
        CAPTURE(std::string(name));
        const Export made = export_plan(plan, name, presets());
        CHECK_FALSE(contains(made.text, "\nrm"));
    }
    const Export yaml = export_plan(plan, "nanotron", presets());
    CHECK(back(plan, "nanotron", yaml.text, "llama-2-7b").kind == "nanotron");
}

TEST_CASE("CUDA graphs, fp8 recipe and fused experts are written and read again") {
    for (const std::string_view target : {"megatron", "bridge"}) {
        CAPTURE(std::string(target));
        Plan p = presets().plan("llama-3-8b-fsdp");
        p.training.compute = Dtype::fp8;
        for (const CudaGraphs graphs : {CudaGraphs::none, CudaGraphs::layers, CudaGraphs::iteration})
            for (const Fp8Recipe recipe : {Fp8Recipe::tensorwise, Fp8Recipe::blockwise, Fp8Recipe::mxfp8}) {
                p.training.cuda_graphs = graphs, p.training.fp8_recipe = recipe;
                p.training.fused_experts = graphs == CudaGraphs::iteration;
                const Export made = export_plan(p, target, presets());
                const Plan read = back(p, target, made.text, "llama-3-8b").plan.value();
                CHECK(read.training.cuda_graphs == graphs);
                CHECK(read.training.fp8_recipe == recipe);
                CHECK(read.training.fused_experts == p.training.fused_experts);
            }
    }
    Plan p = test::small_plan(8);
    p.layout.zero = 3, p.layout.dp_shard = 8;
    p.training.compute = Dtype::fp8;
    p.training.fp8_recipe = Fp8Recipe::mxfp8;
    const auto loses = [&] {
        const Export made = export_plan(p, "torchtitan", presets());
        return std::any_of(made.lost.begin(), made.lost.end(),
                           [](const auto& l) { return l.pointer == "/training/fp8_recipe"; });
    };
    CHECK_FALSE(loses());
    CHECK(contains(export_plan(p, "torchtitan", presets()).text, "MXFP8LinearConverter.Config()"));
    p.training.fp8_recipe = Fp8Recipe::rowwise;
    CHECK_FALSE(loses());
    p.training.fp8_recipe = Fp8Recipe::tensorwise;
    CHECK(loses());
}

TEST_CASE("what Megatron refuses is refused on export and a warning of a plan that names it") {
    Plan p = test::small_plan(16);
    p.layout.tp = 2, p.layout.dp_shard = 8, p.layout.sequence_parallel = false;
    p.training.overlap.tp = true;
    const Export made = export_plan(p, "megatron", presets());
    REQUIRE(made.refused.size() == 1);
    CHECK(contains(made.refused.front(), "--tp-comm-overlap"));
    CHECK(export_plan(p, "picotron", presets()).refused.empty());
    const auto warns = [&](ProblemCode code) {
        const Evaluation e = assess(p, {.timeline = false});
        REQUIRE(e.valid);
        return std::any_of(e.problems.begin(), e.problems.end(), [&](const Problem& x) {
            return x.code == code && x.severity == Severity::warning
                   && contains(x.message, "Megatron refuses");
        });
    };
    CHECK(warns(ProblemCode::megatron_tp_overlap));
    p.training.software = Software::torchtitan;
    CHECK_FALSE(warns(ProblemCode::megatron_tp_overlap));
    p.training.software = Software::megatron_bridge;
    p.layout.sequence_parallel = true;
    CHECK_FALSE(warns(ProblemCode::megatron_tp_overlap));

    p.model = presets().model("mixtral-8x7b");
    p.layout.tp = 1, p.layout.pp = 2, p.layout.ep = 4;
    p.training.overlap.ep = true;
    CHECK(warns(ProblemCode::megatron_ep_overlap));
    p.layout.schedule = Schedule::interleaved, p.layout.virtual_stages = 2;
    CHECK_FALSE(warns(ProblemCode::megatron_ep_overlap));
    p.training.overlap.pp = false;
    CHECK(warns(ProblemCode::megatron_p2p_overlap));
    p.training.optimizer = Optimizer::muon, p.layout.zero = 2;
    CHECK(warns(ProblemCode::megatron_fsdp_optimizer));
}

TEST_CASE("a config.json that is written is read as the same model") {
    int said = 0;
    for (const Presets::Entry& e : presets().list(PresetKind::model)) {
        CAPTURE(e.id);
        Plan p = presets().plan("single-gpu");
        p.model = presets().model(e.id);
        p.model_source = {e.id, {}};
        const Export made = export_plan(p, "hf", presets());
        if (!made.lost.empty()) continue;
        ++said;
        Model read = model_from_hf(std::string_view(made.text), e.id);
        CHECK(read.layers == p.model.layers);
        CHECK(read.attention == p.model.attention);
        CHECK(read.moe.has_value() == p.model.moe.has_value());
        CHECK(count_parameters(read).total == count_parameters(p.model).total);
    }
    CHECK(said > 35);
}

TEST_CASE("a model comes back from the settings that say it whole") {
    for (const std::string_view target : {"megatron", "bridge"})
        for (const char* id : {"llama-3-8b", "gpt2", "nemotron-4-340b", "mixtral-8x7b", "deepseek-v3",
                               "qwen3-30b-a3b", "qwen2.5-7b", "llama-3.2-1b"}) {
            const std::string name = id;
            CAPTURE(name);
            Plan p = presets().plan("single-gpu");
            p.model = presets().model(id);
            p.model_source = {id, {}};
            p.training.sequence_length = 1024;
            const Export made = export_plan(p, target, presets());
            CHECK(made.lost.empty());
            const Import read = back(p, target, made.text, "");
            REQUIRE(read.plan);
            CHECK(read.plan->model.ffn_kind == p.model.ffn_kind);
            CHECK(count_parameters(read.plan->model).total == count_parameters(p.model).total);
            CHECK(count_parameters(read.plan->model).active == count_parameters(p.model).active);
        }
}

TEST_CASE("a device mesh has the plan's axes from the outermost and all its ranks") {
    const Export made = export_plan(presets().plan("mesh-8"), "device-mesh", presets());
    CHECK(contains(
        made.text,
        "init_device_mesh(\"cuda\", (2, 2, 2), mesh_dim_names=(\"dp_replicate\", \"dp_shard\", \"tp\"))"));
    CHECK(contains(made.text, "\"tp\": [[0, 1], [2, 3], [4, 5], [6, 7]]"));
    CHECK(contains(made.text, "\"dp_replicate\": [[0, 4], [1, 5], [2, 6], [3, 7]]"));
}

namespace {

// Gives a plan types, of which a framework may have no setting, or only for some.
void choose_types(Dice& dice, Training& t) {
    t.compute =
        dice.one_of({Dtype::bf16, Dtype::bf16, Dtype::fp16, Dtype::fp32, Dtype::fp8, Dtype::fp8, Dtype::fp4});
    t.fp8_recipe =
        t.compute == Dtype::fp8
            ? dice.one_of({Fp8Recipe::tensorwise, Fp8Recipe::rowwise, Fp8Recipe::blockwise, Fp8Recipe::mxfp8})
            : Fp8Recipe::tensorwise;
    t.parameters = t.compute == Dtype::fp32 || t.compute == Dtype::fp16 ? t.compute
                   : t.compute == Dtype::fp8 ? dice.one_of({Dtype::bf16, Dtype::fp8})
                                             : Dtype::bf16;
    if (t.compute == Dtype::fp32) t.master_weights = MasterWeights::none;
    const Dtype kept = t.parameters == Dtype::fp8 ? Dtype::bf16 : t.parameters;
    t.gradients = dice.chance(50) ? Dtype::fp32 : kept;
    t.attention = dice.chance(30) ? AttentionImpl::math : AttentionImpl::flash;
}

bool is_said(const Export& made, std::string_view what) {
    return std::none_of(made.notes.begin(), made.notes.end(),
                        [&](const std::string& note) { return contains(note, what); });
}

// Names the first of the types that is not as it was; empty where all that the framework says are.
std::string type_difference(const Plan& said, const Plan& read, const Export& made, std::string_view target) {
    const Training &a = said.training, &b = read.training;
    if (a.compute != b.compute) return "compute";
    if (a.compute == Dtype::fp8 && target != "accelerate" && a.fp8_recipe != b.fp8_recipe)
        return "fp8_recipe";
    const bool megatron = target == "megatron" || target == "bridge";
    const bool says_types = megatron || target == "deepspeed";
    if (says_types && is_said(made, "parameters ") && a.parameters != b.parameters) return "parameters";
    if ((says_types || target == "torchtitan") && is_said(made, "gradients") && is_said(made, "types of")
        && a.gradients != b.gradients)
        return "gradients";
    if (megatron && a.attention != b.attention) return "attention";
    return "";
}

}  // namespace

TEST_CASE("types, recipes of fp8 and attention come back from each framework that says them") {
    unsigned seed = 70;
    for (const std::string_view target :
         {"megatron", "bridge", "torchtitan", "deepspeed", "accelerate", "nanotron", "picotron", "maxtext"}) {
        const std::string framework(target);
        CAPTURE(framework);
        Dice dice(seed++);
        std::set<Dtype> seen;
        int said = 0;
        for (int tries = 0; said < test::rounds(200) && tries < 20000; ++tries) {
            Plan plan = random_plan(dice, target);
            choose_types(dice, plan.training);
            if (!evaluate(plan, {.timeline = false, .messages = false}).valid) continue;
            const Export made = export_plan(plan, target, presets());
            if (!made.lost.empty() || !made.refused.empty()) continue;
            ++said;
            seen.insert(plan.training.compute);
            const Import read = back(plan, target, made.text, plan.model_source.preset);
            INFO(made.text);
            REQUIRE(read.plan);
            REQUIRE(type_difference(plan, *read.plan, made, target) == "");
        }
        CHECK(said == test::rounds(200));
        CHECK(seen.contains(Dtype::fp32));
        CHECK(seen.size() >= 2);
    }
}

// training/mixed_precision.py: a word is set up over model, optimizer and gradients, and has no fields of its
// own.
TEST_CASE("a recipe of Megatron-Bridge names what is registered there, and changes no word's fields") {
    Plan p = presets().plan("llama-3-8b-fsdp");
    const auto text = [&] { return export_plan(p, "bridge", presets()).text; };
    CHECK(contains(text(), "cfg.mixed_precision = \"bf16_mixed\"\n"));
    p.training.gradients = Dtype::bf16;
    CHECK(contains(text(), "import get_mixed_precision_config\n"));
    CHECK(contains(text(), "cfg.mixed_precision = get_mixed_precision_config(\"bf16_mixed\")\n"));
    CHECK(contains(text(), "cfg.mixed_precision.grad_reduce_in_fp32 = False\n"));
    p.training.gradients = Dtype::fp32;
    p.training.compute = p.training.parameters = Dtype::fp32;
    CHECK(contains(text(), "import MixedPrecisionConfig\n"));
    CHECK(contains(text(),
                   "cfg.mixed_precision = MixedPrecisionConfig(fp32=True, params_dtype=torch.float32, "
                   "pipeline_dtype=torch.float32, grad_reduce_in_fp32=True)\n"));
    p.training.compute = Dtype::fp8;
    p.training.parameters = Dtype::fp8;
    for (const auto& [recipe, name] :
         {std::pair(Fp8Recipe::tensorwise, "\"bf16_with_fp8_current_scaling_mixed\"\n"),
          std::pair(Fp8Recipe::mxfp8, "\"bf16_with_mxfp8_mixed\"\n"),
          std::pair(Fp8Recipe::blockwise,
                    "get_mixed_precision_config(\"bf16_with_fp8_subchannel_scaling_mixed\")\n")}) {
        p.training.fp8_recipe = recipe;
        CHECK(contains(text(), "cfg.mixed_precision = " + std::string(name)));
    }
    p.training.parameters = Dtype::bf16;
    p.training.fp8_recipe = Fp8Recipe::mxfp8;
    CHECK(contains(text(), "cfg.mixed_precision.fp8_param_gather = False\n"));
    // A field is set of an object only.
    for (const Fp8Recipe recipe : {Fp8Recipe::tensorwise, Fp8Recipe::mxfp8, Fp8Recipe::blockwise}) {
        p.training.fp8_recipe = recipe;
        const std::string all = text();
        if (contains(all, "cfg.mixed_precision."))
            CHECK(contains(all, "cfg.mixed_precision = get_mixed_precision_config("));
    }
}

TEST_CASE("a word of mixed_precision is read as it is registered, and another one is refused") {
    const std::string head = "from megatron.bridge.training.config import ConfigContainer\n"
                             "cfg.model.num_layers = 8\ncfg.model.hidden_size = 1024\n"
                             "cfg.model.num_attention_heads = 16\n"
                             "cfg.model.position_embedding_type = \"rope\"\n";
    const auto read = [&](const std::string& line) {
        ImportRequest r;
        r.text = head + line + "\n";
        r.path = "recipe";
        r.tool = "bridge";
        r.gpus = 8;
        return import_settings(r, presets());
    };
    const auto training = [&](const std::string& line) {
        const Import made = read(line);
        REQUIRE(made.plan);
        return made.plan->training;
    };
    for (const char* word :
         {"\"fp16_mixed\"", "\"fp16-mixed\"", "fp16_mixed()", "get_mixed_precision_config(\"fp16_mixed\")"}) {
        CAPTURE(std::string(word));
        CHECK(training("cfg.mixed_precision = " + std::string(word)).compute == Dtype::fp16);
    }
    const Training delayed = training("cfg.mixed_precision = \"bf16_with_fp8_delayed_scaling_mixed\"");
    CHECK(delayed.compute == Dtype::fp8);
    CHECK(delayed.parameters == Dtype::fp8);
    const Training block = training("cfg.mixed_precision = bf16_with_fp8_subchannel_scaling_mixed()");
    CHECK(block.fp8_recipe == Fp8Recipe::blockwise);
    CHECK(block.parameters == Dtype::bf16);
    CHECK(training("cfg.mixed_precision = \"bf16_with_nvfp4_mixed\"").compute == Dtype::fp4);
    CHECK(training("cfg.mixed_precision = MixedPrecisionConfig(fp32=True)").compute == Dtype::fp32);
    CHECK(training("cfg.mixed_precision = MixedPrecisionConfig(fp16=True)").compute == Dtype::fp16);
    for (const char* word : {"fp32", "nosuch", "bf16", "tf32_mixed"}) {
        CAPTURE(word);
        const Import made = read("cfg.mixed_precision = \"" + std::string(word) + "\"");
        CHECK_FALSE(made.plan);
        const auto refused =
            std::find_if(made.problems.begin(), made.problems.end(),
                         [](const ImportProblem& p) { return p.code == "setting-not-allowed"; });
        REQUIRE(refused != made.problems.end());
        CHECK(contains(refused->message, word));
        CHECK(contains(refused->message, "bf16_mixed, fp16_mixed"));
    }
    for (const char* backend : {"AttnBackend.unfused", "AttnBackend.local", "\"unfused\""})
        CHECK(training("cfg.model.attention_backend = " + std::string(backend)).attention
              == AttentionImpl::math);
    CHECK(training("cfg.model.attention_backend = AttnBackend.flash").attention == AttentionImpl::flash);
}

TEST_CASE("types of state come back from each framework that says them, and are named where it does not") {
    const auto types = [](Dtype parameters, Dtype gradients, Dtype moments, MasterWeights master) {
        Training t;
        t.parameters = parameters;
        t.gradients = gradients;
        t.optimizer_state = moments;
        t.master_weights = master;
        return t;
    };
    const Dtype half = Dtype::bf16, full = Dtype::fp32;
    struct Row {
        std::string_view target;
        Training types;
        int zero;
        bool said;
    };
    const Row rows[] = {
        {"megatron", types(half, full, full, MasterWeights::fp32), 1, true},
        {"megatron", types(half, half, half, MasterWeights::fp32), 1, true},
        {"megatron", types(half, half, full, MasterWeights::fp32), 1, true},
        {"megatron", types(half, half, half, MasterWeights::none), 1, false},
        {"megatron", types(half, full, half, MasterWeights::fp32), 0, false},
        {"bridge", types(half, half, half, MasterWeights::fp32), 1, true},
        {"bridge", types(half, full, half, MasterWeights::none), 1, false},
        {"torchtitan", types(half, half, half, MasterWeights::none), 3, true},
        {"torchtitan", types(full, full, full, MasterWeights::none), 3, true},
        {"torchtitan", types(half, full, full, MasterWeights::fp32), 3, false},
        {"deepspeed", types(half, half, half, MasterWeights::none), 2, true},
        {"deepspeed", types(half, full, full, MasterWeights::fp32), 2, true},
        {"deepspeed", types(half, half, full, MasterWeights::none), 2, false},
        {"accelerate", types(half, half, half, MasterWeights::none), 3, false},
        {"nanotron", types(half, full, full, MasterWeights::fp32), 1, false},
    };
    for (const Row& row : rows) {
        CAPTURE(std::string(row.target));
        CAPTURE(row.zero);
        Plan plan = presets().plan("single-gpu");
        plan.model = presets().model("llama-3-8b");
        plan.model_source = {"llama-3-8b", {}};
        plan.layout = Layout();
        plan.layout.dp_shard = 8;
        plan.layout.zero = row.zero;
        plan.cluster.gpus = 8;
        plan.training = row.types;
        plan.training.micro_batch = 1;
        plan.training.global_batch = 8;
        plan.training.sequence_length = 4096;
        const Export made = export_plan(plan, row.target, presets());
        INFO(made.text);
        for (const Unsaid& u : made.lost) CHECK(u.why == "");
        REQUIRE(made.refused.empty());
        const Import read = back(plan, row.target, made.text, "llama-3-8b");
        REQUIRE(read.plan);
        const bool noted = !is_said(made, "types of parameters") || !is_said(made, "master_weights ")
                           || !is_said(made, "optimizer_state: ");
        if (row.target != "nanotron") CHECK(noted != row.said);
        if (!row.said) continue;
        CHECK(bytes_per_parameter(*read.plan) == test::near(bytes_per_parameter(plan), 1e-9));
        CHECK(read.plan->training.parameters == plan.training.parameters);
        CHECK(read.plan->training.gradients == plan.training.gradients);
        CHECK(read.plan->training.optimizer_state == plan.training.optimizer_state);
    }
}

// transformer/transformer_config.py (window_size); nanotron's Qwen2Config (sliding_window_size).
TEST_CASE("a window on all layers comes back from Megatron, Megatron-Bridge and nanotron") {
    for (const std::string_view target : {"megatron", "bridge", "nanotron", "picotron"}) {
        CAPTURE(std::string(target));
        Plan plan = presets().plan("single-gpu");
        plan.model = presets().model("llama-3-8b");
        plan.model.sliding_window = 2048;
        plan.model_source = {"llama-3-8b", {}};
        plan.layout = Layout();
        plan.cluster.gpus = 1;
        plan.training = Training();
        plan.training.sequence_length = 4096;
        const Export made = export_plan(plan, target, presets());
        INFO(made.text);
        if (target == "picotron") {
            CHECK_FALSE(made.lost.empty());
            continue;
        }
        for (const Unsaid& u : made.lost) CHECK(u.why == "");
        const Import read = back(plan, target, made.text, "");
        REQUIRE(read.plan);
        CHECK(read.plan->model.sliding_window == 2048);
        CHECK_FALSE(read.plan->model.qkv_bias);
    }
}
