# The OpenGL 3.3 core loader, generated at build time from the specification that comes with glad.
if(EMSCRIPTEN)  # its library is OpenGL ES 3 itself
    add_library(pentamesh_glad INTERFACE)
    add_library(pentamesh::glad ALIAS pentamesh_glad)
    target_link_options(pentamesh_glad INTERFACE -sMIN_WEBGL_VERSION=2 -sMAX_WEBGL_VERSION=2)
    return()
endif()
find_package(Python3 QUIET COMPONENTS Interpreter)
pentamesh_look_in_system(glad look)
if(look)
    find_program(PENTAMESH_GLAD glad)
    mark_as_advanced(PENTAMESH_GLAD)
    # glad 1 has the same name and other options.
    if(PENTAMESH_GLAD)
        execute_process(COMMAND ${PENTAMESH_GLAD} --help OUTPUT_VARIABLE glad_help ERROR_QUIET)
        if(NOT glad_help MATCHES "--reproducible|--out-path")
            set(PENTAMESH_GLAD PENTAMESH_GLAD-NOTFOUND)
        endif()
    endif()
endif()
if(look AND PENTAMESH_GLAD)
    message(STATUS "glad: ${PENTAMESH_GLAD}")
    set(glad_command ${PENTAMESH_GLAD})
else()
    pentamesh_fetch(glad)
    if(NOT Python3_FOUND)
        message(FATAL_ERROR "glad, which writes the OpenGL loader, needs Python 3")
    endif()
    execute_process(COMMAND ${Python3_EXECUTABLE} -c "import jinja2" RESULT_VARIABLE no_jinja2 ERROR_QUIET)
    if(no_jinja2)
        message(FATAL_ERROR "glad, which writes the OpenGL loader, needs the Python package jinja2 "
                            "(python3-jinja2 on Debian and Ubuntu, or: ${Python3_EXECUTABLE} -m pip install jinja2)")
    endif()
    set(glad_command ${CMAKE_COMMAND} -E env PYTHONPATH=${glad_SOURCE_DIR} ${Python3_EXECUTABLE} -m glad)
endif()

set(glad_folder ${CMAKE_CURRENT_BINARY_DIR}/gl)
file(MAKE_DIRECTORY ${glad_folder}/include)
add_custom_command(
    OUTPUT ${glad_folder}/src/gl.c ${glad_folder}/include/glad/picture_context.h
    COMMAND ${glad_command} --reproducible --quiet --api gl:core=3.3 --extensions GL_KHR_debug --out-path ${glad_folder} c
    COMMENT "Writing the OpenGL 3.3 loader"
    VERBATIM)
add_library(pentamesh_glad STATIC ${glad_folder}/src/gl.c ${glad_folder}/include/glad/picture_context.h)
add_library(pentamesh::glad ALIAS pentamesh_glad)
target_include_directories(pentamesh_glad SYSTEM PUBLIC ${glad_folder}/include)
target_link_libraries(pentamesh_glad PUBLIC ${CMAKE_DL_LIBS})
