# SPDX-License-Identifier: Apache-2.0
# find_package(nputools): sets NPUTOOLS_NPUCC, and defines nputools_add_model() of
# examples/nputools.cmake.
get_filename_component(_nputools_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
find_program(NPUTOOLS_NPUCC npucc HINTS "${_nputools_prefix}/bin" REQUIRED)
include("${_nputools_prefix}/share/nputools/examples/nputools.cmake")
unset(_nputools_prefix)
