# How our own code is compiled. Dependencies see the language standard and the sanitizers, not the warnings:
# a target of ours asks for those by linking pentamesh_warnings.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
endif()

# What is given away names no folder of the machine that built it: two builds of one tree are the same bytes wherever it
# lies. A build with debug information keeps the paths, by which a debugger finds the sources.
if(NOT MSVC)
    foreach(folder ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
        add_compile_options("$<$<CONFIG:Release,MinSizeRel>:-ffile-prefix-map=${folder}/=>")
    endforeach()
endif()

# A compiler cache, where the system has one: a file that was compiled before, in another clone too, is not compiled
# anew. scripts/setup.sh tells ccache that clones in other folders are the same.
find_program(CCACHE_PROGRAM ccache)
mark_as_advanced(CCACHE_PROGRAM)
if(CCACHE_PROGRAM AND NOT EMSCRIPTEN)
    foreach(language C CXX)
        if(NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
            set(CMAKE_${language}_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
        endif()
    endforeach()
endif()

add_library(pentamesh_warnings INTERFACE)
if(MSVC)
    target_compile_options(pentamesh_warnings INTERFACE /W4 /utf-8)
    target_compile_definitions(pentamesh_warnings INTERFACE NOMINMAX _CRT_SECURE_NO_WARNINGS)
else()
    target_compile_options(pentamesh_warnings INTERFACE -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # g++ 12 warns of overlaps inside std::string's operator+ that cannot be (GCC bug 105651).
    target_compile_options(pentamesh_warnings INTERFACE -Wno-restrict)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13
   AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
    # g++ 13 takes a reference into a table that was asked by a temporary key for one into the key (GCC bug 109642).
    target_compile_options(pentamesh_warnings INTERFACE -Wno-dangling-reference)
endif()
if(PENTAMESH_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # g++ says this of the standard library's own code once it is instrumented.
    target_compile_options(pentamesh_warnings INTERFACE -Wno-maybe-uninitialized)
endif()
if(PENTAMESH_WERROR)
    target_compile_options(pentamesh_warnings INTERFACE $<IF:$<CXX_COMPILER_ID:MSVC>,/WX,-Werror>)
endif()

# WebAssembly: exceptions of its own, for libpng's setjmp too, and a memory that grows.
if(EMSCRIPTEN)
    add_compile_options(-fwasm-exceptions -sSUPPORT_LONGJMP=wasm)
    target_compile_options(pentamesh_warnings INTERFACE -Wno-shorten-64-to-32)  # sizes have 32 bits there
    add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-include ${CMAKE_SOURCE_DIR}/cmake/ranges_of_libcxx14.h>")
    add_link_options(-fwasm-exceptions -sSUPPORT_LONGJMP=wasm -sALLOW_MEMORY_GROWTH=1 -sMAXIMUM_MEMORY=2147483648
                     -sINITIAL_MEMORY=67108864 -sWASM_BIGINT=1)
    set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
endif()

if(PENTAMESH_SANITIZE)
    add_compile_options(-fsanitize=${PENTAMESH_SANITIZE} -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${PENTAMESH_SANITIZE})
endif()

# The fuzzer follows what the readers do. To count that in the window as well would cost its tests and the compiler time.
function(pentamesh_fuzzed target)
    if(PENTAMESH_FUZZ)
        target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
    endif()
endfunction()

# Code that runs once a click needs no more than -O1, which takes the compiler half of the time of -O3.
function(pentamesh_runs_seldom target)
    if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT MSVC)
        target_compile_options(${target} PRIVATE -O1)
    endif()
endfunction()

# Headers that most files of a target include, compiled once. Of g++ the tests alone: clang-tidy reads its compile
# commands for the rest, and cannot read its precompiled headers.
function(pentamesh_precompile target)
    get_target_property(folder ${target} SOURCE_DIR)
    if(PENTAMESH_PCH AND (CMAKE_CXX_COMPILER_ID MATCHES "Clang" OR folder MATCHES "/tests"))
        target_precompile_headers(${target} PRIVATE ${ARGN})
    endif()
endfunction()

# A folder's files are compiled together, some 90 kB at once: their headers are read once, which takes a third of the time
# where everything is built at once. Each file compiles by itself as well: the presets debug and sanitize do so, and
# scripts/each_file checks it. Where two files give one name to two things of their own, one of them is left out with
# SKIP_UNITY_BUILD_INCLUSION.
function(pentamesh_unity target)
    get_target_property(files ${target} SOURCES)
    get_target_property(root ${target} SOURCE_DIR)
    if(NOT PENTAMESH_UNITY OR (PENTAMESH_UNITY STREQUAL "TESTS" AND NOT root MATCHES "/tests"))
        return()
    endif()
    set(most_bytes 90000)
    foreach(file ${files})
        cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${root} NORMALIZE)
        cmake_path(GET file PARENT_PATH folder)
        file(RELATIVE_PATH folder ${CMAKE_SOURCE_DIR} ${folder})
        string(MAKE_C_IDENTIFIER "${folder}" group)
        set(bytes 0)
        if(EXISTS ${file})  # a built one does not yet
            file(SIZE ${file} bytes)
        endif()
        if(NOT DEFINED part_${group})
            set(part_${group} 0)
            set(bytes_${group} 0)
        elseif(bytes_${group} GREATER 0)
            math(EXPR together "${bytes_${group}} + ${bytes}")
            if(together GREATER most_bytes)
                math(EXPR part_${group} "${part_${group}} + 1")
                set(bytes_${group} 0)
            endif()
        endif()
        math(EXPR bytes_${group} "${bytes_${group}} + ${bytes}")
        set_source_files_properties(${file} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${group}_${part_${group}})
    endforeach()
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        # g++ takes what one file of many has for itself for a header's.
        target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
    endif()
endfunction()
