#include "core/interop/tools.h"

#include "core/interop/export.h"
#include "core/interop/guess.h"
#include "core/interop/script/read_text.h"
#include "core/interop/script/settings.h"
#include "core/plan/names.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace pentamesh::interop {
namespace {

// The order is that of menus and lists.
constexpr std::pair<std::string_view, void (*)(ExportDraft&)> kWriters[] = {
    {"megatron", export_megatron},      {"bridge", export_bridge},         {"torchtitan", export_torchtitan},
    {"deepspeed", export_deepspeed},    {"accelerate", export_accelerate}, {"nanotron", export_nanotron},
    {"picotron", export_picotron},      {"maxtext", export_maxtext},       {"hf", export_hf},
    {"device-mesh", export_device_mesh}};

constexpr std::pair<std::string_view, Reader> kReaders[] = {
    {"", Reader::none},         {"fields", Reader::fields},         {"megatron", Reader::megatron},
    {"bridge", Reader::bridge}, {"torchtitan", Reader::torchtitan}, {"model", Reader::model}};

using TableRow = nlohmann::ordered_json;

std::string_view column(const TableRow& row, std::string_view name) {
    const auto found = row.find(name);
    return found == row.end() ? std::string_view() : word_of(*found);
}

Tool tool_of_row(const TableRow& row) {
    Tool out;
    out.name = word_of(row["tool"]);
    out.called = column(row, "called");
    out.title = column(row, "title");
    out.ending = column(row, "ending");
    out.software = parse_name<Software>(column(row, "software"));
    for (const auto& [name, reader] : kReaders)
        if (name == column(row, "reader")) out.reader = reader;
    for (const auto& [name, write] : kWriters)
        if (name == out.name) out.write = write;
    out.dialect = row.value("dialect", true);
    if (row.contains("json")) out.json = row["json"].get<bool>();
    out.or_another = row.value("or_another", false);
    out.reads = column(row, "reads");
    for (const auto& group : row["marks"]) {
        std::vector<std::string_view>& marks = out.marks.emplace_back();
        for (const auto& mark : group) marks.push_back(word_of(mark));
    }
    return out;
}

// Returns true if the text has the mark (tools.h). "--pipe-parallel-size" is a flag of Megatron-DeepSpeed,
// "pipe-parallel-size" a setting of GPT-NeoX: a mark that begins with a letter is no end of a longer name.
bool has_mark(std::string_view text, std::string_view mark) {
    const std::string_view rest = mark.substr(1);
    switch (mark[0]) {
    case '!': return !has_mark(text, rest);
    case '^': return has_line(text, rest);
    case '*': return has(text, rest);
    case '\n':
        if (text.starts_with(rest)) return true;
        break;
    default: break;
    }
    const auto in_name = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
    };
    for (std::size_t at = text.find(mark); at != std::string_view::npos; at = text.find(mark, at + 1))
        if (at == 0 || std::isalnum(static_cast<unsigned char>(mark[0])) == 0 || !in_name(text[at - 1]))
            return true;
    return false;
}

}  // namespace

const std::vector<Tool>& tools() {
    static const std::vector<Tool> all = [] {
        std::vector<Tool> out;
        for (const auto& row : words("tools")) out.push_back(tool_of_row(row));
        std::stable_sort(out.begin(), out.end(), [](const Tool& a, const Tool& b) {
            const auto place = [](const Tool& t) {
                return std::find_if(std::begin(kWriters), std::end(kWriters),
                                    [&](const auto& w) { return w.first == t.name; });
            };
            return place(a) < place(b);
        });
        return out;
    }();
    return all;
}

std::string_view name_of(Reader reader) {
    for (const auto& [name, of] : kReaders)
        if (of == reader) return name;
    return {};
}

std::vector<const Tool*> read_tools() {
    std::vector<const Tool*> out;
    for (const Tool& t : tools())
        if (t.reader != Reader::none) out.push_back(&t);
    return out;
}

std::vector<const Tool*> written_tools() {
    std::vector<const Tool*> out;
    for (const Tool& t : tools())
        if (t.write) out.push_back(&t);
    return out;
}

const Tool* tool_called(std::string_view name) {
    if (name == "devicemesh") name = "device-mesh";
    const auto it =
        std::find_if(tools().begin(), tools().end(), [&](const Tool& t) { return t.name == name; });
    return it == tools().end() ? nullptr : &*it;
}

const Tool* tool_for(Software software) {
    const auto it = std::find_if(tools().begin(), tools().end(),
                                 [&](const Tool& t) { return t.write && t.software == software; });
    return it == tools().end() ? nullptr : &*it;
}

bool has_marks(std::string_view text, const std::vector<std::vector<std::string_view>>& groups) {
    return std::any_of(groups.begin(), groups.end(), [&](const auto& group) {
        return std::all_of(group.begin(), group.end(),
                           [&](std::string_view mark) { return has_mark(text, mark); });
    });
}

std::vector<const Tool*> guess_tools(std::string_view text) {
    const bool json = without_blanks(text).starts_with("{");
    std::vector<const Tool*> fits;
    for (const auto& row : words("tools")) {
        const Tool& tool = *tool_called(word_of(row["tool"]));
        const bool fit = tool.json.value_or(json) == json && has_marks(text, tool.marks);
        // Bridge's texts have Megatron's names too.
        if (fit && (fits.empty() || tool.or_another)) fits.push_back(&tool);
        if (fit && !tool.or_another) break;
    }
    return fits;
}

std::string_view flag_of(std::string_view tool, std::string_view pointer) {
    const auto row = words("spellings").find(pointer);
    return row == words("spellings").end() ? std::string_view() : column(*row, tool);
}

std::string zero_words(std::string_view tool, int stage) {
    std::string out(flag_of(tool, "/layout/zero"));
    const bool bridge = tool == "bridge";
    if (tool != "megatron" && !bridge) return out.empty() ? out : out + " = " + std::to_string(stage);
    if (stage == 0) return "without " + out;
    if (stage == 1) return out;
    const std::string_view shards = stage == 2 ? "optim_grads" : "optim_grads_params";
    return out
           + (bridge ? ", ddp.use_megatron_fsdp, ddp.data_parallel_sharding_strategy = "
                     : " --use-megatron-fsdp --data-parallel-sharding-strategy ")
           + std::string(shards);
}

std::vector<SpelledField> flags_of(std::string_view tool) {
    std::vector<SpelledField> out;
    for (const auto& [pointer, row] : words("spellings").items())
        if (const std::string_view name = column(row, tool); !name.empty()) out.push_back({pointer, name});
    return out;
}

}  // namespace pentamesh::interop
