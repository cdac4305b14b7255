# `cmake --install` lays a tree that needs nothing of the source folder: bin/pentamesh, in share/pentamesh the presets,
# assets, fonts and the module for Python, and what shells and man read. cpack makes a .deb of it, which takes its fonts
# from other packages. The page is a component of its own, which fails where it is asked for and was not built:
#
#     cmake --install build/release --prefix DIR --component page
#     cpack --config build/release/CPackConfig.cmake -D PENTAMESH_PAGE=ON
include(GNUInstallDirs)
set(data ${CMAKE_INSTALL_DATADIR}/pentamesh)

# These three are places for what only the owner of a release has; example.org is nobody's.
set(PENTAMESH_MAINTAINER "Pentamesh developers <pentamesh@example.org>" CACHE STRING "Who maintains the packages")
set(PENTAMESH_HOMEPAGE "https://pentamesh.example.org" CACHE STRING
    "The page of the program. Software centres fetch screenshots/dashboard.png and screenshots/loaf.png below it")
set(PENTAMESH_APP_ID "org.example.pentamesh" CACHE STRING "The id in software centres: a domain of the owner, reversed")

# The newest release of CHANGELOG.md is this one.
file(STRINGS CHANGELOG.md released REGEX "^## [0-9.]+ \\([0-9-]+\\)$" LIMIT_COUNT 1)
if(NOT released MATCHES "^## ${PROJECT_VERSION} \\(([0-9-]+)\\)$")
    message(FATAL_ERROR "CHANGELOG.md begins with '${released}': it must begin with '## ${PROJECT_VERSION} (YEAR-MONTH-DAY)', "
                        "as the version in CMakeLists.txt")
endif()
set(PENTAMESH_RELEASED ${CMAKE_MATCH_1})

install(TARGETS pentamesh RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY presets DESTINATION ${data} FILES_MATCHING PATTERN "*.json" PATTERN "*.py")
install(DIRECTORY assets DESTINATION ${data} PATTERN icons EXCLUDE PATTERN "*.desktop" EXCLUDE PATTERN "*.xml" EXCLUDE)

