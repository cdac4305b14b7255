#include "core/interop/guess.h"

#include "core/base/text.h"
#include "core/interop/dialect.h"
#include "core/interop/shell_script.h"
#include "core/interop/words.h"

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

}  // namespace pentamesh::interop
