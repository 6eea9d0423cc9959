// What the mathematics calls by one name in each type that it is included for: here double. end.h takes it back.
#define EP_T ep_f64
#define EP_U ep_u64
#define EP_IS_F64 1
#define EP_OF(name) EP_NAMED(name, f64)
#define EP_STRUCT_OF(name) EP_STRUCT_NAMED(name, f64)
#define EP_C(number) number

#define EP_FRACTION 52
#define EP_BIAS 1023
#define EP_TOP 0x8000000000000000ul
#define EP_UPPER_HALF 0xFFFFFFFFF8000000ul
#define EP_WHOLE 6755399441055744.0  // 1.5 * 2^52
#define EP_LN2_HIGH 6.93147180369123816490e-01
#define EP_LN2_LOW 1.90821492927058770002e-10
#define EP_LINEAR 5.551115123125783e-17  // 2^-54
#define EP_HALF_PI_HIGH 1.57079632679489655800
#define EP_HALF_PI_LOW 6.12323399573676603587e-17
#define EP_SQUARE_HIGH 3.273390607896142e150  // 2^500
#define EP_TINY 2.2250738585072014e-308
#define EP_TINY_SCALE 18014398509481984.0
#define EP_TINY_EXPONENT 54.0

#define EP_SPARE 2.938735877055719e-39
#define EP_SPARE_EXPONENT 128.0
#define EP_DEEP -790.0
#define EP_LOW -746.0
#define EP_HIGH 710.0
#define EP_LOW2 -1080.0
#define EP_HIGH2 1025.0
#define EP_LOW1 -40.0

#define EP_GAUSS_ZERO 39.0
#define EP_GAUSS_FAR_ZERO 55.0
#define EP_LOGISTIC_ZERO 1500.0
#define EP_FAR -700.0
#define EP_FAR_EXPONENT 1500.0
#define EP_FAR_STEP 1.688508503057271e-226
