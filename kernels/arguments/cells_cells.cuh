#pragma once
#include "../arguments/layout.cuh"
#include "../pair/real.cuh"
namespace hilbrium {
namespace pair { struct Real4; }
struct CellGrid {
    double lower[3];
    double width[3];
    double inverse[3];
    unsigned counts[3];
    unsigned periodic;
};
struct CellParticles {
    const pair::Real4* position;
    const pair::Real4* further;
    const Real* squared_radius;
    const unsigned* rows;
    const unsigned* cells;
    const unsigned* starts;
    unsigned long long stride;
};
struct CellPass {
    CellGrid grid;
    CellParticles particles;
    unsigned begin;
    unsigned end;
    const unsigned char* active;
    double cutoff;
    Real* sums;
};
struct CellTasks {
    const unsigned* boxes;
    const unsigned* slices;
    const unsigned long long* count;
    unsigned shape[3];
    unsigned slice;
};
}
