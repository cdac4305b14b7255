#include "core/interop/guess.h"

#include "core/base/characters.h"
#include "core/base/text.h"
#include "core/interop/dialect.h"
#include "core/interop/shell_script.h"

#include <algorithm>
#include <initializer_list>

namespace pentamesh::interop {
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

bool is_name_with_pictures(std::string_view path) {
    const std::string_view name = path.substr(path.find_last_of('/') + 1);
    for (const char* part : {"-VL-", "-Omni-", "-omni-", "_omni"})
        if (has(name, part)) return true;
    const std::size_t end = name.find("_vl") + 3;  // of "qwen3_vl_moe", and not of "for_vllm"
    return has(name, "_vl") && (end == name.size() || !is_name_start(name[end]) || name[end] == '_');
}

bool is_argument_log(std::string_view text) {
    return has(text, "- arguments -") || has(text, "end of arguments");
}

bool is_script(std::string_view text) {
    if (without_blanks(text).starts_with("#!")) return true;
    std::string code;  // without lines that are comments, which may show how a file is used
    for (const std::string_view line : split(text, '\n'))
        if (!without_blanks(line).starts_with("#")) code.append(line).push_back('\n');
    return has(code, " \\\n") || has_line(code, "set -") || (has(code, " --") && !has(code, ": "));
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

std::vector<Framework> guess_framework(std::string_view text) {
    if (const DialectMark* dialect = dialect_of(text)) return {dialect->framework};
    const std::string_view body = without_blanks(text);
    const bool json = body.starts_with("{");
    if (json) {
        if (has(body, "\"zero_optimization\"") || has(body, "\"train_batch_size\"")
            || has(body, "\"train_micro_batch_size_per_gpu\""))
            return {Framework::deepspeed};
        if (has(body, "\"tp_size\"") || has(body, "\"distributed\"")) return {Framework::picotron};
        if (has(body, "\"model_type\"")) return {Framework::hf};
        return {};
    }
    std::vector<Framework> fits;
    const auto add = [&](bool fit, Framework f) {
        if (fit && std::find(fits.begin(), fits.end(), f) == fits.end()) fits.push_back(f);
    };
    add(has(body, "torchtitan") || has_line(body, "[parallelism]") || has(body, "--parallelism."),
        Framework::torchtitan);
    add(has_line(body, "distributed_type:"), Framework::accelerate);
    add(has_line(body, "parallelism:") && has_line(body, "tokens:"), Framework::nanotron);
    add(has(body, "megatron.bridge") || has(body, "run_recipe.py") || has(body, "setup_experiment.py")
            || has(body, "trainer.strategy.") || has_line(body, "cfg.model.")
            || (has_line(body, "model:") && has(body, "tensor_model_parallel_size:")
                && !has_line(body, "MODEL_ARGS:")),
        Framework::bridge);
    if (!fits.empty()) return fits;
    add(has(body, "--tensor-model-parallel-size") || has(body, "--tensor_model_parallel_size")
            || has(body, "pretrain_gpt") || has_line(body, "MODEL_ARGS:") || is_argument_log(body)
            || has(body, "--num-layers") || has(body, "--micro-batch-size"),
        Framework::megatron);
    return fits;
}

}  // namespace pentamesh::interop
