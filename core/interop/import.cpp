#include "core/interop/import.h"

#include "core/base/files.h"
#include "core/base/json_reader.h"
#include "core/base/text.h"
#include "core/interop/beside.h"
#include "core/interop/dialect.h"
#include "core/interop/guess.h"
#include "core/interop/manifest.h"
#include "core/interop/megatron.h"
#include "core/interop/outer_script.h"
#include "core/interop/script/settings.h"
#include "core/interop/script/shell_script.h"
#include "core/interop/step_batch.h"
#include "core/io/hf_families.h"
#include "core/io/plan_json.h"
#include "core/memory/state_words.h"
#include "core/pipeline/follow.h"
#include "core/plan/names.h"
#include "core/rules/rules.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace pentamesh::interop {
namespace {

// The reason of presets/frameworks for settings of encoders.
constexpr std::string_view kLanguageOnly = "the plan holds the language model only";
constexpr std::size_t kMostBytes = std::size_t{10} << 20;
constexpr std::size_t kMostSettings = 200'000;  // about a second; Megatron has 800

std::string flag_or_leaf(const std::string& name) {
    return name.starts_with("-") ? flag_key(leaf_key(name)) : leaf_key(name);
}

// Returns the id of presets/software, empty for the plan's default.
std::string_view software_named(const PlanDraft& draft, const Tool& tool) {
    // Without full sharding PyTorch's software is DDP.
    const bool plain = tool.software == Software::fsdp && draft.layout.value("zero", 0) < 2;
    return !tool.software || plain || *tool.software == Training{}.software ? std::string_view{}
                                                                            : name_of(*tool.software);
}

// Returns the "25.09" of "nvcr.io/nvidia/nemo:25.09", "nvidia+nemo+25.09.01", "nemo_25.09.sqsh"; empty where
// the text names no container of NeMo by its date.
std::string_view nemo_container(std::string_view text) {
    constexpr std::string_view kName = "nemo";
    const auto digit = [&](std::size_t i) { return i < text.size() && text[i] >= '0' && text[i] <= '9'; };
    for (std::size_t at = text.find(kName); at != std::string_view::npos; at = text.find(kName, at + 1)) {
        const std::size_t date = at + kName.size() + 1;
        if (date >= text.size() || std::string_view(":+-_").find(text[date - 1]) == std::string_view::npos)
            continue;
        const bool month = digit(date) && digit(date + 1) && date + 2 < text.size() && text[date + 2] == '.'
                           && digit(date + 3) && digit(date + 4) && !digit(date + 5);
        if (month) return text.substr(date, 5);
    }
    return {};
}

// Takes the software of the year that the text's container is of, where it has figures of its own.
void take_date(const ImportRequest& r, SettingsSheet& sheet, nlohmann::json& training) {
    const std::string_view container = nemo_container(r.text);
    const auto software = training.value("software", "");
    if (container.empty() || container.substr(0, 2) > "25" || software != name_of(Software::megatron_bridge))
        return;
    training["software"] = name_of(Software::megatron_bridge_2025);
    sheet.problem(Severity::info, "software-date", "The text names the container ", container,
                  ": the figures of Megatron Bridge and NeMo in the containers of 2025 are taken.");
}

// Returns true for an object of a config.json that holds a whole language model.
bool is_model_part(std::string_view pointer) {
    return pointer.ends_with("text_config") || pointer == "llm_config" || pointer == "thinker_config";
}

[[noreturn]] void fail(const ImportRequest& r, const std::string& what) {
    throw Error(ErrorKind::invalid, r.path, "", what);
}

// ---- whose settings these are ---------------------------------------------------------------------------

// Says why no tool is recognized: another one is, the text cannot be read at all, or its words are of none.
[[noreturn]] void fail_unknown(const ImportRequest& r, const Presets& presets, const std::string& missing) {
    const auto name = [](const Tool* t) { return std::string(t->name); };
    const std::vector<const Tool*> near = nearest_tools(r.text, presets);
    const std::string nearest =
        near.empty() ? "" : "; the nearest by its words: " + join(near, ", ", name) + " (--from)";
    if (const std::string other = unread_tool(r.text); !other.empty())
        fail(r, "these are settings of " + other + ", which is not read" + nearest);
    if (!missing.empty())
        fail(r, "its program takes its settings from " + missing
                    + ", which is not there: import that file itself, or the script with it beside");
    const bool yaml = !is_script(r.text) && has(r.text, ":") && !has_line(r.text, "import ")
                      && !has_line(r.text, "def ") && !has_line(r.text, "[");
    if (yaml) (void)read_yaml(r.text, r.path);  // it says the line where it cannot
    fail(r, "no framework's settings are known by this text" + nearest
                + "; `pentamesh import --tools` lists the " + std::to_string(read_tools().size())
                + " tools that are read");
}

const Tool& tool_of(const ImportRequest& r, const Presets& presets, const std::string& missing) {
    const auto name = [](const Tool* t) { return t->name; };
    if (!r.tool.empty()) {
        const Tool* tool = tool_called(r.tool);
        if (tool && tool->reader != Reader::none) return *tool;
        throw Error(ErrorKind::usage, r.path, "",
                    "no tool is called " + r.tool + "; known: " + join(read_tools(), ", ", name));
    }
    std::vector<const Tool*> fits = guess_tools(r.text);
    if (fits.empty()) fits = guess_tools(with_scripts_beside(r));
    if (fits.empty())
        if (const Tool* tool = tool_of_bases(r, presets)) return *tool;
    if (fits.empty() || !unread_tool(r.text).empty()) fail_unknown(r, presets, missing);
    if (fits.size() > 1) fail(r, "this may be " + join(fits, " and ", name) + ": say which with --from");
    return *fits.front();
}

// The user's model stands in the place of the text's.
void take_users_model(const ImportRequest& r, const Presets& presets, PlanDraft& draft) {
    draft.own_model = r.own_model;
    if (presets.has(PresetKind::model, r.model))
        draft.model_preset = r.model;
    else if (!r.model.empty())
        draft.own_model = parse_model(r.model, "--model", presets);
}

// ---- what the text says ---------------------------------------------------------------------------------

TextForm form_of(std::string_view text, const Tool& tool, const Dialect* dialect) {
    const auto any_line = [&](std::initializer_list<std::string_view> begins) {
        return std::any_of(begins.begin(), begins.end(),
                           [&](std::string_view b) { return has_line(text, b); });
    };
    const bool script = shell::begins_as_script(without_blanks(text));
    if (dialect) {
        if (!script && any_line({"import ", "from "})) return TextForm::python;
        if (!script && dialect->data().contains("toml")) return TextForm::toml;
        return is_script(text) ? TextForm::script : TextForm::yaml;
    }
    if (is_argument_log(text)) return TextForm::argument_log;
    if (!script && any_line({"_target_:"}) && !any_line({"import ", "from "})) return TextForm::yaml;
    if (tool.reader == Reader::torchtitan && any_line({"[parallelism]", "[training]", "[model]"}))
        return TextForm::toml;
    if (tool.reader != Reader::megatron && !script
        && (any_line({"import ", "from ", "def ", "cfg.", "recipe."}) || has(text, "ParallelismConfig(")))
        return TextForm::python;
    return any_line({"MODEL_ARGS:", "ARGS:", "model:", "trainer:"}) ? TextForm::yaml : TextForm::script;
}

// Reads the recipe that a YAML names by its Python path, as Hydra makes it, and the file's own settings
// behind it. Returns false where it names none.
bool read_named_recipe(const TextRequest& yaml, SettingsText& out) {
    std::string path;
    for (const Setting& s : out.settings)
        if (leaf_key(s.name) == "_target_" && has(s.value, ".recipes.") && path.empty()) path = s.value;
    const std::size_t dot = path.rfind('.');
    if (path.empty()) return false;
    const std::string module = path.substr(0, dot), function = path.substr(dot + 1);
    constexpr std::string_view kNemo = "nemo.collections.";  // llm.recipes.llama3_8b.pretrain_recipe
    std::string text = "from " + module + " import " + function + "\ncfg = " + function + "()\n";
    if (module.starts_with(kNemo))
        text = "recipe = llm." + module.substr(module.rfind('.') + 1) + "." + function + "()\n";
    TextRequest python = yaml;
    python.text = text;
    python.recipe.clear();
    SettingsText made = read_text(TextForm::python, python);
    for (Setting& s : out.settings)
        if (leaf_key(s.name) != "_target_") made.settings.push_back(std::move(s));
    out = std::move(made);
    out.recipes.clear();
    out.recipe.clear();
    return true;
}

SettingsText read_settings(const ImportRequest& r, const Presets& presets, const Tool& tool,
                           const Dialect* dialect, const KnownSettings& known) {
    if (without_blanks(r.text).empty()) fail(r, "the text is empty");
    TextRequest text{.text = r.text, .path = r.path, .recipe = r.recipe, .arguments = r.arguments};
    for (const std::string& v : r.variables)
        text.given[v.substr(0, v.find('='))] = v.substr(std::min(v.find('='), v.size() - 1) + 1);
    text.other = r.other;
    if (tool.reader == Reader::model) return {};  // it is read as a whole
    const bool program =
        (has_line(r.text, "import ") || has_line(r.text, "from ")) && has_line(r.text, "def ");
    if (tool.reader == Reader::megatron && program && !is_script(r.text))
        fail(r, "it is a Python program: the script that starts it holds the settings of "
                    + std::string(tool.called.empty() ? tool.name : tool.called));
    const TextForm form = form_of(r.text, tool, dialect);
    if (form == TextForm::python) {
        // Recipes that others start from; those of a checkout around the text come first.
        const auto recipes =
            try_read_file(presets.root() / "frameworks" / (std::string(tool.name) + "_recipes.py"));
        if (dialect && !recipes)
            fail(r, "it is a Python program: settings of " + std::string(tool.name)
                        + " are read from scripts and files");
        text.known_functions = recipes.value_or("");
    }
    if (dialect) text.bases = dialect->data().value("bases", "");
    text.folder = r.folder;
    text.flags = tool.reader == Reader::megatron && !dialect;
    if (tool.reader == Reader::megatron)
        text.is_switch = [&known](std::string_view key) { return known.is_switch(key); };
    SettingsText out = read_text(form, text);
    if (form == TextForm::yaml && tool.reader == Reader::bridge && !dialect) {
        text.known_functions =
            try_read_file(presets.root() / "frameworks" / (std::string(tool.name) + "_recipes.py"))
                .value_or("");
        (void)read_named_recipe(text, out);
    }
    const bool open = out.recipe.empty() && out.recipes.size() > 1;
    if (out.settings.empty() && !open) fail(r, "it holds no settings");
    if (out.settings.size() > kMostSettings)
        fail(r, "it holds " + std::to_string(out.settings.size()) + " settings; at most 200,000 are read");
    return out;
}

// ---- what a reader makes of it --------------------------------------------------------------------------

// Reads a config.json: its model is read as a whole, and there is no layout.
SettingsSheet read_config(const ImportRequest& r, PlanDraft& draft) {
    std::set<std::string> read;
    draft.own_model = model_from_hf(std::string_view(r.text), r.path, &read);
    SettingsSheet sheet(flatten(read_yaml(r.text, r.path)), [](const std::string& name) {
        std::size_t begin = 0;  // of the name in the language model
        for (const std::string_view part : {"thinker_config.", "text_config.", "llm_config."})
            if (name.compare(begin, part.size(), part) == 0) begin += part.size();
        return name.substr(begin);
    });
    for (const std::string& key : sheet.open_keys()) {
        std::string pointer;  // of the field or of an object around it that is no whole model
        for (const char c : sheet.written(key) + ".") {
            if (c == '.' && !is_model_part(pointer) && read.contains("/" + pointer)) sheet.map(key, "/model");
            pointer.push_back(c == '.' ? '/' : c);
        }
    }
    ask_for_gpus(sheet, draft, 1);
    ask_for_batch(sheet, draft, 1, draft.gpus);
    draft.layout = {{"dp_shard", draft.gpus}, {"zero", 3}};
    return sheet;
}

// Names each setting as the tool's reader asks for it, and says what the text itself leaves open.
SettingsSheet make_sheet(const ImportRequest& r, SettingsText& text, const Tool& tool, Dialect* dialect,
                         const KnownSettings& known) {
    const bool scripted = text.launch.has_value();
    if (dialect) dialect->complete(text.settings, scripted ? text.launch->program : std::string());
    if (scripted && tool.reader == Reader::bridge)
        for (Setting& s : text.settings)  // shown by the name that it stands for
            if (const std::string full = known.full_name(s.name); !full.empty())
                s.name = full + " (" + s.name + ")";
    const bool flags_only = scripted || tool.reader == Reader::megatron;
    SettingsSheet sheet(std::move(text.settings), [&](const std::string& name) {
        if (dialect) return dialect->key_of(name);
        const std::size_t paren = name.rfind(" (-");
        if (paren != std::string::npos) return name.substr(0, paren);
        const std::string key = flags_only ? flag_or_leaf(name) : leaf_key(name);
        // An argument of a recipe's function: "tensor_parallelism".
        const std::string full = tool.reader == Reader::bridge ? known.full_name(key) : std::string();
        return full.empty() ? key : full;
    });
    // A log has all that Megatron knows; some of its names are no flags.
    sheet.printed = tool.reader == Reader::megatron && is_argument_log(r.text);
    if (!text.unread.empty()) sheet.leave_unread(text.unread);
    if (text.launch && !text.launch->elastic.empty())
        sheet.problem(Severity::warning, "elastic", text.launch->elastic,
                      " is a job whose size changes: the plan has its largest.");
    if (scripted && text.launch->jobs.size() > 1 && r.recipe.empty())
        sheet.problem(Severity::warning, "several-jobs", "The script starts ", text.launch->jobs.size(),
                      " jobs of different arguments: ", text.launch->job,
                      " is read; --recipe on the command line names another.");
    if (tool.name == "deepspeed")
        for (const std::string& key : text.duplicates)
            sheet.refusal("key-twice", "DeepSpeed", "the key ", key, " stands twice");
    return sheet;
}

void read_with(const Tool& tool, SettingsSheet& sheet, PlanDraft& draft, const Presets& presets,
               const Launch* launch, const Dialect* dialect, const KnownSettings& known) {
    switch (tool.reader) {
    case Reader::fields: return read_fields(sheet, draft, presets, launch, dialect->data());
    case Reader::megatron: return read_megatron(sheet, draft, presets, launch, known);
    case Reader::bridge: return read_bridge(sheet, draft, presets, launch, known);
    case Reader::torchtitan: return read_torchtitan(sheet, draft, presets, launch, known);
    case Reader::model:
    case Reader::none: break;
    }
}

// Adds what a dialect says beyond the fields: of the batch, of settings that its rules took.
void finish_dialect(const Dialect& dialect, const KnownSettings& known, SettingsSheet& sheet,
                    PlanDraft& draft) {
    take_token_batch(sheet, draft);
    dialect.mark(sheet);
    take_pairs(dialect, known, sheet, draft);
}

// Returns the tool whose names of fields the text has: the reader's.
std::string_view spelled_by(const Tool& tool) {
    switch (tool.reader) {
    case Reader::megatron: return "megatron";
    case Reader::bridge: return "bridge";
    case Reader::torchtitan: return "torchtitan";
    case Reader::fields:
    case Reader::model:
    case Reader::none: break;
    }
    return tool.name;
}

// An error ends the reading: the settings behind it are known, and were not looked at.
void leave_unread(SettingsSheet& sheet, const Tool& tool, const KnownSettings& known) {
    const std::vector<std::string> names = names_read(spelled_by(tool), known);
    const std::set<std::string> read(names.begin(), names.end());
    for (const std::string& key : sheet.open_keys())
        if (read.contains(key)) sheet.cannot_hold(key, "it was not read: the errors come first");
}

// ---- the plan -------------------------------------------------------------------------------------------

// Adds what the plan itself refuses, with its fixes. Fields that were set may have mended what the text's own
// layout was refused for.
void check_plan(const ImportRequest& r, const Tool& tool, const Plan& plan, SettingsSheet& sheet) {
    std::vector<Problem> found;
    const Mesh mesh = build_mesh(plan);
    const GroupSummaries groups{};
    const ResolvedPlan resolved(plan, mesh, groups);
    find_errors(resolved, true, found);
    const bool megatron = tool.software && is_megatron(*tool.software);
    if (found.empty() && megatron) {
        // Another software may lay a plan out so; Megatron ends before it has a group.
        std::vector<Problem> warned;
        Rules rules{resolved, true, warned};
        check_megatron(rules);
        for (const Problem& p : warned)
            if (p.code == ProblemCode::megatron_expert_order) found.push_back(p);
    }
    if (found.empty() && !r.sets.empty())
        std::erase_if(sheet.problems, [](const ImportProblem& p) { return p.set_field_mends; });
    for (const Problem& p : found) {
        sheet.ask(Asked::nothing, sheet.unread.empty() ? Severity::error : Severity::warning,
                  std::string(name_of(p.code)), p.message, p.fix);
        sheet.problems.back().opens = true;
    }
}

// Says what a parameter takes, where the text says in which types it is kept.
void say_states(const PlanDraft& draft, const Plan& plan, SettingsSheet& sheet) {
    const std::string words = state_words(plan, draft.optimizer_called);
    const std::string who = draft.optimizer_called;
    const bool named = who.empty() || who == "the engine" || has(words, who);
    sheet.problem(Severity::info, "state-types", words, named ? "" : " (" + who + ")", ".");
}

// Adds to `plan` what follows from the fields that the user sets; `text` is the plan of the text without
// them.
void follow_given(const ImportRequest& r, const Presets& presets, const nlohmann::json& text, Plan& plan,
                  SettingsSheet& sheet) {
    try {
        Followed followed = follow(plan_from_json(text, r.path, presets), plan, pointers_of_sets(r.sets));
        if (const std::string words = words_of(followed); !words.empty())
            sheet.problem(Severity::info, "field-follows", words, ".");
        plan = std::move(followed.plan);
    } catch (const Error&) {  // what is set mends the text: there is nothing that it follows from
    }
}

std::optional<Plan> make_plan(const ImportRequest& r, const Presets& presets, const Tool& tool,
                              const PlanDraft& draft, SettingsSheet& sheet) {
    nlohmann::json plan = {
        {"format", "pentamesh.plan/1"}, {"layout", draft.layout}, {"training", draft.training}};
    if (const std::string_view software = software_named(draft, tool);
        !software.empty() && !draft.training.contains("software"))
        plan["training"]["software"] = software;
    take_date(r, sheet, plan["training"]);
    // fp4 needs a GPU that has it.
    const bool fp4 = draft.training.value("compute", "") == "fp4";
    std::string cluster = r.cluster.empty() ? draft.named_cluster : r.cluster;
    if (cluster.empty()) {
        cluster = fp4 ? "b200-ib" : kAssumedCluster;
        sheet.ask(Asked::cluster, Severity::info, "cluster-assumed",
                  plain("The text does not say the cluster: ", (fp4 ? "B200" : "H100"),
                        " with InfiniBand stand in for it; choose another (--cluster on the command line)."));
    }
    plan["cluster"] = {{"preset", cluster}, {"gpus", draft.gpus}};
    if (!draft.model_preset.empty()) {
        plan["model"] = draft.model;
        plan["model"]["preset"] = draft.model_preset;
        if (draft.model.value("layers", 0) == presets.model(draft.model_preset).layers)
            plan["model"].erase("layers");
    } else if (!draft.own_model) {
        plan["model"] = draft.model;
        plan["model"]["name"] = "imported";
    } else {
        plan["model"] = model_to_json(*draft.own_model);
    }
    if (tool.reader != Reader::model) plan["name"] = "Imported from " + std::string(tool.name);
    std::optional<Plan> out;
    try {
        out = plan_from_json(plan, r.path, presets, r.sets);
    } catch (const Error& e) {
        sheet.error("plan-not-valid", e.pointer(), ": ", e.message());
        return std::nullopt;
    }
    if (!r.sets.empty()) follow_given(r, presets, plan, *out, sheet);
    // A text without a sequence length means one that the model has positions for.
    const bool said = draft.training.contains("sequence_length")
                      || std::any_of(r.sets.begin(), r.sets.end(), [](const std::string& s) {
                             return s.find("sequence_length") != std::string::npos;
                         });
    if (!said && out->model.positions == Positions::learned
        && out->model.max_positions < out->training.sequence_length)
        out->training.sequence_length = out->model.max_positions;
    if (draft.states_read) say_states(draft, *out, sheet);
    check_plan(r, tool, *out, sheet);
    return out;
}

// Says that encoders are left out, where the model or a setting names any.
void say_language_only(const SettingLists& lists, std::string_view recipe, const Presets& presets,
                       SettingsSheet& sheet) {
    const auto &taken = lists.mapped, &left = lists.unmapped;
    if (has(recipe, "_vl_")
        || std::any_of(taken.begin(), taken.end(),
                       [&](const auto& s) { return s.path == "/model" && has_encoders(presets, s.value); })
        || std::any_of(left.begin(), left.end(), [](const auto& s) { return s.why == kLanguageOnly; }))
        sheet.problem(Severity::info, "language-model-only",
                      "The encoders of pictures and sound are left out: the plan holds the language "
                      "model, so parameters and memory are less than the whole model's.");
}

// Puts what follows from the launcher and from files next to the text among the settings, where the tool
// reads fields. Of the others only Megatron-DeepSpeed has a setting for it.
void hand_on(const Beside& beside, const Tool& tool, Dialect* dialect, SettingsText& text) {
    const bool fields = tool.reader == Reader::fields;
    std::set<std::string> said;
    for (const Setting& s : text.settings)
        said.insert(dialect ? dialect->key_of(s.name) : flag_or_leaf(s.name));
    for (Setting s : beside.fields) {
        if (!fields && s.key != "/layout/zero") continue;
        if (!fields) s.key = "zero_stage";
        if (!said.contains(s.key)) text.settings.push_back(std::move(s));
    }
    if (!dialect || beside.files.empty()) return;
    for (const char* code : {"file-by-name", "not-read", "launcher-file"}) dialect->silence(code);
}

// Warns of a program that takes the settings of a training and trains nothing.
void say_no_training(const Launch& launch, SettingsSheet& sheet) {
    // Megatron-LM tasks/main.py: what it evaluates is named by --task.
    std::string_view does = launch.program == "main.py" && sheet.has("task") ? "evaluates a model" : "";
    for (const auto& row : words("no_training"))
        if (launch.program.find(word_of(row["words"])) != std::string::npos) does = word_of(row["does"]);
    if (does.empty()) return;
    sheet.problem(Severity::warning, "no-training", launch.program, " ", does,
                  ": the plan says what a training with these settings takes, and not that.");
}

// Says which files a text starts from: those of its settings that are of another file are of them.
void say_bases(const Dialect* dialect, const SettingsText& text, std::vector<ImportProblem>& problems) {
    if (!dialect || dialect->data().value("bases", std::string()).empty()) return;
    std::vector<std::string> files;
    for (const Setting& s : text.settings)
        if (!s.at.file.empty() && std::find(files.begin(), files.end(), s.at.file) == files.end())
            files.push_back(s.at.file);
    if (files.empty()) return;
    problems.push_back({Severity::info,
                        "files-read",
                        sentence(join(files, ", "), files.size() == 1 ? " was" : " were",
                                 " read: what the text itself says stands over it."),
                        {}});
}

// A word of a command may name the file of settings that the others change. Where that stands next to the
// text it was read, and the word is gone.
void say_missing_file(const Dialect* dialect, SettingsText& text) {
    const std::string word = dialect ? dialect->data().value("file_word", std::string()) : std::string();
    if (word.empty() || !text.launch || !text.unread.empty()) return;
    for (const Setting& s : text.settings)
        if (s.name == word && s.unknown.empty() && is_settings_file(s.value)) text.unread = s.value;
}

// The user's model says what the text does not; one that is given as a file stands for all of the text's
// sizes.
void silence_sizes(const PlanDraft& draft, Dialect& dialect) {
    if (draft.own_model)
        for (const char* code : {"layers-of-kinds", "scaled-sizes"}) dialect.silence(code);
    if (draft.own_model || !draft.model_preset.empty())
        for (const char* code : {"head-dim-default", "vocab-default"}) dialect.silence(code);
}

// Slurm starts one task on a node for Ray, which starts the others: the tool's own words say the GPUs.
void prefer_stated_gpus(const SettingsSheet& sheet, Launch& launch) {
    const Setting* each = sheet.last("gpus_per_node");
    if (each && launch.gpus_of_tasks && (each->key.empty() || launch.gpus_per_node == 1)) launch.gpus = 0;
}

// Takes out what "~model.peft" of a command takes away, as Hydra does, and the word with it.
void take_away(SettingsText& text, std::vector<Listed>& out) {
    std::vector<Setting> left;
    for (Setting& s : text.settings) {
        if (!s.name.starts_with("~")) {
            left.push_back(std::move(s));
            continue;
        }
        const std::string name = s.name.substr(1);
        std::erase_if(left, [&](const Setting& before) {
            const std::string_view own =
                std::string_view(before.name)
                    .substr(std::min(before.name.find_first_not_of('+'), before.name.size()));
            return own == name || own.starts_with(name + ".");
        });
        out.push_back({s.name,
                       s.value,
                       {},
                       "it takes a setting away: what the tool does without it stands",
                       s.at.line,
                       s.at.file});
    }
    text.settings = std::move(left);
}

// Takes out the words that name a tool's own file of defaults: they hold wherever the text says no others.
std::vector<Listed> files_of_defaults(const Dialect* dialect, SettingsText& text) {
    std::vector<Listed> out;
    if (!dialect || !text.launch) return out;
    const nlohmann::json files = dialect->data().value("default_files", nlohmann::json::array());
    std::erase_if(text.launch->loose, [&](const Setting& s) {
        const std::string name = s.name.substr(s.name.rfind('/') + 1);
        const bool usual = std::find(files.begin(), files.end(), name) != files.end();
        if (usual) out.push_back({s.name, s.value, {}, {}, s.at.line, s.at.file});
        return usual;
    });
    return out;
}

// Reads the launcher's words and the files that are named, without those of defaults and what is taken away.
Beside read_around(const ImportRequest& r, const Presets& presets, const Dialect* dialect,
                   SettingsText& text) {
    std::vector<Listed> usual = files_of_defaults(dialect, text), away;
    take_away(text, away);
    Beside out = read_beside(r, presets, text);
    for (Listed& l : away) out.lists.unmapped.push_back(std::move(l));
    for (Listed& l : usual) out.lists.ignored.push_back(std::move(l));
    return out;
}

// Returns the 256 of "mixtral-256gpus.yaml"; 0: the name says none.
std::int64_t gpus_in_name(std::string_view path) {
    std::string name(path.substr(path.rfind('/') + 1));
    for (char& c : name)
        if (c == 'G' || c == 'P' || c == 'U') c = static_cast<char>(c - 'A' + 'a');
    for (std::size_t at = name.find("gpu"); at != std::string::npos; at = name.find("gpu", at + 1)) {
        std::size_t begin = at;
        while (begin > 0 && name[begin - 1] >= '0' && name[begin - 1] <= '9') --begin;
        const auto n = parse_integer(std::string_view(name).substr(begin, at - begin));
        if (n && *n > 0 && *n <= (1 << 20)) return *n;
    }
    return 0;
}

// Tells the sheet what the user sets by --set, so that it heals a setting that cannot be read.
void put_given(const ImportRequest& r, SettingsSheet& sheet) {
    for (const std::string& set : r.sets) {
        const std::size_t equals = set.find('=');
        if (equals == std::string::npos) continue;
        sheet.given[pointer_of_field(set.substr(0, equals))] = set.substr(equals + 1);
    }
}

// A plan of nothing that the text says is no plan of it.
void refuse_if_nothing_read(const ImportRequest& r, const Tool& tool, const SettingsText& text,
                            const SettingLists& lists, SettingsSheet& sheet) {
    const auto bears = [](const Listed& l) { return l.path != "/cluster/gpus"; };
    if (tool.reader == Reader::model || sheet.failed()
        || std::any_of(lists.mapped.begin(), lists.mapped.end(), bears))
        return;
    const bool script = text.launch.has_value();
    const bool python = !script && form_of(r.text, tool, nullptr) == TextForm::python;
    sheet.error("nothing-read", "No setting of the text stands in a plan: it is ",
                python ? "a Python program that takes its settings from elsewhere; the recipe or the command "
                         "that starts it can be read"
                : script ? "a script whose command has none; the file or the variables that it takes them "
                           "from can be read (--var on the command line)"
                         : "a file of other things; the tool's own settings can be read",
                ".");
}

void take_set_gpus(const ImportRequest& r, PlanDraft& draft) {
    for (const std::string& set : r.sets)
        for (const std::string_view field : {"cluster.gpus=", "/cluster/gpus="})
            if (set.starts_with(field) && draft.gpus == 0)
                draft.gpus = std::clamp<std::int64_t>(parse_integer(set.substr(field.size())).value_or(0), 0,
                                                      std::int64_t{1} << 20);
}

void refuse_other_program(const Manifest& manifest, const ImportRequest& r) {
    if (!r.tool.empty() || !guess_tools(r.text).empty() || !unread_tool(r.text).empty()) return;
    const bool script = manifest.program.ends_with(".sh");
    fail(r, manifest.called + ": its command starts " + manifest.program
                + (script ? ", which is not in the text: import that script" : ", which is not read"));
}

// Says of a text without a model that its command names a file, which may say it.
void say_file_not_there(const std::string& missing, const PlanDraft& draft, SettingsSheet& sheet) {
    if (draft.own_model || !draft.model_preset.empty() || draft.model.contains("hidden")) return;
    sheet.problem(Severity::warning, "file-not-there", "The command names ", missing,
                  ", which is not beside the text: what it sets is not known.");
}

// The file that Hydra's flags name was read.
void map_names_of_file(SettingsSheet& sheet) {
    for (const char* key : {"config_name", "config_path"})
        if (sheet.has(key)) sheet.map(key, "/layout");
}

// Counts that the command says otherwise, or that give no number of GPUs, are not in the plan.
void add_rows(const Manifest& manifest, const Launch* launch, SettingLists& lists) {
    const bool counted = launch && launch->gpus > 0 && launch->gpus == launch->gpus_per_node * manifest.nodes;
    for (Listed row : manifest.rows) {
        const bool taken = counted || row.path != "/cluster/gpus";
        if (!taken) row.path.clear(), row.why = "the number of GPUs is not taken from it";
        (taken ? lists.mapped : lists.unmapped).push_back(std::move(row));
    }
}

}  // namespace

