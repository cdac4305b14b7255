// Commands write what they found in the same forms: text, JSON, CSV, Markdown, to standard output or a file.
#pragma once

#include "app/cli/commands.h"
#include "app/cli/document.h"
#include "app/cli/json_of.h"
#include "app/cli/plan_argument.h"
#include "app/cli/streams.h"

#include <nlohmann/json.hpp>

namespace pentamesh::cli {

// Holds which form is asked for, other than text and JSON.
struct Forms {
    bool csv = false, markdown = false;
};
// --json, --csv, --markdown: one of them at most; and -o (run.cpp writes that file).
void add_forms(Options& app, Context& context, Forms& forms);
// The same without -o.
void add_form_flags(Options& app, Context& context, Forms& forms);
void add_output_file(Options& app, Context& context);

// Writes a document as text, as wide as the terminal, or as Markdown.
void print_document(const Forms& forms, const Document& document);
void print_csv(const Table& table);
// Writes a row for each figure: its place in the JSON, and its value.
void print_csv(const nlohmann::ordered_json& value);

// Writes the form that is asked for. The three are functions that make JSON, a table and a document: only the
// one that is written is made.
template <typename MakeJson, typename MakeTable, typename MakeDocument>
void print_form(const Context& context, const Forms& forms, const MakeJson& json, const MakeTable& table,
                const MakeDocument& document) {
    if (context.json)
        print_json(pretty(json()));
    else if (forms.csv)
        print_csv(table());
    else
        print_document(forms, document());
}
// Does the same with a plan's validity and problems in the JSON. Returns the exit status.
template <typename MakeJson, typename MakeTable, typename MakeDocument>
int print_form(const Context& context, const Forms& forms, const Evaluation& e, const MakeJson& json,
               const MakeTable& table, const MakeDocument& document) {
    const auto with_problems = [&] {
        Json out = json();
        add_validity(out, e);
        return out;
    };
    print_form(context, forms, with_problems, table, document);
    return status_of(e);
}

// Says on standard error how far something is, where that is a terminal and it takes more than half a second.
// The line is gone in the end.
class Progress {
  public:
    Progress();
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    [[nodiscard]] bool shown() const { return shown_; }
    // Calls for words only when it is time for them. Several threads may call it, one at a time.
    template <typename Words>
    void at(const Words& words) {
        if (shown_ && due()) say(words());
    }

  private:
    bool due();
    void say(const std::string& words);
    bool shown_, said_ = false;
    double next_s_ = 0;
};

}  // namespace pentamesh::cli
