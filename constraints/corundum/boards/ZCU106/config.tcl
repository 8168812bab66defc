# AMD ZCU106, 10G over PCIe: 64-bit streams at the core clock.
set mrnic_build corundum10g
set mrnic_width 64
source [file join [file dirname [info script]] .. .. common config.tcl]
