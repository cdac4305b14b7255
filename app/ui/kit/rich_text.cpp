#include "app/ui/kit/rich_text.h"

#include "core/base/text.h"
#include "render/line_break.h"

#include <vector>

namespace pentamesh::ui {

namespace {

struct Piece {
    std::string_view text;
    Face face = Face::regular;
};
using Word = std::vector<Piece>;  // pieces that no blank parts: "**bold**,"

struct Paragraph {
    bool bullet = false;
    std::vector<Word> words;
};

// Bold and code may hold blanks: the mark stays on over several words.
void add_words(std::string_view line, Face& face, Paragraph& out) {
    bool glued = false;
    while (!line.empty()) {
        if (line.front() == ' ') {
            line.remove_prefix(1);
            glued = false;
            continue;
        }
        if (line.starts_with("**") || line.front() == '`') {
            const Face mark = line.front() == '`' ? Face::mono : Face::semibold;
            face = face == mark ? Face::regular : mark;
            line.remove_prefix(mark == Face::mono ? 1 : 2);
            continue;
        }
        std::size_t end = 1;
        while (end < line.size() && (line[end] != ' ' || before_unit(line, end)) && line[end] != '`'
               && !line.substr(end).starts_with("**"))
            ++end;
        if (!glued || out.words.empty()) out.words.emplace_back();
        out.words.back().push_back({line.substr(0, end), face});
        glued = true;
        line.remove_prefix(end);
    }
}

std::vector<Paragraph> paragraphs(std::string_view text) {
    std::vector<Paragraph> out;
    bool open = false;
    Face face = Face::regular;
    for (std::string_view line : split_lines(text)) {
        const bool bullet = line.starts_with("- ");
        if (bullet) line.remove_prefix(2);
        if (line.find_first_not_of(' ') == std::string_view::npos) {
            open = false;
            continue;
        }
        if (!open || bullet) {
            out.push_back({bullet, {}});
            face = Face::regular;
        }
        open = true;
        add_words(line, face, out.back());
    }
    return out;
}

}  // namespace

float rich_text(Ui& ui, Rect box, std::string_view text, const RichStyle& style, bool draw) {
    Canvas& c = ui.canvas();
    const auto look = [&](Face face) {
        TextStyle s = ui.style(face == Face::mono ? style.size - 1 : style.size,
                               face == Face::semibold ? Tone::text : style.tone, face);
        return s;
    };
    const float blank = c.text_width("n n", look(Face::regular)) - 2 * c.text_width("n", look(Face::regular));
    float y = box.y;
    bool first = true, after_bullet = false;
    for (const Paragraph& p : paragraphs(text)) {
        if (!first) y += p.bullet && after_bullet ? style.gap / 2 : style.gap;
        first = false;
        after_bullet = p.bullet;
        const float indent = p.bullet ? style.size + 2 : 0;
        if (p.bullet && draw)
            c.circle({box.x + style.size * 0.4f, y + style.line / 2}, style.size * 0.15f,
                     ui.theme().secondary);
        float x = box.x + indent;
        for (const Word& word : p.words) {
            float w = 0;
            for (const Piece& piece : word) w += c.text_width(piece.text, look(piece.face));
            if (x > box.x + indent && x + w > box.right()) {
                x = box.x + indent;
                y += style.line;
            }
            for (const Piece& piece : word) {
                const TextStyle s = look(piece.face);
                const float used = c.text_width(piece.text, s);
                if (draw) c.text_in({x, y, used + 2, style.line}, piece.text, s);
                x += used;
            }
            x += blank;
        }
        y += style.line;
    }
    return y - box.y;
}

}  // namespace pentamesh::ui
