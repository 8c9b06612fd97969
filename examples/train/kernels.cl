/* SPDX-License-Identifier: BSD-3-Clause */
/* Passes and update of the network of shape.h. Per-sample kernels have work-items (item, sample),
 * others one per parameter. Sizes are rounded up to whole work-groups, so kernels check their
 * index.
 *
 * Same bits for any number of xPUs: each sample's gradient is a float by itself, rounded to an
 * integer; everything added across samples is an integer. Without contraction to fused operations,
 * source order fixes every rounding. */
#pragma OPENCL FP_CONTRACT OFF

#define NOWHERE 4 /* in `from`: no gradient passes, because the maximum is not above 0 */

/* `limit` prevents overflow of a batch's sum. */
int rounded(float gradient, int limit)
{
	return clamp(convert_int_sat_rte(gradient * GRADIENT_ONE), -limit, limit);
}

/* Returns -2 .. 2, the same for the same arguments. */
int shift_of(uint sample, uint seed)
{
	uint h = sample * 0x9e3779b9u + seed;

	h = (h ^ (h >> 16)) * 0x85ebca6bu;
	h = (h ^ (h >> 13)) * 0xc2b2ae35u;
	return (int)((h ^ (h >> 16)) % 5) - 2;
}

/* Copies samples order[first] ... to the batch. A `seed` other than 0 moves each image by up to 2
 * pixels per axis, so epochs differ. */
kernel void gather(global const uchar *images, global const uchar *labels, global const uint *order,
		   global float *batch, global uchar *expected, uint first, uint seed)
{
	const uint pixel = get_global_id(0), s = get_global_id(1), sample = order[first + s];
	const int y = (int)(pixel / SIDE) + (seed ? shift_of(sample, seed) : 0);
	const int x = (int)(pixel % SIDE) + (seed ? shift_of(sample, ~seed) : 0);
	float value = 0.0f;

	if (pixel >= PIXELS)
		return;
	if (y >= 0 && y < SIDE && x >= 0 && x < SIDE)
		value = images[sample * PIXELS + y * SIDE + x] * (1.0f / 255.0f);
	batch[s * PIXELS + pixel] = value;
	if (pixel == 0)
		expected[s] = labels[sample];
}

/* The maximum of 2 x 2 sums, or 0 if none is above. `from`: its position 0 .. 3, or NOWHERE. */
void convolve(global const float *in, uint channels, uint side, global const float *taps,
	      float bias, uint y, uint x, global float *out, global uchar *from)
{
	float best = 0.0f;
	uchar at = NOWHERE;

	for (uint p = 0; p < 4; p++) {
		float sum = bias;
		for (uint c = 0; c < channels; c++)
			for (uint ky = 0; ky < TAP_SIDE; ky++)
				for (uint kx = 0; kx < TAP_SIDE; kx++)
					sum += taps[(c * TAP_SIDE + ky) * TAP_SIDE + kx] *
					       in[(c * side + 2 * y + p / 2 + ky) * side + 2 * x +
						  p % 2 + kx];
		at = sum > best ? p : at;
		best = sum > best ? sum : best;
	}
	*out = best;
	*from = at;
}

kernel void forward1(global const float *batch, global const float *w, global float *out,
		     global uchar *from)
{
	const uint i = get_global_id(0), s = get_global_id(1);
	const uint c = i / POINTS1, point = i % POINTS1;

	if (i < OUTPUTS1)
		convolve(batch + s * PIXELS, 1, SIDE, w + c * TAPS, w[CHANNELS1 * TAPS + c],
			 point / SIDE1, point % SIDE1, out + s * OUTPUTS1 + i,
			 from + s * OUTPUTS1 + i);
}

kernel void forward2(global const float *in, global const float *w, global float *out,
		     global uchar *from)
{
	const uint i = get_global_id(0), s = get_global_id(1);
	const uint c = i / POINTS2, point = i % POINTS2;

	if (i < OUTPUTS2)
		convolve(in + s * OUTPUTS1, CHANNELS1, SIDE1, w + c * CHANNELS1 * TAPS,
			 w[CHANNELS2 * CHANNELS1 * TAPS + c], point / SIDE2, point % SIDE2,
			 out + s * OUTPUTS2 + i, from + s * OUTPUTS2 + i);
}