Import import_settings(const ImportRequest& request, const Presets& presets) {
    if (request.text.size() > kMostBytes)
        fail(request, "is larger than 10 MiB, the most that is read as settings");
    ImportRequest reading = request;
    std::string missing;
    const std::optional<Manifest> manifest = take_manifest(reading);
    std::optional<OuterScript> outer = file_of_script(reading, presets, missing);
    if (manifest && !outer && missing.empty()) refuse_other_program(*manifest, reading);
    // Whose settings these are, and what is known of them.
    const Tool& tool = tool_of(reading, presets, missing);
    const KnownSettings known(tool.name, presets);
    std::optional<Dialect> dialect;
    if (tool.dialect) dialect.emplace(tool.name, presets);
    Dialect* const named = dialect ? &*dialect : nullptr;
    PlanDraft draft;
    draft.gpus = reading.gpus;
    draft.gpus_of_name = gpus_in_name(reading.path);
    take_set_gpus(reading, draft);
    take_users_model(reading, presets, draft);
    const bool users_model = draft.own_model || !draft.model_preset.empty();

    // The text becomes settings in order.
    SettingsText text = read_settings(reading, presets, tool, named, known);
    if (outer) put_around(*outer, text);
    if (tool.reader == Reader::bridge && !users_model)
        draft.class_model = class_of_nemo(text.settings, presets);
    if (manifest && text.launch) put_counts(*manifest, *text.launch);
    say_missing_file(named, text);
    if (named) silence_sizes(draft, *named);
    if (!reading.recipe.empty() && text.recipe.empty())
        throw Error(ErrorKind::usage, reading.path, "", "it has no configurations of several names");
    Import out;
    out.kind = tool.name;
    out.recipes = text.recipes;
    out.recipe = text.recipe;
    if (text.launch) out.hosts = text.launch->hosts;
    if (text.recipe.empty() && text.recipes.size() > 1) {
        out.problems.push_back(
            {Severity::error,
             "recipe-missing",
             "The text has " + std::to_string(text.recipes.size())
                 + " configurations: name one (--recipe on the command line): " + join(text.recipes, ", "),
             {},
             Asked::recipe});
        return out;
    }
    if (!text.launch) {
        RecipeName name = read_recipe_name(text.recipe, presets);
        // A recipe that is not there says its model by its name: qwen3_30b_a3b_pretrain_config.
        const std::string absent = leaf_key(text.unread.substr(0, text.unread.find(" (")));
        if (RecipeName of = read_recipe_name(absent, presets); name.model.empty() && !of.model.empty())
            name = std::move(of);
        if (draft.gpus == 0) draft.gpus = name.gpus;
        draft.named_model = name.model;
        draft.named_cluster = name.cluster;
    }

    // The launcher's words and files that are named say more.
    Beside beside;
    if (tool.reader != Reader::model) {
        beside = read_around(reading, presets, named, text);
        hand_on(beside, tool, named, text);
    }

    say_bases(named, text, beside.problems);

    // A reader takes settings into the draft of a plan; the sheet keeps what became of each.
    const Launch* const launch = text.launch ? &*text.launch : nullptr;
    SettingsSheet sheet = tool.reader == Reader::model ? read_config(reading, draft)
                                                       : make_sheet(reading, text, tool, named, known);
    put_given(reading, sheet);
    take_named_device(manifest ? &*manifest : nullptr, launch, tool, presets, sheet, draft);
    if (text.launch) prefer_stated_gpus(sheet, *text.launch);
    if (launch && reading.gpus > 0 && launch->gpus > 0 && launch->gpus != reading.gpus)
        sheet.problem(Severity::warning, "gpus-said", "The text says ", launch->gpus, " GPUs: ", reading.gpus,
                      " stand in the plan, as they are given.");
    if (launch) say_no_training(*launch, sheet);
    if (draft.own_model && tool.reader != Reader::model) draft.model["layers"] = draft.own_model->layers;
    // The model that a setting names, where the text does not say its sizes.
    const std::string named_by = named ? named->data().value("model_name", "") : "";
    if (!named_by.empty() && !sheet.has("num_layers") && !draft.own_model && draft.model_preset.empty())
        take_model(sheet, draft, presets, named_by);
    read_with(tool, sheet, draft, presets, launch, named, known);
    if (outer) map_names_of_file(sheet);
    if (named) finish_dialect(*named, known, sheet, draft);

    // The rest is request for; each setting that no reader took goes into its list.
    if (!draft.own_model && draft.model_preset.empty() && !draft.model.contains("hidden"))
        sheet.ask(
            Asked::model, Severity::error, "model-missing",
            plain((draft.other_model.empty() ? "The text does not say the model: name it"
                   : !draft.why_no_preset.empty()
                       ? "A plan cannot state the model " + draft.other_model + ", " + draft.why_no_preset
                             + ": name one that is near"
                       : "No preset is the model " + draft.other_model + ": name one, or its config.json"),
                  " (--model on the command line)"));
    if (draft.gpus > (1 << 20))
        sheet.error("gpus-not-allowed", "found ", draft.gpus, " GPUs, at most 1,048,576 are read");
    if (sheet.failed()) leave_unread(sheet, tool, known);
    sort_rest(sheet, known);

    if (outer)
        sheet.problem(Severity::info, "files-read", outer->file,
                      ", which the script's program takes, was read: its settings are these.");
    if (!outer && !missing.empty()) say_file_not_there(missing, draft, sheet);
    for (ImportProblem& p : beside.problems) sheet.problems.push_back(std::move(p));
    out.settings = std::move(beside.lists);
    if (manifest) add_rows(*manifest, launch, out.settings);
    sheet.lists(out.settings);
    refuse_if_nothing_read(reading, tool, text, out.settings, sheet);

    // The draft becomes a plan, whose own problems are added.
    if (!sheet.failed()) out.plan = make_plan(reading, presets, tool, draft, sheet);
    say_language_only(out.settings, out.recipe, presets, sheet);
    out.problems = std::move(sheet.problems);
    return out;
}

