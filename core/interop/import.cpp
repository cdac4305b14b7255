#include "core/interop/import.h"

#include "core/base/files.h"
#include "core/base/text.h"
#include "core/interop/beside.h"
#include "core/interop/dialect.h"
#include "core/interop/guess.h"
#include "core/interop/known_settings.h"
#include "core/interop/make_plan.h"
#include "core/interop/manifest.h"
#include "core/interop/megatron.h"
#include "core/interop/outer_script.h"
#include "core/interop/script/settings.h"
#include "core/interop/script/shell_script.h"
#include "core/interop/step_batch.h"
#include "core/io/hf_families.h"
#include "core/io/plan_json.h"

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <set>

namespace pentamesh::interop {
namespace {

// The reason of presets/frameworks for settings of encoders.
constexpr std::string_view kLanguageOnly = "the plan holds the language model only";
constexpr std::size_t kMostBytes = std::size_t{10} << 20;
constexpr std::size_t kMostSettings = 200'000;  // about a second; Megatron has 800

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
    const Setting* each = sheet.last(own::kGpusPerNode.name);
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

// Asks for the recipe of a text that has several, where none is named. Returns true if it asks.
bool ask_for_recipe(const SettingsText& text, std::vector<ImportProblem>& problems) {
    if (!text.recipe.empty() || text.recipes.size() <= 1) return false;
    problems.push_back(
        {Severity::error,
         "recipe-missing",
         "The text has " + std::to_string(text.recipes.size())
             + " configurations: name one (--recipe on the command line): " + join(text.recipes, ", "),
         {},
         Asked::recipe});
    return true;
}

// Takes the model, the cluster and the number of GPUs that the recipe's name says.
void take_recipe_name(const SettingsText& text, const Presets& presets, PlanDraft& draft) {
    RecipeName name = read_recipe_name(text.recipe, presets);
    // A recipe that is not there says its model by its name: qwen3_30b_a3b_pretrain_config.
    const std::string absent = leaf_key(text.unread.substr(0, text.unread.find(" (")));
    if (RecipeName of = read_recipe_name(absent, presets); name.model.empty() && !of.model.empty())
        name = std::move(of);
    if (draft.gpus == 0) draft.gpus = name.gpus;
    draft.named_model = name.model;
    draft.named_cluster = name.cluster;
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
    if (ask_for_recipe(text, out.problems)) return out;
    if (!text.launch) take_recipe_name(text, presets, draft);

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
    ask_for_model(sheet, draft);
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

void read_megatron(SettingsSheet& sheet, PlanDraft& draft, const Presets& presets, const Launch* launch,
                   const KnownSettings& known) {
    MegatronDialect dialect{.known = known};
    dialect.model_named = !draft.model_preset.empty() && !sheet.has("num_layers");
    if (dialect.model_named && presets.has(PresetKind::model, draft.model_preset))
        dialect.named = presets.model(draft.model_preset);
    const auto nodes = sheet.integer(own::kNodes), each = sheet.integer(own::kGpusPerNode);
    if (draft.gpus == 0 && each) draft.gpus = nodes.value_or(1) * *each;
    for (const char* word : {"bert", "t5", "ict", "retro", "vision", "tasks/"})
        if (launch && launch->program.find(word) != std::string::npos)
            sheet.problem(Severity::warning, "other-model", launch->program,
                          " trains no GPT: the plan has its layers as a decoder's, and "
                          "nothing else of its model.");
    if (launch && draft.gpus == 0) draft.gpus = launch->gpus;
    if (const auto n = sheet.integer(own::kWorldSize); n && draft.gpus == 0) draft.gpus = *n;
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

}  // namespace pentamesh::interop
