# Dear ImGui 1.86 to 1.91 with its GLFW and OpenGL 3 backends and the FreeType rasteriser. Headers are included by
# their bare names: <imgui.h>, <imgui_impl_glfw.h>, <imgui_impl_opengl3.h>, <imgui_freetype.h>, <imgui_stdlib.h>.
add_library(pentamesh_imgui INTERFACE)
add_library(pentamesh::imgui ALIAS pentamesh_imgui)
pentamesh_look_in_system(imgui look)
if(look AND PKG_CONFIG_FOUND)
    pkg_check_modules(imgui QUIET IMPORTED_TARGET GLOBAL imgui>=1.86)
    if(imgui_VERSION VERSION_GREATER_EQUAL 1.92)  # textures and fonts are others from there on
        set(imgui_FOUND FALSE)
    endif()
endif()
if(look AND imgui_FOUND)
    message(STATUS "Dear ImGui: ${imgui_VERSION} from the system")
    foreach(folder ${imgui_INCLUDE_DIRS})
        if(EXISTS ${folder}/backends)
            target_include_directories(pentamesh_imgui SYSTEM INTERFACE ${folder}/backends)
        endif()
    endforeach()
    target_link_libraries(pentamesh_imgui INTERFACE PkgConfig::imgui)
else()
    pentamesh_fetch(imgui)
    set(folders ${imgui_SOURCE_DIR} ${imgui_SOURCE_DIR}/backends ${imgui_SOURCE_DIR}/misc/freetype
        ${imgui_SOURCE_DIR}/misc/cpp)
    add_library(pentamesh_imgui_sources STATIC
        ${imgui_SOURCE_DIR}/imgui.cpp
        ${imgui_SOURCE_DIR}/imgui_demo.cpp
        ${imgui_SOURCE_DIR}/imgui_draw.cpp
        ${imgui_SOURCE_DIR}/imgui_tables.cpp
        ${imgui_SOURCE_DIR}/imgui_widgets.cpp
        ${imgui_SOURCE_DIR}/backends/imgui_impl_opengl3.cpp
        ${imgui_SOURCE_DIR}/misc/cpp/imgui_stdlib.cpp
        ${imgui_SOURCE_DIR}/misc/freetype/imgui_freetype.cpp)
    if(EMSCRIPTEN)
        # WebGL 2 draws from an index on only from zero: long lists need wide indices.
        target_compile_definitions(pentamesh_imgui_sources PUBLIC IMGUI_IMPL_OPENGL_ES3 "ImDrawIdx=unsigned int")
    else()
        target_sources(pentamesh_imgui_sources PRIVATE ${imgui_SOURCE_DIR}/backends/imgui_impl_glfw.cpp)
    endif()
    target_include_directories(pentamesh_imgui_sources SYSTEM PUBLIC ${folders})
    target_compile_definitions(pentamesh_imgui_sources PUBLIC IMGUI_ENABLE_FREETYPE)
    target_compile_options(pentamesh_imgui_sources PRIVATE $<IF:$<CXX_COMPILER_ID:MSVC>,/w,-w>)
    target_link_libraries(pentamesh_imgui_sources PUBLIC pentamesh::glfw pentamesh::freetype ${CMAKE_DL_LIBS})
    target_link_libraries(pentamesh_imgui INTERFACE pentamesh_imgui_sources)
endif()
target_link_libraries(pentamesh_imgui INTERFACE pentamesh::glfw pentamesh::freetype ${CMAKE_DL_LIBS})