kernel void forward3(global const float *in, global const float *w, global float *out)
{
	const uint i = get_global_id(0), s = get_global_id(1);

	if (i >= OUTPUTS3)
		return;
	float sum = w[OUTPUTS3 * OUTPUTS2 + i];
	for (uint k = 0; k < OUTPUTS2; k++)
		sum += w[i * OUTPUTS2 + k] * in[s * OUTPUTS2 + k];
	out[s * OUTPUTS3 + i] = sum > 0.0f ? sum : 0.0f;
}

/* Last layer and softmax: the cross-entropy `loss`, its derivative `delta`, and `hit`, the largest
 * output being the expected class. */
kernel void forward4(global const float *in, global const float *w, global const uchar *expected,
		     global float *delta, global float *loss, global int *hit)
{
	const uint s = get_global_id(1), label = expected[s];
	float z[CLASSES], most = -INFINITY, all = 0.0f;
	uint best = 0;

	for (uint c = 0; c < CLASSES; c++) {
		z[c] = w[CLASSES * OUTPUTS3 + c];
		for (uint k = 0; k < OUTPUTS3; k++)
			z[c] += w[c * OUTPUTS3 + k] * in[s * OUTPUTS3 + k];
		best = z[c] > most ? c : best;
		most = z[c] > most ? z[c] : most;
	}
	for (uint c = 0; c < CLASSES; c++)
		all += exp(z[c] - most);
	for (uint c = 0; c < CLASSES; c++)
		delta[s * CLASSES + c] = exp(z[c] - most) / all - (c == label ? 1.0f : 0.0f);
	loss[s] = log(all) - (z[label] - most);
	hit[s] = best == label;
}

/* After the gradients: the sum of losses, the number of hits. */
kernel void gradient4(global const float *in, global const float *delta, global const float *loss,
		      global const int *hit, global int *gradients, uint samples, int limit,
		      uint first)
{
	const uint i = get_global_id(0), weights = CLASSES * OUTPUTS3;
	int sum = 0;

	if (i >= SUMS4)
		return;
	for (uint s = 0; s < samples; s++) {
		if (i < weights)
			sum += rounded(delta[s * CLASSES + i / OUTPUTS3] *
					       in[s * OUTPUTS3 + i % OUTPUTS3],
				       limit);
		else if (i < PARAMETERS4)
			sum += rounded(delta[s * CLASSES + i - weights], limit);
		else
			sum += i == PARAMETERS4 ? rounded(loss[s], limit) : hit[s];
	}
	gradients[first + i] = sum;
}

kernel void delta3(global const float *delta4, global const float *w4, global const float *out3,
		   global float *delta)
{
	const uint i = get_global_id(0), s = get_global_id(1);
	float sum = 0.0f;

	if (i >= OUTPUTS3)
		return;
	for (uint c = 0; c < CLASSES; c++)
		sum += delta4[s * CLASSES + c] * w4[c * OUTPUTS3 + i];
	delta[s * OUTPUTS3 + i] = out3[s * OUTPUTS3 + i] > 0.0f ? sum : 0.0f;
}

kernel void gradient3(global const float *in, global const float *delta, global int *gradients,
		      uint samples, int limit, uint first)
{
	const uint i = get_global_id(0), weights = OUTPUTS3 * OUTPUTS2;
	int sum = 0;

	if (i >= PARAMETERS3)
		return;
	for (uint s = 0; s < samples; s++)
		sum += i < weights ? rounded(delta[s * OUTPUTS3 + i / OUTPUTS2] *
						     in[s * OUTPUTS2 + i % OUTPUTS2],
					     limit)
				   : rounded(delta[s * OUTPUTS3 + i - weights], limit);
	gradients[first + i] = sum;
}

kernel void delta2(global const float *delta3, global const float *w3, global const uchar *from,
		   global float *delta)
{
	const uint i = get_global_id(0), s = get_global_id(1);
	float sum = 0.0f;

	if (i >= OUTPUTS2)
		return;
	for (uint k = 0; k < OUTPUTS3; k++)
		sum += delta3[s * OUTPUTS3 + k] * w3[k * OUTPUTS2 + i];
	delta[s * OUTPUTS2 + i] = from[s * OUTPUTS2 + i] == NOWHERE ? 0.0f : sum;
}

