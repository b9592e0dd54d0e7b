// A state's time as it is learned from, in units of eager's. A GPU that others use, too, lets some calls wait for
// milliseconds; where most of eager's nine were among them, the state seemed ten times as fast as it is, and the best
// that is known of a task is a minimum, which finds such states. So quartiles stand for medians, and where eager took
// much longer than beside the task's other states, only so much longer counts.
#pragma once
#include "eval/verdict.h"

namespace mtmc {

// What a quarter of a contestant's samples lie below, in ms; 0 where there are none.
double quick_ms(const Verdict& verdict, const std::string& contestant);
// `usual`: the median of eager's quick_ms over the task's states. Where samples are missing, the speedup's inverse.
double steady_time(const Verdict& verdict, double usual);

}  // namespace mtmc
