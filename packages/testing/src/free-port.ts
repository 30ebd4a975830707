import getPort from 'get-port'

let next = process.pid * 97

function* ports(): Generator<number> {
  for (;;) yield 11_000 + (next++ % 20_000)
}

/** A port that is given to nobody unasked, as those above 32,767 are at any time. Other processes begin elsewhere. */
export function freePort(): Promise<number> {
  return getPort({ port: ports() })
}
