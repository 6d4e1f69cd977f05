/* methods.h - one function for each way to move w.
 *
 * Each begins with tr_monitor_begin(), which fills in the gradient at w, both [size], and returns
 * when the monitor has a reason to stop or an evaluation failed. Either way w is the best so far.
 * The gradient is scratch space afterwards.
 */
#ifndef TRELLIS_OPTIM_METHODS_H
#define TRELLIS_OPTIM_METHODS_H

#include "optim/monitor.h"

trellis_status tr_quasi_newton(struct tr_monitor *monitor, double *w, double *gradient);
trellis_status tr_conjugate_gradient(struct tr_monitor *monitor, double *w, double *gradient);
trellis_status tr_gradient_descent(struct tr_monitor *monitor, double *w, double *gradient);

#endif
