#include "app/tables/table.h"
#include "app/ui/kit/theme.h"
#include "app/ui/shell/lesson_sheet.h"
#include "core/base/text.h"
#include "render/page.h"

namespace pentamesh::ui {

namespace {

// Returns the HTML of one paragraph with **bold** and `code`.
std::string inline_html(std::string_view text) {
    std::string out;
    bool bold = false, code = false;
    std::size_t plain = 0;
    const auto flush = [&](std::size_t end) {
        out += html_attribute(std::string(text.substr(plain, end - plain)));
    };
    for (std::size_t i = 0; i < text.size();) {
        if (text[i] == '`') {
            flush(i);
            out += code ? "</code>" : "<code>";
            code = !code;
            plain = ++i;
        } else if (!code && text.substr(i).starts_with("**")) {
            flush(i);
            out += bold ? "</b>" : "<b>";
            bold = !bold;
            plain = i += 2;
        } else {
            ++i;
        }
    }
    flush(text.size());
    return out + (code ? "</code>" : "") + (bold ? "</b>" : "");
}

std::string words_html(std::string_view text) {
    std::string out, paragraph;
    bool list = false;
    const auto close = [&] {
        if (!paragraph.empty())
            out += list ? "<li>" + inline_html(paragraph) + "</li>\n"
                        : "<p>" + inline_html(paragraph) + "</p>\n";
        paragraph.clear();
    };
    const auto set_list = [&](bool on) {
        if (on != list) out += on ? "<ul>\n" : "</ul>\n";
        list = on;
    };
    for (const std::string_view line : split_lines(text)) {
        if (line.find_first_not_of(' ') == std::string_view::npos) {
            close();
            set_list(false);
        } else if (line.starts_with("- ")) {
            close();
            set_list(true);
            paragraph = line.substr(2);
        } else {
            paragraph += (paragraph.empty() ? "" : " ") + std::string(line);
        }
    }
    close();
    set_list(false);
    return out;
}

std::string base64(std::string_view bytes) {
    static constexpr std::string_view kDigits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    out.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const auto byte = [&](std::size_t k) {
            return i + k < bytes.size() ? static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i + k]))
                                        : 0U;
        };
        const std::uint32_t three = (byte(0) << 16) | (byte(1) << 8) | byte(2);
        for (std::size_t k = 0; k < 4; ++k)
            out += k > 1 && i + k - 1 >= bytes.size() ? '=' : kDigits[(three >> (18 - 6 * k)) & 63];
    }
    return out;
}

constexpr std::string_view kStyle =
    "body{font:16px/1.5 Inter,system-ui,sans-serif;color:#1a2029;background:#fff;max-width:52rem;margin:2rem "
    "auto;"
    "padding:0 1rem}h1{font-size:1.7rem}h2{font-size:1.2rem;margin-top:2.2rem}img{width:100%;border:1px "
    "solid "
    "#dde1e7;border-radius:6px}code{font-family:'JetBrains "
    "Mono',monospace;font-size:.9em}.ask{border-left:4px "
    "solid #5d6776;padding:.2rem 1rem;background:#f6f7f9}.small{color:#5d6776}@media "
    "print{h1,h2{break-after:avoid}img,.ask{break-inside:avoid}.answers{break-before:page}}";

// `open`: the picture is next to the question and hides what would answer it.
std::string picture_html(const StepSheet& s, const Presets& presets, const FontFiles& fonts, bool open) {
    return "<img alt=\"" + html_attribute(s.step.title) + "\" src=\"data:image/png;base64,"
           + base64(make_picture(presets, s.plan, picture_request_of(s, open), "png", fonts)) + "\">\n";
}

// Among the answers: the picture of the plan that was asked about.
std::string asked_html(const StepSheet& s, const Presets& presets, const FontFiles& fonts) {
    const auto asked = asked_picture_of(s, presets);
    if (!asked) return "";
    return "<p>" + html_attribute(asked->words) + "</p>\n<img alt=\"" + html_attribute(s.step.title)
           + "\" src=\"data:image/png;base64,"
           + base64(make_picture(presets, asked->plan, asked_request_of(s), "png", fonts)) + "\">\n";
}

// Returns an empty scale to draw on, as a picture in the page.
std::string scale_html(const StepSheet& s, const FontFiles& fonts) {
    const float h = scale_height(s);
    if (h <= 0) return "";
    constexpr float kWide = 640;
    const Theme& theme = theme_of(ThemeId::light);
    Page page(PageFormat::svg, {kWide, h}, fonts, s.step.title, "");
    {
        Canvas canvas(nullptr, 1, &page);
        draw_scale(canvas, {4, 0, kWide - 8, h}, s, {Face::regular, 14, theme.secondary, 0}, theme.secondary);
    }
    return "<p>" + page.finish() + "</p>\n";
}

