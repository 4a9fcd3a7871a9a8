# The layout stays, files are 0600 in 0700, and the bytes are the archive's, unpacked.
view_profile extract --out o "$TRACES/archives_made/tpu_inference_2runs.tar.zst" || exit
find o -printf '%y %m %P\n' | sort -k3
member=profiles/plugins/profile/2026_01_11_21_26_41/t1v-n-9eb622fc-w-0.trace.json
tar --zstd -xOf "$TRACES/archives_made/tpu_inference_2runs.tar.zst" $member.gz | zcat | cmp - o/$member
