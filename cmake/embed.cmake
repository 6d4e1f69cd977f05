# Files of the tree as arrays of bytes in a C header, so that the library contains them.
#
#   trellis_embed(<header> <file>...)     page.css becomes `static const char tr_page_css[]`, zero-terminated
#
# TR_EMBEDDED_FILES(X) lists them all as X("page.css", tr_page_css).
#
# The header is written while building, by this same file run as a script (cmake -P).

if(CMAKE_SCRIPT_MODE_FILE)
  set(content "/* Written by cmake/embed.cmake from the files named below; do not edit. */\n")
  set(list "#define TR_EMBEDDED_FILES(X)")
  foreach(file ${FILES})
    get_filename_component(name ${file} NAME)
    string(MAKE_C_IDENTIFIER ${name} identifier)
    file(READ ${file} bytes HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    string(APPEND content "/* ${name} */\nstatic const unsigned char tr_${identifier}[] = {${bytes}0};\n")
    string(APPEND list " X(\"${name}\", tr_${identifier})")
  endforeach()
  string(APPEND content "${list}\n")
  file(WRITE ${HEADER} "${content}")
  return()
endif()

set(TRELLIS_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})
function(trellis_embed header)
  add_custom_command(OUTPUT ${header}
    COMMAND ${CMAKE_COMMAND} -DHEADER=${header} "-DFILES=${ARGN}" -P ${TRELLIS_EMBED_SCRIPT}
    DEPENDS ${ARGN} ${TRELLIS_EMBED_SCRIPT} VERBATIM)
endfunction()
