#!/bin/sh
# Lab three-hosts, by hand. rdmalab itself speaks netlink and runs none of these lines.
# Two connections into one port share it, and a lossy port costs both of them what it costs one alone.
# Needs root, iproute2 6.6 (netem's seed) and ethtool. Best tried in a virtual machine.
# Soft-RoCE works in network namespaces from kernel 7.1 on.
set -eu
modprobe -a bridge ib_uverbs rdma_rxe sch_netem veth
# Each QP may have 64 packets in a receiver's backlog; an overflow there kills it.
sysctl -qw net.core.netdev_max_backlog=100000

# 1. A namespace for each host, one for the fabric between them
ip netns add rl-fabric
ip netns add rl-left
ip -n rl-left link set lo up
ip netns exec rl-left sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
ip netns add rl-right
ip -n rl-right link set lo up
ip netns exec rl-right sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
ip netns add rl-sink
ip -n rl-sink link set lo up
ip netns exec rl-sink sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
ip netns exec rl-fabric sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
ip -n rl-fabric link add br0 type bridge
ip -n rl-fabric link set br0 mtu 1500 up

# 2. A veth cable from each host to a port of the fabric
ip -n rl-fabric link add p0 mtu 1500 type veth peer name eth0 address 02:00:00:00:00:01 mtu 1500 netns rl-left
ip netns exec rl-fabric ethtool -K p0 tso off gso off gro off
ip netns exec rl-left ethtool -K eth0 tso off gso off gro off
ip -n rl-fabric link set p0 master br0 up
ip -n rl-left address add 10.0.0.1/24 dev eth0
ip -n rl-left link set eth0 up
ip -n rl-fabric link add p1 mtu 1500 type veth peer name eth0 address 02:00:00:00:00:02 mtu 1500 netns rl-right
ip netns exec rl-fabric ethtool -K p1 tso off gso off gro off
ip netns exec rl-right ethtool -K eth0 tso off gso off gro off
ip -n rl-fabric link set p1 master br0 up
ip -n rl-right address add 10.0.0.2/24 dev eth0
ip -n rl-right link set eth0 up
ip -n rl-fabric link add p2 mtu 1500 type veth peer name eth0 address 02:00:00:00:00:03 mtu 1500 netns rl-sink
ip netns exec rl-fabric ethtool -K p2 tso off gso off gro off
ip netns exec rl-sink ethtool -K eth0 tso off gso off gro off
ip -n rl-fabric link set p2 master br0 up
ip -n rl-sink address add 10.0.0.3/24 dev eth0
ip -n rl-sink link set eth0 up
# Permanent neighbours: no ARP packet may get lost instead of a payload packet.
ip -n rl-left neighbour replace 10.0.0.2 lladdr 02:00:00:00:00:02 dev eth0 nud permanent
ip -n rl-left neighbour replace 10.0.0.3 lladdr 02:00:00:00:00:03 dev eth0 nud permanent
ip -n rl-right neighbour replace 10.0.0.1 lladdr 02:00:00:00:00:01 dev eth0 nud permanent
ip -n rl-right neighbour replace 10.0.0.3 lladdr 02:00:00:00:00:03 dev eth0 nud permanent
ip -n rl-sink neighbour replace 10.0.0.1 lladdr 02:00:00:00:00:01 dev eth0 nud permanent
ip -n rl-sink neighbour replace 10.0.0.2 lladdr 02:00:00:00:00:02 dev eth0 nud permanent

# 3. A Soft-RoCE device on each host's interface
ip netns exec rl-left rdma link add rxe0 type rxe netdev eth0
ip netns exec rl-right rdma link add rxe1 type rxe netdev eth0
ip netns exec rl-sink rdma link add rxe2 type rxe netdev eth0

# 4. The links: one netem at each port's egress, the last thing before a host
# limit is computed so that the queue itself never drops a packet.
tc -n rl-fabric qdisc add dev p0 root handle 1: netem limit 11936 delay 20us rate 250mbit seed 16321491304643971414
tc -n rl-fabric qdisc add dev p1 root handle 1: netem limit 11936 delay 20us rate 250mbit seed 4585330820673184961
tc -n rl-fabric qdisc add dev p2 root handle 1: netem limit 11936 delay 20us rate 250mbit seed 10430974457111710706

# 5. Traffic, unfaulted
# rdmalab sends its own, checked traffic here. Public tools that come near:
#   roce-left: ip netns exec rl-sink ib_write_bw -m 1024 -s 65536 -t 16 -q 1 -u 14 -D 1 -F -d rxe2 &
#   roce-left: ip netns exec rl-left ib_write_bw -m 1024 -s 65536 -t 16 -q 1 -u 14 -D 1 -F -d rxe0 10.0.0.3
#   roce-right: ip netns exec rl-sink ib_write_bw -m 1024 -s 65536 -t 16 -q 1 -u 14 -D 1 -F -d rxe2 &
#   roce-right: ip netns exec rl-right ib_write_bw -m 1024 -s 65536 -t 16 -q 1 -u 14 -D 1 -F -d rxe1 10.0.0.3
#   tcp-left: ip netns exec rl-sink iperf3 -s -1 &
#   tcp-left: ip netns exec rl-left iperf3 -c 10.0.0.3 -P 1 -C cubic -l 65536 -t 1
#   tcp-right: ip netns exec rl-sink iperf3 -s -1 &
#   tcp-right: ip netns exec rl-right iperf3 -c 10.0.0.3 -P 1 -C cubic -l 65536 -t 1
printf 'The lab stands; press Enter to go on. '; read -r _ || true

# 6. The faults
# loss: packets to sink
tc -n rl-fabric qdisc change dev p2 root handle 1: netem limit 11936 delay 20us loss random 1% rate 250mbit seed 10430974457111710706

# 7. Traffic, faulted
# rdmalab sends its own, checked traffic here. Public tools that come near:
#   roce-left: ip netns exec rl-sink ib_write_bw -m 1024 -s 65536 -t 16 -q 1 -u 14 -D 1 -F -d rxe2 &
#   roce-left: ip netns exec rl-left ib_write_bw -m 1024 -s 65536 -t 16 -q 1 -u 14 -D 1 -F -d rxe0 10.0.0.3
#   roce-right: ip netns exec rl-sink ib_write_bw -m 1024 -s 65536 -t 16 -q 1 -u 14 -D 1 -F -d rxe2 &
#   roce-right: ip netns exec rl-right ib_write_bw -m 1024 -s 65536 -t 16 -q 1 -u 14 -D 1 -F -d rxe1 10.0.0.3
#   tcp-left: ip netns exec rl-sink iperf3 -s -1 &
#   tcp-left: ip netns exec rl-left iperf3 -c 10.0.0.3 -P 1 -C cubic -l 65536 -t 1
#   tcp-right: ip netns exec rl-sink iperf3 -s -1 &
#   tcp-right: ip netns exec rl-right iperf3 -c 10.0.0.3 -P 1 -C cubic -l 65536 -t 1
printf 'The lab stands; press Enter to go on. '; read -r _ || true

# 8. What was counted; then everything goes away
tc -n rl-fabric -s qdisc show
ip netns exec rl-left rdma statistic show link rxe0/1
ip netns exec rl-right rdma statistic show link rxe1/1
ip netns exec rl-sink rdma statistic show link rxe2/1
ip netns exec rl-left rdma link delete rxe0
ip netns exec rl-right rdma link delete rxe1
ip netns exec rl-sink rdma link delete rxe2
ip netns delete rl-left
ip netns delete rl-right
ip netns delete rl-sink
ip netns delete rl-fabric
