# Silicom fb2CG@KU15P, 100G. Corundum's own variant of the board, newest layout first; its parts, pins and constraints stay Corundum's.
MRNIC_BOARD = fb2CG
MRNIC_BUILD = corundum100g
MRNIC_STOCK = fb2CG/fpga_100g/fpga
include $(MRNIC)/common/files.mk
