#include "core/interop/import.h"

#include "core/base/files.h"
#include "core/base/json_reader.h"
#include "core/base/text.h"
#include "core/interop/dialect.h"
#include "core/interop/megatron.h"
#include "core/interop/script/settings.h"
#include "core/interop/script/shell_script.h"
#include "core/io/hf_families.h"
#include "core/io/plan_json.h"
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

// Reads MODEL_ARGS of a YAML: flags as keys, true for those without a value.
std::vector<Setting> read_argument_yaml(const Node& root, const KnownSettings& known) {
    std::vector<Setting> out;
    const Node* arguments = root.find("MODEL_ARGS");
    if (!arguments) arguments = &root;
    for (const Setting& s : flatten(*arguments)) {
        // A switch set to false is the same as a missing flag.
        if (s.name.starts_with("--") && (s.value == "false" || s.value == "False") && !s.quoted) continue;
        out.push_back(s);
        if (known.is_switch(flag_key(s.name)) && s.value == "true") {
            out.back().value.clear();
            out.back().stated = false;
        }
    }
    return out;
}

std::string flag_or_leaf(const std::string& name) {
    return name.starts_with("-") ? flag_key(leaf_key(name)) : leaf_key(name);
}

constexpr std::pair<Framework, Software> kSoftwareOf[] = {
    {Framework::megatron, Software::megatron},     {Framework::bridge, Software::megatron_bridge},
    {Framework::torchtitan, Software::torchtitan}, {Framework::deepspeed, Software::deepspeed},
    {Framework::accelerate, Software::fsdp},       {Framework::nanotron, Software::nanotron}};

// Returns the id of presets/software, empty for the plan's default.
std::string_view software_named(const PlanDraft& draft, Framework framework) {
    const std::optional<Software> software = software_of(framework);
    // Without full sharding accelerate runs DDP.
    const bool plain = framework == Framework::accelerate && draft.layout.value("zero", 0) < 2;
    return !software || plain || *software == Training{}.software ? std::string_view{}
                                                                  : pentamesh::name_of(*software);
}

// Returns true for an object of a config.json that holds a whole language model.
bool is_model_part(std::string_view pointer) {
    return pointer.ends_with("text_config") || pointer == "llm_config" || pointer == "thinker_config";
}

class Importer {
  public:
    Importer(const ImportRequest& request, const Presets& presets) : r_(request), presets_(presets) {}

    Import run() {
        take_kind();
        for (const std::string& v : r_.variables)
            given_[v.substr(0, v.find('='))] = v.substr(std::min(v.find('='), v.size() - 1) + 1);
        draft_.gpus = r_.gpus;
        take_model();
        read();
        if (!r_.recipe.empty() && out_.recipe.empty())
            throw Error(ErrorKind::usage, r_.path, "", "it has no configurations of several names");
        return std::move(out_);
    }

  private:
    [[noreturn]] void fail(const std::string& what) const {
        throw Error(ErrorKind::invalid, r_.path, "", what);
    }

    void take_kind() {
        const DialectMark* tool = !r_.dialect.empty() ? dialect_called(r_.dialect)
                                  : r_.framework      ? nullptr
                                                      : dialect_of(r_.text);
        out_.framework = tool ? tool->framework : r_.framework ? *r_.framework : guess();
        out_.kind = tool ? tool->name : name_of(out_.framework);
        if (tool || (out_.framework >= Framework::deepspeed && out_.framework <= Framework::picotron))
            dialect_.emplace(out_.kind, presets_);
        known_.emplace(out_.kind, presets_);
    }

    static std::string kinds() { return join(tool_names(), ", "); }

    Framework guess() const {
        const std::vector<Framework> fits = guess_framework(r_.text);
        if (fits.empty())
            fail("no framework's settings are known by this text; say which with --from: " + kinds());
        if (fits.size() > 1) {
            std::string names = join(fits, " and ");
            fail("this may be " + names + ": say which with --from");
        }
        return fits.front();
    }

    void take_model() {
        own_model_ = r_.own_model;
        if (r_.model.empty()) return;
        if (presets_.has(PresetKind::model, r_.model)) {
            draft_.model_preset = r_.model;
            return;
        }
        own_model_ = parse_model(r_.model, "--model", presets_);
    }

