# imprint_digests(VARIABLE LABEL FILE...): sets VARIABLE to a generated source that records the digest
# of every FILE (relative to the current source folder) under LABEL and its path.
function(imprint_digests variable label)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${variable}.cpp)
  if(TARGET Imprint::digest_sources)
    set(tool Imprint::digest_sources)
  else()
    set(tool digest_sources)
  endif()
  list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ OUTPUT_VARIABLE files)
  add_custom_command(OUTPUT ${output}
    COMMAND ${tool} ${output} ${CMAKE_CURRENT_SOURCE_DIR} "${label}" ${files}
    DEPENDS ${files} ${tool} COMMENT "Digesting sources for ${variable}" VERBATIM)
  set_source_files_properties(${output} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  set(${variable} ${output} PARENT_SCOPE)
endfunction()

# imprint_plugin(NAME FILE...): a plugin NAME.so with the components of the files.
#
#   find_package(Imprint REQUIRED)
#   imprint_plugin(my_attack my_attack.cpp)
function(imprint_plugin name)
  imprint_digests(${name}_digests ${name}/ ${ARGN})
  add_library(${name} MODULE ${ARGN} ${${name}_digests})
  set_target_properties(${name} PROPERTIES PREFIX "" CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON)
  target_compile_definitions(${name} PRIVATE IMPRINT_PLUGIN
    IMPRINT_BUILD_VERSION="${IMPRINT_BUILD_VERSION}")
  target_compile_options(${name} PRIVATE -fmacro-prefix-map=${CMAKE_CURRENT_SOURCE_DIR}/=${name}/)
  target_link_libraries(${name} PRIVATE Imprint::framework)
endfunction()
