# The releases that are downloaded, by git commit or by the archive's hash, and the Debian package of each.
# The person who makes a release of Pentamesh bumps them before it, and at once after a security release of one: read its
# changes, set the commit or hash here, and run ./check -DPENTAMESH_DEPS=download.
set(PENTAMESH_PIN_nlohmann_json  # 3.11.3
    GIT_REPOSITORY https://github.com/nlohmann/json.git GIT_TAG 9cca280a4d0ccf0c08f47a99aa71d1b0e52f8d03)
set(PENTAMESH_PACKAGE_nlohmann_json nlohmann-json3-dev)

set(PENTAMESH_PIN_doctest  # 2.4.12
    GIT_REPOSITORY https://github.com/doctest/doctest.git GIT_TAG 1da23a3e8119ec5cce4f9388e91b065e20bf06f5)
set(PENTAMESH_PACKAGE_doctest doctest-dev)

set(PENTAMESH_PIN_cli11  # 2.5.0
    GIT_REPOSITORY https://github.com/CLIUtils/CLI11.git GIT_TAG 4160d259d961cd393fd8d67590a8c7d210207348)
set(PENTAMESH_PACKAGE_cli11 libcli11-dev)

set(PENTAMESH_PIN_glfw  # 3.4
    GIT_REPOSITORY https://github.com/glfw/glfw.git GIT_TAG 7b6aead9fb88b3623e3b3725ebb42670cbe4c579)
set(PENTAMESH_PACKAGE_glfw libglfw3-dev)

set(PENTAMESH_PIN_glad  # 2.0.6
    GIT_REPOSITORY https://github.com/Dav1dde/glad.git GIT_TAG 658f48e72aee3c6582e80b05ac0f8787a64fe6bb)
set(PENTAMESH_PACKAGE_glad python3-glad)

set(PENTAMESH_PIN_imgui  # 1.91.9b
    GIT_REPOSITORY https://github.com/ocornut/imgui.git GIT_TAG f5befd2d29e66809cd1110a152e375a7f1981f06)
set(PENTAMESH_PACKAGE_imgui "libimgui-dev and libstb-dev")

set(PENTAMESH_PIN_freetype
    URL https://download.savannah.gnu.org/releases/freetype/freetype-2.13.3.tar.xz
    URL_HASH SHA256=0550350666d427c74daeb85d5ac7bb353acba5f76956395995311a9c6f063289
    DOWNLOAD_EXTRACT_TIMESTAMP ON)
set(PENTAMESH_PACKAGE_freetype libfreetype-dev)

set(PENTAMESH_PIN_zlib
    URL https://github.com/madler/zlib/releases/download/v1.3.1/zlib-1.3.1.tar.gz
    URL_HASH SHA256=9a93b2b7dfdac77ceba5a558a580e74667dd6fede4585b91eefb60f03b72df23
    DOWNLOAD_EXTRACT_TIMESTAMP ON)
set(PENTAMESH_PACKAGE_zlib zlib1g-dev)

set(PENTAMESH_PIN_png
    URL https://download.sourceforge.net/libpng/libpng-1.6.44.tar.xz
    URL_HASH SHA256=60c4da1d5b7f0aa8d158da48e8f8afa9773c1c8baa5d21974df61f1886b8ce8e
    DOWNLOAD_EXTRACT_TIMESTAMP ON)
set(PENTAMESH_PACKAGE_png libpng-dev)

set(PENTAMESH_PIN_yaml  # 0.2.5
    GIT_REPOSITORY https://github.com/yaml/libyaml.git GIT_TAG 2c891fc7a770e8ba2fec34fc6b545c672beb37e6)
set(PENTAMESH_PACKAGE_yaml libyaml-dev)

set(PENTAMESH_PIN_tomlplusplus  # 3.4.0
    GIT_REPOSITORY https://github.com/marzer/tomlplusplus.git GIT_TAG 30172438cee64926dc41fdd9c11fb3ba5b2ba9de)
set(PENTAMESH_PACKAGE_tomlplusplus libtomlplusplus-dev)
