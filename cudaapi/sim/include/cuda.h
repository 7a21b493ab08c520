// Built in: see cuda_sim.h.
#pragma once