bool Import::failed() const {
    return !plan || std::any_of(problems.begin(), problems.end(), [](const ImportProblem& p) {
        return p.severity == Severity::error;
    });
}

std::string leaf_key(const std::string& name) {
    const std::size_t dot = name.rfind('.', name.find(" ("));  // a condition has dots of its own
    if (dot == std::string::npos) return name;
    // Evaluations, and encoders, have settings of the same last names as the training and its model.
    if (evaluation_in(name) < dot) return name;
    for (const char* other : {"vision_config.", "vision_encoder.", "audio_config."})
        if (name.find(other) < dot) return name;
    std::string leaf = name.substr(dot + 1);
    if (leaf != "name" && leaf != "type" && leaf != "enabled" && leaf != "device") return leaf;
    const std::size_t before = name.rfind('.', dot - 1);
    return before == std::string::npos ? name : name.substr(before + 1);
}

std::size_t evaluation_in(std::string_view name) {
    static const std::vector<std::string_view> sections = word_list("evaluation_sections");
    name = name.substr(0, name.find(" ("));  // a condition has dots of its own
    std::size_t begin = 0;
    for (std::size_t dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.', begin)) {
        std::string_view section = name.substr(begin, dot - begin);
        section.remove_prefix(std::min(section.find_first_not_of("-+"), section.size()));
        if (std::any_of(sections.begin(), sections.end(),
                        [&](std::string_view known) { return same_letters(known, section); }))
            return begin;
        begin = dot + 1;
    }
    return std::string_view::npos;
}

