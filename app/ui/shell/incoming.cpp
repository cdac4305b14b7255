#include "app/ui/shell/incoming.h"

#include "app/ui/kit/format.h"
#include "app/ui/panels/import_sheet.h"
#include "core/base/error.h"
#include "core/base/json_reader.h"
#include "core/io/hf_config.h"
#include "core/io/plan_document.h"
#include "core/io/plan_json.h"
#include "core/model/model.h"
#include "core/plan/changes.h"
#include "core/plan/title.h"
#include "core/runs/run_file.h"
#include "render/page.h"
#include "render/png.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

namespace pentamesh::ui {

namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr std::size_t kHeadOfPage = 512;  // an SVG file's root stands in it

bool is_picture(std::string_view text) {
    return text.starts_with("\x89PNG");
}
bool is_page(std::string_view text) {
    if (text.starts_with("%PDF")) return true;
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos || text[first] != '<') return false;
    const std::string_view head = text.substr(first, kHeadOfPage);
    return head.find("<svg") != std::string_view::npos
           || head.find(":svg ") != std::string_view::npos                  // with the name of a namespace
           || head.find("content=\"Pentamesh ") != std::string_view::npos;  // a review of ours
}
// A lesson begins with its head between two lines of dashes.
bool is_lesson(std::string_view text) {
    return text.starts_with("---\n") || text.starts_with("---\r\n");
}

// A plan says so, or has a plan's parts; the model in it may be a whole Hugging Face config.
bool is_plan(const nlohmann::json& value) {
    return value.is_object() && (value.contains("format") || value.contains("cluster"));
}

bool is_model(const nlohmann::json& value) {
    return !is_plan(value) && is_hf_config(value);
}

// Returns true for settings of a framework that are neither a plan nor a config.json.
bool is_settings(const std::string& text) {
    if (!is_settings_text(text)) return false;
    const std::optional<nlohmann::json> value = try_parse_json(text);
    return !value || (!is_plan(*value) && !is_model(*value));
}

// A config without a file has no name of its own: "llama 70.6 B".
std::string name_of_pasted(const Model& model, const nlohmann::json& config) {
    const auto type = config.find("model_type");
    return (type != config.end() && type->is_string() ? type->get<std::string>() : std::string("model")) + " "
           + count_text(static_cast<double>(count_parameters(model).total));
}

}  // namespace

std::vector<std::string> incoming_endings() {
    return {".json", ".png", ".svg",  ".pdf", ".html", ".md", ".sh",
            ".yaml", ".yml", ".toml", ".py",  ".txt",  ".log"};
}

namespace {

// Returns the plans' texts in a picture or a page; no text: it is neither.
std::vector<std::string> plan_texts_inside(const std::string& text, const std::string& name) {
    std::vector<std::string> inside;
    if (is_picture(text)) {
        for (std::string key = "pentamesh.plan"; auto plan = read_png_text(text, key);
             key = "pentamesh.plan." + std::to_string(inside.size() + 1))
            inside.push_back(std::move(*plan));
    } else if (is_page(text)) {
        inside = read_all_embedded(text);
    } else {
        return {};
    }
    if (inside.empty())
        throw Error(ErrorKind::invalid, name, "",
                    is_picture(text) ? "this picture has no plan inside; only Pentamesh's own do"
                                     : "this page has no plan inside; only Pentamesh's own do");
    return inside;
}

}  // namespace

std::string plan_text_inside(const std::string& text, const std::string& name) {
    const std::vector<std::string> inside = plan_texts_inside(text, name);
    return inside.empty() ? text : inside.front();
}

Incoming read_incoming(const std::string& text, const std::string& name, const Presets& presets) {
    Incoming in;
    if (is_lesson(text)) {
        in.kind = IncomingKind::lesson;
        return in;
    }
    if (const std::string words = runs::run_file_words(text); !words.empty())
        throw Error(ErrorKind::invalid, name, "", words);
    const bool wrapped = is_picture(text) || is_page(text);
    if (!wrapped && is_settings(text)) {
        in.kind = IncomingKind::settings;
        in.text = text;
        return in;
    }
    const std::vector<std::string> inside = plan_texts_inside(text, name);
    const nlohmann::json value = parse_json(inside.empty() ? text : inside.front(), name);
    if (!wrapped && is_model(value)) {
        in.kind = IncomingKind::model;
        Source ignored;
        in.model = model_from_json(value, {name, ""}, presets, ignored);
        if (in.model.name.empty() || in.model.name == name) in.model.name = name_of_pasted(in.model, value);
        return in;
    }
    in.kind = wrapped ? IncomingKind::plan_inside : IncomingKind::plan;
    in.plan = plan_from_json(value, name, presets);
    for (std::size_t i = 1; i < inside.size(); ++i)
        in.others.push_back(plan_from_json(parse_json(inside[i], name), name, presets));
    return in;
}

bool is_model_text(const std::string& text) {
    if (is_picture(text) || is_page(text)) return false;
    const std::optional<nlohmann::json> value = try_parse_json(text);
    return value && is_model(*value);
}

Plan with_model_of(const Plan& plan, const Model& model) {
    return with_true_title(plan, with_model(plan, model, ""));
}

}  // namespace pentamesh::ui
