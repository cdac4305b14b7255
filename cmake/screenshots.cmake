# cmake -D PROGRAM=FILE -D FOLDER=DIR -P cmake/screenshots.cmake draws the pictures that assets/pentamesh.metainfo.xml names.
file(MAKE_DIRECTORY ${FOLDER})
set(ENV{EGL_PLATFORM} surfaceless)
execute_process(COMMAND ${PROGRAM} screenshot llama-3.1-405b-16k --view dashboard --size 1600x900 -o ${FOLDER}/dashboard.png
                COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${PROGRAM} screenshot mesh-8 --view shards --page loaf --size 1600x900 --theme light
                        -o ${FOLDER}/loaf.png COMMAND_ERROR_IS_FATAL ANY)
