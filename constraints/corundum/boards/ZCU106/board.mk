# AMD ZCU106, 10G over PCIe. Corundum's own variant of the board, newest layout first; its parts, pins and constraints stay Corundum's.
MRNIC_BOARD = ZCU106
MRNIC_BUILD = corundum10g
MRNIC_STOCK = ZCU106/fpga_pcie/fpga
include $(MRNIC)/common/files.mk
