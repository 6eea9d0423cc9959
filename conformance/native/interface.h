/* The C interface of the suite's native module. cffi reads this very file: declarations alone, no preprocessor. */

/* What the row of an op promises: exactness, or the larger of `ulps` and `floor`, or `conditioned` eps S + half an ulp.
 */
typedef struct {
    int exact;
    double ulps;
    double floor;
    double conditioned;
} ep_accuracy;

/* ratio: the largest error over its bound; error: that error in ulps; at: its index; wrong: elements outside the bound.
 */
typedef struct {
    double ratio;
    double error;
    int64_t at;
    int64_t wrong;
} ep_worst;

/* Compare n float32 results with their float64 references; `scale` is S of a conditioned row, else NULL. */
ep_worst ep_compare(const float* result, const double* value, const double* scale, int64_t n,
                    const ep_accuracy* accuracy);
