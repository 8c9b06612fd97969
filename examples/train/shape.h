/* SPDX-License-Identifier: BSD-3-Clause */
/* Sizes of the network, for the host and for kernels.cl:
 *
 *   image 28 x 28 - 8 convolutions 5 x 5, maximum of 2 x 2 - 8 x 12 x 12
 *                 - 16 convolutions 5 x 5, maximum of 2 x 2 - 16 x 4 x 4
 *                 - 128 dense - 10 dense, softmax
 *
 * A layer's parameters are its weights and then its biases. */
#ifndef LEARN_SHAPE_H
#define LEARN_SHAPE_H

#define SIDE    28
#define PIXELS  (SIDE * SIDE)
#define CLASSES 10

#define TAP_SIDE  5
#define TAPS      (TAP_SIDE * TAP_SIDE)
#define CHANNELS1 8
#define SIDE1     12
#define POINTS1   (SIDE1 * SIDE1)
#define OUTPUTS1  (CHANNELS1 * POINTS1)
#define CHANNELS2 16
#define SIDE2     4
#define POINTS2   (SIDE2 * SIDE2)
#define OUTPUTS2  (CHANNELS2 * POINTS2)
#define OUTPUTS3  128

#define PARAMETERS1 (CHANNELS1 * TAPS + CHANNELS1)
#define PARAMETERS2 (CHANNELS2 * CHANNELS1 * TAPS + CHANNELS2)
#define PARAMETERS3 (OUTPUTS3 * OUTPUTS2 + OUTPUTS3)
#define PARAMETERS4 (CLASSES * OUTPUTS3 + CLASSES)
/* the gradients, the loss, the hits */
#define SUMS4 (PARAMETERS4 + 2)

/* Gradients are integers in units of 2^-20: integer sums have the same bits in every order. */
#define GRADIENT_ONE 1048576.0f

#endif
