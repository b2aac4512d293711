# submit.pl JOBS PER_SECOND: submits jobs at even distances from one process. It prints the milliseconds that each took, and
# as its last word, beside them, how many a second it came to.
use strict;
use warnings;
use Slurm;
use Time::HiRes qw(sleep time);

my ($jobs, $rate) = @ARGV;
my $slurm = Slurm::new() or die "no Slurm\n";
my $first = time;
for my $n (0 .. $jobs - 1) {
	my $early = $first + $n / $rate - time;
	sleep $early if $early > 0;
	my %job = (name => 'load', partition => 'etl', script => "#!/bin/sh\ntrue\n", work_dir => '/', std_out => '/dev/null', user_id => $<, group_id => $( + 0,
		min_cpus => 1, min_nodes => 1, max_nodes => 1, shared => 0, environment => { PATH => $ENV{PATH} });
	my $began = time;
	$slurm->submit_batch_job(\%job) or die 'job ' . $n . ': ' . $slurm->strerror() . "\n";
	printf "%.3f\n", 1000 * (time - $began);
}
printf STDERR "%.1f\n", $jobs / (time - $first);
