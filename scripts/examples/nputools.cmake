# SPDX-License-Identifier: Apache-2.0
# nputools_add_model(TARGET file.tflite PART ... | ACCELERATOR ... SYSTEM ... MEMORY ...
#	[FORMAT header | call | tflite] [OPTIONS option of npucc...])
#
# PART is a chip of npucc --list-parts, or a file that describes one.
# Compiles the model when it, an option, a file of PART, --config or --plan, or npucc changes.
# With OPTIONS --check, the build fails unless the compiled model computes the same outputs.
# The files are in the directory nputools of the build tree, where TARGET finds headers.  For
# NAME.tflite, the default FORMAT is NAME.h; call adds NAME_call.c and NAME_call.h to TARGET,
# the network for firmware without an interpreter (tfl2c --format=call); tflite makes
# NAME_npu.tflite alone.
# A name with a semicolon, a line feed or '$<' is refused, as CMake would take it for a list or
# a generator expression.

find_program(NPUTOOLS_NPUCC npucc REQUIRED)
get_filename_component(_nputools_bin "${NPUTOOLS_NPUCC}" DIRECTORY)
find_program(NPUTOOLS_TFL2C tfl2c HINTS "${_nputools_bin}" REQUIRED)
unset(_nputools_bin)

function(nputools_add_model target model)
	cmake_parse_arguments(NPU "" "PART;ACCELERATOR;SYSTEM;MEMORY;FORMAT" "OPTIONS" ${ARGN})
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
	set(output "${dir}/${name}.h")
	if(NPU_FORMAT MATCHES "^(call|tflite)$")
		set(output "${dir}/${name}_npu.tflite")
	elseif(NPU_FORMAT AND NOT NPU_FORMAT STREQUAL header)
		message(FATAL_ERROR "nputools_add_model: FORMAT ${NPU_FORMAT} for ${model}:"
			" header, call and tflite are known")
	endif()
	set(tfl2c "${NPUTOOLS_TFL2C}" --format=call "--name-of=${name}")
	foreach(option ${NPU_OPTIONS})
		if(option MATCHES "^--(config|plan)=(.*)$")
			get_filename_component(named "${CMAKE_MATCH_2}" ABSOLUTE
				BASE_DIR "${CMAKE_CURRENT_BINARY_DIR}")
			list(APPEND file "${named}")
		elseif(option MATCHES "^(-X|--pass=)?tfl2c:(.*)$")
			list(APPEND tfl2c "${CMAKE_MATCH_2}")
		endif()
	endforeach()
	add_custom_command(OUTPUT "${output}"
		COMMAND "${NPUTOOLS_NPUCC}" ${chip} ${NPU_OPTIONS} -o "${output}" "${source}"
		DEPENDS "${source}" ${file} "${NPUTOOLS_NPUCC}" VERBATIM)
	if(NPU_FORMAT STREQUAL call)
		set(compiled "${output}")
		set(output "${dir}/${name}_call.c" "${dir}/${name}_call.h")
		add_custom_command(OUTPUT ${output}
			COMMAND ${tfl2c} -o "${dir}/${name}_call.c" "${compiled}"
			COMMAND ${tfl2c} --declarations -o "${dir}/${name}_call.h" "${compiled}"
			DEPENDS "${compiled}" "${NPUTOOLS_TFL2C}" VERBATIM)
	endif()
	target_sources("${target}" PRIVATE ${output})
	target_include_directories("${target}" PRIVATE "${dir}")
endfunction()
