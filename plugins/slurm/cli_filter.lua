-- SPDX-License-Identifier: BSD-3-Clause
-- Makes `--xpus=N` of srun, sbatch and salloc also request `--gres=xpu:N`, so that Slurm counts
-- xPUs. Copy it to cli_filter.lua beside slurm.conf, with CliFilterPlugins=cli_filter/lua. A user
-- can bypass it; gres=xpu in plugstack.conf makes the plugin check the number on the node.

function slurm_cli_setup_defaults(options, early_pass)
	return slurm.SUCCESS
end

function slurm_cli_pre_submit(options, pack_offset)
	local dxp = options["spank"] and options["spank"]["dxp"]
	local count = dxp and dxp["xpus"] and string.match(dxp["xpus"], "^(%d+)")
	local gres = options["gres"]
	if not count then
		return slurm.SUCCESS
	end
	if gres and string.find("," .. gres .. ",", "[,:]xpu[,:]") then
		return slurm.SUCCESS
	end
	if gres and gres ~= "none" and gres ~= "" then
		options["gres"] = gres .. ",xpu:" .. count
	else
		options["gres"] = "xpu:" .. count
	end
	return slurm.SUCCESS
end

function slurm_cli_post_submit(pack_offset, job_id, step_id)
	return slurm.SUCCESS
end
