import { redisScript } from './redis-script.ts'

// All keys of one script share a hash tag: on a cluster they live on one node. A key may hold anything, put there
// by anybody, so values are read with pcall: of a foreign type they read as '' and stop nothing.

const nowMs = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`

/** KEYS token, hold. Returns Redis's time with both values. */
export const readScript = redisScript(`${nowMs}
local function value(key)
  local found = redis.pcall('GET', key)
  return type(found) == 'table' and '' or found
end
return { now, value(KEYS[1]), value(KEYS[2]) }
`)

/** KEYS token; ARGV how its entry must begin. */
export const removeScript = redisScript(`
local found = redis.pcall('GET', KEYS[1])
if type(found) == 'string' and string.sub(found, 1, #ARGV[1]) == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return 0
`)

/**
 * KEYS lease; ARGV fencing value, ttl. Returns Redis's time, or nothing while somebody else has the lease. Asked
 * twice by a client that repeats a command after a failover, it says yes twice. A key without an end is no lease.
 */
export const leaseScript = redisScript(`${nowMs}
local holder = redis.pcall('GET', KEYS[1])
if holder and holder ~= ARGV[1] and redis.call('PTTL', KEYS[1]) >= 0 then return false end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return now
`)

/** KEYS lease; ARGV fencing value, ttl: 0 gives the lease back. */
export const extendScript = redisScript(`
if redis.pcall('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
`)

/**
 * KEYS lease, the entry, what it supersedes; ARGV fencing value, entry, when the lease was taken, when the entry
 * ends. A clock set back since then, or the slower one of a new master, would lengthen its life: nothing is kept.
 */
export const keepScript = redisScript(`${nowMs}
if redis.pcall('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if now < tonumber(ARGV[3]) or now >= tonumber(ARGV[4]) then return 0 end
redis.call('SET', KEYS[2], ARGV[2], 'PXAT', ARGV[4])
if KEYS[3] then redis.call('DEL', KEYS[3]) end
return 1
`)
