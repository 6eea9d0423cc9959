// What the mathematics calls by one name in each type that it is included for: here float. end.h takes it back.
#define EP_T ep_f32
#define EP_U ep_u32
#define EP_IS_F64 0
#define EP_OF(name) EP_NAMED(name, f32)
#define EP_STRUCT_OF(name) EP_STRUCT_NAMED(name, f32)
#define EP_LITERAL(number) number##f

#define EP_FRACTION 23
#define EP_BIAS 127
#define EP_TOP 0x80000000u
#define EP_UPPER_HALF 0xFFFFF000u
#define EP_WHOLE 12582912.0f  // 1.5 * 2^23: adding it leaves an integer in the low bits
#define EP_LN2_HIGH 6.9314575195e-01f
#define EP_LN2_LOW 1.4286067653e-06f
#define EP_LINEAR 2.9802322e-08f  // 2^-25: an odd function of slope 1 is x up to here
#define EP_HALF_PI_HIGH 1.5707964f
#define EP_HALF_PI_LOW -4.371139e-08f
#define EP_TWO_THIRDS_HIGH 0.6666666865348816f
#define EP_TWO_THIRDS_LOW -1.9868215e-08f
#define EP_SQUARE_HIGH 1.152921504606847e18f  // 2^60: squares up to here are finite
#define EP_TINY 1.17549435e-38f
#define EP_LARGEST 3.402823466e+38f
#define EP_TINY_SCALE 33554432.0f
#define EP_TINY_EXPONENT 25.0f

// Beyond LOW and HIGH e^x is 0 and infinite, beyond LOW2 and HIGH2 2^x; below LOW1 e^x - 1 is -1. 2^n is made larger by
// 2^SPARE_EXPONENT, so that it is normal, and SPARE takes that back; at LOW and LOW2 it is 0. e^x is 0 earlier, but as
// a product that underflows, for which processors take many times as long, and masks are -inf.
#define EP_SPARE 5.4210108624275222e-20f
#define EP_SPARE_EXPONENT 64.0f
#define EP_LOW -132.4f
#define EP_HIGH 89.0f
#define EP_LOW2 -191.0f
#define EP_HIGH2 129.0f
#define EP_LOW1 -20.0f

// Where e^(-a^2/2), and the largest number times it, and the largest number times e^-a, are 0; soft_plus_of has the
// others. From EP_GAUSS_ONE on e^(-a^2/2) is nothing beside 1.
#define EP_GAUSS_ZERO 15.0f
#define EP_GAUSS_FAR_ZERO 20.0f
#define EP_GAUSS_ONE 12.0f
#define EP_LOGISTIC_ZERO 208.0f
#define EP_FAR -80.0f
#define EP_FAR_EXPONENT 180.0f
#define EP_FAR_STEP 8.077935669463161e-28f
