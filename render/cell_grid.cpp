// The place and the colour of a rank's cell come from the same arithmetic here and in the shader.
#include "core/base/files.h"
#include "render/picture_context.h"
#include "render/surface_state.h"

#include <algorithm>
#include <cmath>
#include <imgui.h>
#include <limits>
#include <string>

namespace pentamesh {

Vec2 cell_position(const CellGrid& grid, std::int64_t rank) {
    std::array<Vec2, 4> offset{};
    for (int i = 0; i < grid.levels; ++i) {
        const auto& l = grid.level[i];
        const bool outermost = i + 1 == grid.levels;
        const std::int64_t index = outermost ? rank : rank % l.size;
        const std::int64_t column = index % l.cols, row = index / l.cols;
        offset[i] = {static_cast<float>(column) * l.pitch_x, static_cast<float>(row) * l.pitch_y};
        rank /= l.size;
    }
    Vec2 at = grid.origin;
    for (int i = grid.levels; i-- > 0;) at = at + offset[i];  // as the shader sums
    return at;
}

std::int64_t cell_id(const CellGrid& grid, std::int64_t rank) {
    std::int64_t id = 0;
    for (int i = 0; i < grid.digits; ++i) {
        const auto& d = grid.digit[i];
        id += rank / d.stride % d.size * d.weight;
    }
    return id;
}

namespace {
// Returns the number of whole pitches in a distance. A level of one cell, row or column needs no pitch. A
// position that was computed from a pitch belongs to it however it was rounded.
std::int64_t steps(float distance, float pitch) {
    if (!(pitch > 0)) return 0;
    const double n = std::floor(static_cast<double>(distance) / pitch + 1e-4);
    return static_cast<std::int64_t>(std::min(n, 1e9));
}
}  // namespace

std::int64_t cell_at(const CellGrid& grid, Vec2 p) {
    // From the outermost level inwards, each level's column and row follow from the rest of the position.
    Vec2 rest = p - grid.origin;
    std::array<std::int64_t, 4> index{};
    for (int i = grid.levels; i-- > 0;) {
        const auto& l = grid.level[i];
        if (!(rest.x >= 0 && rest.y >= 0)) return -1;
        const std::int64_t col = std::min<std::int64_t>(steps(rest.x, l.pitch_x), l.cols - 1);
        const std::int64_t row = steps(rest.y, l.pitch_y);
        const std::int64_t at = row * l.cols + col;
        if (at >= (i + 1 < grid.levels ? l.size : std::numeric_limits<std::int32_t>::max())) return -1;
        index[i] = at;
        rest = {std::max(0.0f, rest.x - static_cast<float>(col) * l.pitch_x),
                std::max(0.0f, rest.y - static_cast<float>(row) * l.pitch_y)};
    }
    if (rest.x >= grid.cell.x || rest.y >= grid.cell.y) return -1;
    std::int64_t rank = 0;
    for (int i = grid.levels; i-- > 0;) rank = rank * (grid.level[i].size) + index[i];
    return rank >= grid.first && rank < grid.first + static_cast<std::int64_t>(grid.count) * grid.step ? rank
                                                                                                       : -1;
}

namespace {

// It is one rectangle over the frame; each pixel finds the cell that it lies in, so the cost is that of the
// pixels and not of the cells.
constexpr const char* kVertex = PENTAMESH_SHADER_HEAD R"(
void main() {
    gl_Position = vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0, 0.0, 1.0);
}
)";
constexpr const char* kFragment = PENTAMESH_SHADER_HEAD R"(
uniform vec2 display, origin, cell;
uniform ivec3 run;  // first rank, step, count
uniform int levels, digits, palette_size, highlighted;
uniform ivec2 level[4];
uniform vec2 pitch[4];
uniform ivec3 digit[6];
uniform vec4 palette[64], ground;
uniform float dim;
out vec4 pixel;
// a / b and a % b of whole numbers. Where graphics are drawn in software, dividing them as such costs more than
// all the rest; the quotient of floats is off by one at most as long as it is below two million.
ivec2 divided(int a, int b) {
    int q = int(float(a) / float(b));
    int r = a - q * b;
    int off = r < 0 ? -1 : r >= b ? 1 : 0;
    return ivec2(q + off, r - off * b);
}
void main() {
    vec2 p = floor(vec2(gl_FragCoord.x, display.y - gl_FragCoord.y));
    // Outside in: the box of each level, then the place in it. Between boxes: the nearest; the edges decide below.
    vec2 rest = p + 0.5 - origin;
    if (rest.x < 0.0 || rest.y < 0.0) discard;
    int rank = 0;
    vec2 at = origin;
    for (int i = levels - 1; i >= 0; --i) {
        ivec2 c = ivec2(rest / max(pitch[i], vec2(1e-6)));
        c.x = min(c.x, level[i].y - 1);
        int index = c.y * level[i].y + c.x;
        if (i + 1 < levels && index >= level[i].x) {
            c.y = min(c.y, (level[i].x - 1) / level[i].y);
            index = min(c.y * level[i].y + c.x, level[i].x - 1);
            c.x = index - c.y * level[i].y;
        }
        vec2 offset = vec2(c) * pitch[i];
        at += offset;
        rest = max(rest - offset, vec2(0.0));
        rank = rank * level[i].x + index;
    }
    if (rank < run.x) discard;
    if (run.y == 1) {
        if (rank >= run.x + run.z) discard;
    } else {  // the cell that stands for every run.y ranks
        int k = divided(rank - run.x, run.y).x;
        if (k >= run.z) discard;
        rank = run.x + k * run.y;
        vec2 offset[4];
        int above = rank;
        for (int i = 0; i < levels; ++i) {
            ivec2 in_level = i + 1 == levels ? ivec2(0, above) : divided(above, level[i].x);
            ivec2 place = divided(in_level.y, level[i].y);
            offset[i] = vec2(place.y, place.x) * pitch[i];
            above = in_level.x;
        }
        at = origin;
        for (int i = levels - 1; i >= 0; --i) at += offset[i];
    }
    // Edges on whole pixels, never thinner than one: cells of a few pixels stay even.
    vec2 low = floor(at + 0.5), high = max(floor(at + cell + 0.5), low + 1.0);
    if (any(lessThan(p, low)) || any(greaterThanEqual(p, high))) discard;
    int id = 0;
    for (int i = 0; i < digits; ++i)
        id += divided(digit[i].x == 1 ? rank : divided(rank, digit[i].x).x, digit[i].y).y * digit[i].z;
    pixel = palette[divided(id, palette_size).y];
    if (highlighted >= 0 && id != highlighted) pixel = mix(pixel, ground, dim);
}
)";

