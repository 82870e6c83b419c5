local there = redis.call('GET', KEYS[1])
if not there or there == ARGV[1] then
  redis.pcall('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
end
return there or ARGV[1]