    void read() {
        if (without_blanks(r_.text).empty()) fail("the text is empty");
        const bool python = !shell::begins_as_script(without_blanks(r_.text))
                            && (has_line(r_.text, "import ") || has_line(r_.text, "from "));
        if (dialect_ && python && std::filesystem::exists(recipes_file())) return read_functions();
        if (dialect_ && python)
            fail("it is a Python program: settings of " + out_.kind + " are read from scripts and files");
        if (dialect_ && dialect_->data().contains("toml")
            && !shell::begins_as_script(without_blanks(r_.text)))
            return with(flatten(read_toml(r_.text, r_.path)), nullptr);
        if (dialect_) return is_script(r_.text) ? read_script() : read_tree();
        if (out_.framework == Framework::hf) return read_config();
        switch (form_of(r_.text, out_.framework)) {
        case TextForm::argument_log: return with(read_argument_log(r_.text), nullptr);
        case TextForm::toml: return with(flatten(read_toml(r_.text, r_.path)), nullptr);
        case TextForm::python: return read_functions();
        case TextForm::yaml: {
            const Node root = read_yaml(r_.text, r_.path);
            const bool flags = out_.framework == Framework::megatron;
            return with(flags ? read_argument_yaml(root, *known_) : flatten(root), nullptr);
        }
        case TextForm::script: return read_script();
        }
    }

    void read_script() {
        shell::Given given{given_, {}, r_.other};
        for (const std::string_view word : split_words(r_.arguments, " \t\r\n\v\f"))
            given.arguments.emplace_back(word);
        Launch launch = read_launch(
            r_.text, r_.path,
            [&](std::string_view key) {
                return out_.framework == Framework::megatron && known_->is_switch(key);
            },
            given, r_.recipe);
        if (launch.jobs.size() > 1) out_.recipes = launch.jobs, out_.recipe = launch.job;
        unread_ = launch.unread;
        std::vector<Setting> all = launch.flags;
        all.insert(all.end(), launch.words.begin(), launch.words.end());
        out_.hosts = launch.hosts;
        with(std::move(all), &launch);
    }

    // Returns what is known of a framework's Python: recipes that others start from, of which those of a
    // checkout around the text come first.
    [[nodiscard]] std::filesystem::path recipes_file() const {
        return presets_.root() / "frameworks" / (out_.kind + "_recipes.py");
    }

    void read_functions() {
        const auto known = try_read_file(recipes_file());
        PythonSettings made = read_python(r_.text, r_.path, r_.recipe, r_.other, known ? *known : "");
        out_.recipes = std::move(made.recipes);
        out_.recipe = made.recipe;
        unread_ = std::move(made.unread);
        if (out_.recipe.empty() && out_.recipes.size() > 1) {
            const std::string names = join(out_.recipes, ", ");
            out_.problems.push_back(
                {Severity::error,
                 "recipe-missing",
                 "The text has " + std::to_string(out_.recipes.size())
                     + " configurations: name one (--recipe on the command line): " + names,
                 {},
                 Asked::recipe});
            return;
        }
        name_ = read_recipe_name(out_.recipe, presets_);
        if (draft_.gpus == 0) draft_.gpus = name_.gpus;
        with(std::move(made.settings), nullptr);
    }

    void read_tree() {
        std::vector<std::string> duplicates;
        const Node root = read_yaml(r_.text, r_.path, &duplicates);
        if (root.kind != NodeKind::map) fail("it holds no settings");
        with(dialect_ ? dialect_->with_bases(root, r_.other, unread_) : flatten(root), nullptr, duplicates);
    }

    void read_config() {
        std::set<std::string> read;
        own_model_ = model_from_hf(std::string_view(r_.text), r_.path, &read);
        SettingsSheet sheet(flatten(read_yaml(r_.text, r_.path)), [](const std::string& name) {
            std::size_t begin = 0;  // of the name in the language model
            for (const std::string_view part : {"thinker_config.", "text_config.", "llm_config."})
                if (name.compare(begin, part.size(), part) == 0) begin += part.size();
            return name.substr(begin);
        });
        for (const std::string& key : sheet.open_keys()) {
            std::string pointer;  // of the field or of an object around it that is no whole model
            for (const char c : sheet.written(key) + ".") {
                if (c == '.' && !is_model_part(pointer) && read.contains("/" + pointer))
                    sheet.map(key, "/model");
                pointer.push_back(c == '.' ? '/' : c);
            }
        }
        ask_for_gpus(sheet, draft_, 1);
        ask_for_batch(sheet, draft_, 1, draft_.gpus);
        draft_.layout = {{"dp_shard", draft_.gpus}, {"zero", 3}};
        finish(sheet);
    }

