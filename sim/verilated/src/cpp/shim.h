// Included in front of every C++ file of a model: Verilator's messages go to the instance that caused them.
#ifndef MRNIC_SHIM_H_
#define MRNIC_SHIM_H_
int mrnic_vl_printf(const char* format, ...);
#define VL_PRINTF mrnic_vl_printf
#endif
