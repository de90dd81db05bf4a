# Language level, warnings and sanitizers, as one interface target that everything of ours links.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

option(SEXTANT_WERROR "warnings are errors" OFF)
option(SEXTANT_SANITIZE "AddressSanitizer and UndefinedBehaviorSanitizer" OFF)

add_library(sextant_options INTERFACE)
target_compile_options(sextant_options INTERFACE -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion
                                                 # GCC 12 reports std::string operator+ falsely (GCC bug 105651).
                                                 $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
                                                 $<$<BOOL:${SEXTANT_WERROR}>:-Werror>)
if(SEXTANT_SANITIZE)
  target_compile_options(sextant_options INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(sextant_options INTERFACE -fsanitize=address,undefined)
endif()