    void with(std::vector<Setting> settings, const Launch* launch,
              const std::vector<std::string>& duplicates = {}) {
        if (settings.empty()) fail("it holds no settings");
        if (settings.size() > kMostSettings)
            fail("it holds " + std::to_string(settings.size()) + " settings; at most 200,000 are read");
        if (!launch) resolve_references(settings, given_);
        if (dialect_) dialect_->complete(settings);
        const bool flags_only = launch != nullptr || out_.framework == Framework::megatron;
        if (launch && out_.framework == Framework::bridge)
            for (Setting& s : settings)  // shown by the name that it stands for
                if (const std::string full = known_->full_name(s.name); !full.empty())
                    s.name = full + " (" + s.name + ")";
        SettingsSheet sheet(std::move(settings), [&](const std::string& name) {
            if (dialect_) return dialect_->key_of(name);
            const std::size_t paren = name.rfind(" (-");
            if (paren != std::string::npos) return name.substr(0, paren);
            return flags_only ? flag_or_leaf(name) : leaf_key(name);
        });
        // A log has all that Megatron knows; some of its names are no flags.
        sheet.printed = out_.framework == Framework::megatron && is_argument_log(r_.text);
        if (!unread_.empty()) sheet.leave_unread(unread_);
        if (launch && launch->jobs.size() > 1 && r_.recipe.empty())
            sheet.problem(Severity::warning, "several-jobs", "The script starts ", launch->jobs.size(),
                          " jobs of different arguments: ", launch->job,
                          " is read; --recipe on the command line names another.");
        if (launch && draft_.gpus == 0 && out_.framework == Framework::torchtitan) draft_.gpus = launch->gpus;
        draft_.named_model = name_.model;
        if (own_model_) draft_.model["layers"] = own_model_->layers;
        if (dialect_) take_model_name(sheet, dialect_->data().value("model_name", ""));
        if (out_.kind == name_of(Framework::deepspeed))
            for (const std::string& key : duplicates)
                sheet.refusal("key-twice", "DeepSpeed", "the key ", key, " stands twice");
        read_with(sheet, launch);
        if (dialect_) dialect_->mark(sheet);
        finish(sheet);
    }

    // Takes the model that a setting names, where the text does not say its sizes.
    void take_model_name(SettingsSheet& sheet, const std::string& key) {
        if (key.empty() || sheet.has("num_layers") || own_model_ || !draft_.model_preset.empty()) return;
        interop::take_model(sheet, draft_, presets_, key);
    }

    void read_with(SettingsSheet& sheet, const Launch* launch) {
        if (dialect_ && dialect_->of_fields())
            return read_fields(sheet, draft_, presets_, launch, dialect_->data());
        if (out_.framework == Framework::megatron) read_megatron(sheet, draft_, presets_, launch, *known_);
        if (out_.framework == Framework::bridge) read_bridge(sheet, draft_, presets_, launch);
        if (out_.framework == Framework::torchtitan) read_torchtitan(sheet, draft_, presets_);
    }

    // An error ends the reading: the settings behind it are known, and were not looked at.
    void leave_unread(SettingsSheet& sheet) const {
        std::set<std::string> read;
        for (const SpelledField& f : flags_of(out_.framework)) read.insert(flag_or_leaf(std::string(f.name)));
        if (out_.framework == Framework::megatron)
            read.insert(megatron_keys().begin(), megatron_keys().end());
        for (const std::string& key : sheet.open_keys())
            if (read.contains(key)) sheet.cannot_hold(key, "it was not read: the errors come first");
    }

    void finish(SettingsSheet& sheet) {
        const bool named = own_model_ || !draft_.model_preset.empty();
        if (!named && !draft_.model.contains("hidden"))
            sheet.ask(Asked::model, Severity::error, "model-missing",
                      plain((draft_.other_model.empty() ? "The text does not say the model: name it"
                                                        : "No preset is the model " + draft_.other_model
                                                              + ": name one, or its config.json"),
                            " (--model on the command line)"));
        if (draft_.gpus > 0 && draft_.gpus > (1 << 20))
            sheet.error("gpus-not-allowed", "found ", draft_.gpus, " GPUs, at most 1,048,576 are read");
        if (sheet.failed()) leave_unread(sheet);
        sort_rest(sheet, *known_);
        if (!sheet.failed()) build(sheet);
        sheet.lists(out_.settings);
        const auto &taken = out_.settings.mapped, &left = out_.settings.unmapped;
        if (has(out_.recipe, "_vl_")
            || std::any_of(
                taken.begin(), taken.end(),
                [&](const auto& s) { return s.path == "/model" && has_encoders(presets_, s.value); })
            || std::any_of(left.begin(), left.end(), [](const auto& s) { return s.why == kLanguageOnly; }))
            sheet.problem(Severity::info, "language-model-only",
                          "The encoders of pictures and sound are left out: the plan holds the language "
                          "model, so parameters and memory are less than the whole model's.");
        out_.problems = std::move(sheet.problems);
    }