GLuint compile(GLenum kind, const char* source) {
    const GLuint shader = glCreateShader(kind);
    glShaderSource(shader, 1, &source, nullptr);
    glCompileShader(shader);
    GLint good = GL_FALSE;
    glGetShaderiv(shader, GL_COMPILE_STATUS, &good);
    if (good == GL_TRUE) return shader;
    std::array<char, 1024> words{};
    glGetShaderInfoLog(shader, static_cast<GLsizei>(words.size()) - 1, nullptr, words.data());
    glDeleteShader(shader);
    throw Error(ErrorKind::io, "", "",
                std::string("the driver does not compile the cell shader: ") + words.data());
}

std::array<float, 4> floats(Color c) {
    return {static_cast<float>(c.r) / 255, static_cast<float>(c.g) / 255, static_cast<float>(c.b) / 255,
            static_cast<float>(c.a) / 255};
}

// Returns the right and lower end of everything that a grid draws, in logical pixels. No pixel beyond it is
// asked: there ranks could grow past what an int holds.
Vec2 far_corner(const CellGrid& grid) {
    Vec2 end = grid.origin + grid.cell;
    std::int64_t boxes = grid.first + std::int64_t{grid.count - 1} * std::max(1, grid.step) + 1;
    for (int i = 0; i < grid.levels; ++i) {
        const auto& l = grid.level[i];
        const std::int64_t size = std::max(1, l.size), cols = std::max(1, l.cols);
        const std::int64_t seen = i + 1 == grid.levels ? boxes : std::min(size, boxes);
        const std::int64_t last_row = (seen - 1) / cols;
        end.x += static_cast<float>(std::min(seen, cols) - 1) * l.pitch_x;
        end.y += static_cast<float>(last_row) * l.pitch_y;
        boxes = (boxes + size - 1) / size;
    }
    return end;
}

