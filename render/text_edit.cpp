#include "render/text_edit.h"

#include "render/imgui_compat.h"
#include "render/input.h"
#include "render/surface_state.h"

#include <algorithm>
#include <cmath>
#include <imgui.h>
#include <imgui_stdlib.h>
#include <string>

namespace pentamesh {

namespace {
constexpr ImGuiWindowFlags kBare = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove
                                   | ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoNav
                                   | ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoScrollWithMouse;
ImVec4 float_color(Color c) {
    return {static_cast<float>(c.r) / 255, static_cast<float>(c.g) / 255, static_cast<float>(c.b) / 255,
            static_cast<float>(c.a) / 255};
}
struct Completion {
    const TextCompletion* complete;
    bool done = false;
};
int complete_text(ImGuiInputTextCallbackData* data) {
    if (data->EventFlag != ImGuiInputTextFlags_CallbackCompletion) return 0;
    auto& completion = *static_cast<Completion*>(data->UserData);
    const std::string before(data->Buf, static_cast<std::size_t>(data->BufTextLen));
    const std::string after = (*completion.complete)(before);
    if (after == before) return 0;
    data->DeleteChars(0, data->BufTextLen);
    data->InsertChars(0, after.data(), after.data() + after.size());
    completion.done = true;
    return 0;
}
void cover_frame(const FrameInfo& info) {
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize({info.size.x * info.scale, info.size.y * info.scale});
}
}  // namespace

void begin_frame_window(const FrameInfo& info) {
    cover_frame(info);
    ImGui::Begin("frame", nullptr, kBare | ImGuiWindowFlags_NoBringToFrontOnFocus);
}
void end_frame_window() {
    ImGui::End();
}

Canvas begin_front_layer(std::string_view name, const FrameInfo& info, Page* page) {
    cover_frame(info);
    const std::string id = "layer." + std::string(name);
    ImGui::Begin(id.c_str(), nullptr, kBare);
    return frame_canvas(info, page);
}
void end_front_layer() {
    ImGui::End();
}

TextFieldResult text_field(std::string_view id, Rect box, float scale, std::string& utf8,
                           std::string_view hint, const TextFieldStyle& style, bool focus_now, bool enabled,
                           const TextCompletion* complete) {
    ImFont& font = *font_at(style.face, style.size);
    const float height = font.FontSize;
    ImGui::PushFont(&font);
    ImGui::SetCursorScreenPos({std::round(box.x * scale), std::round((box.center().y * scale) - height / 2)});
    ImGui::PushItemWidth(box.w * scale);
    const Color clear{0, 0, 0, 0};
    ImGui::PushStyleColor(ImGuiCol_FrameBg, float_color(clear));
    ImGui::PushStyleColor(ImGuiCol_Text, float_color(style.text));
    ImGui::PushStyleColor(ImGuiCol_TextDisabled, float_color(style.hint));
    ImGui::PushStyleColor(ImGuiCol_TextSelectedBg, float_color(style.selection));
    ImGui::PushStyleColor(ImGuiCol_NavHighlight, float_color(clear));
    if (focus_now && enabled) ImGui::SetKeyboardFocusHere();
    const std::string before = utf8, label = "##" + std::string(id), shown_hint(hint);
    ImGuiInputTextFlags flags = ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_AutoSelectAll;
    if (!enabled) flags |= ImGuiInputTextFlags_ReadOnly;
    Completion completion{complete};
    if (complete != nullptr) flags |= ImGuiInputTextFlags_CallbackCompletion;
    TextFieldResult result;
    {
        const KeepTyped typed(label.c_str(), focus_now && enabled);
        result.entered = ImGui::InputTextWithHint(label.c_str(), shown_hint.c_str(), &utf8, flags,
                                                  complete != nullptr ? complete_text : nullptr, &completion);
        result.entered = result.entered || typed.entered();
    }
    result.completed = completion.done;
    result.active = ImGui::IsItemActive();
    result.changed = utf8 != before;
    ImGui::PopStyleColor(5);
    ImGui::PopItemWidth();
    ImGui::PopFont();
    use_own_texture(*ImGui::GetWindowDrawList());
    return result;
}

namespace {

// A line is broken by "\r\n", which no text that was typed contains: Dear ImGui draws no \r.
std::string wrapped(const std::string& text, float width) {
    std::string out;
    std::size_t line = 0;  // the place in `out` where the line begins
    for (std::size_t at = 0; at < text.size();) {
        if (text[at] == '\n') {
            out += text[at++];
            line = out.size();
            continue;
        }
        std::size_t end = text.find_first_of(" \n", at);  // a word and the space behind it
        end = end == std::string::npos ? text.size() : text[end] == ' ' ? end + 1 : end;
        const std::string next = out.substr(line) + text.substr(at, end - at);
        const std::size_t ink = next.find_last_not_of(' ') + 1;
        if (out.size() > line && ImGui::CalcTextSize(next.c_str(), next.c_str() + ink).x > width) {
            out += "\r\n";
            line = out.size();
        }
        out.append(text, at, end - at);
        at = end;
    }
    return out;
}

std::string unwrapped(const std::string& shown, std::size_t& cursor) {
    std::string out;
    std::size_t moved = cursor;
    for (std::size_t i = 0; i < shown.size(); ++i) {
        if (shown[i] == '\r') {
            if (i < cursor) --moved;
            if (i + 1 < shown.size() && shown[i + 1] == '\n' && ++i < cursor) --moved;
            continue;
        }
        out += shown[i];
    }
    cursor = moved;
    return out;
}

// Returns the place of a byte of the text among the wrapped lines.
std::size_t place_in(const std::string& shown, std::size_t cursor) {
    std::size_t at = 0;
    for (; at < shown.size(); ++at) {
        if (shown[at] == '\r') {
            ++at;
            continue;
        }
        if (cursor == 0) break;
        --cursor;
    }
    return at;
}

struct BoxEdit {
    const std::string& text;  // the caller's
    std::string& known;       // text that the box left
    float width = 0;
    std::string shown{};  // wrapped, as the last frame drew it
    std::string result{};
};

// Only a break was deleted, which the next frame would insert again: the letter next to it goes instead.
void delete_at_break(const std::string& before, std::string& now, std::size_t& cursor) {
    if (now.size() + 1 != before.size()) return;
    const auto [was, is] = std::mismatch(before.begin(), before.end(), now.begin(), now.end());
    const auto at = static_cast<std::size_t>(was - before.begin());
    (void)is;
    if (*was == '\r' && at + 1 < before.size()) {  // Delete: the letter that follows, UTF-8 whole
        now.erase(at, 1);
        do now.erase(std::min(at, now.size()), 1);
        while (at < now.size() && (static_cast<unsigned char>(now[at]) & 0xc0U) == 0x80U);
    } else if (*was == '\n' && at > 0 && before[at - 1] == '\r') {  // Backspace: the space before it
        const std::size_t from = at >= 2 ? at - 2 : 0;
        now.erase(from, at - from);
        cursor = from;
    }
}

int edit_box(ImGuiInputTextCallbackData* data) {
    auto& edit = *static_cast<BoxEdit*>(data->UserData);
    std::string now(data->Buf, static_cast<std::size_t>(data->BufTextLen));
    auto cursor = static_cast<std::size_t>(data->CursorPos);
    if (edit.text != edit.known) {  // changed elsewhere
        edit.result = edit.text;
        // The cursor goes after the changed part.
        const auto same =
            std::mismatch(edit.known.rbegin(), edit.known.rend(), edit.text.rbegin(), edit.text.rend());
        cursor = static_cast<std::size_t>(edit.text.rend() - same.second);
    } else {
        if (now == edit.shown) {
            edit.result = edit.text;
            return 0;
        }
        delete_at_break(edit.shown, now, cursor);
        edit.result = unwrapped(now, cursor);
    }
    const std::string next = wrapped(edit.result, edit.width);
    if (next == std::string(data->Buf, static_cast<std::size_t>(data->BufTextLen))) return 0;
    data->DeleteChars(0, data->BufTextLen);
    data->InsertChars(0, next.c_str(), next.c_str() + next.size());
    data->CursorPos = static_cast<int>(place_in(next, cursor));
    data->ClearSelection();
    return 0;
}

}  // namespace

TextFieldResult text_box(std::string_view id, Rect box, float scale, std::string& utf8, std::string& known,
                         const TextFieldStyle& style, bool focus_now, bool enabled) {
    ImGui::PushFont(font_at(style.face, style.size));
    ImGui::SetCursorScreenPos({std::round(box.x * scale), std::round(box.y * scale)});
    const Color clear{0, 0, 0, 0};
    for (const ImGuiCol c : {ImGuiCol_FrameBg, ImGuiCol_NavHighlight, ImGuiCol_ScrollbarBg})
        ImGui::PushStyleColor(c, float_color(clear));
    ImGui::PushStyleColor(ImGuiCol_Text, float_color(style.text));
    ImGui::PushStyleColor(ImGuiCol_TextSelectedBg, float_color(style.selection));
    for (const ImGuiCol c :
         {ImGuiCol_ScrollbarGrab, ImGuiCol_ScrollbarGrabHovered, ImGuiCol_ScrollbarGrabActive})
        ImGui::PushStyleColor(c, float_color(style.hint));
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {0, 0});
    ImGui::PushStyleVar(ImGuiStyleVar_ScrollbarSize, 6 * scale);
    if (focus_now && enabled) ImGui::SetKeyboardFocusHere();
    const float width = (box.w - 14) * scale;
    BoxEdit edit{utf8, known, width, wrapped(known, width), utf8};
    std::string shown = wrapped(utf8, width);
    const std::string label = "##" + std::string(id);
    ImGuiInputTextFlags flags = ImGuiInputTextFlags_CallbackAlways | ImGuiInputTextFlags_NoUndoRedo
                                | ImGuiInputTextFlags_NoHorizontalScroll;
    if (!enabled) flags |= ImGuiInputTextFlags_ReadOnly;
    TextFieldResult result;
    {
        const KeepTyped typed(label.c_str(), focus_now && enabled);
        ImGui::InputTextMultiline(label.c_str(), &shown, {box.w * scale, box.h * scale}, flags, edit_box,
                                  &edit);
    }
    result.active = ImGui::IsItemActive();
    result.changed = edit.result != utf8;
    // Escape gives back the text that the box had at first: the text that the callback saw counts.
    utf8 = known = edit.result;
    ImGui::PopStyleVar(2);
    ImGui::PopStyleColor(8);
    ImGui::PopFont();
    use_own_texture(*ImGui::GetWindowDrawList());
    return result;
}

}  // namespace pentamesh
