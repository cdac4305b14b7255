// A lesson as slides in a PDF.
#include "app/ui/review/paper.h"
#include "app/ui/review/sheet.h"
#include "app/ui/shell/lesson_sheet.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "render/page.h"

#include <algorithm>
#include <string>
#include <vector>

namespace pentamesh::ui {

namespace {

constexpr float kIndent = 18, kLeastBody = 14, kNarrowBody = 18;
constexpr Vec2 kSlide{1024, 576};     // type and pictures as large as a room asks for
constexpr float kWordsShare = 0.31f;  // of a slide's width are words, the rest their picture
// Tables have type of 12 px. Next to words it is 9.6 px: 3 mm on A4, 15 mm on a wall of 1.6 m. A picture that
// has no room for all of it at this scale has a page of its own.
constexpr float kBesideScale = 0.8f;

// Returns words without marks of bold and code, for words that are bold as a whole.
std::string unmarked(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '`')
            continue;
        else if (text.substr(i).starts_with("**"))
            ++i;
        else
            out += text[i];
    }
    return out;
}

// Returns the paragraphs of a text. One goes over several lines of it; a blank line or a bullet ends it.
std::vector<std::string> paragraphs_of(std::string_view text) {
    std::vector<std::string> out(1);
    for (const std::string_view line : split_lines(text)) {
        if ((line.empty() || line.starts_with("- ")) && !out.back().empty()) out.emplace_back();
        if (!line.empty()) out.back() += (out.back().empty() ? "" : " ") + std::string(line);
    }
    if (out.back().empty()) out.pop_back();
    return out;
}

// A word as it is set; `apart`: a space before it.
struct Word {
    std::string text;
    Face face = Face::regular;
    bool apart = false;
};
std::vector<Word> words_of(std::string_view paragraph) {
    std::vector<Word> out(1);
    Face face = Face::regular;
    const auto next = [&](bool apart) {
        if (out.back().text.empty())
            out.back() = {"", face, out.back().apart || apart};
        else
            out.push_back({"", face, apart});
    };
    for (std::size_t i = 0; i < paragraph.size(); ++i) {
        if (paragraph[i] == ' ') {
            next(true);
        } else if (paragraph[i] == '`' || paragraph.substr(i).starts_with("**")) {
            const Face mark = paragraph[i] == '`' ? Face::mono : Face::semibold;
            i += mark == Face::mono ? 0 : 1;
            face = face == mark ? Face::regular : mark;
            next(false);
        } else {
            out.back().text += paragraph[i];
        }
    }
    return out;
}

Paper slide_paper() {
    Paper paper = slide_of(kSlide);
    paper.margin = 36;
    paper.body = 20;
    paper.small = 14;
    return paper;
}

class Booklet {
  public:
    Booklet(const Lesson& lesson, const Plan& base, const Presets& presets, const FontFiles& fonts)
        : lesson_(lesson), base_(base), presets_(presets), fonts_(fonts), paper_(slide_paper()),
          page_(PageFormat::pdf, kSlide, fonts, lesson.title, ""),
          sheet_({[this](const std::string&) { return turn(); }, 0}, paper_, theme_of(ThemeId::light),
                 lesson.title, lesson.title, "") {}

    std::string make() {
        sheet_.begin(lesson_.title);
        sheet_.words(lesson_.summary);
        sheet_.gap();
        const float most = paper_.body;
        const auto parts = std::count_if(lesson_.steps.begin(), lesson_.steps.end(),
                                         [](const auto& s) { return !s.part.empty(); });
        while (paper_.body > kLeastBody && static_cast<float>(parts) * paper_.line() > sheet_.left())
            paper_.body -= 0.5f;
        for (const LessonStep& step : lesson_.steps)
            if (!step.part.empty()) sheet_.words(step.part, sheet_.strong());
        paper_.body = most;
        for (std::size_t i = 0; i < lesson_.steps.size(); ++i) put_step(i);
        put_answers();
        return page_.finish();
    }

