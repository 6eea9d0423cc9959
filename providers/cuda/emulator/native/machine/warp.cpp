// Exchanges among the lanes of a warp: votes, matches, shuffles, reductions, and waiting alone.

#include <algorithm>
#include <bit>
#include <string>

#include "machine/machine.h"

namespace {

enum Verb : std::uint32_t {
    VOTE_ALL,
    VOTE_ANY,
    VOTE_UNI,
    VOTE_BALLOT,
    MATCH_ANY,
    MATCH_ALL,
    SHUFFLE_INDEX,
    SHUFFLE_UP,
    SHUFFLE_DOWN,
    SHUFFLE_BUTTERFLY,
    ADD,
    MIN,
    MAX,
    AND = 14,
    OR,
    XOR,
    UNSIGNED_MIN,
    UNSIGNED_MAX,
};
constexpr std::uint64_t FLAG = std::uint64_t{1} << 32;
constexpr int LAUNCH_FAILED = 719;

std::uint32_t reduced(std::uint32_t verb, std::uint32_t a, std::uint32_t b) {
    switch (verb) {
        case ADD:
            return a + b;
        case MIN:
            return std::min<std::int32_t>(a, b);
        case MAX:
            return std::max<std::int32_t>(a, b);
        case AND:
            return a & b;
        case OR:
            return a | b;
        case XOR:
            return a ^ b;
        case UNSIGNED_MIN:
            return std::min(a, b);
        default:
            return std::max(a, b);
    }
}

// The lane that a shuffle reads, as the PTX reference computes it, and whether it lies within the segment.
std::uint32_t source_of(std::uint32_t verb, std::uint32_t lane, std::uint64_t extra, bool* is_within) {
    std::uint32_t distance = extra & 31, control = static_cast<std::uint32_t>(extra >> 32);
    std::uint32_t segment = control >> 8 & 31, clamp = control & 31;
    std::uint32_t most = (lane & segment) | (clamp & ~segment), least = lane & segment;
    std::uint32_t source = lane;
    switch (verb) {
        case SHUFFLE_UP:
            source = lane - distance;
            *is_within = static_cast<std::int32_t>(source) >= static_cast<std::int32_t>(most);
            break;
        case SHUFFLE_DOWN:
            source = lane + distance;
            *is_within = source <= most;
            break;
        case SHUFFLE_BUTTERFLY:
            source = lane ^ distance;
            *is_within = source <= most;
            break;
        default:
            source = least | (distance & ~segment);
            *is_within = source <= most;
    }
    return *is_within ? source : lane;
}

std::uint64_t result_for(Thread* lanes, std::uint32_t lane, std::uint32_t present) {
    auto& own = lanes[lane];
    std::uint32_t votes = 0, equal = 0, joined = static_cast<std::uint32_t>(own.value);
    bool is_first = true;
    for (std::uint32_t other = 0; other < 32; ++other) {
        if (!(present >> other & 1)) continue;
        votes |= static_cast<std::uint32_t>(lanes[other].value & 1) << other;
        equal |= static_cast<std::uint32_t>(lanes[other].value == own.value) << other;
        auto value = static_cast<std::uint32_t>(lanes[other].value);
        joined = is_first ? value : reduced(own.verb, joined, value);
        is_first = false;
    }
    switch (own.verb) {
        case VOTE_ALL:
            return votes == present;
        case VOTE_ANY:
            return votes != 0;
        case VOTE_UNI:
            return votes == present || votes == 0;
        case VOTE_BALLOT:
            return votes;
        case MATCH_ANY:
            return equal | FLAG;
        case MATCH_ALL:
            return equal == present ? present | FLAG : 0;
        case SHUFFLE_INDEX:
        case SHUFFLE_UP:
        case SHUFFLE_DOWN:
        case SHUFFLE_BUTTERFLY: {
            bool is_within = true;
            std::uint32_t source = source_of(own.verb, lane, own.extra, &is_within);
            if (!(present >> source & 1))
                fault(&own, own.line, LAUNCH_FAILED,
                      "a shuffle reads lane " + std::to_string(source) + ", which does not take part");
            return (lanes[source].value & 0xffffffff) | (is_within ? FLAG : 0);
        }
        case Machine::SYNC:
            return 0;
        default:
            return joined;
    }
}

}  // namespace

void Machine::exchange(Thread& thread) {
    if (!(thread.mask >> thread.lane() & 1))
        fault(&thread, thread.line, LAUNCH_FAILED, "the mask of an exchange leaves out the lane that calls it");
    thread.state = State::IN_EXCHANGE;
    try_exchange(thread.warp(), thread.mask);
    if (thread.state == State::IN_EXCHANGE) wait(thread, State::IN_EXCHANGE, thread.line);
}

// Lets the lanes of a mask go on if all that are left of them have come to the same instruction.
void Machine::try_exchange(std::uint32_t warp, std::uint32_t mask) {
    std::uint32_t present = mask & lanes_[warp];
    Thread* lanes = &threads_[warp * 32];
    std::uint32_t verb = 0;
    for (std::uint32_t rest = present; rest; rest &= rest - 1) {
        auto& other = lanes[std::countr_zero(rest)];
        if (other.state != State::IN_EXCHANGE || other.mask != mask) return;
        if (rest == present) verb = other.verb;
        if (other.verb != verb)
            fault(&other, other.line, LAUNCH_FAILED, "lanes of one mask are at different exchanges");
    }
    for (std::uint32_t rest = present; rest; rest &= rest - 1) {
        std::uint32_t lane = std::countr_zero(rest);
        lanes[lane].result = result_for(lanes, lane, present);
    }
    if (verb == SYNC) races_.next_epoch_of(warp);
    for (std::uint32_t rest = present; rest; rest &= rest - 1) make_ready(lanes[std::countr_zero(rest)]);
}