std::string question_html(const StepSheet& s, const FontFiles& fonts) {
    std::string out = "<div class=\"ask\">" + words_html(s.prompt);
    if (const std::vector<std::string> choices = choices_of(s); !choices.empty()) {
        out += "<ol type=\"a\">";
        for (const std::string& choice : choices) out += "<li>" + inline_html(choice) + "</li>";
        out += "</ol>";
    }
    return out + words_html(scale_of(s)) + scale_html(s, fonts) + "</div>\n";
}

std::string task_html(const StepSheet& s) {
    std::string out = "<div class=\"ask\">" + words_html(s.prompt) + "<ul>";
    for (const std::string& goal : goals_of(s)) out += "<li>" + inline_html(goal) + "</li>";
    return out + "</ul></div>\n";
}

}  // namespace

std::string lesson_text(const Lesson& lesson, const Plan& base, const Presets& presets) {
    std::string out = lesson.title + "\n" + (lesson.summary.empty() ? "" : lesson.summary + "\n");
    for (std::size_t i = 0; i < lesson.steps.size(); ++i) {
        const StepSheet s = sheet_of(lesson, i, base, presets);
        out += "\n" + std::to_string(i + 1) + ". " + s.step.title + "\n\n" + s.words + "\n";
        if (s.step.task) {
            out += "\nTask: " + s.prompt + "\n";
            for (const std::string& goal : goals_of(s)) out += "  - " + goal + "\n";
            for (const std::string& hint : s.hints) out += "  hint: " + hint + "\n";
            out += "Solution: " + solution_of(s) + "\n";
            if (!s.why.empty()) out += "  " + s.why + "\n";
        }
        if (!s.step.question) continue;
        out += "\nQuestion: " + s.prompt + "\n";
        if (const std::string scale = scale_of(s); !scale.empty()) out += "  " + scale + "\n";
        const std::vector<std::string> choices = choices_of(s);
        for (std::size_t k = 0; k < choices.size(); ++k)
            out += "  - " + choices[k]
                   + (k < s.solution.of_options.size() ? " [" + s.solution.of_options[k] + "]" : "") + "\n";
        out += "Answer: " + answer_of(s) + "\n  " + s.solution.answer.working + "\n";
        if (!s.why.empty()) out += "  " + s.why + "\n";
    }
    return out;
}

std::string lesson_page(const Lesson& lesson, const Plan& base, const Presets& presets,
                        const FontFiles& fonts) {
    std::string out = "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>"
                      + html_attribute(lesson.title) + "</title><style>" + std::string(kStyle)
                      + "</style></head>\n<body>\n<h1>" + html_attribute(lesson.title)
                      + "</h1>\n<p class=\"small\">" + html_attribute(lesson.summary) + "</p>\n";
    std::string answers;
    for (std::size_t i = 0; i < lesson.steps.size(); ++i) {
        const StepSheet s = sheet_of(lesson, i, base, presets);
        const std::string n = std::to_string(i + 1);
        if (!s.step.part.empty()) out += "<h1>" + html_attribute(s.step.part) + "</h1>\n";
        out += "<h2>" + n + ". " + html_attribute(s.step.title) + "</h2>\n";
        const bool pictured = !s.step.scene.view.empty(), with_answer = pictured && picture_answers(s);
        if (pictured && !with_answer) out += picture_html(s, presets, fonts, true);
        out += words_html(s.asked);
        if (s.step.task) {
            out += task_html(s);
            answers += "<p><b>" + n + ".</b> <code>" + html_attribute(solution_of(s)) + "</code></p>\n"
                       + words_html(s.why);
            if (with_answer) answers += picture_html(s, presets, fonts, false);
        }
        if (!s.step.question) continue;
        out += question_html(s, fonts);
        answers += "<p><b>" + n + ".</b> " + inline_html(lettered_answer_of(s)) + " <span class=\"small\">"
                   + html_attribute(s.solution.answer.working) + "</span></p>\n" + words_html(s.why);
        if (with_answer) answers += picture_html(s, presets, fonts, false);
        answers += asked_html(s, presets, fonts);
    }
    if (!answers.empty()) out += "<div class=\"answers\"><h2>Answers</h2>\n" + answers + "</div>\n";
    return out + "</body>\n</html>\n";
}

}  // namespace pentamesh::ui