bool same_levels(const CellGrid& a, const CellGrid& b) {
    return a.levels == b.levels
           && std::equal(a.level.begin(), a.level.end(), b.level.begin(),
                         [](const CellGrid::Level& x, const CellGrid::Level& y) {
                             return x.size == y.size && x.cols == y.cols && x.pitch_x == y.pitch_x
                                    && x.pitch_y == y.pitch_y;
                         });
}

bool same_digits(const CellGrid& a, const CellGrid& b) {
    return a.digits == b.digits
           && std::equal(a.digit.begin(), a.digit.end(), b.digit.begin(),
                         [](const CellGrid::Digit& x, const CellGrid::Digit& y) {
                             return x.stride == y.stride && x.size == y.size && x.weight == y.weight;
                         });
}

// The program keeps its uniforms from call to call: only what differs from the grid before it is set, as the
// pods of a cluster are drawn one after another and share all but their place.
void set_grid(const CellGrid& grid, SurfaceState& state) {
    const auto& u = state.uniform;
    const float scale = state.scale;
    const CellGrid* before = state.cells_set && state.cells_scale == scale ? &*state.cells_set : nullptr;
    glUniform2f(u.origin, grid.origin.x * scale, grid.origin.y * scale);
    glUniform3i(u.run, grid.first, std::max(1, grid.step), grid.count);
    if (before == nullptr || before->cell.x != grid.cell.x || before->cell.y != grid.cell.y)
        glUniform2f(u.cell, grid.cell.x * scale, grid.cell.y * scale);
    if (before == nullptr || !same_levels(*before, grid)) {
        glUniform1i(u.levels, grid.levels);
        std::array<GLint, 8> level{};
        std::array<GLfloat, 8> pitch{};
        for (std::size_t i = 0; i < 4; ++i) {
            level[2 * i] = std::max(1, grid.level[i].size);
            level[2 * i + 1] = std::max(1, grid.level[i].cols);
            pitch[2 * i] = grid.level[i].pitch_x * scale;
            pitch[2 * i + 1] = grid.level[i].pitch_y * scale;
        }
        glUniform2iv(u.level, 4, level.data());
        glUniform2fv(u.pitch, 4, pitch.data());
    }
    if (before == nullptr || !same_digits(*before, grid)) {
        std::array<GLint, 18> digit{};
        for (std::size_t i = 0; i < 6; ++i) {
            digit[3 * i] = std::max(1, grid.digit[i].stride);
            digit[3 * i + 1] = std::max(1, grid.digit[i].size);
            digit[3 * i + 2] = grid.digit[i].weight;
        }
        glUniform1i(u.digits, grid.digits);
        glUniform3iv(u.digit, 6, digit.data());
    }
    if (before == nullptr || before->palette_size != grid.palette_size || before->palette != grid.palette) {
        std::array<GLfloat, 256> palette{};
        const int colors = std::clamp(grid.palette_size, 1, 64);
        for (std::size_t i = 0; i < static_cast<std::size_t>(colors); ++i) {
            const auto c = floats(grid.palette[i]);
            std::copy(c.begin(), c.end(), palette.begin() + static_cast<std::ptrdiff_t>(4 * i));
        }
        glUniform4fv(u.palette, colors, palette.data());
        glUniform1i(u.palette_size, colors);
    }
    if (before == nullptr || before->highlighted_id != grid.highlighted_id || before->dim != grid.dim
        || before->ground != grid.ground) {
        glUniform1i(u.highlighted, grid.highlighted_id);
        const auto ground = floats(grid.ground);
        glUniform4fv(u.ground, 1, ground.data());
        glUniform1f(u.dim, grid.dim);
    }
    state.cells_set = grid;
    state.cells_scale = scale;
}

