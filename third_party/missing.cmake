# Looks for packages one by one, remembers what is missing, and stops with one message about all of it.

# Remembers that `name`, a row of packages.txt, is missing. `text` is the line for the person.
function(attnscope_report_missing name text)
    set_property(GLOBAL APPEND PROPERTY attnscope_missing_names "${name}")
    set_property(GLOBAL APPEND PROPERTY attnscope_missing_texts "${text}")
endfunction()

# Reports `name` if it was not found or is older than `minimum` (empty: any version will do).
function(attnscope_check name what minimum found version)
    if(minimum)
        set(what "${what} ${minimum} or newer")
    endif()
    if(NOT found)
        attnscope_report_missing(${name} "${what}: not found")
    elseif(minimum AND version AND version VERSION_LESS minimum)
        attnscope_report_missing(${name} "${what}: version ${version} is too old")
    endif()
endfunction()

# find_package(name …) that reports instead of stopping. A macro: what find_package sets belongs to the caller.
macro(attnscope_find_package name what minimum)
    find_package(${name} QUIET ${ARGN})
    set(attnscope_version "${${name}_VERSION}")
    if(NOT attnscope_version)
        string(TOUPPER "${name}_VERSION_STRING" attnscope_version)
        set(attnscope_version "${${attnscope_version}}")
    endif()
    attnscope_check(${name} "${what}" "${minimum}" "${${name}_FOUND}" "${attnscope_version}")
endmacro()

# The same with pkg-config; gives the target PkgConfig::name.
macro(attnscope_find_module name what minimum module)
    if(PKG_CONFIG_FOUND)
        pkg_check_modules(${name} QUIET IMPORTED_TARGET ${module})
    endif()
    attnscope_check(${name} "${what}" "${minimum}" "${${name}_FOUND}" "${${name}_VERSION}")
endmacro()

# Stops if anything was reported, naming all of it and the command that installs it.
function(attnscope_stop_if_missing)
    get_property(names GLOBAL PROPERTY attnscope_missing_names)
    get_property(texts GLOBAL PROPERTY attnscope_missing_texts)
    if(NOT names)
        return()
    endif()

    file(STRINGS "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/packages.txt" rows REGEX "^[^#]")
    foreach(row IN LISTS rows)
        string(REGEX REPLACE " +" ";" row "${row}")
        list(POP_FRONT row name when apt dnf pacman brew)
        if(NOT name IN_LIST names)
            continue()
        endif()
        foreach(manager IN ITEMS apt dnf pacman brew)
            if(NOT ${manager} STREQUAL "-")
                string(REPLACE "," " " packages "${${manager}}")
                string(APPEND ${manager}_line " ${packages}")
            endif()
        endforeach()
    endforeach()

    list(JOIN texts "\n    - " texts)
    message(FATAL_ERROR "attnscope cannot be built yet. What is missing:\n    - ${texts}\n"
        "Install it with the line for this system, then configure again:\n"
        "    apt:    sudo apt-get install${apt_line}\n"
        "    dnf:    sudo dnf install${dnf_line}\n"
        "    pacman: sudo pacman -S --needed${pacman_line}\n"
        "    brew:   brew install${brew_line}\n"
        "On Debian and Ubuntu scripts/install-packages does it. third_party/VERSIONS.md says what each is for.")
endfunction()
