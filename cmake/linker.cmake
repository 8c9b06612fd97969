# SPDX-License-Identifier: BSD-3-Clause
include(CheckLinkerFlag)

# dxp_link_fast(): links the targets of this folder and of those below with lld or gold, if one is
# installed. They need a third of the time of the default linker, which is 0.4 s for a test.
macro(dxp_link_fast)
	check_linker_flag(C -fuse-ld=lld DXP_LLD)
	if(DXP_LLD)
		add_link_options(-fuse-ld=lld)
	else()
		check_linker_flag(C -fuse-ld=gold DXP_GOLD)
		if(DXP_GOLD)
			add_link_options(-fuse-ld=gold)
		endif()
	endif()
endmacro()
