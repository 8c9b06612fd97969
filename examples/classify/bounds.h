/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds of the classifier, with reasons. Models and photos are untrusted: nothing in them may
 * cause an unbounded loop or allocation. */
#ifndef CLASSIFY_BOUNDS_H
#define CLASSIFY_BOUNDS_H

/* Inception v3 has 317 tensors and 125 operators, the largest photo classifiers ten times as many.
 * MODEL_ELEMENTS_MAX floats take 512 MiB, and every index fits an int in the kernels. */
#define MODEL_BYTES_MAX    (512u << 20) /* float NASNet-large has 356 MB */
#define MODEL_TENSORS_MAX  8192
#define MODEL_OPS_MAX      4096
#define MODEL_CODES_MAX    1024
#define MODEL_NAME_MAX     255 /* bytes kept of a tensor's name */
#define MODEL_DIMS_MAX     4
#define MODEL_DIM_MAX      (1 << 24) /* size of one dimension */
#define MODEL_ELEMENTS_MAX (1 << 27)
/* height and width of windows; also strides and dilations */
#define MODEL_WINDOW_MAX 1024
/* weights for one output; 16 times this fits an int */
#define MODEL_INNER_MAX (1 << 24)
#define OP_INPUTS_MAX   32 /* CONCATENATION of Inception has 4 */

/* Stages. */
#define STAGES_MAX 16 /* as many as a daemon's xPUs */
/* per cut; their events and the previous photo's fit one wait list */
#define CUT_TENSORS_MAX    6
#define DEPTH_MAX          32 /* photos in progress: two per stage */
#define STEP_ARGUMENTS_MAX 12

/* Photos. */
#define PHOTO_BYTES_MAX  (256u << 20) /* bytes of a file */
#define PHOTO_SIDE_MAX   32768
#define PHOTO_PIXELS_MAX (128u << 20) /* 384 MiB when decoded */
#define PHOTOS_MAX       65536        /* photos of one run */

/* Answers. */
#define LABEL_BYTES_MAX 128
#define LABELS_MAX      65536
#define TOP_MAX         100

#endif
