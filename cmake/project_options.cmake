# Language level, warnings and sanitizers, as one interface target that everything of ours links.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

option(SEXTANT_WERROR "warnings are errors" OFF)
option(SEXTANT_SANITIZE "AddressSanitizer and UndefinedBehaviorSanitizer" OFF)

add_library(sextant_options INTERFACE)
# Of C and C++ alone: nvcc knows none of these words.
target_compile_options(sextant_options INTERFACE "$<$<NOT:$<COMPILE_LANGUAGE:CUDA>>:-Wall;-Wextra;-Wshadow;-Wconversion;-Wno-sign-conversion>"
                                                 # GCC 12 reports std::string operator+ and assignment falsely: it takes lengths to be
                                                 # 2^63 and more (GCC bugs 105329 and 105651).
                                                 "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict;-Wno-stringop-overflow>"
                                                 # Sources that are compiled together see each other's names.
                                                 "$<$<AND:$<BOOL:${CMAKE_UNITY_BUILD}>,$<COMPILE_LANG_AND_ID:CXX,GNU>>:-Wno-shadow;-Wno-subobject-linkage>"
                                                 # A tenth of its time, for up to half as much memory again: scripts/bootstrap counts on
                                                 # 1.5 GB for each compiler.
                                                 "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:SHELL:--param ggc-min-heapsize=1000000>"
                                                 $<$<AND:$<BOOL:${SEXTANT_WERROR}>,$<NOT:$<COMPILE_LANGUAGE:CUDA>>>:-Werror>)
if(SEXTANT_SANITIZE)
  target_compile_options(sextant_options INTERFACE
    "$<$<NOT:$<COMPILE_LANGUAGE:CUDA>>:-fsanitize=address,undefined,float-cast-overflow;-fno-sanitize-recover=all;-fno-omit-frame-pointer>")
  target_link_options(sextant_options INTERFACE -fsanitize=address,undefined)
endif()
if(SEXTANT_FUZZ)
  # Coverage for libFuzzer everywhere; its main() only where fuzz/ asks for it.
  target_compile_options(sextant_options INTERFACE $<$<NOT:$<COMPILE_LANGUAGE:CUDA>>:-fsanitize=fuzzer-no-link>)
endif()

# The compiler cache where there is one. The sloppiness is what its manual asks for with precompiled headers.
find_program(SEXTANT_CCACHE ccache)
if(SEXTANT_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${SEXTANT_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${SEXTANT_CCACHE})
  add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>)
endif()

# For what takes far longer to compile than it ever runs: commands, views; and tests, whose time is that of what they test.
set(quickly_compiled $<$<CONFIG:Release>:-O1>)
set(not_optimized $<$<CONFIG:Release>:-O0>)

# In a unity build, compiles the sources of `target` folder by folder, a few at a time: a new source meets the names of its neighbours alone.
# Called where the target is made, behind its folders.
function(unite_by_folder target)
  if(NOT CMAKE_UNITY_BUILD)
    return()
  endif()
  set(together 20)
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    get_filename_component(folder ${source} ABSOLUTE)
    get_filename_component(folder ${folder} DIRECTORY)
    file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${folder})
    string(MAKE_C_IDENTIFIER "${folder}" folder)
    list(LENGTH before_in_${folder} before)
    list(APPEND before_in_${folder} ${source})
    math(EXPR batch "${before} / ${together}")
    set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${folder}_${batch})
  endforeach()
endfunction()