void know_layers(PlanDraft& draft, const Presets& presets) {
    if (presets.has(PresetKind::model, draft.model_preset))
        draft.model["layers"] = presets.model(draft.model_preset).layers;
}

void ask_for_gpus(SettingsSheet& sheet, PlanDraft& draft, std::int64_t fewest) {
    if (draft.gpus > 0) return;
    const std::int64_t node = std::max<std::int64_t>(draft.gpus_per_node, 1);
    draft.gpus = (std::max<std::int64_t>(fewest, 1) + node - 1) / node * node;
    const std::string named =
        draft.gpus_of_name > 0 ? plain(" The file's name says ", draft.gpus_of_name, ".") : std::string();
    const std::string what =
        draft.gpus_per_node > 0 ? plain("The text says ", node,
                                        " GPUs (gpus) of a node and not how many "
                                        "nodes (trainer.num_nodes, the launcher) the job has: ")
                                : std::string("The text does not say how many GPUs (gpus) the job runs on: ");
    sheet.ask(Asked::gpus, Severity::warning, "gpus-missing",
              plain(what, draft.gpus, ", the fewest that this layout needs, stand in for them.", named,
                    " Say how many there are (--gpus on the command line)."),
              {{"/cluster/gpus", draft.gpus_of_name > 0 ? draft.gpus_of_name : draft.gpus}});
}

