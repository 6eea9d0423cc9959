// Rows of few elements, such as windows, which may be joined in any order. Included once, by launch.cpp, in an
// anonymous namespace.
#pragma once

// Rows [begin, end), each element by its place in the row.
void reduce_windows(const Job& job, int64_t begin, int64_t end) {
    const ep_reduce_plan& g = job.g;
    const int64_t size = job.from.size;
    int64_t places[MOST_PLACES];
    ep::Runs runs(g, 0);
    for (int64_t i = 0; i < g.terms; runs.next())
        for (int64_t k = 0; k < job.run; ++k) places[i++] = (runs.at() + k * job.step) / size;
    alignas(ep::LINE) char states[ABREAST * WIDEST];
    ep::each_block(g, begin, end, ABREAST, [&](int64_t x, int64_t out, int64_t, int64_t n) {
        job.r.joint->windows(states, job.x + x, job.across() / size, places, g.terms, n, job.r.lens);
        deliver(job, states, job.out + out, n);
    });
}

// Rows [begin, end) whose runs overlap: the runs of all rows side by side are joined first, place by place, and then
// neighbours.
void slide_windows(const Job& job, int64_t begin, int64_t end) {
    const ep_reduce_plan& g = job.g;
    const ep_storage& from = job.from;
    const ep::Joint& joint = *job.r.joint;
    const int64_t across = job.across() / from.size, most = (ep::BLOCK - job.run) / across + 1,
                  count = g.terms / job.run;
    int64_t begins[MOST_PLACES], places[MOST_PLACES];
    ep::Runs runs(g, 0);
    for (int64_t i = 0; i < count; ++i, runs.next()) begins[i] = runs.at();
    for (int64_t k = 0; k < job.run; ++k) places[k] = k;
    alignas(ep::LINE) char columns[ep::BLOCK * WIDEST], states[ep::BLOCK * WIDEST], block[ep::BLOCK * WIDEST];
    ep::each_block(g, begin, end, most, [&](int64_t x, int64_t out, int64_t, int64_t n) {
        const int64_t length = (n - 1) * across + job.run;
        joint.start(columns, length);
        for (int64_t i = 0; i < count; ++i) {
            const void* const line = from.load(job.x + x + begins[i], from.size, length, block);
            joint.take(columns, line, 0, 1, length, job.r.lens);
        }
        joint.slide(states, columns, across, places, job.run, n);
        deliver(job, states, job.out + out, n);
    });
}