    void build(SettingsSheet& sheet) {
        nlohmann::json plan = {
            {"format", "pentamesh.plan/1"}, {"layout", draft_.layout}, {"training", draft_.training}};
        if (const std::string_view software = software_named(draft_, out_.framework);
            !software.empty() && !draft_.training.contains("software"))
            plan["training"]["software"] = software;
        // fp4 needs a GPU that has it.
        const bool fp4 = draft_.training.value("compute", "") == "fp4";
        std::string cluster = r_.cluster.empty() ? name_.cluster : r_.cluster;
        if (cluster.empty()) {
            cluster = fp4 ? "b200-ib" : kAssumedCluster;
            sheet.ask(
                Asked::cluster, Severity::info, "cluster-assumed",
                plain("The text does not say the cluster: ", (fp4 ? "B200" : "H100"),
                      " with InfiniBand stand in for it; choose another (--cluster on the command line)."));
        }
        plan["cluster"] = {{"preset", cluster}, {"gpus", draft_.gpus}};
        if (!draft_.model_preset.empty()) {
            plan["model"] = draft_.model;
            plan["model"]["preset"] = draft_.model_preset;
            if (draft_.model.value("layers", 0) == presets_.model(draft_.model_preset).layers)
                plan["model"].erase("layers");
        } else if (!own_model_) {
            plan["model"] = draft_.model;
            plan["model"]["name"] = "imported";
        } else {
            plan["model"] = model_to_json(*own_model_);
        }
        if (out_.framework != Framework::hf) plan["name"] = "Imported from " + out_.kind;
        try {
            out_.plan = plan_from_json(std::move(plan), r_.path, presets_, r_.sets);
        } catch (const Error& e) {
            return sheet.error("plan-not-valid", e.pointer(), ": ", e.message());
        }
        // A text without a sequence length means one that the model has positions for.
        Plan& p = *out_.plan;
        const bool said = draft_.training.contains("sequence_length")
                          || std::any_of(r_.sets.begin(), r_.sets.end(), [](const std::string& s) {
                                 return s.find("sequence_length") != std::string::npos;
                             });
        if (!said && p.model.positions == Positions::learned
            && p.model.max_positions < p.training.sequence_length)
            p.training.sequence_length = p.model.max_positions;
        check(sheet);
    }

    // Adds what the plan itself refuses, with its fixes. Fields that were set may have mended what the text's
    // own layout was refused for.
    void check(SettingsSheet& sheet) {
        std::vector<Problem> found;
        const Mesh mesh = build_mesh(*out_.plan);
        const GroupSummaries groups{};
        find_errors(ResolvedPlan(*out_.plan, mesh, groups), true, found);
        if (found.empty() && !r_.sets.empty())
            std::erase_if(sheet.problems, [](const ImportProblem& p) { return p.set_field_mends; });
        for (const Problem& p : found) {
            sheet.ask(Asked::nothing, sheet.unread.empty() ? Severity::error : Severity::warning,
                      std::string(name_of(p.code)), p.message, p.fix);
            sheet.problems.back().opens = true;
        }
    }

    const ImportRequest& r_;
    const Presets& presets_;
    PlanDraft draft_;
    std::optional<Model> own_model_;
    std::optional<Dialect> dialect_;      // a tool that data tells
    std::optional<KnownSettings> known_;  // once the framework is
    std::string unread_;                  // a function or a file that sets more, and that is not there
    GivenValues given_;                   // r_.variables by name
    RecipeName name_;
    Import out_;
};

}  // namespace

bool Import::failed() const {
    return !plan || std::any_of(problems.begin(), problems.end(), [](const ImportProblem& p) {
        return p.severity == Severity::error;
    });
}

