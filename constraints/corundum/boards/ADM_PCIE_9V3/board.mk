# Alpha Data ADM-PCIE-9V3, 100G. Corundum's own variant of the board, newest layout first; its parts, pins and constraints stay Corundum's.
MRNIC_BOARD = ADM_PCIE_9V3
MRNIC_BUILD = corundum100g
MRNIC_STOCK = ADM_PCIE_9V3/fpga_100g/fpga
include $(MRNIC)/common/files.mk
