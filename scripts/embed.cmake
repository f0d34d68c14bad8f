# Embeds text files in the program.
#
#     attnscope_embed(<target> FUNCTION <name> HEADER <header> [STRIP_EXTENSION] FILES <file>…)
#
# adds a source to the target that defines `std::span<const EmbeddedFile> attnscope::<name>()`, declared in <header>,
# with the files in the given order. It is generated at build time, and again whenever one of the files changes. Files
# may have any content and length. Each text is followed by a NUL that is not part of it, for interfaces that need one.
#
# Run as a script, this file is the generator:
#     cmake -P embed.cmake <output> <function> <header> <NAME|NAME_WE> <file>…

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
    set(output "${CMAKE_ARGV3}")
    set(function "${CMAKE_ARGV4}")
    set(header "${CMAKE_ARGV5}")
    set(name_part "${CMAKE_ARGV6}")

    set(arrays "")
    set(entries "")
    math(EXPR last "${CMAKE_ARGC} - 1")
    if(last GREATER 6)
        foreach(i RANGE 7 ${last})
            file(READ "${CMAKE_ARGV${i}}" bytes HEX)
            string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" bytes "${bytes}")
            string(REPEAT "." 96 line)
            string(REGEX REPLACE "(${line})" "\\1\"\n\"" bytes "${bytes}")
            get_filename_component(name "${CMAKE_ARGV${i}}" ${name_part})
            string(APPEND arrays "constexpr char k_text_${i}[] =\n\"${bytes}\";\n")
            string(APPEND entries "    {\"${name}\", {k_text_${i}, sizeof k_text_${i} - 1}},\n")
        endforeach()
        set(definition "constexpr EmbeddedFile k_files[] = {\n${entries}};\n}  // namespace\n
std::span<const EmbeddedFile> ${function}() { return k_files; }")
    else()
        set(definition "}  // namespace\n\nstd::span<const EmbeddedFile> ${function}() { return {}; }")
    endif()
    file(WRITE "${output}" "#include \"${header}\"\n\nnamespace attnscope {\nnamespace {\n${arrays}${definition}\n
}  // namespace attnscope\n")
    return()
endif()

set(ATTNSCOPE_EMBED_SCRIPT "${CMAKE_CURRENT_LIST_FILE}")

function(attnscope_embed target)
    cmake_parse_arguments(PARSE_ARGV 1 embed "STRIP_EXTENSION" "FUNCTION;HEADER" "FILES")
    set(name_part NAME)
    if(embed_STRIP_EXTENSION)
        set(name_part NAME_WE)
    endif()
    set(output "${CMAKE_BINARY_DIR}/generated/${embed_FUNCTION}.cpp")
    add_custom_command(OUTPUT "${output}"
        COMMAND "${CMAKE_COMMAND}" -P "${ATTNSCOPE_EMBED_SCRIPT}"
            "${output}" ${embed_FUNCTION} "${embed_HEADER}" ${name_part} ${embed_FILES}
        DEPENDS ${embed_FILES} "${ATTNSCOPE_EMBED_SCRIPT}"
        COMMENT "Embedding files as ${embed_FUNCTION}()" VERBATIM)
    # It includes nothing of what is precompiled, which gcc takes two seconds to read.
    set_source_files_properties("${output}" PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
    target_sources(${target} PRIVATE "${output}")
endfunction()
