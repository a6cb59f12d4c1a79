/* Follow a chain of indices: each load must wait for the one before, so its time is the memory's latency. */
#include <stdint.h>

uint32_t chase(const uint32_t *next, uint32_t start, uint64_t steps)
{
    uint32_t i = start;
    while (steps--)
        i = next[i];
    return i;
}
