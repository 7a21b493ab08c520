// Built in: see sim/math.h.
#pragma once