void ask_for_vocab(SettingsSheet& sheet, nlohmann::json& model, const std::string& more) {
    constexpr std::int64_t stand_in = 128'000;
    model["vocab"] = stand_in;
    sheet.ask(Asked::nothing, Severity::warning, "vocab-missing",
              plain("The text does not say the vocabulary (vocab): it comes from the tokenizer.", more,
                    " 128,000 stands in for it; set /model/vocab."),
              {{"/model/vocab", stand_in}});
}

void ask_for_batch(SettingsSheet& sheet, PlanDraft& draft, std::int64_t micro, std::int64_t ranks) {
    const std::int64_t global = std::max<std::int64_t>(micro, 1) * std::max<std::int64_t>(ranks, 1);
    draft.training["micro_batch"] = std::max<std::int64_t>(micro, 1);
    draft.training["global_batch"] = global;
    sheet.ask(Asked::batch, Severity::warning, "batch-missing",
              plain("The text does not say the batch: one micro-batch of ", std::max<std::int64_t>(micro, 1),
                    " on each data-parallel rank, a global batch of ", global,
                    ", stands in for it; set /training/global_batch."),
              {{"/training/global_batch", global}});
}

void read_megatron(SettingsSheet& sheet, PlanDraft& draft, const Presets& presets, const Launch* launch,
                   const KnownSettings& known) {
    MegatronDialect dialect{.known = known};
    dialect.model_named = !draft.model_preset.empty() && !sheet.has("num_layers");
    const auto nodes = sheet.integer("nodes", "/cluster/gpus"),
               each = sheet.integer("gpus_per_node", "/cluster/gpus");
    if (draft.gpus == 0 && each) draft.gpus = nodes.value_or(1) * *each;
    for (const char* word : {"bert", "t5", "ict", "retro", "vision", "tasks/"})
        if (launch && launch->program.find(word) != std::string::npos)
            sheet.problem(Severity::warning, "other-model", launch->program,
                          " trains no GPT: the plan has its layers as a decoder's, and "
                          "nothing else of its model.");
    if (launch && draft.gpus == 0) draft.gpus = launch->gpus;
    if (const auto n = sheet.integer("world_size", "/cluster/gpus"); n && draft.gpus == 0) draft.gpus = *n;
    if (launch && draft.gpus == 0 && !launch->gpus_unknown.empty())
        sheet.ask(Asked::gpus, Severity::warning, "gpus-unknown",
                  plain("The number of GPUs (gpus) is not known: ", launch->gpus_unknown));
    know_layers(draft, presets);
    refuse_other_words(sheet);
    read_megatron_model(sheet, draft, dialect);
    read_megatron_training(sheet, draft, dialect);
    read_megatron_layout(sheet, draft, dialect);
    refuse_misspelt(sheet, known);
}

