#include "app/cli/output.h"

#include "app/cli/streams.h"
#include "app/platform/platform.h"
#include "core/base/nearest.h"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>

namespace pentamesh::cli {
namespace {

constexpr double kFirst = 0.5, kEach = 0.2;  // seconds until it is said first, and between two

double now_s() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

void add_form_flags(Options& app, Context& context, Forms& forms) {
    const Option json = app.add_flag("--json", context.json, "write JSON");
    const Option csv = app.add_flag("--csv", forms.csv, "write CSV").excludes(json);
    app.add_flag("--markdown", forms.markdown, "write Markdown").excludes(json).excludes(csv);
}

void add_forms(Options& app, Context& context, Forms& forms) {
    add_form_flags(app, context, forms);
    add_output_file(app, context);
}

void add_output_file(Options& app, Context& context) {
    app.add_option("-o,--output", context.output, "write to this file").type_name("FILE");
}

void print_document(const Forms& forms, const Document& document) {
    print(forms.markdown ? to_markdown(document) : to_text(document, output_width()));
}

void print_csv(const Table& table) {
    print(write_table(table, TableFormat::csv));
}

void print_csv(const nlohmann::ordered_json& value) {
    Table flat{{{"place"}, {"value"}}, {}};
    const auto add = [&flat](const auto& self, const std::string& place,
                             const nlohmann::ordered_json& v) -> void {
        if (!v.is_structured()) {
            flat.rows.push_back({place, v.is_string() ? v.get<std::string>() : v.is_null() ? "" : v.dump()});
            return;
        }
        std::size_t i = 0;
        for (const auto& item : v.items()) {
            const std::string key = v.is_array() ? std::to_string(i++) : item.key();
            self(self, place + "/" + key, item.value());
        }
    };
    add(add, "", value);
    print_csv(flat);
}

Progress::Progress()
    : shown_(!has_own_streams() && is_terminal(StandardStream::error)), next_s_(now_s() + kFirst) {}

Progress::~Progress() {
    if (said_) std::cerr << "\r\x1b[K" << std::flush;
}

bool Progress::due() {
    const double now = now_s();
    if (now < next_s_) return false;
    next_s_ = now + kEach;
    return true;
}

void Progress::say(const std::string& words) {
    std::string line = printable(words);  // of one line: the next one takes its place
    std::replace(line.begin(), line.end(), '\n', ' ');
    std::cerr << "\r\x1b[K" << line << std::flush;
    said_ = true;
}

}  // namespace pentamesh::cli
