/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Continuous inference on changing input: the input is picked up at a fixed
 * address, the output left at another, so that other hardware or a debugger
 * can write the one and read the other while the loop runs.
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
		/* the first input is the one whose answer we know */
		if (frame == 0 && !as_expected())
			board_exit("the output is not what was expected\n", 1);
		frame_done(frame);
	}
	board_exit("all frames done\n", 0);
}
