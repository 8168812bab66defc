# AMD Alveo U200, 100G: 512-bit streams at the core clock.
set mrnic_build corundum100g
set mrnic_width 512
source [file join [file dirname [info script]] .. .. common config.tcl]