install(FILES app/python/pentamesh.py DESTINATION ${data}/python)
# scripts/web builds the page; `pentamesh lesson --web` opens a course in it.
set(page ${CMAKE_SOURCE_DIR}/build/web/pentamesh.html)
install(CODE "
    if(NOT EXISTS \"${page}\")
        message(FATAL_ERROR \"The page was asked for, and ${page} is not there: scripts/web builds it\")
    endif()
" COMPONENT page EXCLUDE_FROM_ALL)
install(FILES ${page} DESTINATION ${data}/web COMPONENT page EXCLUDE_FROM_ALL)

# The program writes its completions and its man page. Debian's zsh looks in another folder below /usr.
if(UNIX AND NOT CMAKE_CROSSCOMPILING)
    find_program(GZIP_PROGRAM gzip)
    mark_as_advanced(GZIP_PROGRAM)
    install(CODE "
        set(zsh zsh/site-functions)
        if(CMAKE_INSTALL_PREFIX STREQUAL \"/usr\")
            set(zsh zsh/vendor-completions)
        endif()
        foreach(pair bash:bash-completion/completions/pentamesh zsh:\${zsh}/_pentamesh
                     fish:fish/vendor_completions.d/pentamesh.fish man:man/man1/pentamesh.1)
            string(REPLACE \":\" \";\" pair \${pair})
            list(GET pair 0 what)
            list(GET pair 1 file)
            set(file \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/\${file}\")
            message(STATUS \"Installing: \$ENV{DESTDIR}\${file}\")
            execute_process(COMMAND \"$<TARGET_FILE:pentamesh>\" complete \${what}
                            OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
            file(WRITE \"\$ENV{DESTDIR}\${file}\" \"\${text}\")
            if(what STREQUAL man AND NOT \"${GZIP_PROGRAM}\" MATCHES NOTFOUND)
                execute_process(COMMAND \"${GZIP_PROGRAM}\" -n -9 -f \"\$ENV{DESTDIR}\${file}\" COMMAND_ERROR_IS_FATAL ANY)
            endif()
        endforeach()
    ")
endif()

# The fonts' licences (the SIL Open Font License for Inter; JetBrains Mono is under that and, built from its sources,
# under the Apache License 2.0) let them travel with the program, beside their texts.
function(pentamesh_install_font licence_name licence)
    set(places $ENV{HOME}/.local/share/fonts $ENV{HOME}/Library/Fonts /Library/Fonts C:/Windows/Fonts)
    foreach(file ${ARGN})
        string(MAKE_C_IDENTIFIER PENTAMESH_FONT_${file} variable)
        find_file(${variable} ${file} PATHS /usr/share/fonts /usr/local/share/fonts ${places}
                  PATH_SUFFIXES opentype/inter truetype/jetbrains-mono rsms-inter-fonts jetbrains-mono-fonts inter OTF TTF
                  NO_DEFAULT_PATH)
        mark_as_advanced(${variable})
        if(${variable})
            install(FILES ${${variable}} DESTINATION ${data}/fonts COMPONENT fonts)
        else()
            message(STATUS "${file} is not on this machine: an installed tree will be without it")
        endif()
    endforeach()
    if(EXISTS ${licence})
        install(FILES ${licence} DESTINATION ${data}/fonts RENAME ${licence_name} COMPONENT fonts)
    endif()
endfunction()
pentamesh_install_font(Inter-licence.txt /usr/share/doc/fonts-inter/copyright Inter-Regular.otf Inter-SemiBold.otf)
pentamesh_install_font(JetBrainsMono-licence.txt /usr/share/doc/fonts-jetbrains-mono/copyright JetBrainsMono-Regular.ttf)
if(EXISTS /usr/share/common-licenses/Apache-2.0)
    install(FILES /usr/share/common-licenses/Apache-2.0 DESTINATION ${data}/fonts RENAME Apache-2.0.txt
            COMPONENT fonts)
endif()

if(UNIX AND NOT APPLE)
    install(FILES assets/pentamesh.desktop DESTINATION ${CMAKE_INSTALL_DATADIR}/applications)
    install(FILES assets/pentamesh-mime.xml DESTINATION ${CMAKE_INSTALL_DATADIR}/mime/packages RENAME pentamesh.xml)
    set(icons ${CMAKE_INSTALL_DATADIR}/icons/hicolor)
    install(FILES assets/icons/pentamesh.svg DESTINATION ${icons}/scalable/apps)
    foreach(size 16 32 48 64 128 256)
        install(FILES assets/icons/pentamesh-${size}.png DESTINATION ${icons}/${size}x${size}/apps RENAME pentamesh.png)
    endforeach()
endif()

if(UNIX AND NOT APPLE)
    set(metainfo ${CMAKE_CURRENT_BINARY_DIR}/${PENTAMESH_APP_ID}.metainfo.xml)
    configure_file(assets/pentamesh.metainfo.xml ${metainfo} @ONLY)
    install(FILES ${metainfo} DESTINATION ${CMAKE_INSTALL_DATADIR}/metainfo)
endif()

# The two pictures that the metainfo names, to be laid where PENTAMESH_HOMEPAGE says.
add_custom_target(screenshots COMMAND ${CMAKE_COMMAND} -D PROGRAM=$<TARGET_FILE:pentamesh>
                  -D FOLDER=${CMAKE_BINARY_DIR}/screenshots -P ${CMAKE_SOURCE_DIR}/cmake/screenshots.cmake VERBATIM)

# Only a Debian package has these. It takes the licence from a file LICENSE, once the owner has chosen one.
set(doc ${CMAKE_INSTALL_DATADIR}/doc/pentamesh)
install(CODE "
    set(doc \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${doc}\")
    file(MAKE_DIRECTORY \"\${doc}\")
    execute_process(COMMAND \"${CMAKE_COMMAND}\" -D \"PROGRAM=$<TARGET_FILE:pentamesh>\" -D \"FOLDER=\${doc}/screenshots\"
                            -P \"${CMAKE_SOURCE_DIR}/cmake/screenshots.cmake\" COMMAND_ERROR_IS_FATAL ANY)
    execute_process(COMMAND python3 \"${CMAKE_SOURCE_DIR}/scripts/debian_changelog.py\" \"${CMAKE_SOURCE_DIR}/CHANGELOG.md\"
                            \"${PENTAMESH_MAINTAINER}\" \"\${doc}\" COMMAND_ERROR_IS_FATAL ANY)
" COMPONENT debian EXCLUDE_FROM_ALL)
install(FILES LICENSE DESTINATION ${doc} RENAME copyright COMPONENT debian EXCLUDE_FROM_ALL OPTIONAL)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_VENDOR Pentamesh)
set(CPACK_PACKAGE_CONTACT "${PENTAMESH_MAINTAINER}")
set(CPACK_PACKAGE_HOMEPAGE_URL "${PENTAMESH_HOMEPAGE}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "live answers about laying a training run over a cluster")
set(CPACK_PACKAGE_DESCRIPTION "Pentamesh shows how a training run lies over a cluster. Choose a model, a
cluster and a layout of tensor, context, pipeline, expert and data
parallelism, and it answers in the same frame: who talks to whom over which
wire, what each GPU holds, when each pipeline stage works, how long a step
takes, and what is wrong with the layout.

It has a window, a command line with the same answers, lessons and tasks. It
reads and writes the settings of Megatron-LM, torchtitan, DeepSpeed and
others, and lays traces and logs of real runs beside the plan.")
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Loaded while it runs, so no link tells of it: OpenGL by Dear ImGui, the driver by EGL and GLX.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libgl1, fonts-inter, fonts-jetbrains-mono")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libgl1-mesa-dri")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "zenity | kdialog")
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_SOURCE_DIR}/cmake/package_contents.cmake)
include(CPack)
