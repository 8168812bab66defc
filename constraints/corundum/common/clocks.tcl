# Clock domain crossings of the application block: there are none, and this file sees to it that it stays so.
# All our registers run at Corundum's core clock; the streams at the MAC clocks pass through the block as wires, and Corundum's
# own constraints (mqnic_port.tcl, axis_async_fifo.tcl, ...) cover the crossings on both sides of it. So nothing is cut or
# relaxed here; a register of ours at another clock is an error instead of a silent path.

foreach block [get_cells -quiet -hier -filter {ORIG_REF_NAME == mqnic_app_block || REF_NAME == mqnic_app_block}] {
    set registers [get_cells -quiet -hier -filter "IS_SEQUENTIAL && NAME =~ $block/app/*"]
    if {[llength $registers] == 0} {
        continue
    }
    set clocks [lsort -unique [get_clocks -quiet -of_objects [get_pins -quiet -of_objects $registers -filter {IS_CLOCK}]]]
    if {[llength $clocks] > 1} {
        error "mrnic: registers of $block have the clocks $clocks instead of one: is `clk` the core clock?"
    }
}
