# SPDX-License-Identifier: Apache-2.0
# find_package(nputools): sets NPUTOOLS_NPUCC, and defines nputools_add_model() of
# examples/nputools.cmake.  If libnputools is installed, there is the target
# nputools::nputools: the shared library and its header.
get_filename_component(_nputools_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
find_program(NPUTOOLS_NPUCC npucc HINTS "${_nputools_prefix}/bin" REQUIRED)
include("${_nputools_prefix}/share/nputools/examples/nputools.cmake")
find_library(NPUTOOLS_LIBRARY nputools HINTS "@LIBDIR@" "${_nputools_prefix}/lib")
find_path(NPUTOOLS_INCLUDE_DIR nputools.h HINTS "${_nputools_prefix}/include")
if(NPUTOOLS_LIBRARY AND NPUTOOLS_INCLUDE_DIR AND NOT TARGET nputools::nputools)
	add_library(nputools::nputools UNKNOWN IMPORTED)
	set_target_properties(nputools::nputools PROPERTIES
		IMPORTED_LOCATION "${NPUTOOLS_LIBRARY}"
		INTERFACE_INCLUDE_DIRECTORIES "${NPUTOOLS_INCLUDE_DIR}")
endif()
unset(_nputools_prefix)
