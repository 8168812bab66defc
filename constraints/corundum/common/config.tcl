# Settings over those of Corundum's own config.tcl, which runs before this file in the same interpreter and leaves `params`
# (generics of the top level), `pcie` (the PCIe core, where there is one) and the procedure `configure_bar`.
# The board's config.tcl sets `mrnic_build` and `mrnic_width` and then sources this one.

if {![info exists params]} {
    error "mrnic: Corundum's config.tcl must run first: put it before this file in CONFIG_TCL_FILES"
}

# the application block is ours; of its streams only those at the core clock are used
dict set params APP_ID "32'h4d524e31"
dict set params APP_ENABLE "1"
dict set params APP_CTRL_ENABLE "0"
dict set params APP_DMA_ENABLE "1"
dict set params APP_AXIS_DIRECT_ENABLE "0"
dict set params APP_AXIS_SYNC_ENABLE "1"
dict set params APP_AXIS_IF_ENABLE "0"
dict set params APP_STAT_ENABLE "0"
dict set params AXIL_APP_CTRL_DATA_WIDTH "32"
dict set params AXIL_APP_CTRL_ADDR_WIDTH "24"

# 64-bit MACs: Corundum doubles the streams at the core clock for 25G, and need not for 10G
if {[dict exists $params AXIS_ETH_SYNC_DATA_WIDTH_DOUBLE]} {
    dict set params AXIS_ETH_SYNC_DATA_WIDTH_DOUBLE [expr {$mrnic_width == 128 ? 1 : 0}]
}

# a completion with a tag for every frame is what tells our frames from others
if {![dict get $params PTP_TS_ENABLE]} {
    error "mrnic: PTP_TS_ENABLE must be 1: transmitted frames carry tags only then"
}

# application BAR (BAR 2), which Corundum's config.tcl has switched off for want of an application
if {[info exists pcie] && [llength [info procs configure_bar]]} {
    configure_bar $pcie 0 2 [dict get $params AXIL_APP_CTRL_ADDR_WIDTH]
}

set mrnic_generics {}
dict for {name value} $params {
    lappend mrnic_generics $name=$value
}
set_property generic $mrnic_generics [get_filesets sources_1]

# which engine, and how wide it is
set mrnic_defines {}
foreach define [get_property verilog_define [get_filesets sources_1]] {
    if {![string match MRNIC_* $define]} {
        lappend mrnic_defines $define
    }
}
lappend mrnic_defines MRNIC_ENGINE=$mrnic_build MRNIC_ENGINE_WIDTH=$mrnic_width
set_property verilog_define $mrnic_defines [get_filesets sources_1]