namespace {

// Returns true if the value switches the setting off.
bool says_off(const std::string& value) {
    return value == "none" || value == "false" || value == "False" || value == "no_shard" || value == "[]"
           || says_nothing(value);
}

// Returns what stands behind the section in the name; nullopt: it is of another one.
std::optional<std::string_view> rest_in(std::string_view name, std::string_view section) {
    const std::size_t at = name.find(section);
    if (at == std::string_view::npos) return std::nullopt;
    if (at != 0 && std::string_view(".-+").find(name[at - 1]) == std::string_view::npos) return std::nullopt;
    return name.substr(at + section.size());
}

}  // namespace

void KnownSettings::read(std::string_view name, const Presets& presets) {
    const std::filesystem::path file = presets.root() / "frameworks" / (std::string(name) + ".json");
    if (!std::filesystem::exists(file)) return;
    const std::string whole = read_file(file);
    const nlohmann::json all = parse_json(whole, file.string());
    if (const auto base = all.find("also"); base != all.end())
        for (const nlohmann::json& b : base->is_array() ? *base : nlohmann::json{*base})
            read(b.get<std::string>(), presets);
    if (all.contains("names")) {
        const nlohmann::ordered_json in_order = nlohmann::ordered_json::parse(whole);
        for (const auto& [setting, as] : in_order["names"].items()) {
            const std::string& field = (as.is_object() ? as.at("to") : as).get_ref<const std::string&>();
            const std::size_t dot = setting.rfind('.'), end = dot == std::string::npos ? 0 : dot;
            if (field.starts_with("/"))
                fields_.push_back({setting.substr(0, end), setting.substr(dot + 1), field, as});
        }
    }
    for (const nlohmann::json& key : all.value("also_read", nlohmann::json::array()))
        also_read_.push_back(key.get<std::string>());
    const nlohmann::json closed = all.value("closed", nlohmann::json::object());
    for (const auto& [section, keys] : closed.items())
        closed_[section] = keys.get<std::vector<std::string>>();
    for (const nlohmann::json& row : all.value("cannot_hold", nlohmann::json::array()))
        for (const nlohmann::json& key : row.at("settings"))
            cannot_hold_[key.get<std::string>()] = {row.value("why", ""), row.value("field", ""),
                                                    row.value("same", std::vector<std::string>{})};
    for (const nlohmann::json& key : all.value("harmless", nlohmann::json::array()))
        if (const auto text = key.get<std::string>(); text.ends_with('*'))
            begins_.push_back(text.substr(0, text.size() - 1));
        else
            harmless_.insert(text);
    const nlohmann::json flags = all.value("short", nlohmann::json::object());
    for (const auto& [flag, full] : flags.items()) short_[flag] = full.get<std::string>();
    for (const nlohmann::json& key : all.value("switches", nlohmann::json::array()))
        switches_.insert(key.get<std::string>());
}

