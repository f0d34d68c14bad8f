# Finds every dependency as a system package. VERSIONS.md says what, which, why and under what licence.
include(missing)

find_package(Threads REQUIRED)
find_package(PkgConfig QUIET)
attnscope_check(pkg-config "pkg-config (it finds others in this list)" "" "${PKG_CONFIG_FOUND}" "")

attnscope_find_package(Eigen3 "Eigen" 3.4 NO_MODULE)
attnscope_find_package(TBB "oneTBB" 2021.5)
# Its own CMake files ask for OpenCL, which is not used here.
find_path(dnnl_INCLUDE dnnl.h)
find_library(dnnl_LIBRARY dnnl)
attnscope_check(dnnl "oneDNN" "" "${dnnl_LIBRARY}" "")
attnscope_find_package(nlohmann_json "nlohmann/json" 3.10)
attnscope_find_package(fmt "fmt" 9)
attnscope_find_package(CLI11 "CLI11" 2.1)
attnscope_find_package(ZLIB "zlib" 1.2.12)
attnscope_find_package(PNG "libpng" 1.6)
attnscope_find_module(isal "ISA-L" 2.29 libisal)
attnscope_find_package(JPEG "libjpeg" 62)
attnscope_find_package(GIF "giflib" 5.1)
attnscope_find_package(Freetype "FreeType" 2.11)
attnscope_find_package(glfw3 "GLFW" 3.3)
attnscope_find_module(epoxy "libepoxy" 1.5 epoxy)
attnscope_find_module(egl "EGL" "" egl)
attnscope_find_module(utf8proc "utf8proc" 2.6 libutf8proc)
attnscope_find_module(pango "Pango" 1.50 pangocairo)
attnscope_find_module(cairo "cairo" 1.16 cairo)
attnscope_find_module(fontconfig "fontconfig" 2.13 fontconfig)

# Debian describes Dear ImGui to pkg-config, other systems to CMake.
if(PKG_CONFIG_FOUND)
    pkg_check_modules(imgui QUIET IMPORTED_TARGET imgui)
endif()
if(NOT TARGET PkgConfig::imgui)
    unset(imgui_FOUND CACHE)  # set by pkg-config, it would decide what find_package finds
    find_package(imgui CONFIG QUIET)
    if(TARGET imgui::imgui)
        add_library(PkgConfig::imgui INTERFACE IMPORTED)
        target_link_libraries(PkgConfig::imgui INTERFACE imgui::imgui)
    endif()
endif()
attnscope_check(imgui "Dear ImGui" 1.86 "${imgui_FOUND}" "${imgui_VERSION}")

if(BUILD_TESTING)
    attnscope_find_package(GTest "GoogleTest" 1.11)
endif()
if(ATTNSCOPE_BENCHMARKS)
    attnscope_find_package(benchmark "Google Benchmark" 1.6)
endif()

include(fonts)
attnscope_stop_if_missing()

# Text in pictures takes these together.
pkg_check_modules(pangocairo REQUIRED QUIET IMPORTED_TARGET pangocairo pangoft2 cairo fontconfig glib-2.0)
