# Out-of-context synthesis of one emitted block or build with Vivado (non-project mode). UNTESTED here: this project has no Vivado.
#   make verilog
#   vivado -mode batch -source constraints/vivado/out_of_context.tcl -tclargs VERILOG TOP [PART] [PERIOD_NS] [FOLDER] [route]
# for example build/verilog/corundum100g.v path_tracker xcu200-fsgd2104-2-e 4.0 build/vivado
# In: emitted Verilog, the name of a module in it. Out: utilisation, timing and RAM reports and a checkpoint in FOLDER; with
# `route` also placed and routed. Ends with an error when the period is missed.

if {$argc < 2} {
    puts "ERROR: give VERILOG and TOP; optional: PART PERIOD_NS FOLDER route"
    exit 2
}
proc argument {index default} {
    global argv argc
    if {$index < $argc} { return [lindex $argv $index] }
    return $default
}
set verilog [argument 0 ""]
set top     [argument 1 ""]
set part    [argument 2 xcu200-fsgd2104-2-e]
set period  [argument 3 4.0]
set folder  [argument 4 build/vivado]
set route   [expr {[argument 5 ""] eq "route"}]

if {![file exists $verilog]} {
    puts "ERROR: $verilog is not there; make it with: make verilog"
    exit 2
}
if {[llength [get_parts -quiet $part]] == 0} {
    puts "ERROR: this Vivado does not know the part $part"
    exit 2
}
file mkdir $folder

read_verilog $verilog
synth_design -top $top -part $part -mode out_of_context -flatten_hierarchy rebuilt
create_clock -name clock -period $period [get_ports clock]

report_utilization -hierarchical -file [file join $folder $top.utilization.txt]
report_ram_utilization -file [file join $folder $top.ram.txt]
report_timing_summary -file [file join $folder $top.synth_timing.txt]
report_design_analysis -logic_level_distribution -file [file join $folder $top.levels.txt]
write_checkpoint -force [file join $folder $top.synth.dcp]

if {$route} {
    opt_design
    place_design
    phys_opt_design
    route_design
    report_timing_summary -file [file join $folder $top.routed_timing.txt]
    write_checkpoint -force [file join $folder $top.routed.dcp]
}

set paths [get_timing_paths -max_paths 1]
if {[llength $paths] == 0} {
    puts "$top: no path between two registers"
    exit 0
}
set slack [get_property SLACK [lindex $paths 0]]
set levels [get_property LOGIC_LEVELS [lindex $paths 0]]
puts "$top: slack $slack ns at $period ns, $levels logic levels"
if {$slack < 0} {
    puts "ERROR: $top misses $period ns by [expr {-$slack}] ns"
    exit 1
}