std::string KnownSettings::full_name(const std::string& flag) const {
    const auto it = short_.find(flag);
    return it == short_.end() ? std::string() : it->second;
}

const CannotHold* KnownSettings::cannot_hold(std::string_view key, std::string_view name) const {
    auto it = cannot_hold_.find(std::string(key));
    if (it == cannot_hold_.end())
        it = std::find_if(cannot_hold_.begin(), cannot_hold_.end(), [&](const auto& row) {
            return row.first.ends_with(".*") && rest_in(name, row.first.substr(0, row.first.size() - 1));
        });
    return it == cannot_hold_.end() ? nullptr : &it->second;
}

bool KnownSettings::is_harmless(std::string_view key, std::string_view name) const {
    const std::string_view plain = name.substr(std::min(name.find_first_not_of('-'), name.size()));
    return harmless_.contains(std::string(key)) || harmless_.contains(std::string(plain))
           || std::any_of(begins_.begin(), begins_.end(), [&](const std::string& begin) {
                  const auto rest = rest_in(name, begin);
                  return rest && !sounds_of_layout(*rest);
              });
}

bool KnownSettings::knows(std::string_view key) const {
    return cannot_hold(key) || harmless_.contains(std::string(key)) || is_switch(key);
}

std::vector<std::string> KnownSettings::all_of_section(std::string_view section) const {
    const auto closed = closed_.find(std::string(section));
    if (closed == closed_.end()) return {};
    std::vector<std::string> out;
    for (const NamedField& f : fields_)
        if (f.section == section) out.push_back(f.key);
    out.insert(out.end(), closed->second.begin(), closed->second.end());
    return out;
}

