import { describe, expect, it } from 'vitest'
import { createRandom } from '../random.ts'
import { json, type ScriptedResponse } from '../servers/scripted-server.ts'
import {
  comparable,
  useAdapterFixture,
  type AdapterClient,
  type AdapterUnderTest,
} from './adapter-under-test.ts'
import { requestBodies } from './request-body.ts'

/** Nightly, 5,000 for all clients together. */
const count = process.env['TOKENWELL_SOAK'] ? 1_250 : 60

interface Hop {
  readonly status: number
  /** Undefined without a `Location`. */
  readonly location: string | undefined
}

/** A request, the redirects that it meets, and the last response. */
interface Script {
  readonly method: string
  readonly body: (typeof requestBodies)[number]
  readonly hops: readonly Hop[]
  readonly status: number
}

/** Where a client with tokens may differ from the plain one, and why. */
const knownDifferences: readonly {
  readonly reason: string
  applies(script: Script, adapter: AdapterUnderTest): boolean
}[] = [
  {
    reason:
      'Without its token, on another origin, a request is left to axios over fetch: of a circle, it counts 20 redirects anew.',
    applies: ({ hops }, { name }) =>
      name.startsWith('axios over fetch') &&
      hops.some(({ location }) => location === '/s/0' || location === '') &&
      hops.some(({ location }) => location?.startsWith('http://127')),
  },
]

/**
 * Random requests, through random redirects, with the adapter and without it: the caller gets the same, and the servers receive the
 * same, but for the token. Those that differ are in one list, each with its reason.
 */
export function describeScripts(adapter: AdapterUnderTest): void {
  const fixture = useAdapterFixture(adapter)

  describe('in random scripts of redirects, bodies and methods', () => {
    const sendable = requestBodies.filter(({ kind }) => !adapter.cannotSend?.includes(kind as never))

    function createScript(random: () => number): Script {
      const pick = <Value>(values: readonly Value[]): Value => values[Math.floor(random() * values.length)]!
      const method = pick(['GET', 'HEAD', 'POST', 'POST', 'PUT', 'PATCH', 'DELETE'])
      const body = method === 'GET' || method === 'HEAD' ? requestBodies[0]! : pick(sendable)
      const hops = Array.from({ length: pick([0, 1, 1, 2, 3]) }, (_, index): Hop => {
        const next = `/s/${index + 1}`
        const { api, other } = fixture
        const locations = [next, next, next.slice(3), api.origin + next, other.origin + next, `${next}?a=b#c`]
        const odd = [undefined, 'http://[', 'ftp://127.0.0.1/x', '/s/0', '']
        return { status: pick([301, 302, 303, 307, 308]), location: pick(random() < 0.1 ? odd : locations) }
      })
      return { method, body, hops, status: pick([200, 200, 201, 204, 404, 500]) }
    }

    async function run(client: AdapterClient, { method, body, hops, status }: Script) {
      const servers = [fixture.api, fixture.other]
      let left = 40
      for (const server of servers) {
        server.respond = ({ url }): ScriptedResponse => {
          const hop = hops[Number(/^\/s\/(\d+)/.exec(url)?.[1])]
          // A script that leads in a circle.
          if (hop === undefined || left-- <= 0)
            return status === 204 ? { status } : json({ arrived: url }, status)
          const { location } = hop
          return { status: hop.status, ...(location !== undefined && { headers: { location } }) }
        }
        server.requests.splice(0)
      }
      const outcome = await fixture.outcomeOf(client, {
        url: `${fixture.api.origin}/s/0`,
        method,
        body: body.create(),
      })
      return { outcome, received: servers.map((server) => comparable(server.requests)) }
    }

    it(`does what the plain client does, ${count} times`, async () => {
      const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 1e9))
      const random = createRandom(seed)
      await fixture.tokens.getToken()
      const differing: string[] = []
      for (let number = 0; number < count; number++) {
        const script = createScript(random)
        const expected = await run(fixture.plain, script)
        const actual = await run(fixture.client, script)
        const isSame = JSON.stringify(actual) === JSON.stringify(expected)
        if (isSame || knownDifferences.some((known) => known.applies(script, adapter))) continue
        const { method, body, hops, status } = script
        const shown = { method, body: body.kind, hops, status, expected, actual }
        differing.push(JSON.stringify(shown))
      }
      expect({ seed, differing: differing.slice(0, 3) }).toStrictEqual({ seed, differing: [] })
    })
  })
}