std::vector<std::string_view> tool_names() {
    std::vector<std::string_view> out(kFrameworkNames.begin(), kFrameworkNames.end());
    for (const DialectMark& d : dialects())
        if (std::find(out.begin(), out.end(), d.name) == out.end()) out.push_back(d.name);
    return out;
}

void ImportRequest::read_as(const std::string& name) {
    framework = framework_called(name);
    dialect = framework ? "" : name;
}

std::optional<Framework> framework_called(std::string_view name) {
    const auto* const it = std::find(kFrameworkNames.begin(), kFrameworkNames.end(), name);
    if (it == kFrameworkNames.end()) return std::nullopt;
    return static_cast<Framework>(it - kFrameworkNames.begin());
}

std::optional<Framework> framework_of(Software software) {
    for (const auto& [framework, own] : kSoftwareOf)
        if (own == software) return framework;
    return std::nullopt;
}

std::optional<Software> software_of(Framework framework) {
    for (const auto& [own, software] : kSoftwareOf)
        if (own == framework) return software;
    return std::nullopt;
}

Import import_settings(const ImportRequest& request, const Presets& presets) {
    if (request.text.size() > kMostBytes)
        throw Error(ErrorKind::invalid, request.path, "",
                    "is larger than 10 MiB, the most that is read as settings");
    return Importer(request, presets).run();
}

namespace {

// Returns the framework's name in a row of the table; empty: the row has none.
std::string_view spelled_in(const nlohmann::ordered_json& row, Framework framework) {
    const auto name = row.find(name_of(framework));
    return name == row.end() ? std::string_view() : word_of(*name);
}

}  // namespace

std::string_view flag_of(Framework framework, std::string_view pointer) {
    const auto row = words("spellings").find(pointer);
    return row == words("spellings").end() ? std::string_view() : spelled_in(*row, framework);
}

std::string zero_words(Framework framework, int stage) {
    std::string out(flag_of(framework, "/layout/zero"));
    const bool bridge = framework == Framework::bridge;
    if (framework != Framework::megatron && !bridge)
        return out.empty() ? out : out + " = " + std::to_string(stage);
    if (stage == 0) return "without " + out;
    if (stage == 1) return out;
    const std::string_view shards = stage == 2 ? "optim_grads" : "optim_grads_params";
    return out
           + (bridge ? ", ddp.use_megatron_fsdp, ddp.data_parallel_sharding_strategy = "
                     : " --use-megatron-fsdp --data-parallel-sharding-strategy ")
           + std::string(shards);
}

std::vector<SpelledField> flags_of(Framework framework) {
    std::vector<SpelledField> out;
    for (const auto& [pointer, row] : words("spellings").items())
        if (const std::string_view name = spelled_in(row, framework); !name.empty())
            out.push_back({pointer, name});
    return out;
}

bool has(std::string_view text, std::string_view what) {
    return text.find(what) != std::string_view::npos;
}

bool has_line(std::string_view text, std::string_view what) {
    for (std::size_t at = text.find(what); at != std::string_view::npos; at = text.find(what, at + 1)) {
        std::size_t begin = at;
        while (begin > 0 && (text[begin - 1] == ' ' || text[begin - 1] == '\t')) --begin;
        if (begin == 0 || text[begin - 1] == '\n') return true;
    }
    return false;
}

std::string_view without_blanks(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
    return begin == std::string_view::npos ? std::string_view() : text.substr(begin);
}

bool is_argument_log(std::string_view text) {
    return has(text, "- arguments -") || has(text, "end of arguments");
}

bool is_script(std::string_view text) {
    if (without_blanks(text).starts_with("#!")) return true;
    std::string code;  // without lines that are comments, which may show how a file is used
    for (const std::string_view line : split(text, '\n'))
        if (!without_blanks(line).starts_with("#")) code.append(line).push_back('\n');
    return has(code, " \\\n") || has_line(code, "set -")
           || ((has(code, " --") || has(code, " -m ")) && !has(code, ": "));
}

TextForm form_of(std::string_view text, Framework framework) {
    const auto any_line = [&](std::initializer_list<std::string_view> begins) {
        return std::any_of(begins.begin(), begins.end(),
                           [&](std::string_view b) { return has_line(text, b); });
    };
    if (is_argument_log(text)) return TextForm::argument_log;
    if (framework == Framework::torchtitan && any_line({"[parallelism]", "[training]", "[model]"}))
        return TextForm::toml;
    if (framework != Framework::megatron && !shell::begins_as_script(without_blanks(text))
        && (any_line({"import ", "from ", "def ", "cfg.", "recipe."}) || has(text, "ParallelismConfig(")))
        return TextForm::python;
    return any_line({"MODEL_ARGS:", "model:", "trainer:"}) ? TextForm::yaml : TextForm::script;
}

