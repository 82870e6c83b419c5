if redis.call('HGET', KEYS[1], 'digest') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'observed', ARGV[2], 'digest', ARGV[3])
return 1
