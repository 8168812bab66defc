# Cisco Nexus K3P-S, 25G: 128-bit streams at the core clock.
set mrnic_build corundum25g
set mrnic_width 128
source [file join [file dirname [info script]] .. .. common config.tcl]