// Reads a mark of presets/frameworks/words.json: "^" stands for the beginning of a line, "!" for a mark that
// must not stand there.
static bool has_mark(std::string_view text, std::string_view mark) {
    if (mark.starts_with('!')) return !has_mark(text, mark.substr(1));
    return mark.starts_with('^') ? has_line(text, mark.substr(1)) : has(text, mark);
}

std::vector<Framework> guess_framework(std::string_view text) {
    if (const DialectMark* dialect = dialect_of(text)) return {dialect->framework};
    const std::string_view body = without_blanks(text);
    const bool json = body.starts_with("{");
    std::vector<Framework> fits;
    for (const auto& row : words(json ? "json_marks" : "marks")) {
        const Framework f = framework_called(word_of(row[0])).value();
        // Bridge's texts have Megatron's names too.
        if (!fits.empty() && (json || f == Framework::megatron)) break;
        const bool fit = std::all_of(row.begin() + 1, row.end(),
                                     [&](const auto& mark) { return has_mark(body, word_of(mark)); });
        if (fit && std::find(fits.begin(), fits.end(), f) == fits.end()) fits.push_back(f);
    }
    return fits;
}

std::string leaf_key(const std::string& name) {
    const std::size_t dot = name.rfind('.', name.find(" ("));  // a condition has dots of its own
    if (dot == std::string::npos) return name;
    // Data of tests, and encoders, have settings of the same last names as the training and its model.
    for (const char* other :
         {"validation_ds.", "test_ds.", "vision_config.", "vision_encoder.", "audio_config."})
        if (name.find(other) < dot) return name;
    std::string leaf = name.substr(dot + 1);
    if (leaf != "name" && leaf != "type" && leaf != "enabled" && leaf != "device") return leaf;
    const std::size_t before = name.rfind('.', dot - 1);
    return before == std::string::npos ? name : name.substr(before + 1);
}

void know_layers(PlanDraft& draft, const Presets& presets) {
    if (presets.has(PresetKind::model, draft.model_preset))
        draft.model["layers"] = presets.model(draft.model_preset).layers;
}

void ask_for_gpus(SettingsSheet& sheet, PlanDraft& draft, std::int64_t fewest) {
    if (draft.gpus > 0) return;
    draft.gpus = std::max<std::int64_t>(fewest, 1);
    sheet.ask(Asked::gpus, Severity::warning, "gpus-missing",
              plain("The text does not say how many GPUs (gpus) the job runs on: ", draft.gpus,
                    ", the fewest that this layout needs, stand in for them. Say how many there are "
                    "(--gpus on the command line)."),
              {{"/cluster/gpus", draft.gpus}});
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
    MegatronDialect dialect;
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
    read_megatron_model(sheet, draft, dialect);
    read_megatron_training(sheet, draft, dialect);
    read_megatron_layout(sheet, draft, dialect);
    refuse_misspelt(sheet, known);
}

namespace {

// Returns true if the value switches the setting off.
bool is_off(const std::string& value) {
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
    const nlohmann::json all = parse_json(read_file(file), file.string());
    if (const auto base = all.find("also"); base != all.end())
        for (const nlohmann::json& b : base->is_array() ? *base : nlohmann::json{*base})
            read(b.get<std::string>(), presets);
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
    return harmless_.contains(std::string(key)) || harmless_.contains(std::string(name))
           || std::any_of(begins_.begin(), begins_.end(), [&](const std::string& begin) {
                  const auto rest = rest_in(name, begin);
                  return rest && !sounds_of_layout(*rest);
              });
}

bool KnownSettings::knows(std::string_view key) const {
    return cannot_hold(key) || harmless_.contains(std::string(key)) || is_switch(key);
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
        const bool same = row
                          && ((s && s->stated && is_off(value))
                              || std::find(row->same.begin(), row->same.end(), value) != row->same.end());
        if (row && !same)
            sheet.cannot_hold(key, words_of(*row));
        else if (nothing || row || known.is_harmless(plain, name.substr(0, name.find(" ("))))
            sheet.ignore(key);
        else
            sheet.not_known(key);
    }
}

}  // namespace pentamesh::interop
