import getPort from 'get-port'

let next = process.pid * 97

function* ports(): Generator<number> {
  for (;;) yield 11_000 + (next++ % 20_000)
}

/**
 * A free port below the ephemeral range, so that the system does not assign it to anybody else. Each process starts
 * its search elsewhere.
 */
export function freePort(): Promise<number> {
  return getPort({ port: ports() })
}
