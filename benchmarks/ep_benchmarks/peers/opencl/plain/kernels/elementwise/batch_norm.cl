// y = images x with a mean, a variance, a scale and a bias a channel: i counts elements, j the channels of all images.
kernel void batch_norm(X_PARAMETER, MEAN_PARAMETER, VARIANCE_PARAMETER, SCALE_PARAMETER, BIAS_PARAMETER, Y_PARAMETER) {
    const size_t i = get_global_id(0), j = get_global_id(1), c = j % CHANNELS;
    const X_VALUE factor = SCALE(c) * rsqrt(VARIANCE(c) + (X_VALUE)EPSILON);
    const size_t place = j * get_global_size(0) + i;
    SET_Y(place, (X(place) - MEAN(c)) * factor + BIAS(c));
}