float tap_gradient(global const float *in, uint side, global const float *delta,
		   global const uchar *from, uint point_side, uint ky, uint kx)
{
	float sum = 0.0f;

	for (uint point = 0; point < point_side * point_side; point++) {
		const uint p = from[point] & 3; /* delta is 0 at NOWHERE */
		const uint y = 2 * (point / point_side) + p / 2 + ky;
		const uint x = 2 * (point % point_side) + p % 2 + kx;
		sum += delta[point] * in[y * side + x];
	}
	return sum;
}

float bias_gradient(global const float *delta, uint points)
{
	float sum = 0.0f;

	for (uint point = 0; point < points; point++)
		sum += delta[point];
	return sum;
}

kernel void gradient2(global const float *in, global const float *delta, global const uchar *from,
		      global int *gradients, uint samples, int limit, uint first)
{
	const uint i = get_global_id(0), weights = CHANNELS2 * CHANNELS1 * TAPS;
	const uint out = i < weights ? i / (CHANNELS1 * TAPS) : i - weights;
	const uint channel = i / TAPS % CHANNELS1, tap = i % TAPS;
	int sum = 0;

	if (i >= PARAMETERS2)
		return;
	for (uint s = 0; s < samples; s++) {
		const uint at = s * OUTPUTS2 + out * POINTS2;
		const float g = i < weights ? tap_gradient(in + s * OUTPUTS1 + channel * POINTS1,
							   SIDE1, delta + at, from + at, SIDE2,
							   tap / TAP_SIDE, tap % TAP_SIDE)
					    : bias_gradient(delta + at, POINTS2);
		sum += rounded(g, limit);
	}
	gradients[first + i] = sum;
}

/* One work-item per channel: adds what the second layer's outputs pass back. */
kernel void delta1(global const float *delta2, global const float *w2, global const uchar *from2,
		   global const uchar *from1, global float *delta)
{
	const uint channel = get_global_id(0), s = get_global_id(1);
	float sums[POINTS1];

	for (uint point = 0; point < POINTS1; point++)
		sums[point] = 0.0f;
	for (uint i = 0; i < OUTPUTS2; i++) {
		const uint p = from2[s * OUTPUTS2 + i] & 3, point = i % POINTS2;
		const uint y = 2 * (point / SIDE2) + p / 2, x = 2 * (point % SIDE2) + p % 2;
		const float d = delta2[s * OUTPUTS2 + i];
		global const float *taps = w2 + (i / POINTS2 * CHANNELS1 + channel) * TAPS;
		for (uint ky = 0; ky < TAP_SIDE; ky++)
			for (uint kx = 0; kx < TAP_SIDE; kx++)
				sums[(y + ky) * SIDE1 + x + kx] += d * taps[ky * TAP_SIDE + kx];
	}
	for (uint point = 0; point < POINTS1; point++) {
		const uint at = s * OUTPUTS1 + channel * POINTS1 + point;
		delta[at] = from1[at] == NOWHERE ? 0.0f : sums[point];
	}
}

kernel void gradient1(global const float *batch, global const float *delta,
		      global const uchar *from, global int *gradients, uint samples, int limit,
		      uint first)
{
	const uint i = get_global_id(0), weights = CHANNELS1 * TAPS;
	const uint out = i < weights ? i / TAPS : i - weights, tap = i % TAPS;
	int sum = 0;

	if (i >= PARAMETERS1)
		return;
	for (uint s = 0; s < samples; s++) {
		const uint at = s * OUTPUTS1 + out * POINTS1;
		const float g =
			i < weights ? tap_gradient(batch + s * PIXELS, SIDE, delta + at, from + at,
						   SIDE1, tap / TAP_SIDE, tap % TAP_SIDE)
				    : bias_gradient(delta + at, POINTS1);
		sum += rounded(g, limit);
	}
	gradients[first + i] = sum;
}

/* Steepest descent with momentum. `share`, 1 / (batch * GRADIENT_ONE), turns the batch's sum into
 * the mean. */
kernel void update(global const int *gradients, global float *w, global float *velocity, uint count,
		   float share, float rate, float momentum, uint first)
{
	const uint i = get_global_id(0);

	if (i >= count)
		return;
	velocity[i] = momentum * velocity[i] + share * gradients[first + i];
	w[i] -= rate * velocity[i];
}

/* Loss and hits follow the last layer's gradients. */
kernel void tally(global const int *gradients, global long *totals, uint first)
{
	totals[0] += gradients[first + PARAMETERS4];
	totals[1] += gradients[first + PARAMETERS4 + 1];
}
