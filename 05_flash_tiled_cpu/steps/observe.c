#include "05_flash_tiled_cpu/steps/observe.h"

observer *observing;
void *observe_context;

void set_observer(observer *callback, void *context)
{
    observing = callback;
    observe_context = context;
}
