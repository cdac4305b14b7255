#include "render/text_edit.h"

#include "render/fonts.h"
#include "render/imgui_compat.h"

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
    const float height = height_of(font);
    push_font(font);
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
    // Dear ImGui 1.92.2 keeps no text of a field that gets the keyboard while it is read-only, and looks for
    // it once it is not: such a field stands back for this frame.
    if (enabled || !takes_keyboard(label.c_str()))
        result.entered = ImGui::InputTextWithHint(label.c_str(), shown_hint.c_str(), &utf8, flags,
                                                  complete != nullptr ? complete_text : nullptr, &completion);
    result.completed = completion.done;
    result.active = ImGui::IsItemActive();
    result.changed = utf8 != before;
    ImGui::PopStyleColor(5);
    ImGui::PopItemWidth();
    ImGui::PopFont();
    use_own_texture(*ImGui::GetWindowDrawList());
    return result;
}

}  // namespace pentamesh
