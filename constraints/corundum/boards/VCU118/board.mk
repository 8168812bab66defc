# AMD VCU118, 100G. Corundum's own variant of the board, newest layout first; its parts, pins and constraints stay Corundum's.
MRNIC_BOARD = VCU118
MRNIC_BUILD = corundum100g
MRNIC_STOCK = VCU118/fpga_100g/fpga
include $(MRNIC)/common/files.mk
