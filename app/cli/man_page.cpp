#include "app/cli/complete.h"

namespace pentamesh::cli {
namespace {

// Returns a text as troff takes it: no line begins with a dot or a quote, dashes and backslashes are plain.
std::string roff(std::string_view text) {
    std::string out;
    bool begins = true;
    for (const char c : text) {
        if (begins && (c == '.' || c == '\'')) out += "\\&";
        if (c == '\\')
            out += "\\e";
        else if (c == '-')
            out += "\\-";
        else
            out += c;
        begins = c == '\n';
    }
    return out;
}

void add_option(std::string& out, const OptionInfo& o) {
    std::string names;
    for (const std::string& n : o.names) names += (names.empty() ? "\\fB" : ", \\fB") + roff(n) + "\\fR";
    const std::size_t values = o.type.find(":{");
    std::string type = roff(o.type.substr(values == std::string::npos ? 0 : values + 1));
    for (std::size_t at = type.find(','); at != std::string::npos; at = type.find(',', at + 1))
        type.insert(at + 1, "\\:");  // a long list of values may break here
    out += ".TP\n" + names + (o.type.empty() || o.positional ? "" : " \\fI" + type + "\\fR") + "\n"
           + roff(o.help) + (o.many && !o.help.ends_with("repeated") ? " (several)" : "") + "\n";
}

// Splits the footer into paragraphs that keep their lines.
void add_footer(std::string& out, const std::string& footer) {
    if (footer.empty()) return;
    out += ".PP\n.nf\n" + roff(footer) + "\n.fi\n";
}

void add_usage(std::string& out, const CommandInfo& c) {
    out += ".PP\n\\fBpentamesh " + roff(c.name) + "\\fR";
    bool options = false;
    for (const OptionInfo& o : c.options) options = options || !o.positional;
    if (options) out += " [options]";
    for (const OptionInfo& o : c.options) {
        if (!o.positional) continue;
        const std::string name = "\\fI" + roff(o.names.front()) + "\\fR" + (o.many ? " ..." : "");
        out += o.required ? " " + name : " [" + name + "]";
    }
    out += "\n";
}

}  // namespace

std::string man_page(const std::vector<CommandInfo>& all) {
    const CommandInfo& program = all.front();
    std::string out =
        ".\\\" Written by `pentamesh complete man`.\n.TH PENTAMESH 1 \"\" \"pentamesh " PENTAMESH_VERSION
        "\" \"User commands\"\n.ad l\n.SH NAME\npentamesh \\- lays a training run over a cluster, with live "
        "answers\n"
        ".SH SYNOPSIS\n\\fBpentamesh\\fR [\\fIPLAN\\fR]\n.br\n\\fBpentamesh\\fR \\fICOMMAND\\fR [options]\n"
        ".SH DESCRIPTION\n";
    out += roff(program.help) + "\n.SH OPTIONS\n";
    for (const OptionInfo& o : program.options) add_option(out, o);
    std::string group;
    for (std::size_t i = 1; i < all.size(); ++i) {
        const CommandInfo& c = all[i];
        if (c.group.empty()) continue;
        if (c.group != group) out += ".SH \"" + roff(c.group) + "\"\n";
        group = c.group;
        out += ".SS " + c.name + "\n" + roff(c.help) + ".\n";
        add_usage(out, c);
        for (const OptionInfo& o : c.options) add_option(out, o);
        add_footer(out, c.footer);
    }
    out += ".SH \"EXIT STATUS AND HELP\"\n";
    add_footer(out, program.footer);
    return out;
}

}  // namespace pentamesh::cli
