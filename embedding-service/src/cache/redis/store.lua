redis.call('HSET', KEYS[1], unpack(ARGV, 6))
if ARGV[5] == '0' then redis.call('HDEL', KEYS[1], 'vec') end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
if ARGV[5] == '0' then
  redis.call('ZREM', KEYS[2], KEYS[1])
else
  redis.call('ZADD', KEYS[2], ARGV[1], KEYS[1])
  redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', ARGV[1] - ARGV[3])
  redis.call('ZREMRANGEBYRANK', KEYS[2], 0, -1 - ARGV[4])
  redis.call('PEXPIRE', KEYS[2], ARGV[3])
end
