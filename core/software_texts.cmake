# The figures of presets/software, as text that the program carries: software_texts.inc for core/plan/software.cpp.
file(GLOB software_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/presets/software/*.json)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${software_files})
set(software_texts "")
foreach(file IN LISTS software_files)
    get_filename_component(id ${file} NAME_WLE)
    file(READ ${file} text)
    string(APPEND software_texts "{\"${id}\", R\"json(${text})json\"},\n")
endforeach()
file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/generated/software_texts.inc CONTENT "${software_texts}")

# The errors of measured runs, for core/step/constants.cpp: a literal a line, which no compiler finds too long.
set(errors_file ${CMAKE_SOURCE_DIR}/presets/measured_errors.json)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${errors_file})
file(READ ${errors_file} errors_text)
string(REPLACE "\n" ")json\"\nR\"json(" errors_text "${errors_text}")
file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/generated/measured_errors.inc CONTENT "R\"json(${errors_text})json\"\n")

# What an NVLink carries, for core/interop/fabric_text.cpp.
set(nvlink_file ${CMAKE_SOURCE_DIR}/presets/nvlink.json)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${nvlink_file})
file(READ ${nvlink_file} nvlink_text)
file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/generated/nvlink.inc CONTENT "R\"json(${nvlink_text})json\"\n")

# The tables of names, for core/interop/script/settings.cpp: a literal a line.
set(words_file ${CMAKE_SOURCE_DIR}/presets/frameworks/words.json)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${words_file})
file(READ ${words_file} words_text)
string(REPLACE "\n" ")json\"\nR\"json(" words_text "${words_text}")
file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/generated/words.inc CONTENT "R\"json(${words_text})json\"\n")
