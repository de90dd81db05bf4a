# Every header in the header sets of `target` compiles alone: one generated file per header, one object library for all of them.
# It is not part of a build; the test "every public header compiles alone" builds it.
function(sextant_check_headers target)
  get_target_property(headers ${target} HEADER_SET)
  set(sources)
  foreach(header IN LISTS headers)
    file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR} ${header})
    set(source ${CMAKE_CURRENT_BINARY_DIR}/headers_alone/${name}.cpp)
    file(CONFIGURE OUTPUT ${source} CONTENT "#include \"${name}\"\n")
    list(APPEND sources ${source})
  endforeach()
  add_library(${target}_headers_alone OBJECT EXCLUDE_FROM_ALL ${sources})
  target_link_libraries(${target}_headers_alone PRIVATE ${target})
  # Nothing is generated from a header, so optimizing costs time for nothing.
  target_compile_options(${target}_headers_alone PRIVATE -O0)
  add_test(NAME "Architecture.EveryHeaderOf_${target}_CompilesAlone"
           COMMAND ${CMAKE_COMMAND} --build ${CMAKE_BINARY_DIR} --target ${target}_headers_alone)
endfunction()
