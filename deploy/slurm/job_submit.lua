-- Gives each job the licence of its class, so that Headroom's limits count it: the licence called as its partition.
-- Put this file beside slurm.conf, write JobSubmitPlugins=lua there, and have a licence for each partition.
-- A job that names a licence keeps it; who may take one off is decided below. Nothing here asks anybody over the
-- network, because slurmctld waits for this.

function slurm_job_submit(job, partitions, uid)
	if job.licenses == nil or job.licenses == "" then
		if job.partition == nil or job.partition == "" then
			slurm.log_user("Say to which partition the job belongs (--partition): its class counts there.")
			return slurm.ERROR
		end
		job.licenses = job.partition .. ":1"
	end
	return slurm.SUCCESS
end

function slurm_job_modify(job, record, partitions, uid)
	if job.licenses ~= nil and job.licenses ~= record.licenses and uid ~= 0 then
		slurm.log_user("The licence of a job says its class, and only an administrator may change it.")
		return slurm.ERROR
	end
	return slurm.SUCCESS
end
