// A lesson as slides in a PDF.
#include "app/ui/review/paper.h"
#include "app/ui/review/sheet.h"
#include "app/ui/shell/lesson_handout.h"
#include "app/ui/shell/lesson_sheet.h"
#include "core/base/error.h"
#include "render/page.h"

#include <optional>

namespace pentamesh::ui {

namespace {

constexpr Vec2 kSlide{1280, 720};

// Words for print: a bullet for "- ", no marks of bold and code.
std::string unmarked(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool line_begins = i == 0 || text[i - 1] == '\n';
        if (line_begins && text.substr(i).starts_with("- "))
            out += "• ", ++i;
        else if (text[i] == '`')
            continue;
        else if (text.substr(i).starts_with("**"))
            ++i;
        else
            out += text[i];
    }
    return out;
}

// A paragraph in the source goes over several lines; a blank line or a bullet ends it.
void put_words(ReviewSheet& sheet, std::string_view marked) {
    const std::string text = unmarked(marked);
    std::string paragraph;
    const auto flush = [&] {
        if (paragraph.empty()) return;
        sheet.words(paragraph);
        sheet.gap(0.35f);
        paragraph.clear();
    };
    for (std::string_view rest = text; !rest.empty();) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        const std::string_view line = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        if (line.empty() || line.starts_with("•")) flush();
        if (!line.empty()) paragraph += (paragraph.empty() ? "" : " ") + std::string(line);
    }
    flush();
}

class Booklet {
  public:
    Booklet(const Lesson& lesson, const Plan& base, const Presets& presets, const FontFiles& fonts)
        : lesson_(lesson), base_(base), presets_(presets), fonts_(fonts), paper_(slide_of(kSlide)),
          page_(PageFormat::pdf, kSlide, fonts, lesson.title, ""),
          sheet_({[this](const std::string&) { return turn(); }, 0}, paper_, theme_of(ThemeId::light),
                 lesson.title, lesson.title, "") {}

    std::string make() {
        sheet_.begin(lesson_.title);
        sheet_.words(lesson_.summary);
        sheet_.gap();
        for (const LessonStep& step : lesson_.steps)
            if (!step.part.empty()) sheet_.words(step.part, sheet_.strong());
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
    void put_picture(const StepSheet& s, bool open) {
        static_cast<void>(turn());
        PictureRequest request = picture_request_of(s, open);
        request.onto = &page_;
        static_cast<void>(make_picture(presets_, s.plan, request, "pdf", fonts_));
    }
    void put_step(std::size_t i) {
        const StepSheet s = sheet_of(lesson_, i, base_, presets_);
        sheet_.begin(std::to_string(i + 1) + ". " + s.step.title);
        put_words(sheet_, s.asked);
        if (s.step.question || s.step.task) {
            sheet_.gap(0.4f);
            for (const std::string_view line : {std::string_view(s.prompt)})
                sheet_.words(unmarked(line), sheet_.strong());
            char letter = 'a';
            if (s.step.question)
                for (const std::string& choice : choices_of(s))
                    sheet_.words(std::string("   ") + letter++ + ")  " + unmarked(choice));
            if (s.step.task)
                for (const std::string& goal : goals_of(s)) sheet_.words("   " + unmarked(goal));
        }
        if (!s.step.scene.view.empty() && !picture_answers(s)) put_picture(s, true);
    }
    void put_answers() {
        bool any = false;
        for (std::size_t i = 0; i < lesson_.steps.size(); ++i) {
            const LessonStep& step = lesson_.steps[i];
            if (!step.question && !step.task) continue;
            const StepSheet s = sheet_of(lesson_, i, base_, presets_);
            if (!any) sheet_.begin("Answers");
            any = true;
            const std::string answer = step.task ? solution_of(s) : unmarked(answer_of(s));
            sheet_.need(paper_.line() * 3);
            sheet_.words(std::to_string(i + 1) + ". " + answer, sheet_.strong());
            if (step.question && !s.solution.answer.working.empty())
                sheet_.words(s.solution.answer.working, sheet_.faint());
            put_words(sheet_, s.why);
            sheet_.gap(0.4f);
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
