-- Gives each job the licence of its class, so that Headroom's limits count it: the licence called as its partition.
-- Put this file beside slurm.conf, write JobSubmitPlugins=lua there, and have a licence for each partition.
-- A job that names a class's licence keeps it. Any other licence stays beside the one that is added.
-- Nothing here asks anybody over the network, because slurmctld waits for this.

-- Licences of classes that are not called as a partition, such as {"sql", "ad-hoc"}.
local more_classes = {}

local function is_class(licence, partitions)
	for _, name in ipairs(more_classes) do
		if name == licence then
			return true
		end
	end
	return partitions[licence] ~= nil
end

-- The first partition that the job names, or else the default one.
local function partition_of(job, partitions)
	local named = string.match(job.partition or "", "[^,]+")
	if named ~= nil then
		return named
	end
	for name, partition in pairs(partitions) do
		if partition.flag_default == 1 then
			return name
		end
	end
end

function slurm_job_submit(job, partitions, uid)
	local licences = job.licenses or ""
	for name, count in string.gmatch(licences, "([^,;|:]+):?(%d*)") do
		if tonumber(count) == 0 then
			slurm.log_user("The licence " .. name .. ":0 holds no place; ask for " .. name .. ":1 or more.")
			return slurm.ESLURM_INVALID_LICENSES
		end
		if is_class(name, partitions) then
			return slurm.SUCCESS
		end
	end
	local partition = partition_of(job, partitions)
	if partition == nil then
		slurm.log_user("Say to which partition the job belongs (--partition): its class counts there.")
		return slurm.ERROR
	end
	if licences ~= "" then
		licences = licences .. ","
	end
	job.licenses = licences .. partition .. ":1"
	return slurm.SUCCESS
end

-- The licence of a job says its class, so only an administrator may change it.
function slurm_job_modify(job, record, partitions, uid)
	if job.licenses ~= nil and job.licenses ~= record.licenses and uid ~= 0 then
		return slurm.ESLURM_ACCESS_DENIED -- Slurm tells a user no sentence here
	end
	return slurm.SUCCESS
end
