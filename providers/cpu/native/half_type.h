// float16 as it is stored. Included once per instruction set, in an anonymous namespace.

struct Half {
    uint16_t bits;
};
