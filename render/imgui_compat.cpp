#include "render/imgui_compat.h"

#include "render/surface_state.h"

#include <algorithm>
#include <array>
#include <cfloat>
#include <imgui.h>
#include <imgui_freetype.h>
#include <imgui_impl_opengl3.h>
#include <imgui_internal.h>
#include <vector>

// Until 1.86 keys are the platform's codes (GLFW's, mapped by io.KeyMap). Since 1.87 they are ImGuiKey.
namespace pentamesh {

namespace {

// In GLFW's key codes letters and digits are their ASCII, the rest is as GLFW/glfw3.h numbers them.
int glfw_code(Key key) {
    if (key >= Key::a && key <= Key::z) return 'A' + static_cast<int>(key) - static_cast<int>(Key::a);
    if (key >= Key::n0 && key <= Key::n9) return '0' + static_cast<int>(key) - static_cast<int>(Key::n0);
    if (key >= Key::f1 && key <= Key::f12) return 290 + static_cast<int>(key) - static_cast<int>(Key::f1);
    switch (key) {
    case Key::space: return 32;
    case Key::comma: return 44;
    case Key::minus: return 45;
    case Key::period: return 46;
    case Key::slash: return 47;
    case Key::semicolon: return 59;
    case Key::equal: return 61;
    case Key::left_bracket: return 91;
    case Key::backslash: return 92;
    case Key::right_bracket: return 93;
    case Key::escape: return 256;
    case Key::enter: return 257;
    case Key::tab: return 258;
    case Key::backspace: return 259;
    case Key::insert: return 260;
    case Key::del: return 261;
    case Key::right: return 262;
    case Key::left: return 263;
    case Key::down: return 264;
    case Key::up: return 265;
    case Key::page_up: return 266;
    case Key::page_down: return 267;
    case Key::home: return 268;
    case Key::end: return 269;
    default: return -1;
    }
}

constexpr int kKeypadEnter = 335;

// Returns true if a key with this label is the chord's: the keypad has Enter, + and - of its own, and on some
// layouts + stands on a key of its own.
bool is_labelled(int label, Key key) {
    constexpr int kKeypadMinus = 333, kKeypadPlus = 334;
    if (label == glfw_code(key)) return true;
    if (key == Key::enter) return label == kKeypadEnter;
    if (key == Key::equal) return label == kKeypadPlus || label == '+';
    return key == Key::minus && label == kKeypadMinus;
}

// Returns true for letters, digits and signs: a field of text takes them.
bool writes(Key key) {
    return (key >= Key::a && key <= Key::n9) || (key >= Key::minus && key <= Key::backslash);
}

// Returns true if the key went down since the last frame, with the modifiers held at that time.
bool went_down(Chord chord) {
    const auto& presses = surface_state().key_presses;
    return std::any_of(presses.begin(), presses.end(), [&](const KeyPress& s) {
        const bool shift = chord.key == Key::equal || s.shift == chord.shift;  // + is often Shift and =
        return is_labelled(s.label, chord.key) && s.ctrl == chord.ctrl && shift && s.alt == chord.alt;
    });
}

#if IMGUI_VERSION_NUM < 18700

int native(Key key) {
    return glfw_code(key);
}
bool is_pressed(Key key, bool repeat) {
    return (native(key) >= 0 && ImGui::IsKeyPressed(native(key), repeat))
           || (key == Key::enter && ImGui::IsKeyPressed(kKeypadEnter, repeat));
}
bool is_down(Key key) {
    return native(key) >= 0 && ImGui::IsKeyDown(native(key));
}

bool some_key_down() {
    const auto& down = ImGui::GetIO().KeysDown;
    return std::any_of(std::begin(down), std::end(down), [](bool d) { return d; });
}

#else

bool some_key_down() {
    for (int k = ImGuiKey_NamedKey_BEGIN; k < ImGuiKey_NamedKey_END; ++k) {
        const auto key = static_cast<ImGuiKey>(k);
        if (key >= ImGuiKey_MouseLeft && key <= ImGuiKey_MouseWheelY) continue;  // they are keys too
        if (ImGui::IsKeyDown(key)) return true;
    }
    return false;
}

ImGuiKey native(Key key) {
    const auto from = [](ImGuiKey first, Key base, Key k) {
        return static_cast<ImGuiKey>(static_cast<int>(first) + static_cast<int>(k) - static_cast<int>(base));
    };
    if (key >= Key::a && key <= Key::z) return from(ImGuiKey_A, Key::a, key);
    if (key >= Key::n0 && key <= Key::n9) return from(ImGuiKey_0, Key::n0, key);
    if (key >= Key::f1 && key <= Key::f12) return from(ImGuiKey_F1, Key::f1, key);
    switch (key) {
    case Key::space: return ImGuiKey_Space;
    case Key::comma: return ImGuiKey_Comma;
    case Key::minus: return ImGuiKey_Minus;
    case Key::period: return ImGuiKey_Period;
    case Key::slash: return ImGuiKey_Slash;
    case Key::semicolon: return ImGuiKey_Semicolon;
    case Key::equal: return ImGuiKey_Equal;
    case Key::left_bracket: return ImGuiKey_LeftBracket;
    case Key::right_bracket: return ImGuiKey_RightBracket;
    case Key::backslash: return ImGuiKey_Backslash;
    case Key::escape: return ImGuiKey_Escape;
    case Key::enter: return ImGuiKey_Enter;
    case Key::tab: return ImGuiKey_Tab;
    case Key::backspace: return ImGuiKey_Backspace;
    case Key::insert: return ImGuiKey_Insert;
    case Key::del: return ImGuiKey_Delete;
    case Key::right: return ImGuiKey_RightArrow;
    case Key::left: return ImGuiKey_LeftArrow;
    case Key::down: return ImGuiKey_DownArrow;
    case Key::up: return ImGuiKey_UpArrow;
    case Key::page_up: return ImGuiKey_PageUp;
    case Key::page_down: return ImGuiKey_PageDown;
    case Key::home: return ImGuiKey_Home;
    case Key::end: return ImGuiKey_End;
    default: return ImGuiKey_None;
    }
}

bool is_pressed(Key key, bool repeat) {
    return (native(key) != ImGuiKey_None && ImGui::IsKeyPressed(native(key), repeat))
           || (key == Key::enter && ImGui::IsKeyPressed(ImGuiKey_KeypadEnter, repeat));
}
bool is_down(Key key) {
    return native(key) != ImGuiKey_None && ImGui::IsKeyDown(native(key));
}
#endif

}  // namespace

bool key_down(Key key) {
    return is_down(key);
}

void leave_text_field() {
    ImGui::ClearActiveID();
}

bool text_field_active() {
    return ImGui::GetIO().WantTextInput;
}

bool pressed(Chord chord, bool repeat) {
    const ImGuiIO& io = ImGui::GetIO();
    const bool shift = chord.key == Key::equal || io.KeyShift == chord.shift;
    const bool held = io.KeyCtrl == chord.ctrl && shift && io.KeyAlt == chord.alt;
    const bool pressed_now = went_down(chord);
    if (!held && !pressed_now) return false;
    const bool function_key = chord.key >= Key::f1 && chord.key <= Key::f12;
    // A text field keeps plain keys and its own editing chords.
    const bool editing = chord.ctrl
                         && (chord.key == Key::a || chord.key == Key::c || chord.key == Key::v
                             || chord.key == Key::x || chord.key == Key::z || chord.key == Key::y);
    const bool menu_key = chord.key == Key::up || chord.key == Key::down || chord.key == Key::escape
                          || chord.key == Key::tab || chord.key == Key::page_up
                          || chord.key == Key::page_down;
    const bool plain = !chord.ctrl && !chord.alt;
    if ((io.WantTextInput || text_expected()) && !function_key && !menu_key && (editing || plain))
        return false;
    if (surface_state().typed_ahead.focus_takes_text && plain && writes(chord.key)) return false;
    if (pressed_now || !held) return pressed_now;
    // If the platform reports key presses, only repeats of a held key remain. Dear ImGui's own events may
    // report a quick chord without its modifiers, or a frame late.
    const bool first = !surface_state().reports_key_presses && is_pressed(chord.key, false);
    return first || (repeat && is_pressed(chord.key, true) && !is_pressed(chord.key, false));
}

bool enter_went_down() {
    const bool reported = surface_state().reports_key_presses;
    return reported ? went_down({Key::enter}) : is_pressed(Key::enter, false);
}

void hold_quick_keys() {
#if IMGUI_VERSION_NUM < 18700
    ImGuiIO& io = ImGui::GetIO();
    SurfaceState& state = surface_state();
    if (!state.keys_held_for_frame.empty()) {
        for (const int key : state.keys_held_for_frame) io.KeysDown[key] = false;
        state.keys_held_for_frame.clear();
        // GLFW has codes for left shift, control, alt, and for the right ones four on.
        io.KeyShift = io.KeysDown[340] || io.KeysDown[344];
        io.KeyCtrl = io.KeysDown[341] || io.KeysDown[345];
        io.KeyAlt = io.KeysDown[342] || io.KeysDown[346];
    }
    for (const KeyPress& s : state.key_presses) {
        if (s.native < 0 || s.native >= static_cast<int>(std::size(io.KeysDown)) || io.KeysDown[s.native])
            continue;
        io.KeysDown[s.native] = true;
        state.keys_held_for_frame.push_back(s.native);
        io.KeyCtrl = io.KeyCtrl || s.ctrl;
        io.KeyShift = io.KeyShift || s.shift;
        io.KeyAlt = io.KeyAlt || s.alt;
    }
#endif
}

bool any_key_down() {
    return some_key_down();
}

void set_buttons(const std::array<bool, 3>& down, const std::optional<Vec2>& at, [[maybe_unused]] Vec2 now) {
    ImGuiIO& io = ImGui::GetIO();
#if IMGUI_VERSION_NUM < 18700
    if (at) io.MousePos = {at->x, at->y};
    std::copy(down.begin(), down.end(), std::begin(io.MouseDown));
#else
    if (at) io.AddMousePosEvent(at->x, at->y);
    for (std::size_t i = 0; i < down.size(); ++i) io.AddMouseButtonEvent(static_cast<int>(i), down[i]);
    if (at) io.AddMousePosEvent(now.x, now.y);  // taken a frame later
#endif
}

bool input_kept_back() {
#if IMGUI_VERSION_NUM < 18700
    return false;
#else
    return !ImGui::GetCurrentContext()->InputEventsQueue.empty();
#endif
}

void prepare_synthetic_keys() {
#if IMGUI_VERSION_NUM < 18700
    ImGuiIO& io = ImGui::GetIO();
    constexpr std::array<std::pair<int, Key>, 22> kMap{{
        {ImGuiKey_Tab, Key::tab},
        {ImGuiKey_LeftArrow, Key::left},
        {ImGuiKey_RightArrow, Key::right},
        {ImGuiKey_UpArrow, Key::up},
        {ImGuiKey_DownArrow, Key::down},
        {ImGuiKey_PageUp, Key::page_up},
        {ImGuiKey_PageDown, Key::page_down},
        {ImGuiKey_Home, Key::home},
        {ImGuiKey_End, Key::end},
        {ImGuiKey_Insert, Key::insert},
        {ImGuiKey_Delete, Key::del},
        {ImGuiKey_Backspace, Key::backspace},
        {ImGuiKey_Space, Key::space},
        {ImGuiKey_Enter, Key::enter},
        {ImGuiKey_Escape, Key::escape},
        {ImGuiKey_KeyPadEnter, Key::enter},
        {ImGuiKey_A, Key::a},
        {ImGuiKey_C, Key::c},
        {ImGuiKey_V, Key::v},
        {ImGuiKey_X, Key::x},
        {ImGuiKey_Y, Key::y},
        {ImGuiKey_Z, Key::z},
    }};
    for (const auto& [to, key] : kMap) io.KeyMap[to] = native(key);
#endif
}

void feed_input(const SyntheticInput& input, Vec2 size, float scale, double seconds_since_last) {
    ImGuiIO& io = ImGui::GetIO();
    io.DisplaySize = {size.x * scale, size.y * scale};
    io.DisplayFramebufferScale = {1, 1};
    io.DeltaTime = static_cast<float>(std::max(1e-4, seconds_since_last));
    const bool inside = input.mouse.x >= 0;
    const ImVec2 mouse =
        inside ? ImVec2{input.mouse.x * scale, input.mouse.y * scale} : ImVec2{-FLT_MAX, -FLT_MAX};
#if IMGUI_VERSION_NUM < 18700
    io.MousePos = mouse;
    for (int i = 0; i < 3; ++i) io.MouseDown[i] = input.down[i];
    io.MouseWheel = input.wheel;
    io.KeyCtrl = input.ctrl;
    io.KeyShift = input.shift;
    io.KeyAlt = input.alt;
    std::fill(std::begin(io.KeysDown), std::end(io.KeysDown), false);
    for (const Key k : input.keys_down)
        if (native(k) >= 0) io.KeysDown[native(k)] = true;
#else
    io.ConfigInputTrickleEventQueue = false;
    io.AddMousePosEvent(mouse.x, mouse.y);
    for (int i = 0; i < 3; ++i) io.AddMouseButtonEvent(i, input.down[i]);
    if (input.wheel != 0) io.AddMouseWheelEvent(0, input.wheel);
    io.AddKeyEvent(ImGuiMod_Ctrl, input.ctrl);
    io.AddKeyEvent(ImGuiMod_Shift, input.shift);
    io.AddKeyEvent(ImGuiMod_Alt, input.alt);
    for (int k = 1; k < static_cast<int>(Key::count); ++k) {
        const auto key = static_cast<Key>(k);
        if (native(key) == ImGuiKey_None) continue;
        const bool down =
            std::find(input.keys_down.begin(), input.keys_down.end(), key) != input.keys_down.end();
        io.AddKeyEvent(native(key), down);
    }
#endif
    if (!input.text.empty()) io.AddInputCharactersUTF8(input.text.c_str());
}

std::string chord_text(Chord c) {
    static constexpr std::array<const char*, 34> kNamed{
        "Left", "Right", "Up",    "Down", "Home", "End", "PgUp", "PgDn", "Ins", "Del", "Backspace", "Enter",
        "Esc",  "Tab",   "Space", "−",    "+",    ",",   ".",    "/",    ";",   "[",   "]",         "\\"};
    std::string s;
    if (c.ctrl) s += "Ctrl+";
    if (c.alt) s += "Alt+";
    if (c.shift) s += "Shift+";
    if (c.key >= Key::a && c.key <= Key::z)
        s += static_cast<char>('A' + static_cast<int>(c.key) - static_cast<int>(Key::a));
    else if (c.key >= Key::n0 && c.key <= Key::n9)
        s += static_cast<char>('0' + static_cast<int>(c.key) - static_cast<int>(Key::n0));
    else if (c.key >= Key::f1 && c.key <= Key::f12)
        s += "F" + std::to_string(1 + static_cast<int>(c.key) - static_cast<int>(Key::f1));
    else if (c.key >= Key::left && c.key < Key::count)
        s += kNamed[static_cast<std::size_t>(c.key) - static_cast<std::size_t>(Key::left)];
    return s;
}

// ---- fonts and textures -------------------------------------------------------------------------------

void begin_fonts(ImFontAtlas& atlas) {
    atlas.Clear();
    atlas.FontBuilderIO = ImGuiFreeType::GetBuilderForFreeType();
    atlas.FontBuilderFlags = ImGuiFreeTypeBuilderFlags_LightHinting;
}

void refresh_font_texture() {
    ImGui_ImplOpenGL3_DestroyFontsTexture();
    ImGui_ImplOpenGL3_CreateFontsTexture();
}

void push_texture(ImDrawList& list, unsigned name) {
    // The backend keeps an OpenGL name in a pointer until 1.91.
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    list.PushTextureID((ImTextureID)(intptr_t)name);
}
void pop_texture(ImDrawList& list) {
    list.PopTextureID();
}

void use_own_texture(ImDrawList& list) {
    const GlyphCache& cache = surface_state().glyphs;
    ImDrawListSharedData& shared = *ImGui::GetDrawListSharedData();
    shared.TexUvWhitePixel = {cache.white().x, cache.white().y};
    shared.TexUvLines = cache.line_rows().data();
    const ImTextureID current = list._CmdHeader.TextureId;
    if ((intptr_t)current != static_cast<intptr_t>(cache.texture(0))) push_texture(list, cache.texture(0));
}

void start_list(ImDrawList& list, float x0, float y0, float x1, float y1) {
    list._ResetForNewFrame();
    use_own_texture(list);
    list.PushClipRect({x0, y0}, {x1, y1}, false);
}

void draw_lists(std::span<ImDrawList* const> lists) {
    const ImGuiIO& io = ImGui::GetIO();
    ImDrawData data;
    for (ImDrawList* list : lists) list->_PopUnusedDrawCmd();
#if IMGUI_VERSION_NUM < 18700
    std::vector<ImDrawList*> own(lists.begin(), lists.end());
    data.CmdLists = own.data();
#else
    for (ImDrawList* list : lists) data.CmdLists.push_back(list);
#endif
    data.Valid = true;
    data.CmdListsCount = static_cast<int>(lists.size());
    data.DisplaySize = io.DisplaySize;
    data.FramebufferScale = {1, 1};
    ImGui_ImplOpenGL3_RenderDrawData(&data);
}

}  // namespace pentamesh
