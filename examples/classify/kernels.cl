/* SPDX-License-Identifier: BSD-3-Clause */
/* Operators in OpenCL C 1.2. Images are float [height][width][channels], int4 shapes (height,
 * width, channels, unused). Results are clamped to `range`.
 *
 * Suits devices that run work-items in sequence on a core with wide vectors (PoCL's CPUs). A
 * work-item, one per work-group, is a tile whose sums fit registers. A convolution tile is 8 pixels
 * by 32 output channels: per input channel, two weight vectors and eight scalars feed sixteen
 * multiply-adds, which fits 32 vector registers (AVX-512); with fewer it runs as four smaller
 * tiles. Pixels outside the image are read from `zeros`, so padding costs nothing.
 *
 * Weights are packed as [block of 16 output channels][window y][window x][input channel][16],
 * zero-filled. */

#define ONE_ITEM __attribute__((reqd_work_group_size(1, 1, 1)))
#define LANES    16
#define PIXELS   8

#define EACH4(M, first) M(first, 0) M(first, 1) M(first, 2) M(first, 3)
#define EACH8(M)        EACH4(M, 0) M(0, 4) M(0, 5) M(0, 6) M(0, 7)

static void store_lanes(float16 v, int count, __global float *out)
{
	if (count >= LANES) {
		vstore16(v, 0, out);
		return;
	}
	float lane[LANES];
	vstore16(v, 0, lane);
	for (int i = 0; i < count; i++)
		out[i] = lane[i];
}

struct tile {
	__global const float *in;
	__global const float *zeros;
	int4 in_shape, out_shape;
	int4 window; /* y, x, stride y, stride x */
	int4 offset; /* pad top, pad left, dilation y, dilation x */
	int first;   /* first output pixel, in row order */
	int pixels;  /* in the whole output */
};

/* A `pixel` behind the last counts as the last. */
static int2 corner(const struct tile *t, int pixel)
{
	const int p = min(pixel, t->pixels - 1);
	const int oy = p / t->out_shape.y, ox = p - oy * t->out_shape.y;

	return (int2)(oy * t->window.z - t->offset.x, ox * t->window.w - t->offset.y);
}

/* zeros outside the image */
static __global const float *tap(const struct tile *t, int2 at, int ky, int kx)
{
	const int y = at.x + ky * t->offset.z, x = at.y + kx * t->offset.w;

	if (y < 0 || y >= t->in_shape.x || x < 0 || x >= t->in_shape.y)
		return t->zeros;
	return t->in + ((size_t)y * t->in_shape.y + x) * t->in_shape.z;
}

#define CORNER(f, p) const int2 at##p = corner(t, t->first + f + p);
#define POINT(f, p)  __global const float *in##p = tap(t, at##p, ky, kx);
#define STORE(v, p, lanes, to)                                 \
	if (t->first + p < t->pixels)                          \
		store_lanes(clamp(v, range.x, range.y), lanes, \
			    (to) + (size_t)(t->first + p) * t->out_shape.z);

