/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Continuous inference on changing input.  The input is read at a fixed address, and the
 * output is written to another one.  Other hardware or a debugger can therefore write the
 * input and read the output while the loop runs.
 *
 * mkinput --sections makes the two headers: input_data in input_data_sec,
 * output_data in output_data_sec, expected_output_data in
 * expected_output_data_sec; sections.ld places them.
 */
#include "expected_output.h"
#include "input_data.h"
#include "npu.h"

static bool
as_expected(void)
{
	for (int i = 0; i < output_data_len; i++)
		if (output_data[i] != expected_output_data[i])
			return false;
	return output_data_len == expected_output_data_len;
}

int main(void);

int
main(void)
{
	uint32_t frame = 0;
	for (; frame_wait(frame, input_data, input_data_len); frame++) {
		if (npu_invoke(input_data, output_data))
			board_exit("the NPU failed\n", 2);
		/* the expected output is that of the first input */
		if (frame == 0 && !as_expected())
			board_exit("the output is not what was expected\n", 1);
		frame_done(frame);
	}
	board_exit("all frames done\n", 0);
}
