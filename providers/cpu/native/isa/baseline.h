// The instruction set that the compiler uses by default.
#define EP_FMA 0
#define EP_ROUNDS 0
#define EP_F16C 0
#define EP_WIDTH 16
#define EP_HALVES