  private:
    const Lesson& lesson_;
    const Plan& base_;
    const Presets& presets_;
    const FontFiles& fonts_;
    Paper paper_;
    Page page_;
    ReviewSheet sheet_;
    bool begun_ = false;

    Canvas turn() {
        if (begun_) page_.next();
        begun_ = true;
        return Canvas(nullptr, 1, &page_);
    }
    void put_picture(const Plan& plan, PictureRequest request) {
        sheet_.begin_bare();
        request.onto = &page_;
        static_cast<void>(make_picture(presets_, plan, request, "pdf", fonts_));
        // In the corner, right of what a whole window has in its last row.
        sheet_.canvas().text_in({0, kSlide.y - 13, kSlide.x - 2, 12}, std::to_string(sheet_.page()),
                                {Face::regular, 9, sheet_.theme().secondary, 0}, Align::right);
    }
    // Draws the picture next to the words; returns false where there is no room for all of it.
    bool put_picture_in(Rect room, const StepSheet& s) {
        PictureRequest request = picture_request_of(s, true);
        if (request.view == kDashboardName) return false;
        bool fits = false;
        request.title = false;
        request.onto = &page_;
        request.fits = &fits;
        request.size = Vec2{room.w, room.h} * (1 / kBesideScale);
        page_.begin_inset(room.min(), kBesideScale);
        static_cast<void>(make_picture(presets_, s.plan, request, "pdf", fonts_));
        page_.end_inset();
        return fits;
    }
    // Puts words with bold and `code`, each paragraph in one piece. Returns the height; draws only if `draw`.
    float put_words(std::string_view marked, float indent = 0, bool draw = true) {
        float used = 0;
        for (const std::string& paragraph : paragraphs_of(marked)) {
            const bool bullet = paragraph.starts_with("- ");
            const float left = indent + (bullet ? kIndent : 0);
            const std::vector<Word> words = words_of(std::string_view(paragraph).substr(bullet ? 2 : 0));
            const float height = lay_words(words, {0, 0, sheet_.width() - left, 0}, false);
            used += height + 0.4f * paper_.line();
            if (!draw) continue;
            const Rect box = sheet_.take(height);
            if (bullet) sheet_.canvas().text({box.x + indent, box.y}, "•", sheet_.plain());
            lay_words(words, {box.x + left, box.y, box.w - left, box.h}, true);
            sheet_.gap(0.35f);
        }
        return used;
    }
    // Returns the height used.
    float lay_words(const std::vector<Word>& words, Rect box, bool draw) {
        Canvas& c = sheet_.canvas();
        const float space = c.text_width(" ", sheet_.plain());
        Vec2 at = box.min();
        const auto style_of = [&](const Word& word) {
            TextStyle style = sheet_.plain();
            style.face = word.face;
            if (word.face == Face::mono) style.size -= 1;
            return style;
        };
        const auto width = [&](const Word& word) { return c.text_width(word.text, style_of(word)); };
        for (auto word = words.begin(); word != words.end(); ++word) {
            float w = width(*word);
            const float advance = w;
            if (word->apart || word == words.begin()) {  // a full stop stays at its bold word
                for (auto next = word + 1; next != words.end() && !next->apart; ++next) w += width(*next);
                if (at.x > box.x) at.x += space;
                if (at.x > box.x && at.x + w > box.right()) at = {box.x, at.y + paper_.line()};
            }
            if (draw) c.text(at, word->text, style_of(*word));
            at.x += advance;
        }
        return at.y + paper_.line() - box.y;
    }
    struct Passage {
        std::string text;
        float indent = 0;
        bool strong = false;
    };
    [[nodiscard]] static std::vector<Passage> passages_of(const StepSheet& s) {
        std::vector<Passage> out{{s.asked}};
        if (!s.step.question && !s.step.task) return out;
        out.push_back({"**" + unmarked(s.prompt) + "**", 0, true});
        char letter = 'a';
        if (s.step.question)
            for (const std::string& choice : choices_of(s))
                out.push_back({std::string(1, letter++) + ")  " + choice, kIndent});
        if (s.step.question && !scale_of(s).empty()) out.push_back({scale_of(s)});
        if (s.step.task)
            for (const std::string& goal : goals_of(s)) out.push_back({"- " + goal, kIndent});
        return out;
    }
    [[nodiscard]] float height_of(const std::vector<Passage>& passages) {
        float h = 0;
        for (const Passage& p : passages)
            h += put_words(p.text, p.indent, false) + (p.strong ? paper_.line() : 0);
        return h;
    }
    // The type is as large as it can be with the step on one page: words on the left, their picture at the
    // right where both have room, else the picture on a page of its own.
    void put_step(std::size_t i) {
        const StepSheet s = sheet_of(lesson_, i, base_, presets_);
        const std::vector<Passage> passages = passages_of(s);
        sheet_.begin(std::to_string(i + 1) + ". " + s.step.title);
        const bool pictured = !s.step.scene.view.empty() && !picture_answers(s);
        const float most = paper_.body, scale = scale_height(s);
        const auto high = [&] { return height_of(passages) + scale; };
        bool beside = pictured;
        if (beside) {
            sheet_.narrow(kWordsShare);
            paper_.body = kNarrowBody;
            while (paper_.body > kLeastBody && high() > sheet_.left()) paper_.body -= 0.5f;
            beside = high() <= sheet_.left() && put_picture_in(sheet_.beside(), s);
            if (!beside) sheet_.narrow(1);
        }
        if (!beside) {
            paper_.body = most;
            while (paper_.body > kLeastBody && high() > sheet_.left()) paper_.body -= 0.5f;
        }
        for (const Passage& p : passages) {
            if (p.strong) sheet_.gap(0.4f);
            put_words(p.text, p.indent);
        }
        if (scale > 0)
            draw_scale(sheet_.canvas(), sheet_.take(scale), s, sheet_.faint(), sheet_.theme().secondary);
        paper_.body = most;
        if (pictured && !beside) put_picture(s.plan, picture_request_of(s, true));
    }
    void put_answers() {
        std::vector<std::size_t> pictured;  // a picture has a page of its own: they stand after the words
        bool any = false;
        for (std::size_t i = 0; i < lesson_.steps.size(); ++i) {
            const LessonStep& step = lesson_.steps[i];
            if (!step.question && !step.task) continue;
            const StepSheet s = sheet_of(lesson_, i, base_, presets_);
            if (!any) sheet_.begin("Answers");
            any = true;
            const std::string answer = step.task ? solution_of(s) : unmarked(lettered_answer_of(s));
            sheet_.need(paper_.line() * 3);
            sheet_.words("Step " + std::to_string(i + 1) + ": " + answer, sheet_.strong());
            const std::string& working = s.solution.answer.working;
            if (step.question && !working.empty() && s.why.find(working) == std::string::npos)
                sheet_.words(working, sheet_.faint());
            put_words(s.why);
            const bool answers = !step.scene.view.empty() && picture_answers(s);
            if (answers || (moves_pieces(s) && asked_picture_of(s, presets_))) {
                sheet_.words("Its picture stands behind the answers.", sheet_.faint());
                pictured.push_back(i);
            }
            sheet_.gap(0.4f);
        }
        for (const std::size_t i : pictured) {
            const StepSheet s = sheet_of(lesson_, i, base_, presets_);
            if (picture_answers(s))
                put_picture(s.plan, picture_request_of(s, false));
            else if (const auto asked = asked_picture_of(s, presets_))
                put_picture(asked->plan, asked_request_of(s));
        }
    }
};

}  // namespace

std::string lesson_pdf(const Lesson& lesson, const Plan& base, const Presets& presets,
                       const FontFiles& fonts) {
    if (!pages_available()) throw Error(ErrorKind::usage, "", "", "this build writes no PDF");
    return Booklet(lesson, base, presets, fonts).make();
}

}  // namespace pentamesh::ui
