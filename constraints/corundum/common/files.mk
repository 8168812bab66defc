# Sources and constraints of the application block, for Corundum's vivado.mk. MRNIC is the folder constraints/corundum (absolute),
# MRNIC_BUILD the build of the engine, MRNIC_ENGINE_DIR where `mrnic emit` has put its Verilog.
SYN_FILES += $(MRNIC)/rtl/mqnic_app_block.v
SYN_FILES += $(MRNIC)/rtl/mrnic_app.v
SYN_FILES += $(MRNIC)/rtl/mrnic_app_regs.v
SYN_FILES += $(MRNIC)/rtl/mrnic_axil.v
SYN_FILES += $(MRNIC)/rtl/mrnic_dma_read.v
SYN_FILES += $(MRNIC)/rtl/mrnic_dma_write.v
SYN_FILES += $(MRNIC)/rtl/mrnic_fifo.v
SYN_FILES += $(MRNIC)/rtl/mrnic_ram.v
SYN_FILES += $(MRNIC)/rtl/mrnic_ram_reads.v
SYN_FILES += $(MRNIC)/rtl/mrnic_rx_match.v
SYN_FILES += $(MRNIC)/rtl/mrnic_rx_split.v
SYN_FILES += $(MRNIC)/rtl/mrnic_skid.v
SYN_FILES += $(MRNIC)/rtl/mrnic_tx_cpl.v
SYN_FILES += $(MRNIC)/rtl/mrnic_tx_merge.v
SYN_FILES += $(MRNIC_ENGINE_DIR)/$(MRNIC_BUILD).v
XDC_FILES += $(MRNIC)/common/clocks.tcl
CONFIG_TCL_FILES += $(MRNIC)/boards/$(MRNIC_BOARD)/config.tcl
