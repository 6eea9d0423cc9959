// The instruction set of whatever the compiler takes by itself.
#define EP_FMA 0
#define EP_ROUNDS 0
#define EP_F16C 0
#define EP_WIDTH 16
