# AMD Alveo U200, 100G. Corundum's own variant of the board, newest layout first; its parts, pins and constraints stay Corundum's.
MRNIC_BOARD = U200
MRNIC_BUILD = corundum100g
MRNIC_STOCK = Alveo/fpga_100g/fpga_AU200 AU200/fpga_100g/fpga
include $(MRNIC)/common/files.mk
