# SPDX-License-Identifier: Apache-2.0
# nputools_add_model(TARGET file.tflite PART ... | ACCELERATOR ... SYSTEM ... MEMORY ...
#	[OPTIONS option of npucc...])
#
# PART is a chip of npucc --list-parts, or a file that describes one.
# Compiles the model when it or an option changes, and lets TARGET include the header,
# NAME.h for NAME.tflite.  A name with a semicolon, a line feed or '$<' is refused, as CMake
# would take it for a list or a generator expression.

find_program(NPUTOOLS_NPUCC npucc REQUIRED)

function(nputools_add_model target model)
	cmake_parse_arguments(NPU "" "PART;ACCELERATOR;SYSTEM;MEMORY" "OPTIONS" ${ARGN})
	set(file "")
	if(NPU_PART)
		set(chip "--part=${NPU_PART}")
		if(EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${NPU_PART}")
			set(file "${CMAKE_CURRENT_SOURCE_DIR}/${NPU_PART}")
			set(chip "--part=${file}")
		endif()
	else()
		foreach(what ACCELERATOR SYSTEM MEMORY)
			if(NOT NPU_${what})
				message(FATAL_ERROR
					"nputools_add_model: neither PART nor ${what} for ${model}")
			endif()
		endforeach()
		set(chip "--accelerator-config=${NPU_ACCELERATOR}"
			"--system-config=${NPU_SYSTEM}" "--memory-mode=${NPU_MEMORY}")
	endif()
	if("${model}" MATCHES "[;\n]|[$]<")
		message(FATAL_ERROR "nputools_add_model: ${model}: a model's name may have"
			" no ';', '$<' and line feed in it")
	endif()
	get_filename_component(name "${model}" NAME_WLE)
	set(source "${model}")
	# CMake takes "~name" for an absolute path, too
	if(NOT "${model}" MATCHES "^(/|[A-Za-z]:)")
		set(source "${CMAKE_CURRENT_SOURCE_DIR}/${model}")
	endif()
	set(dir "${CMAKE_CURRENT_BINARY_DIR}/nputools")
	file(MAKE_DIRECTORY "${dir}")
	add_custom_command(OUTPUT "${dir}/${name}.h"
		COMMAND "${NPUTOOLS_NPUCC}" ${chip} ${NPU_OPTIONS} -o "${dir}/${name}.h" "${source}"
		DEPENDS "${source}" ${file} VERBATIM)
	target_sources("${target}" PRIVATE "${dir}/${name}.h")
	target_include_directories("${target}" PRIVATE "${dir}")
endfunction()
