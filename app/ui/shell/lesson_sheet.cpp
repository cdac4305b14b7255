#include "app/ui/shell/lesson_sheet.h"

#include "app/tables/table.h"
#include "app/ui/kit/format.h"
#include "app/ui/kit/plot.h"
#include "app/ui/kit/theme.h"
#include "app/ui/review/sheet.h"
#include "app/ui/scene/colors.h"
#include "core/advice/advice.h"
#include "core/base/files.h"
#include "core/base/text.h"
#include "core/teach/hand_in.h"
#include "core/teach/lesson.h"
#include "render/page.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

namespace pentamesh::ui {

namespace {

constexpr Vec2 kPictureSize{1024, 576};  // drawn larger on paper: its small type is read in a room

}  // namespace

StepSheet sheet_of(const Lesson& lesson, std::size_t i, const Plan& base, const Presets& presets) {
    StepSheet s{lesson.steps[i], {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
    s.plan = plan_shown(lesson, i, base, presets);
    s.runs = keeps_its_software(lesson, i, s.plan).sentence();
    s.plan.name = s.step.title;  // a preset's may be another step's, or the answer
    s.evaluation = assess(s.plan);
    if (!s.step.scene.against.empty()) {
        s.against = plan_with(s.plan, s.step.scene.against, presets);
        s.against->name = sets_text(s.step.scene.against);
    }
    const auto said = [&](const std::string& text) {
        return expand(on_paper(text), s.plan, s.evaluation, presets);
    };
    const std::string all = s.step.words + (s.step.more.empty() ? "" : "\n\n" + s.step.more);
    s.words = s.asked = said(all);
    if (s.step.task) {
        s.prompt = said(s.step.task->prompt);
        // The words after the task are about the plan that its solution gives.
        const Plan solved = plan_with(s.plan, s.step.task->solution, presets);
        s.why = expand(on_paper(s.step.task->why), solved, assess(solved), presets);
        for (const std::string& hint : s.step.task->hints) s.hints.push_back(said(hint));
    }
    if (!s.step.question) return s;
    s.prompt = said(s.step.question->prompt);
    s.why = said(s.step.question->why_of(s.plan.training.software));
    s.solution = solve(*s.step.question, s.plan, s.evaluation, presets);
    s.asked = expand(hide_answer(s.step, s.solution, on_paper(all), s.plan, s.evaluation, presets), s.plan,
                     s.evaluation, presets);
    s.hidden_answer = hidden_answer_of(s.step, s.solution, s.plan, s.evaluation, presets);
    return s;
}

std::string answer_of(const StepSheet& s) {
    const LessonQuestion& q = *s.step.question;
    if (!s.solution.solvable(q.kind)) return "no answer in this plan: " + s.solution.answer.working;
    return answer_words(q, s.solution);
}

std::string lettered_answer_of(const StepSheet& s) {
    const bool tier = s.step.question->kind == QuestionKind::tier;
    const int option = tier ? s.solution.tier : s.solution.option;
    const bool listed = option >= 0 && s.solution.solvable(s.step.question->kind) && !choices_of(s).empty();
    return (listed ? std::string(1, static_cast<char>('a' + option)) + ") " : std::string()) + answer_of(s);
}

std::vector<std::string> choices_of(const StepSheet& s) {
    std::vector<std::string> out;
    if (s.step.question->kind == QuestionKind::curve) return out;
    for (const LessonQuestion::Option& o : s.step.question->options) out.push_back(o.label);
    if (s.step.question->kind == QuestionKind::tier)
        for (std::size_t i = 0; i < s.plan.cluster.tiers.size(); ++i)
            out.push_back(tier_label(s.plan.cluster, static_cast<int>(i)) + ", "
                          + bandwidth_text(bytes_per_s_of(s.plan.cluster.tiers[i])));
    return out;
}

namespace {

// Returns where the scale ends on which the answer is drawn; 0: it is not drawn.
double scale_end(const StepSheet& s) {
    const LessonQuestion& q = *s.step.question;
    if (!s.solution.solvable(q.kind)) return 0;
    if (q.kind == QuestionKind::curve) return curve_scale(s.solution, s.step.title);
    return q.drawn ? guess_scale(s.solution, s.step.title) : 0;
}

std::string end_words(const StepSheet& s) {
    const std::string& unit = s.solution.answer.unit;
    return three_digits(scale_end(s)) + (unit.empty() ? "" : " ") + unit;
}

}  // namespace

std::string scale_of(const StepSheet& s) {
    if (scale_end(s) <= 0) return "";
    if (s.step.question->kind != QuestionKind::curve)
        return "Draw it on a line from 0 to " + end_words(s) + ".";
    const std::string values =
        join(s.step.question->options, ", ", [](const LessonQuestion::Option& o) { return o.label; });
    return "Draw a line over " + values + ", on a scale from 0 to " + end_words(s) + ".";
}

float scale_height(const StepSheet& s) {
    if (!s.step.question || scale_end(s) <= 0) return 0;
    return s.step.question->kind == QuestionKind::curve ? 190.0f : 46.0f;
}

bool asks_for_line(const StepSheet& s) {
    return s.step.question && s.step.question->kind == QuestionKind::curve && scale_end(s) > 0;
}

void draw_scale(Canvas& c, Rect room, const StepSheet& s, const TextStyle& text, Color line, bool answered) {
    const float label = text.size * 1.4f;
    const Rect labels = room.cut_bottom(label);
    const auto mark = [&](float x, const std::string& words) {
        const float w = c.text_width(words, text) + 1;
        c.text_in({held_between(x - w / 2, labels.x, labels.right() - w), labels.y, w, label}, words, text);
    };
    const LessonQuestion& q = *s.step.question;
    if (q.kind != QuestionKind::curve) {
        const float y = room.bottom() - 6;
        c.line({room.x, y}, {room.right(), y}, line, 1.5f);
        constexpr int kTenths = 10;
        for (int i = 0; i <= kTenths; ++i) {
            const float x = room.x + room.w * static_cast<float>(i) / kTenths;
            c.line({x, y - (i % 5 == 0 ? 10.0f : 5.0f)}, {x, y}, line, 1.5f);
        }
        mark(room.x, "0");
        mark(room.right(), end_words(s));
        return;
    }
    c.text_in(room.cut_top(label), end_words(s), text);
    c.line({room.x, room.y}, {room.x, room.bottom()}, line, 1.5f);
    c.line({room.x, room.bottom()}, {room.right(), room.bottom()}, line, 1.5f);
    const float step = room.w / static_cast<float>(q.options.size());
    std::vector<Vec2> points;
    for (std::size_t i = 0; i < q.options.size(); ++i) {
        const float x = room.x + step * (static_cast<float>(i) + 0.5f);
        c.line({x, room.y}, {x, room.bottom()}, line.alpha(0.4f), 1);
        mark(x, q.options[i].label);
        if (!answered && static_cast<int>(i) != q.given) continue;
        const Answer& answer = s.solution.options[i];
        const float y = room.bottom() - room.h * static_cast<float>(answer.number / scale_end(s));
        points.push_back({x, y});
        c.circle({x, y}, 4, text.color);
        if (answered)
            c.text_in({x - step / 2, y - label - 6, step, label}, answer.text, text, Align::center);
        else
            c.text_in({x + 8, y - label - 2, step - 8, label}, "given: " + answer.text, text);
    }
    if (answered) c.polyline(points, line, 2.5f);
}

std::vector<std::string> goals_of(const StepSheet& s) {
    std::vector<std::string> out;
    for (const TaskGoal& g : s.step.task->goals) out.push_back(wanted_of(g));
    const int edits = s.step.task->edits;
    out.push_back("You may change " + allowed_text(*s.step.task) + (edits > 0 ? ": at most " : ".")
                  + (edits > 0 ? std::to_string(edits) + (edits == 1 ? " choice." : " choices.") : ""));
    return out;
}

std::string solution_of(const StepSheet& s) {
    return sets_text(s.step.task->solution);
}

bool picture_answers(const StepSheet& s) {
    const std::string& view = s.step.scene.view;
    const bool proposes = view == view_of(ViewId::search).name || view == view_of(ViewId::compare).name;
    // The window hides the curve in its own plot.
    if (s.step.question && s.step.question->kind == QuestionKind::curve
        && view == view_of(ViewId::scale).name)
        return true;
    const auto id = view_named(view);
    ViewStates states;
    if (id && !s.step.scene.page.empty()) show_named_page(states, *id, s.step.scene.page);
    return (id && is_covered(s.hidden_answer, *id, states)) || (proposes && !s.step.question);
}

bool picture_leaves_out(const StepSheet& s) {
    const auto id = view_named(s.step.scene.view);
    return id && s.hidden_answer.covers(view_of(*id).name) && !picture_answers(s);
}

PictureRequest picture_request_of(const StepSheet& s, bool open) {
    PictureRequest request;
    const auto views = picture_views();
    request.view = s.step.scene.view;
    if (std::find(views.begin(), views.end(), request.view) == views.end()) request.view = kDashboardName;
    request.page = s.step.scene.page;
    request.size = kPictureSize;
    request.task = s.step.task;
    request.theme = ThemeId::light;
    request.in_lesson = true;
    const bool asks = open && s.step.question && s.step.question->kind == QuestionKind::ranks;
    if (open) request.hidden_answer = s.hidden_answer;
    request.uncolored = asks;
    if (s.against) request.compared = {*s.against};
    if (!asks && s.step.scene.rank < s.evaluation.mesh.world) request.rank = s.step.scene.rank;
    for (const GroupKind kind : all_of<GroupKind>())
        if (!asks && name_of(kind) == s.step.scene.axis) request.group = kind;
    return request;
}

namespace {

// Returns true if the view has the plan before and the one after in one picture: paper needs no second one.
bool shows_both(const LessonScene& scene) {
    const bool fold = scene.view == view_of(ViewId::mesh).name && scene.page == "fold";
    return fold || scene.view == view_of(ViewId::compare).name;
}

// Returns what the step's plan is changed by: in the question, or in the task's solution. Empty: by nothing.
std::vector<std::string> changes_of(const StepSheet& s) {
    if (s.step.task) return picture_answers(s) ? std::vector<std::string>{} : s.step.task->solution;
    if (!s.step.question) return {};
    const AskedPlans asked = asked_plans(*s.step.question, s.solution);
    if (asked.first < 0) return {};
    return asked.plans[static_cast<std::size_t>(asked.first)].sets;
}

// Returns the request of a picture next to the answer, which may have a page of its own.
PictureRequest answer_request_of(const StepSheet& s) {
    PictureRequest request = picture_request_of(s, false);
    if (const LessonQuestion* q = s.step.with_answer_page()) request.view = q->view, request.page = q->page;
    return request;
}

// Returns what the card of an edit says in the window: "memory 1.38 TiB → 43.9 GiB, step 28.1 s → 41.0 s".
std::string card_words_of(const StepSheet& s, const Plan& after) {
    const ChangeFigures a = change_figures(s.plan, s.evaluation), b = change_figures(after, assess(after));
    if (!a.any || !b.any) return "";
    std::string out;
    const auto add = [&](std::string_view name, double was, double now, std::string (*text)(double)) {
        const std::string from = text(was), to = text(now);
        if (from != to) out += (out.empty() ? "" : ", ") + std::string(name) + " " + from + " → " + to;
    };
    add("memory", a.memory, b.memory, memory_text);
    add("step", a.step_s, b.step_s, time_text);
    for (std::size_t i = 0; a.wires.size() == b.wires.size() && i < b.wires.size(); ++i)
        add(b.wires[i].first, a.wires[i].second, b.wires[i].second, traffic_text);
    return out;
}

}  // namespace

StepPictures pictures_of(const StepSheet& s, const Presets& presets) {
    StepPictures out;
    const LessonScene& scene = s.step.scene;
    if (scene.view.empty()) return out;
    const bool answers = picture_answers(s);
    if (!answers) out.open = StepPicture{"", s.plan, picture_request_of(s, true)};
    if (!s.step.question && !s.step.task) return out;
    const std::vector<std::string> sets = changes_of(s);
    if (sets.empty()) {
        // The colours of groups say who is in one: they come with the answer.
        const bool ranks = s.step.question && s.step.question->kind == QuestionKind::ranks;
        if (answers || ranks || picture_leaves_out(s))
            out.answered.push_back({"", s.plan, picture_request_of(s, false)});
        return out;
    }
    StepPicture after{"With " + sets_text(sets), plan_with(s.plan, sets, presets), answer_request_of(s)};
    after.plan.name = s.step.title;
    after.request.rank = -1;  // the step's own plan has it
    after.request.compared = {s.plan};
    after.both = shows_both(scene);
    // Two whole windows side by side are too small to be read: the plan before has its place at the question.
    const bool whole = after.request.view == kDashboardName;
    if (const std::string changed = whole ? card_words_of(s, after.plan) : std::string(); !changed.empty())
        after.words += ": " + changed;
    // A page that the answer has of its own explains it; nothing was asked on it.
    if (!after.both && s.step.with_answer_page() == nullptr && !whole) {
        StepPicture before{"As it was", s.plan, picture_request_of(s, false)};
        before.request.reaches = after.plan;
        after.request.reaches = s.plan;
        after.request.outlined = true;
        for (StepPicture* p : {&before, &after}) p->request.title = false;
        out.answered.push_back(std::move(before));
    }
    out.answered.push_back(std::move(after));
    return out;
}

namespace {

// Small type of a picture is 8.4 px at the larger scale, of a slide that is 1,024 wide: 2.4 mm on A4.
constexpr float kPairScale = 0.7f, kLeastPairScale = 0.5f, kPairStep = 0.05f;
constexpr Vec2 kPairRoom{484, 354};  // in a page of its own width, as on a slide below its words

// Returns the largest scale at which a box has room for all of each picture, else the least one.
float scale_of_pair(const std::vector<StepPicture>& pictures, Vec2 box, const Presets& presets,
                    const FontFiles& fonts) {
    const auto all_fit = [&](float scale) {
        return std::all_of(pictures.begin(), pictures.end(), [&](const StepPicture& p) {
            bool fits = false;
            PictureRequest request = p.request;
            request.size = box * (1 / scale);
            request.fits = &fits;
            static_cast<void>(make_picture(presets, p.plan, request, "png", fonts));
            return fits;
        });
    };
    float scale = kPairScale;
    while (scale > kLeastPairScale + kPairStep / 2 && !all_fit(scale)) scale -= kPairStep;
    return scale;
}

}  // namespace

// A lesson as slides in a PDF.

namespace {

constexpr float kIndent = 18, kLeastBody = 14, kNarrowBody = 18;
constexpr Vec2 kSlide{1024, 576};     // type and pictures as large as a room asks for
constexpr float kWordsShare = 0.31f;  // of a slide's width are words, the rest their picture
// Tables have type of 12 px. Next to words it is 9.6 px: 3 mm on A4, 15 mm on a wall of 1.6 m. A picture that
// has no room for all of it at this scale has a page of its own.
constexpr float kBesideScale = 0.8f;

Paper slide_paper() {
    Paper paper = slide_of(kSlide);
    paper.margin = 36;
    paper.body = 20;
    paper.small = 14;
    return paper;
}

class Booklet {
  public:
    Booklet(const Lesson& lesson, const Plan& base, const Presets& presets, const FontFiles& fonts,
            std::string_view language)
        : lesson_(lesson), base_(base), presets_(presets), fonts_(fonts), paper_(slide_paper()),
          page_(PageSpec{PageFormat::pdf,
                         kSlide,
                         load_faces(fonts),
                         lesson.title,
                         {},
                         1,
                         nullptr,
                         std::string(language.empty() ? "en" : language)}),
          sheet_({[this](const std::string&) { return turn(); },
                  0,
                  {},
                  [this](std::string_view name) { put_piece(page_, name); }},
                 paper_, theme_of(ThemeId::light), lesson.title, lesson.title, "") {}

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
        put_number();
    }
    // In the corner, right of what a whole window has in its last row.
    void put_number() {
        sheet_.canvas().text_in({0, kSlide.y - 13, kSlide.x - 2, 12}, std::to_string(sheet_.page()),
                                {Face::regular, 9, sheet_.theme().secondary, 0}, Align::right);
    }
    // Draws a picture next to words; returns false where there is no room for all of it.
    bool put_picture_in(Rect room, const StepPicture& picture, float scale) {
        PictureRequest request = picture.request;
        bool fits = false;
        request.title = false;
        request.onto = &page_;
        request.fits = &fits;
        request.size = Vec2{room.w, room.h} * (1 / scale);
        page_.begin_inset(room.min(), scale);
        static_cast<void>(make_picture(presets_, picture.plan, request, "pdf", fonts_));
        page_.end_inset();
        return fits;
    }
    // Draws two pictures side by side, their words over them.
    void put_side_by_side(Rect room, const std::vector<StepPicture>& pictures) {
        constexpr float kApart = 12;
        Rect words = room.cut_top(paper_.small * 1.4f);
        const float w = (room.w - kApart) / 2;
        const float scale = scale_of_pair(pictures, {w, room.h}, presets_, fonts_);
        for (const StepPicture& p : pictures) {
            sheet_.canvas().text_in(words.cut_left(w), p.words,
                                    {Face::semibold, paper_.small, sheet_.theme().text, 0});
            const Rect box = room.cut_left(w);
            words.cut_left(kApart), room.cut_left(kApart);
            PictureRequest request = p.request;
            request.onto = &page_;
            request.size = Vec2{box.w, box.h} * (1 / scale);
            page_.begin_inset(box.min(), scale);
            static_cast<void>(make_picture(presets_, p.plan, request, "pdf", fonts_));
            page_.end_inset();
        }
    }
    struct Passage {
        std::string text;
        float indent = 0;
        bool strong = false, faint = false;
    };
    // Puts words with bold and `code`, each paragraph in one piece. Returns the height; draws only if `draw`.
    float put_words(const Passage& passage, bool draw = true) {
        const float indent = passage.indent;
        const TextStyle style = passage.faint ? sheet_.faint() : sheet_.plain();
        float used = 0;
        for (const RichParagraph& paragraph : read_rich(passage.text)) {
            const float left = indent + (paragraph.bullet ? kIndent : 0);
            const std::vector<RichWord> words = words_of(paragraph);
            const float height = lay_words(words, {0, 0, sheet_.width() - left, 0}, style, false);
            used += height + 0.4f * paper_.line();
            if (!draw) continue;
            const Rect box = sheet_.take(height);
            page_.begin_piece("P");
            if (paragraph.bullet) sheet_.canvas().text({box.x + indent, box.y}, "•", style);
            lay_words(words, {box.x + left, box.y, box.w - left, box.h}, style, true);
            page_.end_piece();
            sheet_.gap(0.35f);
        }
        return used;
    }
    // Returns the height used.
    float lay_words(const std::vector<RichWord>& words, Rect box, const TextStyle& plain, bool draw) {
        Canvas& c = sheet_.canvas();
        const float space = c.text_width(" ", plain);
        Vec2 at = box.min();
        const auto style_of = [&](const RichPiece& piece) {
            TextStyle style = plain;
            style.face = piece.face;
            if (piece.face == Face::mono) style.size -= 1;
            return style;
        };
        const auto width = [&](const RichPiece& piece) { return c.text_width(piece.text, style_of(piece)); };
        for (const RichWord& word : words) {
            float w = 0;
            for (const RichPiece& piece : word) w += width(piece);
            if (at.x > box.x) at.x += space;
            if (at.x > box.x && at.x + w > box.right()) at = {box.x, at.y + paper_.line()};
            for (const RichPiece& piece : word) {
                if (draw) c.text(at, piece.text, style_of(piece));
                at.x += width(piece);
            }
        }
        return at.y + paper_.line() - box.y;
    }
    [[nodiscard]] static std::vector<Passage> passages_of(const StepSheet& s) {
        std::vector<Passage> out{{s.asked}};
        if (!s.runs.empty()) out.push_back({s.runs});
        if (!s.step.question && !s.step.task) return out;
        out.push_back({"**" + without_marks(s.prompt) + "**", 0, true});
        char letter = 'a';
        if (s.step.question)
            for (const std::string& choice : choices_of(s))
                out.push_back({std::string(1, letter++) + ")  " + choice, kIndent});
        if (s.step.question && !scale_of(s).empty()) out.push_back({scale_of(s)});
        if (s.step.task)
            for (const std::string& goal : goals_of(s)) out.push_back({"- " + goal, kIndent});
        return out;
    }
    [[nodiscard]] static std::vector<Passage> passages_of_answer(const StepSheet& s) {
        const std::string answer = s.step.task ? solution_of(s) : without_marks(lettered_answer_of(s));
        std::vector<Passage> out{{"**" + answer + "**"}};
        const std::string& working = s.solution.answer.working;
        if (s.step.question && !working.empty() && s.why.find(working) == std::string::npos)
            out.push_back({.text = working, .faint = true});
        if (!s.why.empty()) out.push_back({s.why});
        return out;
    }
    [[nodiscard]] float height_of(const std::vector<Passage>& passages) {
        float h = 0;
        for (const Passage& p : passages) h += put_words(p, false) + (p.strong ? paper_.line() : 0);
        return h;
    }
    void put_passages(const std::vector<Passage>& passages) {
        for (const Passage& p : passages) {
            if (p.strong) sheet_.gap(0.4f);
            put_words(p);
        }
    }
    // Sets the type as large as it can be, from `most`, with the words and what is drawn below them in a
    // height. Returns false where the least type is too large.
    bool set_type(const std::vector<Passage>& passages, float most, float below, float height) {
        const auto high = [&] { return height_of(passages) + below; };
        paper_.body = most;
        while (paper_.body > kLeastBody && high() > height) paper_.body -= 0.5f;
        return high() <= height;
    }
    // Puts words at the left and a picture at the right, where both have room; else it sets nothing but type.
    bool put_beside(const std::vector<Passage>& passages, float below, const StepPicture& picture) {
        if (picture.request.view == kDashboardName || picture.both) return false;
        sheet_.narrow(kWordsShare);
        if (set_type(passages, kNarrowBody, below, sheet_.left())
            && put_picture_in(sheet_.beside(), picture, kBesideScale))
            return true;
        sheet_.narrow(1);
        return false;
    }
    // The type is as large as it can be with the step on one page: words on the left, their picture at the
    // right where both have room, else the picture on a page of its own.
    void put_step(std::size_t i) {
        const StepSheet s = sheet_of(lesson_, i, base_, presets_);
        const std::vector<Passage> passages = passages_of(s);
        const std::optional<StepPicture> picture = pictures_of(s, presets_).open;
        sheet_.begin(std::to_string(i + 1) + ". " + s.step.title);
        const float most = paper_.body, scale = scale_height(s);
        const bool beside = picture && put_beside(passages, scale, *picture);
        if (!beside) set_type(passages, most, scale, sheet_.left());
        put_passages(passages);
        if (scale > 0)
            draw_scale(sheet_.canvas(), sheet_.take(scale), s, sheet_.faint(), sheet_.theme().secondary);
        paper_.body = most;
        if (picture && !beside) put_picture(picture->plan, picture->request);
    }
    // Answers without pictures follow one another; each other one has a page.
    void put_answers() {
        bool follows = false;
        for (std::size_t i = 0; i < lesson_.steps.size(); ++i) {
            const LessonStep& step = lesson_.steps[i];
            if (!step.question && !step.task) continue;
            const StepSheet s = sheet_of(lesson_, i, base_, presets_);
            const std::vector<StepPicture> pictures = pictures_of(s, presets_).answered;
            if (pictures.empty()) {
                if (!follows) sheet_.begin("Answers");
                put_answer(i, s);
            } else {
                put_pictured_answer(i, s, pictures);
            }
            follows = pictures.empty();
        }
    }
    void put_answer(std::size_t i, const StepSheet& s) {
        std::vector<Passage> passages = passages_of_answer(s);
        passages.front().text.insert(2, "Step " + std::to_string(i + 1) + ": ");
        sheet_.need(std::min(height_of(passages), sheet_.whole()));  // with its reason on one page
        put_passages(passages);
        sheet_.gap(0.4f);
    }
    // One picture stands next to the words where both have room, else on a page of its own. Two stand side
    // by side below the words, or where those leave too little on the next page.
    void put_pictured_answer(std::size_t i, const StepSheet& s, const std::vector<StepPicture>& pictures) {
        constexpr float kMostWordsHigh = 0.3f, kLeastHigh = 240;
        std::vector<Passage> passages = passages_of_answer(s);
        if (pictures.front().request.view == kDashboardName && !pictures.front().words.empty())
            passages.push_back({.text = pictures.front().words + ".", .strong = true});
        sheet_.begin("Answer " + std::to_string(i + 1) + ": " + s.step.title);
        const float most = paper_.body, edge = paper_.margin * 0.4f;
        const bool pair = pictures.size() > 1, line = asks_for_line(s);  // on the axes that were drawn on
        const float below = line ? scale_height(s) : 0;
        const bool beside = !pair && !line && put_beside(passages, 0, pictures.front());
        if (!beside)
            set_type(passages, pair ? kNarrowBody : most, below, sheet_.left() * (pair ? kMostWordsHigh : 1));
        put_passages(passages);
        if (line)
            draw_scale(sheet_.canvas(), sheet_.take(below), s, sheet_.faint(), sheet_.theme().secondary,
                       true);
        paper_.body = most;
        if (beside) return;
        if (!pair) return put_picture(pictures.front().plan, pictures.front().request);
        Rect room{edge, 0, kSlide.x - 2 * edge, sheet_.left()};
        if (room.h < kLeastHigh) {
            sheet_.begin_bare();
            put_number();
            room = Rect{0, 0, kSlide.x, kSlide.y}.inset(edge);
        } else {
            room.y = sheet_.take(room.h).y;
        }
        put_side_by_side(room, pictures);
    }
};

}  // namespace

std::string lesson_pdf(const Lesson& lesson, const Plan& base, const Presets& presets, const FontFiles& fonts,
                       std::string_view language) {
    if (!pages_available()) throw Error(ErrorKind::usage, "", "", "this build writes no PDF");
    return Booklet(lesson, base, presets, fonts, language).make();
}

namespace {

// Returns the HTML of one paragraph with bold and code, which may lie in bold.
std::string inline_html(const RichParagraph& paragraph) {
    std::string out;
    bool bold = false, code = false;
    const auto turn_to = [&](bool to_bold, bool to_code) {
        if (code && !to_code) out += "</code>";
        if (bold != to_bold) out += to_bold ? "<b>" : "</b>";
        if (!code && to_code) out += "<code>";
        bold = to_bold, code = to_code;
    };
    for (const RichRun& run : paragraph.runs) {
        turn_to(run.bold, run.code);
        out += html_attribute(run.text);
    }
    turn_to(false, false);
    return out;
}

std::string inline_html(std::string_view text) {
    return join(read_rich(text), " ", [](const RichParagraph& p) { return inline_html(p); });
}

std::string words_html(std::string_view text) {
    std::string out;
    bool list = false;
    const auto set_list = [&](bool on) {
        if (on != list) out += on ? "<ul>\n" : "</ul>\n";
        list = on;
    };
    for (const RichParagraph& p : read_rich(text)) {
        if (p.apart) set_list(false);
        set_list(p.bullet);
        out += p.bullet ? "<li>" + inline_html(p) + "</li>\n" : "<p>" + inline_html(p) + "</p>\n";
    }
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
    "solid #5d6776;padding:.2rem 1rem;background:#f6f7f9}.small{color:#5d6776}"
    ".pair{display:flex;gap:.6rem;width:min(96vw,80rem);margin-left:50%;transform:translateX(-50%)}"
    ".pair figure{flex:1;margin:0}.pair figcaption{font-weight:600}@media "
    "print{h1,h2{break-after:avoid}img,.ask,.pair{break-inside:avoid}.answers{break-before:page}"
    ".pair{width:100%;margin-left:0;transform:none}}";

std::string picture_html(const StepPicture& picture, const Presets& presets, const FontFiles& fonts) {
    const std::string words = picture.plan.name + (picture.words.empty() ? "" : ": " + picture.words);
    return "<img alt=\"" + html_attribute(words) + "\" src=\"data:image/png;base64,"
           + base64(make_picture(presets, picture.plan, picture.request, "png", fonts)) + "\">\n";
}

// Returns the pictures of an answer: two stand side by side, wider than the words, their words over them.
std::string answered_html(std::vector<StepPicture> pictures, const Presets& presets, const FontFiles& fonts) {
    if (pictures.empty()) return "";
    if (pictures.size() == 1) {
        const std::string& words = pictures.front().words;
        return (words.empty() ? "" : "<p>" + html_attribute(words) + ":</p>\n")
               + picture_html(pictures.front(), presets, fonts);
    }
    const Vec2 size = kPairRoom * (1 / scale_of_pair(pictures, kPairRoom, presets, fonts));
    std::string out = "<div class=\"pair\">";
    for (StepPicture& p : pictures) {
        p.request.size = {std::round(size.x), std::round(size.y)};
        out += "<figure><figcaption>" + html_attribute(p.words) + "</figcaption>"
               + picture_html(p, presets, fonts) + "</figure>";
    }
    return out + "</div>\n";
}

// Returns an empty scale to draw on, as a picture in the page; with the answer the line that is right.
std::string scale_html(const StepSheet& s, const FontFiles& fonts, bool answered = false) {
    const float h = scale_height(s);
    if (h <= 0) return "";
    constexpr float kWide = 640;
    const Theme& theme = theme_of(ThemeId::light);
    Page page(PageFormat::svg, {kWide, h}, fonts, s.step.title, "");
    {
        Canvas canvas(nullptr, 1, &page);
        draw_scale(canvas, {4, 0, kWide - 8, h}, s, {Face::regular, 14, theme.secondary, 0}, theme.secondary,
                   answered);
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
        if (!s.runs.empty()) out += s.runs + "\n";
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
        const StepPictures pictures = pictures_of(s, presets);
        if (pictures.open) out += picture_html(*pictures.open, presets, fonts);
        out += words_html(s.asked) + words_html(s.runs);
        if (s.step.task) {
            out += task_html(s);
            answers += "<p><b>" + n + ".</b> <code>" + html_attribute(solution_of(s)) + "</code></p>\n"
                       + words_html(s.why) + answered_html(pictures.answered, presets, fonts);
        }
        if (!s.step.question) continue;
        out += question_html(s, fonts);
        answers += "<p><b>" + n + ".</b> " + inline_html(lettered_answer_of(s)) + " <span class=\"small\">"
                   + html_attribute(s.solution.answer.working) + "</span></p>\n" + words_html(s.why)
                   + (asks_for_line(s) ? scale_html(s, fonts, true) : "")
                   + answered_html(pictures.answered, presets, fonts);
    }
    if (!answers.empty()) out += "<div class=\"answers\"><h2>Answers</h2>\n" + answers + "</div>\n";
    return out + "</body>\n</html>\n";
}

}  // namespace pentamesh::ui
