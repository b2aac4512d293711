# Runs in a fresh minimal Debian, as root: archive and package to a plan, an upgrade of the package, and its removal. What it prints is compared by TestMinimalDebian.
for tool in go node cc gcc c++ make; do
	if command -v $tool >/dev/null; then
		echo "$tool is here, so that this proves nothing"
		exit 1
	fi
done
export LC_ALL=C DEBIAN_FRONTEND=noninteractive HOME=/root

# plans PART PROGRAM FOLDER: solves the example of README.
plans() {
	"$2" solve --max-solve-ms 30000 "$3/openapi/examples/several-classes.json" >/root/said
	sed -n "s/^Rent/$1: Rent/p" /root/said
	grep -q 'Confirmed by cbc ' /root/said && echo "$1: confirmed by cbc"
}

tar -xzf /root/dist/headroom_*.tar.gz -C /opt
folder=$(echo /opt/headroom_*)
plans archive "$folder/headroom" "$folder"
mv "$folder/headroom-solver" /root/away
"$folder/headroom" solve "$folder/openapi/examples/several-classes.json" | sed -n 's/^Rent/archive without its solver: Rent/p'
mv /root/away "$folder/headroom-solver"

# Packages may start no service here.
printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d && chmod +x /usr/sbin/policy-rc.d
mkdir -p /etc/postgresql-common && echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.conf
apt-get -q update >/root/apt.log 2>&1
installs() {
	apt-get -q -y --no-install-recommends install "$@" >>/root/apt.log 2>&1 || { cat /root/apt.log; exit 1; }
}
installs systemd-standalone-sysusers # which makes the user where there is no systemd
installs /root/dist/before/headroom_*.deb postgresql
test -z "$(find /etc/headroom -type f)"
test -s /usr/share/man/man1/headroom-solve.1.gz
plans package headroom /usr/share/doc/headroom

# starts and stops: as the unit does, by the user and with the state directory that systemd would make.
getent passwd headroom >/root/user && echo 'user: made'
install -d -o headroom -g headroom -m 0700 /var/lib/headroom
starts() {
	setpriv --reuid=headroom --regid=headroom --clear-groups env HEADROOM_DATA_DIR=/var/lib/headroom HEADROOM_LISTEN=127.0.0.1:18473 \
		headroom serve >>/root/serve.log 2>&1 &
	server=$!
	tries=0
	until headroom server health --data-dir /var/lib/headroom >/root/health.log 2>&1; do
		tries=$((tries + 1))
		[ $tries -lt 120 ] || { cat /root/serve.log /root/health.log; exit 1; }
		sleep 1
	done
}
stops() {
	kill $server
	wait $server
}
starts
headroom server key create me --role admin --data-dir /var/lib/headroom | grep -q . && echo 'key: made'
headroom init night --takes 45m --on 10 --a-day 20 --instance m5.xlarge --price 0.192 --data-dir /var/lib/headroom >/root/init.log 2>&1 || { cat /root/init.log; exit 1; }
sed -n 's/^ *Rent/init: Rent/p' /root/init.log
headroom plan get night -o json --data-dir /var/lib/headroom | sed -n 's/.*"status": "\(optimal\)".*/plan: \1/p' | head -n 1
# shown SENTENCE: the commands that docs/how-to/operate.md shows after a sentence.
shown() {
	sed -n "/^$1/,/^\`\`\`\$/p" /usr/share/doc/headroom/docs/how-to/operate.md | sed '1,/^```sh$/d; /^```$/d'
}
cd /root
shown 'The private database listens' >backup.sh && test -s backup.sh && sh -eu backup.sh
headroom cluster delete night --yes --data-dir /var/lib/headroom >/root/deleted.log
shown 'Into a private database' >restore.sh && test -s restore.sh && sh -eu restore.sh
stops || echo 'stopped after a restore: background work did not end, as its tables were replaced'
starts
headroom plan get night --data-dir /var/lib/headroom | sed -n 's/^Rent/restored: Rent/p'
headroom plan verify night --data-dir /var/lib/headroom | sed -n '1s/^/verify: /p'
# Perl came with postgresql; curl did not.
perl -MIO::Socket::INET -e '
	for (["/", "page"], ["/docs/tutorials/first-plan", "docs"]) {
		my $s = IO::Socket::INET->new("127.0.0.1:18473") or die;
		print $s "GET $_->[0] HTTP/1.0\r\nHost: 127.0.0.1:18473\r\n\r\n";
		print "$_->[1]: served\n" if <$s> =~ m{^HTTP/1\.[01] [23]0};
	}'
stops && echo stopped

# An upgrade replaces programs and units. User, data and settings stay, and the next start carries the schema on.
echo HEADROOM_LOG_LEVEL=info >/etc/headroom/headroom.env && chmod 600 /etc/headroom/headroom.env
cp /etc/headroom/headroom.env /root/settings
installs /root/dist/headroom_*.deb
dpkg-query --show --showformat 'upgraded: ${Version}\n' headroom
headroom version | sed 's/^/upgraded: /'
getent passwd headroom | cmp - /root/user && cmp /etc/headroom/headroom.env /root/settings && echo 'upgraded: user and settings are as before'
starts
headroom plan get night --data-dir /var/lib/headroom | sed -n 's/^Rent/upgraded: Rent/p'
stops && echo 'upgraded: stopped'

# A removal leaves data and settings; a purge leaves them, too, and says so.
removes() {
	apt-get -q -y "$1" headroom >/root/removal.log 2>&1 || { cat /root/removal.log; exit 1; }
	cat /root/removal.log >>/root/apt.log
	test ! -e /usr/bin/headroom && test ! -e /usr/lib/systemd/system/headroom.service
	test -s /var/lib/headroom/postgres/PG_VERSION && cmp /etc/headroom/headroom.env /root/settings
}
removes remove && echo removed
removes purge && grep -q '^headroom: /var/lib/headroom is kept' /root/removal.log && grep -q '^headroom: /etc/headroom is kept' /root/removal.log && echo purged
