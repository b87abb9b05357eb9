// ncclDevCommCreate of a build whose nccl.h has no device interface: only there to be found.
#include <nccl.h>

extern "C" ncclResult_t ncclDevCommCreate() { return ncclInvalidUsage; }
extern "C" ncclResult_t ncclDevCommDestroy() { return ncclInvalidUsage; }
