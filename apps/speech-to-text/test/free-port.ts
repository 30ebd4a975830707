import getPort from 'get-port'

/** A port that is given to nobody unasked: those above 32,767 are, at any time. */
export function freePort(): Promise<number> {
  return getPort({ port: Array.from({ length: 20 }, () => 10_000 + Math.floor(Math.random() * 20_000)) })
}