std::vector<std::string> names_read(std::string_view tool, const KnownSettings& known) {
    std::vector<std::string> out = known.also_read();
    for (const SpelledField& f : flags_of(tool)) out.push_back(flag_or_leaf(std::string(f.name)));
    for (const NamedField& f : known.fields()) out.push_back(f.key);
    return out;
}

std::string words_of(const CannotHold& setting) {
    if (setting.field.empty()) return setting.why;
    return setting.why.empty()
               ? "the import does not read it; " + setting.field + " of the plan can say the same"
               : setting.why + " (" + setting.field + ")";
}

void sort_rest(SettingsSheet& sheet, const KnownSettings& known) {
    for (const std::string& key : sheet.open_keys()) {
        const std::string value = sheet.value_of(key), name = sheet.written(key);
        // A recipe sets it under a condition: "tp (if nodes > 4)".
        const std::size_t end = key.find(" (");
        const std::string plain = key.substr(0, end), made = value.substr(value.rfind('.') + 1);
        const Setting* s = sheet.last(key);
        const bool called = plain.ends_with("()");
        const bool nothing =
            (called && !made.empty() && made[0] >= 'A' && made[0] <= 'Z')  // its fields are settings
            || (called && known.is_harmless(made, value))
            || (!value.empty() && sheet.value_of(plain + "()") == value)
            || (end != std::string::npos && sheet.has(plain) && sheet.value_of(plain) == value)
            || (s && s->variable);
        const CannotHold* row = nothing ? nullptr : known.cannot_hold(plain, name);
        const auto is_same = [&](std::string_view word) {
            return row && std::find(row->same.begin(), row->same.end(), word) != row->same.end();
        };
        // Off is as if it were not said, unless the row says that on is.
        const bool off = s && s->stated && (says_nothing(value) || (says_off(value) && !is_same("true")));
        const bool same = row && (off || is_same(value));
        if (row && !same)
            sheet.cannot_hold(key, words_of(*row));
        else if (nothing || row || evaluation_in(name) != std::string::npos
                 || known.is_harmless(plain, name.substr(0, name.find(" ("))))
            sheet.ignore(key);
        else
            sheet.not_known(key);
    }
}

}  // namespace pentamesh::interop
