import { redisScript } from './redis-script.ts'

// All keys of one script share a hash tag: on a cluster they are on one node. Other programs may have written any
// value, so values are read with pcall: one of another type reads as '' and does not abort the script.

const nowMs = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`

/** KEYS token, cooldown. Returns the time of Redis with both values. */
export const readScript = redisScript(`${nowMs}
local function value(key)
  local found = redis.pcall('GET', key)
  return type(found) == 'table' and '' or found
end
return { now, value(KEYS[1]), value(KEYS[2]) }
`)

/** KEYS token; ARGV the required beginning of its entry. */
export const removeScript = redisScript(`
local found = redis.pcall('GET', KEYS[1])
if type(found) == 'string' and string.sub(found, 1, #ARGV[1]) == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return 0
`)

/**
 * KEYS lease; ARGV holder ID, TTL. Returns the time of Redis, or nothing while another holder has the lease. Succeeds
 * again for the same holder, as clients repeat commands after a failover. A key without an expiry is not a lease.
 */
export const leaseScript = redisScript(`${nowMs}
local holder = redis.pcall('GET', KEYS[1])
if holder and holder ~= ARGV[1] and redis.call('PTTL', KEYS[1]) >= 0 then return false end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return now
`)

/** KEYS lease; ARGV holder ID, TTL: 0 releases the lease. */
export const extendScript = redisScript(`
if redis.pcall('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
`)

/**
 * KEYS lease, the entry, the entry that it supersedes; ARGV holder ID, entry, time of the lease, expiry of the entry.
 * Writes nothing if the clock was set back since, or belongs to a slower new master: the lifetime would be too long.
 */
export const writeScript = redisScript(`${nowMs}
if redis.pcall('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if now < tonumber(ARGV[3]) or now >= tonumber(ARGV[4]) then return 0 end
redis.call('SET', KEYS[2], ARGV[2], 'PXAT', ARGV[4])
if KEYS[3] then redis.call('DEL', KEYS[3]) end
return 1
`)
