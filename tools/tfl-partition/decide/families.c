/* SPDX-License-Identifier: Apache-2.0 */
/* The lists of all families.  Every list ends with a family without a check. */
#include "../part.h"

static const struct family *const lists[] = {
	conv_families, transconv_families, matmul_families, resize_families,
	lstm_families, state_families, gather_families, cast_families,
	quotient_families, svdf_families,
	pool_families, eltwise_families, move_families,
	slice_families, permute_families, concat_families, pad_families,
	reduce_families, extreme_families, table_families, relu_families,
	softmax_families, arg_families, square_families,
	log_softmax_families, divide_families, batch_families, normalize_families,
	compare_families, select_families, scatter_families,
};

const struct family *
family_find(int code)
{
	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		for (const struct family *f = lists[i]; f->check; f++)
			if (f->code == code)
				return f;
	return NULL;
}