void draw_cells(const ImDrawList*, const ImDrawCmd* command) {
    const auto& grid = *static_cast<const CellGrid*>(command->UserCallbackData);
    SurfaceState& state = surface_state();
    const ImGuiIO& io = ImGui::GetIO();
    const float scale = state.scale;
    const float height = io.DisplaySize.y;
    ImVec4 clip = command->ClipRect;
    const Vec2 first = grid.origin * scale, end = far_corner(grid) * scale;
    clip.x = std::max(clip.x, std::floor(first.x) - 1);  // a cell is never thinner than a pixel
    clip.y = std::max(clip.y, std::floor(first.y) - 1);
    clip.z = std::min(clip.z, std::ceil(end.x) + 1);
    clip.w = std::min(clip.w, std::ceil(end.y) + 1);
    const auto x0 = std::max(0, static_cast<int>(clip.x)),
               y0 = std::max(0, static_cast<int>(height - clip.w));
    const int w = static_cast<int>(clip.z) - x0, h = static_cast<int>(height - clip.y) - y0;
    if (w <= 0 || h <= 0 || grid.count <= 0) return;
    GLint program = 0, vertex_array = 0;  // the backend's: put back below
    std::array<GLint, 4> scissor{};
    glGetIntegerv(GL_CURRENT_PROGRAM, &program);
    glGetIntegerv(GL_VERTEX_ARRAY_BINDING, &vertex_array);
    glGetIntegerv(GL_SCISSOR_BOX, scissor.data());
    glScissor(x0, y0, w, h);
    glUseProgram(state.cell_program);
    glUniform2f(state.uniform.display, io.DisplaySize.x, io.DisplaySize.y);
    set_grid(grid, state);
    glBindVertexArray(state.cell_vertex_array);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    glUseProgram(static_cast<GLuint>(program));
    glBindVertexArray(static_cast<GLuint>(vertex_array));
    glScissor(scissor[0], scissor[1], scissor[2], scissor[3]);
}

}  // namespace

void compile_cell_shader(SurfaceState& state) {
    const GLuint program = state.cell_program = glCreateProgram();  // destroy_cell_shader deletes it
    for (const auto& [kind, source] :
         {std::pair{GL_VERTEX_SHADER, kVertex}, {GL_FRAGMENT_SHADER, kFragment}}) {
        const GLuint shader = compile(static_cast<GLenum>(kind), source);
        glAttachShader(program, shader);
        glDeleteShader(shader);  // with the program
    }
    glLinkProgram(program);
    const auto at = [&](const char* name) { return glGetUniformLocation(program, name); };
    state.uniform = {at("display"),      at("origin"),      at("cell"),   at("run"),   at("levels"),
                     at("level"),        at("pitch"),       at("digits"), at("digit"), at("palette"),
                     at("palette_size"), at("highlighted"), at("ground"), at("dim")};
    glGenVertexArrays(1, &state.cell_vertex_array);
    state.cells_set.reset();  // a new program has no uniforms yet
}

void destroy_cell_shader(SurfaceState& state) {
    glDeleteProgram(state.cell_program);
    glDeleteVertexArrays(1, &state.cell_vertex_array);
    state.cell_program = state.cell_vertex_array = 0;
}

void queue_cells(ImDrawList& list, const CellGrid& grid) {
    CellGrid& kept = surface_state().grids.emplace_back(grid);
    list.AddCallback(draw_cells, &kept);
}

}  // namespace pentamesh
