# `cmake --install` lays a tree that needs nothing of the source folder: bin/pentamesh, in share/pentamesh the presets,
# assets, fonts, the page and the module for Python, and what shells and man read. cpack makes a .deb of it.
include(GNUInstallDirs)
set(data ${CMAKE_INSTALL_DATADIR}/pentamesh)

install(TARGETS pentamesh RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY presets DESTINATION ${data} FILES_MATCHING PATTERN "*.json" PATTERN "*.py")
install(DIRECTORY assets DESTINATION ${data}
        PATTERN icons EXCLUDE PATTERN "*.desktop" EXCLUDE PATTERN "pentamesh-mime.xml" EXCLUDE)

install(FILES app/python/pentamesh.py DESTINATION ${data}/python)
# scripts/web builds the page; `pentamesh lesson --web` opens a course in it.
install(FILES build/web/pentamesh.html DESTINATION ${data}/web OPTIONAL)

# The program writes its completions and its man page. Debian's zsh looks in another folder below /usr.
if(UNIX AND NOT CMAKE_CROSSCOMPILING)
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
            install(FILES ${${variable}} DESTINATION ${data}/fonts)
        else()
            message(STATUS "${file} is not on this machine: an installed tree will be without it")
        endif()
    endforeach()
    if(EXISTS ${licence})
        install(FILES ${licence} DESTINATION ${data}/fonts RENAME ${licence_name})
    endif()
endfunction()
pentamesh_install_font(Inter-licence.txt /usr/share/doc/fonts-inter/copyright Inter-Regular.otf Inter-SemiBold.otf)
pentamesh_install_font(JetBrainsMono-licence.txt /usr/share/doc/fonts-jetbrains-mono/copyright JetBrainsMono-Regular.ttf)
if(EXISTS /usr/share/common-licenses/Apache-2.0)
    install(FILES /usr/share/common-licenses/Apache-2.0 DESTINATION ${data}/fonts RENAME Apache-2.0.txt)
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

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_VENDOR Pentamesh)
set(CPACK_PACKAGE_CONTACT "The Pentamesh developers <pentamesh@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Loaded while it runs, so no link tells of it: OpenGL by Dear ImGui, the driver by EGL and GLX.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libgl1")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libgl1-mesa-dri")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "zenity | kdialog")
include(CPack)