#ifdef __AVX512F__
#define ZERO2(f, p) float16 a##p = bias_a, b##p = bias_b;
#define MULTIPLY2(f, p)                          \
	{                                        \
		float16 v = (float16)(in##p[c]); \
		a##p += v * wa;                  \
		b##p += v * wb;                  \
	}
#define STORE2(f, p) STORE(a##p, p, lanes, out) STORE(b##p, p, lanes - LANES, out + LANES)

static void tile_32(const struct tile *t, __global const float *weights, int block_floats,
		    __global const float *bias, __global float *out, int lanes, float2 range)
{
	const float16 bias_a = vload16(0, bias), bias_b = vload16(1, bias);
	__global const float *wb_at = weights + block_floats;

	EACH8(CORNER)
	EACH8(ZERO2)
	for (int ky = 0; ky < t->window.x; ky++) {
		for (int kx = 0; kx < t->window.y; kx++) {
			EACH8(POINT)
			for (int c = 0; c < t->in_shape.z; c++) {
				const float16 wa = vload16(0, weights), wb = vload16(0, wb_at);
				weights += LANES;
				wb_at += LANES;
				EACH8(MULTIPLY2)
			}
		}
	}
	EACH8(STORE2)
}
#endif

#define ZERO1(f, p)     float16 a##p = bias_a;
#define MULTIPLY1(f, p) a##p += (float16)(in##p[c]) * wa;
#define STORE1(f, p)    STORE(a##p, f + p, lanes, out)

static void tile_16(const struct tile *t, __global const float *weights, __global const float *bias,
		    __global float *out, int lanes, float2 range)
{
	const float16 bias_a = vload16(0, bias);

#ifdef __AVX512F__
	EACH8(CORNER)
	EACH8(ZERO1)
	for (int ky = 0; ky < t->window.x; ky++) {
		for (int kx = 0; kx < t->window.y; kx++) {
			EACH8(POINT)
			for (int c = 0; c < t->in_shape.z; c++) {
				const float16 wa = vload16(0, weights);
				weights += LANES;
				EACH8(MULTIPLY1)
			}
		}
	}
	EACH8(STORE1)
#else
	__global const float *start = weights;
	for (int from = 0; from < PIXELS; from += 4) {
		EACH4(CORNER, from)
		EACH4(ZERO1, from)
		weights = start;
		for (int ky = 0; ky < t->window.x; ky++) {
			for (int kx = 0; kx < t->window.y; kx++) {
				EACH4(POINT, from)
				for (int c = 0; c < t->in_shape.z; c++) {
					const float16 wa = vload16(0, weights);
					weights += LANES;
					EACH4(MULTIPLY1, from)
				}
			}
		}
		EACH4(STORE1, from)
	}
#endif
}

/* A work-item computes 8 pixels for a pair of channel blocks. */
__kernel ONE_ITEM void conv(__global const float *in, __global const float *weights,
			    __global const float *bias, __global const float *zeros,
			    __global float *out, int4 in_shape, int4 out_shape, int4 window,
			    int4 offset, float2 range)
{
	const struct tile t = {in,
			       zeros,
			       in_shape,
			       out_shape,
			       window,
			       offset,
			       (int)get_global_id(0) * PIXELS,
			       out_shape.x * out_shape.y};
	const int block = (int)get_global_id(1) * 2;
	const int block_floats = window.x * window.y * in_shape.z * LANES;
	int lanes = out_shape.z - block * LANES;

	weights += (size_t)block * block_floats;
	bias += block * LANES;
	out += block * LANES;
#ifdef __AVX512F__
	if (lanes > LANES) {
		tile_32(&t, weights, block_floats, bias, out, lanes, range);
		return;
	}
#endif
	tile_16(&t, weights, bias, out, lanes, range);
	if (lanes > LANES)
		tile_16(&t, weights + block_floats, bias + LANES, out + LANES, lanes - LANES,
			range);
}

/* A work-item computes an output pixel. Weights are [window y][window x][output channel]; output
 * channel c reads input channel c / multiplier. */
__kernel ONE_ITEM void depthwise(__global const float *in, __global const float *weights,
				 __global const float *bias, __global const float *zeros,
				 __global float *out, int4 in_shape, int4 out_shape, int4 window,
				 int4 offset, float2 range)
{
	const struct tile t = {in,     zeros,  in_shape, out_shape,
			       window, offset, 0,        out_shape.x * out_shape.y};
	const int pixel = (int)get_global_id(0), channels = out_shape.z;
	const int multiplier = channels / in_shape.z;
	const int2 at = corner(&t, pixel);
	int c = 0;

	out += (size_t)pixel * channels;
	for (; multiplier == 1 && c + LANES <= channels; c += LANES) {
		float16 sum = vload16(0, bias + c);
		__global const float *w = weights + c;
		for (int ky = 0; ky < window.x; ky++)
			for (int kx = 0; kx < window.y; kx++, w += channels)
				sum += vload16(0, tap(&t, at, ky, kx) + c) * vload16(0, w);
		vstore16(clamp(sum, range.x, range.y), 0, out + c);
	}
	for (; c < channels; c++) {
		float sum = bias[c];
		__global const float *w = weights + c;
		for (int ky = 0; ky < window.x; ky++)
			for (int kx = 0; kx < window.y; kx++, w += channels)
				sum += tap(&t, at, ky, kx)[c / multiplier] * *w;
		out[c] = clamp(sum, range.x, range.y);
	}
}

struct span {
	int top, bottom, left, right;
};

static struct span inside(int pixel, int4 in_shape, int4 out_shape, int4 window, int4 offset)
{
	const int y = pixel / out_shape.y * window.z - offset.x;
	const int x = pixel % out_shape.y * window.w - offset.y;
	const struct span s = {max(y, 0), min(y + window.x, in_shape.x), max(x, 0),
			       min(x + window.y, in_shape.y)};
	return s;
}

#define POOL(name, start, lane_start, combine, finish)                                             \
	__kernel ONE_ITEM void name(__global const float *in, __global float *out, int4 in_shape,  \
				    int4 out_shape, int4 window, int4 offset, float2 range)        \
	{                                                                                          \
		const int pixel = (int)get_global_id(0), channels = in_shape.z;                    \
		const struct span s = inside(pixel, in_shape, out_shape, window, offset);          \
		const float share = 1.0f / (float)((s.bottom - s.top) * (s.right - s.left));       \
		int c = 0;                                                                         \
                                                                                                   \
		(void)share;                                                                       \
		out += (size_t)pixel * channels;                                                   \
		for (; c + LANES <= channels; c += LANES) {                                        \
			float16 v = lane_start;                                                    \
			for (int y = s.top; y < s.bottom; y++)                                     \
				for (int x = s.left; x < s.right; x++) {                           \
					const float16 at = vload16(                                \
						0,                                                 \
						in + ((size_t)y * in_shape.y + x) * channels + c); \
					v = combine(v, at);                                        \
				}                                                                  \
			vstore16(clamp(finish(v), range.x, range.y), 0, out + c);                  \
		}                                                                                  \
		for (; c < channels; c++) {                                                        \
			float v = start;                                                           \
			for (int y = s.top; y < s.bottom; y++)                                     \
				for (int x = s.left; x < s.right; x++) {                           \
					const float at =                                           \
						in[((size_t)y * in_shape.y + x) * channels + c];   \
					v = combine(v, at);                                        \
				}                                                                  \
			out[c] = clamp(finish(v), range.x, range.y);                               \
		}                                                                                  \
	}

#define SUM(a, b)    ((a) + (b))
#define MEAN(v)      ((v)*share)
#define ITSELF(v)    (v)
#define LARGER(a, b) fmax(a, b)

/* A work-item computes an output pixel. The mean counts only pixels inside the image. */
POOL(max_pool, -MAXFLOAT, (float16)(-MAXFLOAT), LARGER, ITSELF)
POOL(average_pool, 0.0f, (float16)(0.0f), SUM, MEAN)

/* A work-item copies a row of one input of a concatenation: `count` floats to offset `at` of a row
 * of `stride`. */
__kernel ONE_ITEM void place(__global const float *in, __global float *out, int count, int stride,
			     int at, float2 range)
{
	const size_t row = get_global_id(0);
	int i = 0;

	in += row * count;
	out += row * stride + at;
	for (; i + LANES <= count; i += LANES)
		vstore16(clamp(vload16(0, in + i), range.x, range.y), 0, out + i);
	for (; i < count; i++)
		out[i] = clamp(in[i], range.x, range.y);
}

/* A work-item computes an output row. Shapes are (planes, height, width, channels). */
__kernel ONE_ITEM void pad(__global const float *in, __global float *out, int4 shape,
			   int4 out_shape, int4 before)
{
	const int row = (int)get_global_id(0);
	const int n = row / out_shape.y - before.x, y = row % out_shape.y - before.y;

	for (int x = 0; x < out_shape.z; x++) {
		for (int c = 0; c < out_shape.w; c++) {
			const int ix = x - before.z, ic = c - before.w;
			const int within = n >= 0 && n < shape.x && y >= 0 && y < shape.y &&
					   ix >= 0 && ix < shape.z && ic >= 0 && ic < shape.w;
			float v = 0;
			if (within)
				v = in[(((size_t)n * shape.y + y) * shape.z + ix) * shape.w + ic];
			out[((size_t)row * out_shape.z + x) * out_shape.w + c] = v;
		}
	}
}

/* Elements per work-item of the kernels below. */
#define CHUNK 1024

/* Repeats an operand with fewer elements than the output. */
#define BINARY(name, operation)                                                                    \
	__kernel ONE_ITEM void name(__global const float *a, __global const float *b,              \
				    __global float *out, int count, int a_count, int b_count,      \
				    float2 range)                                                  \
	{                                                                                          \
		const int first = (int)get_global_id(0) * CHUNK, last = min(first + CHUNK, count); \
                                                                                                   \
		for (int i = first; i < last; i++)                                                 \
			out[i] = clamp(a[i % a_count] operation b[i % b_count], range.x, range.y); \
	}

BINARY(add, +)
BINARY(multiply, *)

/* Copies and clamps: RESHAPE, SQUEEZE, RELU, RELU6, QUANTIZE, DEQUANTIZE. */
__kernel ONE_ITEM void copy(__global const float *in, __global float *out, int count, float2 range)
{
	const int first = (int)get_global_id(0) * CHUNK, last = min(first + CHUNK, count);

	for (int i = first; i < last; i++)
		out[i] = clamp(in[i], range.x, range.y);
}

__kernel ONE_ITEM void logistic(__global const float *in, __global float *out, int count,
				float2 range)
{
	const int first = (int)get_global_id(0) * CHUNK, last = min(first + CHUNK, count);

	for (int i = first; i < last; i++)
		out[i] = clamp(1.0f / (1.0f + exp(-in[i])), range.x, range.y);
}

__kernel ONE_ITEM void photo(__global const uchar *in, __global float *out, int count, float2 line)
{
	const int first = (int)get_global_id(0) * CHUNK, last = min(first + CHUNK, count);

	for (int i = first; i < last; i++)
		out[i] = (float)in[i] * line.x + line.y;
}

__kernel ONE_ITEM void softmax(__global const float *in, __global float *out, int count, float beta,
			       float2 range)
{
	float most = -MAXFLOAT, sum = 0;

	in += get_global_id(0) * count;
	out += get_global_id(0) * count;
	for (int i = 0; i < count; i++)
		most = fmax(most, in[i]);
	for (int i = 0; i < count; i++)
		sum += exp((in[i] - most) * beta);
	for (int i = 0; i < count; i++)
		out[i] = clamp(exp((in[i] - most) * beta) / sum, range.x, range.y);
}
