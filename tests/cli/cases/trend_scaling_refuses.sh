echo '{"gpu_count":-1,"a":{"execution_time":1,"success":true}}' > a.json; view_profile trend a.json
echo '{"gpu_count":2,"a":{"execution_time":1}}' > b.json; view_profile trend b.json
echo '{"gpu_count":2,"a":{"execution_time":1' > c.json; view_profile trend c.json
echo '{"gpu_count":2,"a":{"execution_time":1,"success":true}}' > d.json; echo '{}' > e.json; view_profile trend d.json e.json
echo '{"gpu_count":2,"a":{"execution_time":1e300,"success":true},"b":{"execution_time":-1,"success":true}}' > f.json; view_profile trend f.json
