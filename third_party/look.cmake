# Where a dependency is looked for, and how it is downloaded.
if(NOT PENTAMESH_DEPS MATCHES "^(auto|system|download)$")
    message(FATAL_ERROR "PENTAMESH_DEPS is '${PENTAMESH_DEPS}': it must be auto, system or download")
endif()

# Sets `result`: whether the system may have the dependency that FetchContent calls `name`.
function(pentamesh_look_in_system name result)
    string(TOUPPER ${name} upper)
    if(PENTAMESH_DEPS STREQUAL "system")
        set(${result} TRUE PARENT_SCOPE)
    elseif(PENTAMESH_DEPS STREQUAL "download" OR FETCHCONTENT_SOURCE_DIR_${upper})
        set(${result} FALSE PARENT_SCOPE)
    else()
        set(${result} TRUE PARENT_SCOPE)
    endif()
endfunction()

# Downloads pin `name` (or takes the folder given with FETCHCONTENT_SOURCE_DIR_*) and sets NAME_SOURCE_DIR.
# Its own CMakeLists is used only with BUILD; without, we take the sources alone.
macro(pentamesh_fetch name)
    cmake_parse_arguments(_fetch "BUILD" "" "" ${ARGN})
    string(TOUPPER ${name} _upper)
    if(PENTAMESH_DEPS STREQUAL "system")
        message(FATAL_ERROR "${name} was not found and PENTAMESH_DEPS is 'system'. Install it (${PENTAMESH_PACKAGE_${name}} on "
                            "Debian and Ubuntu) or configure with -DPENTAMESH_DEPS=auto to download it.")
    endif()
    if(FETCHCONTENT_SOURCE_DIR_${_upper})
        message(STATUS "${name}: from ${FETCHCONTENT_SOURCE_DIR_${_upper}}")
    else()
        message(STATUS "${name}: downloading ${PENTAMESH_PIN_${name}}")
    endif()
    if(_fetch_BUILD)
        FetchContent_Declare(${name} ${PENTAMESH_PIN_${name}} SYSTEM)
    else()
        # A subfolder that does not exist: populated, not added to the build.
        FetchContent_Declare(${name} ${PENTAMESH_PIN_${name}} SOURCE_SUBDIR sources-only)
    endif()
    FetchContent_MakeAvailable(${name})
endmacro()
