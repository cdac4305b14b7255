#include "app/ui/review/sheet.h"

#include "app/ui/kit/format.h"

#include <algorithm>
#include <utility>

namespace pentamesh::ui {

ReviewSheet::ReviewSheet(SheetTarget target, const Paper& paper, const Theme& theme, std::string plan_title,
                         std::string foot, std::string banner)
    : target_(std::move(target)), paper_(paper), theme_(theme), plan_title_(std::move(plan_title)),
      foot_(std::move(foot)), banner_(std::move(banner)), canvas_(nullptr, 1) {}

void ReviewSheet::label(Rect box, std::string_view words, const TextStyle& style, Align align) {
    if (canvas_.text_in(box, words, style, align)) ++cut_;
}

void ReviewSheet::begin_piece(std::string_view name) {
    pieces_.emplace_back(name);
    if (target_.piece) target_.piece(name);
}

void ReviewSheet::end_piece() {
    pieces_.pop_back();
    if (target_.piece) target_.piece("");
}

void ReviewSheet::begin(std::string section, std::string under) {
    section_ = std::move(section);
    under_ = std::move(under);
    heading_.clear();
    columns_ = 1;
    turn(false);
    mark(SheetMark::Kind::section, section_, {0, 0, paper_.size.x, 1});
}

void ReviewSheet::section(std::string name, float behind) {
    constexpr float kLeastShare = 0.3f;  // of a page
    if (columns_ > 1) columns(1);
    const TextStyle style{Face::semibold, paper_.title * 0.9f, theme_.text, 0};
    const float line = style.size * 1.3f, above = paper_.line() * 1.2f;
    const bool joins = !paper_.wide && !paper_.one_a_page && page_ > 0
                       && room_.h >= std::max(above + line + behind, kLeastShare * whole_);
    if (!joins) return begin(std::move(name));
    section_ = std::move(name);
    under_.clear();
    heading_.clear();
    room_.cut_top(above * 0.6f);
    canvas_.line({room_.x, room_.y}, {room_.right(), room_.y}, theme_.hairline);
    room_.cut_top(above * 0.4f);
    mark(SheetMark::Kind::section, section_, {room_.x, room_.y, room_.w, line});
    const Piece piece(*this, "H1");
    room_.cut_top(canvas_.paragraph(room_, section_, style, line));
    room_.cut_top(paper_.line() * 0.3f);
}

void ReviewSheet::begin_bare() {
    canvas_ = target_.turn(section_);
    ++page_;
    const Rect page{0, 0, paper_.size.x, paper_.size.y};
    canvas_.rect(page, theme_.panel);
    room_ = page.inset(paper_.margin);
    whole_ = room_.h;
}

void ReviewSheet::turn(bool continued) {
    if (columns_ > 1 && column_ + 1 < columns_) return next_column();
    turn_page(continued);
    if (columns_ == 1) return;
    body_ = room_;
    column_ = -1;
    deepest_ = body_.y;
    next_column();
}

void ReviewSheet::next_column() {
    const auto n = static_cast<float>(columns_);
    const float apart = paper_.body * 1.6f, w = (body_.w - apart * (n - 1)) / n;
    if (column_ >= 0) deepest_ = std::max(deepest_, room_.y);
    ++column_;
    room_ = {body_.x + static_cast<float>(column_) * (w + apart), body_.y, w, body_.h};
}

void ReviewSheet::columns(int count) {
    if (columns_ > 1) {
        const float end = std::max(deepest_, room_.y);
        room_ = {body_.x, end, body_.w, std::max(0.0f, body_.bottom() - end)};
    }
    columns_ = count;
    if (count == 1) return;
    body_ = room_;
    column_ = -1;
    deepest_ = body_.y;
    next_column();
}

void ReviewSheet::narrow(float share) {
    room_.w = (paper_.size.x - 2 * paper_.margin) * share;
}

Rect ReviewSheet::beside() const {
    const float left = room_.right() + paper_.margin * 0.6f;
    return {left, room_.y, paper_.size.x - paper_.margin * 0.4f - left, room_.h};
}

void ReviewSheet::entry(std::string_view plain_head, std::string_view plain_text, std::string_view to) {
    const std::string head = typeset(plain_head), text = typeset(plain_text);
    const auto lines =
        canvas_.wrapped(room_.w, head, strong()).size() + canvas_.wrapped(room_.w, text, faint()).size();
    need(std::min(whole_, paper_.line() * static_cast<float>(lines)));
    const int page = page_;
    const Rect from = room_;
    words(head, strong());
    words(text, faint());
    if (!to.empty() && page == page_ && from.x == room_.x)
        link({from.x, from.y, from.w, room_.y - from.y}, to);
    gap(0.25f);
}

void ReviewSheet::note_spare(std::vector<float>& spare) const {
    if (page_ <= 0 || grew_on_ != page_ || columns_ > 1) return;
    spare.resize(std::max(spare.size(), static_cast<std::size_t>(page_)));
    spare[static_cast<std::size_t>(page_) - 1] = std::max(0.0f, room_.h - 2);
}

std::vector<float> ReviewSheet::spare() const {
    std::vector<float> out = spare_;
    note_spare(out);
    return out;
}

Rect ReviewSheet::take_grown(float height, float most) {
    need(std::min(height, whole_));
    const auto page = static_cast<std::size_t>(std::max(0, page_ - 1));
    if (grew_on_ != page_) grown_ = 0;
    grew_on_ = page_;
    if (target_.spare == nullptr || page >= target_.spare->size()) return take(height);
    const float more =
        std::max(0.0f, std::min({most - height, (*target_.spare)[page] - grown_, room_.h - height}));
    grown_ += more;
    return take(height + more);
}

void ReviewSheet::turn_page(bool continued) {
    note_spare(spare_);
    const std::vector<std::string> open = std::exchange(pieces_, {});
    for (std::size_t i = 0; i < open.size() && target_.piece; ++i) target_.piece("");
    canvas_ = target_.turn(section_);
    ++page_;
    Rect page{origin_.x, origin_.y, paper_.size.x, paper_.size.y};
    canvas_.rect(page, theme_.panel);
    page = page.inset(paper_.margin);
    const float line = paper_.line();
    Rect foot = page.cut_bottom(line);
    foot.y += paper_.margin * 0.35f;
    page.cut_bottom(line * 0.4f);
    canvas_.line({foot.x, foot.y - 3}, {foot.right(), foot.y - 3}, theme_.hairline);
    const TextStyle small{Face::regular, paper_.small, theme_.secondary, 0};
    const std::string number =
        std::to_string(page_) + (target_.pages > 0 ? " of " + std::to_string(target_.pages) : "");
    label(foot, number, small, Align::right);
    label(foot, foot_, small);

    const TextStyle title{Face::semibold, paper_.title, theme_.text, 0};
    const float h = paper_.title * 1.3f;
    std::string words = heading_.empty() ? section_ : heading_;
    if (continued && words.ends_with('.')) words.pop_back();
    if (continued) words += ", continued";
    const bool part = !heading_.empty() && section_ != plan_title_;
    const std::string under = (part ? section_ + "  ·  " : "") + (under_.empty() ? plan_title_ : under_);
    {
        const Piece piece(*this, continued ? "P" : "H1");
        canvas_.paragraph(page, words, title, h);
    }
    page.cut_top(canvas_.paragraph_height(page.w, words, title, h));
    if (words != under) page.cut_top(canvas_.paragraph(page, under, faint(), line));
    page.cut_top(line * 0.4f);
    if (!banner_.empty()) {
        const float pad = paper_.body * 0.6f;
        const float tall = canvas_.paragraph_height(page.w - 2 * pad - 6, banner_, strong(), line);
        const Rect box = page.cut_top(tall + 2 * pad);
        canvas_.rect(box, mix(theme_.panel, theme_.bad, 0.12f));
        canvas_.rect({box.x, box.y, 6, box.h}, theme_.bad);
        canvas_.paragraph({box.x + pad + 6, box.y + pad, box.w - 2 * pad - 6, tall}, banner_, strong(), line);
        page.cut_top(line * 0.6f);
    }
    room_ = page;
    whole_ = page.h;
    for (const std::string& name : open) begin_piece(name);
}

void ReviewSheet::need(float height) {
    if (room_.h < height && room_.h < whole_) turn(true);
}

Rect ReviewSheet::take(float height) {
    need(height);
    return room_.cut_top(height);
}

void ReviewSheet::gap(float lines) {
    room_.cut_top(std::min(room_.h, paper_.line() * lines));
}

void ReviewSheet::head(std::string_view words, float behind) {
    if (paper_.one_a_page && columns_ == 1 && room_.h < whole_) {
        heading_ = words;
        turn_page(false);
        mark(SheetMark::Kind::heading, words, {room_.x, 0, room_.w, 1});
        return;
    }
    if (paper_.one_a_page) heading_ = words;
    const TextStyle style{Face::semibold, paper_.head, theme_.text, 0};
    const float line = paper_.head * 1.35f;
    const float h = canvas_.paragraph_height(room_.w, words, style, line) + paper_.line() * 0.25f;
    need(h + std::min(behind, whole_ - h));
    mark(SheetMark::Kind::heading, words, {room_.x, room_.y, room_.w, h});
    const Piece piece(*this, "H2");
    canvas_.paragraph(room_, words, style, line);
    room_.cut_top(h);
}

float ReviewSheet::words_height(std::string_view words, float width) const {
    return canvas_.paragraph_height(width, words, plain(), paper_.line());
}

void ReviewSheet::words(std::string_view words, const TextStyle& style) {
    const Piece piece(*this, "P");
    for (const std::string_view line : canvas_.wrapped(room_.w, words, style))
        label(take(paper_.line()), line, style);
}

}  // namespace pentamesh::ui
