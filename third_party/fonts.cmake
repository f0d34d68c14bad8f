# Finds the fonts among the system's packages and copies them into the build, to share/attnscope/fonts beside bin/.
# There and in an installation the program finds them at ../share/attnscope/fonts from its own folder.

set(font_roots /usr/share/fonts /usr/local/share/fonts "$ENV{HOME}/.local/share/fonts" "$ENV{HOME}/.fonts"
    "$ENV{HOME}/Library/Fonts" /Library/Fonts)
set(font_folders
    opentype/inter inter Inter rsms-inter-fonts OTF
    truetype/jetbrains-mono jetbrains-mono jetbrains-mono-fonts
    truetype/droid google-droid-sans-fonts droid
    truetype/lohit-devanagari lohit-devanagari-fonts lohit-devanagari
    truetype/tlwg tlwg
    truetype/ancient-scripts gdouros-symbola Symbola
    truetype/noto google-noto-emoji google-noto-color-emoji-fonts noto
    truetype/dejavu dejavu dejavu-sans-fonts dejavu-sans-mono-fonts TTF)

set(attnscope_font_files "")

# Adds the given files of a font to attnscope_font_files; `result` is those that this machine lacks.
function(attnscope_find_font result)
    set(lacking "")
    foreach(file IN LISTS ARGN)
        find_file(ATTNSCOPE_FONT_${file} ${file} PATHS ${font_roots} PATH_SUFFIXES ${font_folders} NO_DEFAULT_PATH)
        mark_as_advanced(ATTNSCOPE_FONT_${file})
        if(ATTNSCOPE_FONT_${file})
            list(APPEND attnscope_font_files "${ATTNSCOPE_FONT_${file}}")
        else()
            list(APPEND lacking ${file})
        endif()
    endforeach()
    set(attnscope_font_files "${attnscope_font_files}" PARENT_SCOPE)
    list(JOIN lacking ", " lacking)
    set(${result} "${lacking}" PARENT_SCOPE)
endfunction()

# Optional: each has glyphs that DejaVu has too, and DejaVu stands in for it.
attnscope_find_font(lacking Inter-Regular.otf Inter-Medium.otf Inter-SemiBold.otf)
if(lacking)
    message(STATUS "Inter is not complete on this machine (${lacking}): DejaVu Sans is used instead")
endif()
attnscope_find_font(lacking JetBrainsMono-Regular.ttf JetBrainsMono-Medium.ttf JetBrainsMono-SemiBold.ttf)
if(lacking)
    message(STATUS "JetBrains Mono is not complete on this machine (${lacking}): DejaVu Sans Mono is used instead")
endif()

attnscope_find_font(lacking DroidSansFallbackFull.ttf)
if(lacking)
    message(STATUS "Droid Sans Fallback is not on this machine: Chinese and Japanese are shown as code points")
endif()
attnscope_find_font(lacking Lohit-Devanagari.ttf)
if(lacking)
    message(STATUS "Lohit Devanagari is not on this machine: Hindi and its kin are shown as code points")
endif()
attnscope_find_font(lacking Waree.ttf)
if(lacking)
    message(STATUS "Waree is not on this machine: Thai is shown as code points")
endif()
attnscope_find_font(lacking Symbola_hint.ttf)
if(lacking)
    message(STATUS "Symbola is not on this machine: most emoji are shown as code points")
endif()

attnscope_find_font(lacking NotoColorEmoji.ttf)
if(lacking)
    message(STATUS "Noto Color Emoji is not on this machine: emoji have one color")
endif()

attnscope_find_font(lacking DejaVuSans.ttf DejaVuSans-Bold.ttf DejaVuSansMono.ttf)
if(lacking)
    attnscope_report_missing(dejavu "the DejaVu fonts: ${lacking} not found")
endif()

set(copied_fonts "")
foreach(font IN LISTS attnscope_font_files)
    get_filename_component(name "${font}" NAME)
    set(copy "${CMAKE_BINARY_DIR}/share/attnscope/fonts/${name}")
    add_custom_command(OUTPUT "${copy}" DEPENDS "${font}" COMMENT "Copying ${name}"
        COMMAND "${CMAKE_COMMAND}" -E copy "${font}" "${copy}" VERBATIM)
    list(APPEND copied_fonts "${copy}")
endforeach()
add_custom_target(attnscope_fonts DEPENDS ${copied_fonts})
