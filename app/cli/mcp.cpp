// `mcp` answers the requests of `serve` as a Model Context Protocol server: each line of standard input is a
// message of JSON-RPC 2.0, each line of standard output its answer (docs/serve.md).
// The messages follow modelcontextprotocol/modelcontextprotocol, schema/2024-11-05 to schema/2026-07-28.
// Versions up to 2025-11-25 begin with `initialize`; from 2026-07-28 on each request names its version in
// `_meta`.
#include "app/cli/commands.h"
#include "app/cli/output.h"
#include "app/cli/serve.h"
#include "app/cli/web_page.h"
#include "core/base/files.h"
#include "core/base/json_reader.h"
#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <optional>
#include <random>
#include <stdexcept>
#include <utility>

namespace pentamesh::cli {
namespace {

// ---- versions and errors of the protocol -----------------------------------------------------------------

// Version 2025-03-26 is left out: only in it a line may be a list of requests.
constexpr std::array<std::string_view, 3> kHandshakeVersions{"2024-11-05", "2025-06-18", "2025-11-25"};
constexpr std::array<std::string_view, 1> kRequestVersions{"2026-07-28"};

constexpr int kParseError = -32700, kInvalidRequest = -32600, kMethodNotFound = -32601,
              kInvalidParams = -32602, kInternalError = -32603, kUnsupportedVersion = -32022,
              kResourceNotFound = -32002;

// Ends a request with an error of JSON-RPC.
class RpcError : public std::runtime_error {
  public:
    RpcError(int code, const std::string& message, Json data = nullptr)
        : std::runtime_error(message), code_(code), data_(std::move(data)) {}
    [[nodiscard]] int code() const { return code_; }
    [[nodiscard]] const Json& data() const { return data_; }

