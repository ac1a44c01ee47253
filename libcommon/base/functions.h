/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of the math library, the same on every machine, and exact to a few units of
 * the last place.  Arguments of sine and cosine are up to a million.
 */
#ifndef BASE_FUNCTIONS_H
#define BASE_FUNCTIONS_H

double real_exp(double x);
double real_expm1(double x);
double real_log(double x);
double real_tanh(double x);
double real_erf(double x);
double real_cos(double x);
double real_sin(double x);

#endif
