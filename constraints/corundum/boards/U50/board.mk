# AMD Alveo U50, 100G. Corundum's own variant of the board, newest layout first; its parts, pins and constraints stay Corundum's.
MRNIC_BOARD = U50
MRNIC_BUILD = corundum100g
MRNIC_STOCK = Alveo/fpga_100g/fpga_AU50 AU50/fpga_100g/fpga
include $(MRNIC)/common/files.mk