  private:
    int code_;
    Json data_;
};

[[noreturn]] void refuse_params(const std::string& pointer, const std::string& why) {
    throw RpcError(kInvalidParams, pointer + ": " + why);
}

Json server_info() {
    return {{"name", "pentamesh"}, {"title", "Pentamesh"}, {"version", PENTAMESH_VERSION}};
}

constexpr std::string_view kInstructions =
    "Pentamesh says what a plan of a training run comes to: which layouts of tp, cp, pp, ep and data "
    "parallelism are possible, what each GPU holds, how long a step takes and why. A plan is the id of a "
    "preset (resource pentamesh://presets), a file, or an object by the schema pentamesh://schema/plan. "
    "`evaluate` answers for an impossible plan too: its problems say what to change.";

// ---- tools: a command of `serve` each --------------------------------------------------------------------

enum class ArgumentKind : std::uint8_t {
    plan,    // the command's PLAN
    plans,   // several of them
    sets,    // --set, as an object
    words,   // an option that may be repeated
    points,  // --points, as a list of objects
    keys,    // the keys of the answer that are kept
    format,  // how the picture is written
    text,
    number,
    whole
};

struct McpArgument {
    std::string_view name;  // with two dashes before it, the command's option
    ArgumentKind kind;
    bool required = false;
    std::string_view help{};  // empty: that of the option
};

constexpr std::string_view kPlanHelp =
    "a plan: the id of a preset, a plan file or a config.json on this machine, or an object by the schema "
    "pentamesh://schema/plan";
constexpr McpArgument kSet{"set", ArgumentKind::sets, false,
                           "fields that are changed first, as {\"layout.tp\": 4, \"zero\": 1}"};

constexpr std::array kEvaluateArguments{
    McpArgument{"plan", ArgumentKind::plan, true}, kSet,
    McpArgument{"keys", ArgumentKind::keys, false,
                "the keys of the answer that are wanted, as [\"memory\", \"step\"]; valid and problems are "
                "always there. All where it is left out: tens of kilobytes"}};
constexpr std::array kSearchArguments{
    McpArgument{"plan", ArgumentKind::plan},   kSet,
    McpArgument{"model", ArgumentKind::text},  McpArgument{"cluster", ArgumentKind::text},
    McpArgument{"gpus", ArgumentKind::whole},  McpArgument{"vary", ArgumentKind::words},
    McpArgument{"hold", ArgumentKind::words},  McpArgument{"for", ArgumentKind::text},
    McpArgument{"goal", ArgumentKind::text},   McpArgument{"then", ArgumentKind::text},
    McpArgument{"within", ArgumentKind::text}, McpArgument{"headroom", ArgumentKind::text},
    McpArgument{"top", ArgumentKind::whole}};
constexpr std::array kCompareArguments{
    McpArgument{"plans", ArgumentKind::plans, true, "two plans or more; the first is the base"}};
constexpr std::array kSweepArguments{
    McpArgument{"plan", ArgumentKind::plan, true}, kSet, McpArgument{"vary", ArgumentKind::words},
    McpArgument{"points", ArgumentKind::points, false,
                "the variants, in the place of vary: a list of objects such as {\"layout.tp\": 4}"}};
constexpr std::array kPictureArguments{
    McpArgument{"plan", ArgumentKind::plan, true},
    kSet,
    McpArgument{"view", ArgumentKind::text},
    McpArgument{"page", ArgumentKind::text},
    McpArgument{"size", ArgumentKind::text},
    McpArgument{"theme", ArgumentKind::text},
    McpArgument{"text", ArgumentKind::number},
    McpArgument{"rank", ArgumentKind::whole},
    McpArgument{"axis", ArgumentKind::text},
    McpArgument{"color", ArgumentKind::text},
    McpArgument{"select", ArgumentKind::text},
    McpArgument{"format", ArgumentKind::format, false, "png where it is left out; svg: a text"}};

struct McpTool {
    std::string_view name, title, command, description;
    std::span<const McpArgument> arguments;
};
constexpr std::array kMcpTools{
    McpTool{"evaluate", "Evaluate a plan", "report",
            "Says all of one plan: whether it can be laid out and what would mend it, groups of ranks, bytes "
            "of each GPU, collectives, the timeline, the parts of a step, where each figure comes from.",
            kEvaluateArguments},
    McpTool{
        "search", "Search layouts", "search",
        "Finds the best layouts of a model on a cluster, and why others are left out. It takes a plan, or "
        "model, cluster and gpus.",
        kSearchArguments},
    McpTool{"compare", "Compare plans", "compare",
            "Sets plans side by side: the fields and figures that differ, and why a step is longer.",
            kCompareArguments},
    McpTool{"sweep", "Sweep variants of a plan", "sweep",
            "Evaluates many variants of a plan, a row each: step, tokens a second, MFU, memory, whether it "
            "fits, why it is impossible.",
            kSweepArguments},
    McpTool{"picture", "Draw a plan", "screenshot",
            "Draws one view of a plan: mesh, shards, memory, timeline, comm, step, layer, or the dashboard.",
            kPictureArguments}};

const OptionInfo* option_named(const CommandInfo& command, std::string_view name) {
    for (const OptionInfo& o : command.options)
        if (std::find(o.names.begin(), o.names.end(), "--" + std::string(name)) != o.names.end()) return &o;
    return nullptr;
}

Json schema_of(const McpArgument& a, const OptionInfo* option) {
    static const Json kText{{"type", "string"}};
    static const Json kPlan{{"type", Json::array({"string", "object"})}};
    Json out;
    switch (a.kind) {
    case ArgumentKind::plan: out = kPlan; break;
    case ArgumentKind::plans: out = {{"type", "array"}, {"items", kPlan}, {"minItems", 2}}; break;
    case ArgumentKind::sets: out = {{"type", "object"}}; break;
    case ArgumentKind::words:
    case ArgumentKind::keys: out = {{"type", "array"}, {"items", kText}}; break;
    case ArgumentKind::points: out = {{"type", "array"}, {"items", {{"type", "object"}}}}; break;
    case ArgumentKind::number: out = {{"type", "number"}}; break;
    case ArgumentKind::whole: out = {{"type", "integer"}}; break;
    case ArgumentKind::format:
        out = {{"type", "string"}, {"enum", {"png", "svg"}}, {"default", "png"}};
        break;
    case ArgumentKind::text: out = kText; break;
    }
    if (option && !option->values.empty()) out["enum"] = option->values;
    out["description"] = !a.help.empty()                ? std::string(a.help)
                         : a.kind == ArgumentKind::plan ? std::string(kPlanHelp)
                         : option                       ? option->help
                                                        : "";
    return out;
}

// Returns the tools as the protocol lists them; what they take is that of their commands' options.
Json list_tools() {
    const std::vector<CommandInfo> all = describe_commands();
    Json out = Json::array();
    for (const McpTool& tool : kMcpTools) {
        const auto command = std::find_if(all.begin(), all.end(),
                                          [&](const CommandInfo& c) { return c.name == tool.command; });
        if (command == all.end()) continue;
        Json properties = Json::object(), required = Json::array();
        for (const McpArgument& a : tool.arguments) {
            properties[std::string(a.name)] = schema_of(a, option_named(*command, a.name));
            if (a.required) required.push_back(a.name);
        }
        Json input{{"type", "object"}, {"properties", std::move(properties)}};
        if (!required.empty()) input["required"] = std::move(required);
        input["additionalProperties"] = false;
        out.push_back({{"name", tool.name},
                       {"title", tool.title},
                       {"description", tool.description},
                       {"inputSchema", std::move(input)},
                       {"annotations", {{"readOnlyHint", true}, {"openWorldHint", false}}}});
    }
    return out;
}

// ---- a call of a tool ------------------------------------------------------------------------------------

struct ToolCall {
    std::vector<std::string> words, options, keys;
    std::string input, format = "png";
};

void need(bool fits, const std::string& at, const nlohmann::json& value, const char* must) {
    if (!fits) refuse_params(at, "found " + shown_json(value) + ", must be " + must);
}

// Returns PLAN as a word of the command line. A text is a name, never an option or standard input.
std::string plan_word(const nlohmann::json& value, const std::string& at) {
    need(value.is_object() || value.is_string(), at, value, "a plan as an object, or the name of one");
    if (value.is_object()) return value.dump();
    std::string name = value.get<std::string>();
    need(!name.empty() && name.front() != '-', at, value, "the id of a preset or a file");
    return name;
}

// Returns an option as one word, so that no value is taken for another option.
std::string option_word(std::string_view name, const std::string& value) {
    return "--" + std::string(name) + "=" + value;
}

void add_argument(const McpArgument& a, const nlohmann::json& value, ToolCall& call) {
    const std::string at = "/arguments/" + std::string(a.name);
    switch (a.kind) {
    case ArgumentKind::plan: call.words.push_back(plan_word(value, at)); break;
    case ArgumentKind::plans:
        need(value.is_array() && value.size() >= 2, at, value, "a list of two plans or more");
        for (std::size_t i = 0; i < value.size(); ++i)
            call.words.push_back(plan_word(value[i], at + "/" + std::to_string(i)));
        break;
    case ArgumentKind::sets:
        need(value.is_object(), at, value, "an object of fields, as {\"layout.tp\": 4}");
        for (const auto& [field, to] : value.items())
            call.options.push_back(
                option_word(a.name, field + "=" + (to.is_string() ? to.get<std::string>() : to.dump())));
        break;
    case ArgumentKind::words:
    case ArgumentKind::keys:
        need(value.is_array(), at, value, "a list of texts");
        for (std::size_t i = 0; i < value.size(); ++i) {
            need(value[i].is_string(), at + "/" + std::to_string(i), value[i], "a text");
            if (a.kind == ArgumentKind::keys)
                call.keys.push_back(value[i].get<std::string>());
            else
                call.options.push_back(option_word(a.name, value[i].get<std::string>()));
        }
        break;
    case ArgumentKind::points:
        need(value.is_array(), at, value, "a list of objects");
        call.options.push_back(option_word(a.name, "-"));
        call.input = value.dump();
        break;
    case ArgumentKind::number:
    case ArgumentKind::whole:
        need(a.kind == ArgumentKind::whole ? value.is_number_integer() : value.is_number(), at, value,
             a.kind == ArgumentKind::whole ? "a whole number" : "a number");
        call.options.push_back(option_word(a.name, value.dump()));
        break;
    case ArgumentKind::text:
        need(value.is_string(), at, value, "a text");
        call.options.push_back(option_word(a.name, value.get<std::string>()));
        break;
    case ArgumentKind::format:
        need(value == "png" || value == "svg", at, value, "\"png\" or \"svg\"");
        call.format = value.get<std::string>();
        break;
    }
}

ToolCall read_call(const McpTool& tool, const nlohmann::json& arguments) {
    if (!arguments.is_object())
        refuse_params("/arguments", "found " + shown_json(arguments) + ", must be an object");
    ToolCall call;
    for (const auto& [key, value] : arguments.items())
        if (std::none_of(tool.arguments.begin(), tool.arguments.end(),
                         [&name = key](const McpArgument& a) { return a.name == name; }))
            refuse_params("/arguments/" + escape_token(shown_text(key)),
                          std::string(tool.name) + " has no such argument; it has "
                              + join(tool.arguments, ", ", [](const McpArgument& a) { return a.name; }));
    for (const McpArgument& a : tool.arguments) {
        const auto found = arguments.find(std::string(a.name));
        if (found != arguments.end())
            add_argument(a, *found, call);
        else if (a.required)
            refuse_params("/arguments/" + std::string(a.name), "is missing");
    }
    call.words.insert(call.words.begin(), std::string(tool.command));
    call.words.insert(call.words.end(), call.options.begin(), call.options.end());
    return call;
}

Json text_content(const std::string& text) {
    return {{"type", "text"}, {"text", as_utf8(text)}};
}

// Keeps some keys of an answer, with those that say whether it is one. Returns why not: an unknown key.
std::string keep_keys(Json& result, const std::vector<std::string>& keys) {
    if (keys.empty() || !result.is_object()) return "";
    Json kept = Json::object();
    for (const auto& [key, value] : result.items())
        if (key == "valid" || key == "problems" || std::find(keys.begin(), keys.end(), key) != keys.end())
            kept[key] = value;
    std::vector<std::string> all;
    for (const auto& [key, value] : result.items()) all.push_back(key);
    for (const std::string& key : keys)
        if (!result.contains(key))
            return "the answer has no key \"" + shown_text(key) + "\"; it has " + join(all, ", ");
    result = std::move(kept);
    return "";
}

// Puts a result together out of the command's words and its JSON.
Json tool_result(const Ran& ran, const std::vector<std::string>& keys) {
    Json content = Json::array();
    std::optional<Json> structured;
    bool failed = ran.status != 0;
    std::string messages = join(ran.messages, "\n");
    if (ran.json) {
        structured = Json::parse(ran.result);
        if (const std::string why = keep_keys(*structured, keys); !why.empty() && !failed)
            structured.reset(), failed = true, messages = why;
    }
    if (failed && messages.empty()) messages = "it did not do what was asked";
    if (!messages.empty()) content.push_back(text_content(messages));
    if (structured)
        content.push_back(text_content(structured->dump(-1, ' ', false, Json::error_handler_t::replace)));
    else if (!ran.json && !ran.result.empty())
        content.push_back(text_content(ran.result));
    Json out{{"content", std::move(content)}, {"isError", failed}};
    if (structured && structured->is_object()) out["structuredContent"] = std::move(*structured);
    return out;
}

// Makes a folder of its own for the files of one call, and takes it away with them.
class ScratchFolder {
  public:
    ScratchFolder() {
        const std::filesystem::path where = std::filesystem::temp_directory_path();
        std::random_device random;
        for (int i = 0; i < 100; ++i) {
            path_ = where / ("pentamesh-" + std::to_string(random()));
            if (std::filesystem::create_directory(path_)) {
                std::filesystem::permissions(path_, std::filesystem::perms::owner_all);
                return;
            }
        }
        throw Error(ErrorKind::io, where.string(), "", "no folder can be made in it");
    }
    ~ScratchFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

// Draws into a file that is read and taken away. An impossible plan is drawn all the same.
Json picture_result(Context& context, ToolCall call) {
    const ScratchFolder folder;
    const std::filesystem::path file = folder.path() / ("plan." + call.format);
    call.words.push_back("--output=" + file.string());
    const Ran ran = run_request(context, call.words, "");
    Json out = tool_result(ran, {});
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored)) return out;
    const std::string drawn = read_file(file);
    if (call.format == "png")
        out["content"].push_back({{"type", "image"}, {"data", base64(drawn)}, {"mimeType", "image/png"}});
    else
        out["content"].push_back(
            {{"type", "resource"},
             {"resource",
              {{"uri", "pentamesh://picture"}, {"mimeType", "image/svg+xml"}, {"text", as_utf8(drawn)}}}});
    return out;
}

Json call_tool(Context& context, const nlohmann::json& params) {
    const auto name = params.find("name");
    if (name == params.end() || !name->is_string()) refuse_params("/name", "must be the name of a tool");
    const auto& wanted = name->get_ref<const std::string&>();
    const auto* const tool =
        std::find_if(kMcpTools.begin(), kMcpTools.end(), [&](const McpTool& t) { return t.name == wanted; });
    if (tool == kMcpTools.end())
        refuse_params("/name", "there is no tool " + shown_json(*name) + "; there are "
                                   + join(kMcpTools, ", ", [](const McpTool& t) { return t.name; }));
    ToolCall call = read_call(*tool, params.value("arguments", nlohmann::json::object()));
    if (tool->command == "screenshot") return picture_result(context, std::move(call));
    call.words.emplace_back("--json");
    return tool_result(run_request(context, call.words, call.input), call.keys);
}

// ---- resources: the schema of a plan, and presets --------------------------------------------------------

constexpr std::string_view kSchemaUri = "pentamesh://schema/plan", kPresetsUri = "pentamesh://presets",
                           kJsonType = "application/json";

std::string uri_of(std::string_view list, const std::string& id) {
    return std::string(kPresetsUri) + "/" + std::string(list) + "/" + id;
}

Json list_resources(const Context& context) {
    Json out = Json::array();
    out.push_back({{"uri", kSchemaUri},
                   {"name", "plan.schema.json"},
                   {"title", "Schema of a plan"},
                   {"description", "JSON Schema of a plan: every field, its range and its words"},
                   {"mimeType", "application/schema+json"}});
    out.push_back({{"uri", kPresetsUri},
                   {"name", "presets.json"},
                   {"title", "Presets"},
                   {"description", "ids, names and sources of all models, GPUs, clusters and plans"},
                   {"mimeType", kJsonType}});
    for (const auto& [list, kind] : kPresetLists)
        for (const Presets::Entry& e : context.presets.list(kind))
            if (e.broken.empty())
                out.push_back({{"uri", uri_of(list, e.id)},
                               {"name", e.id},
                               {"title", as_utf8(e.name)},
                               {"mimeType", kJsonType}});
    return out;
}

Json resource_templates() {
    return Json::array({{{"uriTemplate", std::string(kPresetsUri) + "/{list}/{id}"},
                         {"name", "preset"},
                         {"title", "A preset"},
                         {"description", "a model, GPU, cluster or plan by its id"},
                         {"mimeType", kJsonType}}});
}

// Returns the text of a resource; nothing where no resource has that name.
std::optional<std::string> resource_text(Context& context, const std::string& uri) {
    const auto written = [&](const std::vector<std::string>& words) {
        const Ran ran = run_request(context, words, "");
        if (ran.status != 0) throw RpcError(kInternalError, join(ran.messages, "\n"));
        return ran.result;
    };
    if (uri == kSchemaUri) return written({"schema", "plan"});
    if (uri == kPresetsUri) return written({"presets", "--json"});
    for (const auto& [list, kind] : kPresetLists)
        for (const Presets::Entry& e : context.presets.list(kind))
            if (e.broken.empty() && uri_of(list, e.id) == uri) return as_utf8(read_file(e.file));
    return std::nullopt;
}

// ---- requests --------------------------------------------------------------------------------------------

struct RpcRequest {
    Json id;  // null: a notification
    std::string method;
    nlohmann::json params = nlohmann::json::object();
    bool by_request = false;  // it names its version itself: 2026-07-28 and later
};

Json read_resource(Context& context, const RpcRequest& request) {
    const auto found = request.params.find("uri");
    if (found == request.params.end() || !found->is_string())
        refuse_params("/uri", "must be the URI of a resource");
    const auto uri = found->get<std::string>();
    const std::optional<std::string> text = resource_text(context, uri);
    if (!text)
        throw RpcError(request.by_request ? kInvalidParams : kResourceNotFound,
                       "there is no resource " + shown_text(uri) + "; resources/list has them",
                       {{"uri", as_utf8(uri)}});
    const std::string_view type = uri == kSchemaUri ? "application/schema+json" : kJsonType;
    return {{"contents", {{{"uri", uri}, {"mimeType", type}, {"text", *text}}}}};
}

Json versions() {
    Json out = Json::array();
    for (const auto v : kRequestVersions) out.push_back(v);
    std::for_each(kHandshakeVersions.rbegin(), kHandshakeVersions.rend(),
                  [&](const auto v) { out.push_back(v); });
    return out;
}

Json capabilities() {
    return {{"tools", Json::object()}, {"resources", Json::object()}};
}

// Agrees on the version that is asked for, else on the latest one before it, else on the latest.
Json initialize(const nlohmann::json& params) {
    const auto asked = params.find("protocolVersion");
    if (asked == params.end() || !asked->is_string()) refuse_params("/protocolVersion", "must be a text");
    const auto wanted = asked->get<std::string>();
    std::string_view agreed = kHandshakeVersions.back();
    for (const std::string_view v : kHandshakeVersions)
        if (v <= wanted) agreed = v;
    return {{"protocolVersion", agreed},
            {"capabilities", capabilities()},
            {"serverInfo", server_info()},
            {"instructions", kInstructions}};
}

// Lists come in one page, so no cursor is one of ours.
void refuse_cursor(const nlohmann::json& params) {
    if (const auto at = params.find("cursor"); at != params.end())
        refuse_params("/cursor", "found " + shown_json(*at) + "; a list has one page");
}

struct Method {
    std::string_view name;
    Json (*answer)(Context&, const RpcRequest&);
    bool handshake = true, by_request = true;  // in which versions there is such a method
    bool kept = false;                         // its result says how long it may be kept
};

Json listed(const char* key, Json all, const RpcRequest& request) {
    refuse_cursor(request.params);
    return {{key, std::move(all)}};
}

constexpr std::array<Method, 8> kMethods{{
    {"initialize", [](Context&, const RpcRequest& r) { return initialize(r.params); }, true, false},
    {"ping", [](Context&, const RpcRequest&) { return Json::object(); }, true, false},
    {"server/discover",
     [](Context&, const RpcRequest&) {
         return Json{{"supportedVersions", versions()},
                     {"capabilities", capabilities()},
                     {"instructions", kInstructions}};
     },
     false, true, true},
    {"tools/list", [](Context&, const RpcRequest& r) { return listed("tools", list_tools(), r); }, true, true,
     true},
    {"tools/call", [](Context& c, const RpcRequest& r) { return call_tool(c, r.params); }},
    {"resources/list",
     [](Context& c, const RpcRequest& r) { return listed("resources", list_resources(c), r); }, true, true,
     true},
    {"resources/templates/list",
     [](Context&, const RpcRequest& r) { return listed("resourceTemplates", resource_templates(), r); }, true,
     true, true},
    {"resources/read", [](Context& c, const RpcRequest& r) { return read_resource(c, r); }, true, true, true},
}};

constexpr std::string_view kVersionKey = "io.modelcontextprotocol/protocolVersion",
                           kCapabilitiesKey = "io.modelcontextprotocol/clientCapabilities",
                           kServerKey = "io.modelcontextprotocol/serverInfo";
constexpr int kKeptMs = 60000;  // own presets change while the server runs

// Reads the version that a request names itself.
void read_meta(RpcRequest& request) {
    const auto meta = request.params.find("_meta");
    if (meta == request.params.end()) return;
    if (!meta->is_object()) refuse_params("/_meta", "must be an object");
    const auto version = meta->find(std::string(kVersionKey));
    if (version == meta->end()) return;
    if (!version->is_string()) refuse_params("/_meta", std::string(kVersionKey) + " must be a text");
    request.by_request = true;
    if (std::find(kRequestVersions.begin(), kRequestVersions.end(), version->get<std::string>())
        == kRequestVersions.end())
        throw RpcError(kUnsupportedVersion, "this version of the protocol is not spoken",
                       {{"supported", versions()}, {"requested", as_utf8(version->get<std::string>())}});
    const auto can = meta->find(std::string(kCapabilitiesKey));
    if (can == meta->end() || !can->is_object())
        refuse_params("/_meta", std::string(kCapabilitiesKey) + " must be an object");
}

Json result_of(Context& context, RpcRequest& request) {
    read_meta(request);
    const auto* const method = std::find_if(kMethods.begin(), kMethods.end(), [&](const Method& m) {
        return m.name == request.method && (request.by_request ? m.by_request : m.handshake);
    });
    if (method == kMethods.end())
        throw RpcError(kMethodNotFound, "there is no method " + shown_text(request.method));
    Json out = method->answer(context, request);
    if (!request.by_request) return out;
    out["resultType"] = "complete";
    if (method->kept) out["ttlMs"] = kKeptMs, out["cacheScope"] = "private";
    out["_meta"][std::string(kServerKey)] = server_info();
    return out;
}

// Returns a request; nothing for an answer or a notification, which get none.
std::optional<RpcRequest> read_message(const nlohmann::json& message, Json& id) {
    if (!message.is_object())
        throw RpcError(kInvalidRequest, "found " + shown_json(message) + ", a message must be an object");
    const auto given = message.find("id");
    if (given != message.end()) {
        if (!given->is_string() && !given->is_number_integer())
            throw RpcError(kInvalidRequest, "/id: must be a text or a whole number");
        id = *given;
    }
    const auto version = message.find("jsonrpc");
    if (version == message.end() || *version != "2.0")
        throw RpcError(kInvalidRequest, "/jsonrpc: must be \"2.0\"");
    const auto method = message.find("method");
    if (method == message.end() && (message.contains("result") || message.contains("error")))
        return std::nullopt;
    if (method == message.end() || !method->is_string())
        throw RpcError(kInvalidRequest, "/method: must be the name of a method");
    if (given == message.end()) return std::nullopt;
    RpcRequest out{id, method->get<std::string>()};
    if (const auto params = message.find("params"); params != message.end()) {
        if (!params->is_object()) refuse_params("/params", "must be an object");
        out.params = *params;
    }
    return out;
}

std::string message_line(const Json& message) {
    return message.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string error_line(const Json& id, int code, const std::string& message, const Json& data = nullptr) {
    Json out{{"jsonrpc", "2.0"}};
    if (!id.is_null()) out["id"] = id;  // it could not be read: schema/2025-11-25, JSONRPCErrorResponse
    out["error"] = {{"code", code}, {"message", as_utf8(message)}};
    if (!data.is_null()) out["error"]["data"] = data;
    return message_line(out);
}

// Returns the answer to a line; nothing where it gets none.
std::string answer_message(Context& context, const Line& line) {
    Json id;
    try {
        if (line.too_long)
            throw RpcError(kInvalidRequest,
                           sentence("a message has at most ", bytes_text(kMostRequestBytes)));
        std::optional<nlohmann::json> message;
        try {
            message = parse_json(line.text, "");
        } catch (const Error& e) {
            throw RpcError(kParseError, e.what());
        }
        std::optional<RpcRequest> request = read_message(*message, id);
        if (!request) return "";
        return message_line({{"jsonrpc", "2.0"}, {"id", id}, {"result", result_of(context, *request)}});
    } catch (const RpcError& e) {
        return error_line(id, e.code(), e.what(), e.data());
    } catch (const std::bad_alloc&) {
        return error_line(id, kInternalError, "there is not enough memory for this");
    } catch (const std::exception& e) {
        return error_line(id, kInternalError, e.what());
    }
}

int serve_mcp(Context& context) {
    std::streambuf& in = *std::cin.rdbuf();
    while (const std::optional<Line> line = read_line(in)) {
        if (line->blank) continue;
        const std::string answer = answer_message(context, *line);
        if (!answer.empty() && !print_json(answer)) break;  // nobody reads any more
    }
    return 0;
}

}  // namespace

void add_mcp(Options& app, Context& context) {
    app.callback([&context] { context.run = [&context] { return serve_mcp(context); }; });
}

}  // namespace pentamesh::cli
