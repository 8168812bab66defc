# Cisco Nexus K3P-S, 25G. Corundum's own variant of the board, newest layout first; its parts, pins and constraints stay Corundum's.
MRNIC_BOARD = Nexus_K3P_S
MRNIC_BUILD = corundum25g
MRNIC_STOCK = Nexus_K3P_S/fpga_25g/fpga_K3P Nexus_K3P_S/fpga_25g/fpga
include $(MRNIC)/common/files.mk
