. "$(dirname "$0")/lib_inc.sh"
p=$1; l=$2; n=$3
lab_make --hosts 4 --plane $p
for i in $(seq $n); do a=$(date +%s%N); job_start 4 -- calls=1000 longest=$l "${@:4}"; job_end 100; b=$(date +%s%N); echo "$p longest $l: $(( (b-a)/1000000 )) us/call; $(cat $scratch/rank.*)"; done
