import { createRandom } from '@tokenwell/internal-testing/random'

/** A random response of a token endpoint that contains the names and values that matter. */
export interface RandomResponse {
  readonly status: number
  readonly headers: Record<string, string>
  readonly body: string
}

const knownNames = (
  'access_token token_type expires_in issued_at scope client_id developer.email refresh_token refresh_count ' +
  'api_product_list api_product_list_json error ErrorCode Error error_description fault faultstring detail ' +
  'errorcode __proto__ constructor toString valueOf then status'
).split(' ')

const texts = [
  'Bearer',
  'mac',
  'A1b2',
  'a\r\nb',
  'invalid_client',
  'quota violation',
  '3599',
  '1e999',
  '',
  '[a, b]',
]
const oddTexts = [' ', '\0', '\u2028', '😀', 'tök', '9'.repeat(400), '0', '-1']
const leaves: unknown[] = [...texts, ...oddTexts, null, true, 0, -1, 3_599, 0.5, 1e300, 1_707_406_838_904]
const retryAfter = [
  '7',
  '-1',
  '9'.repeat(30),
  'Sun, 06 Nov 1994 08:49:37 GMT',
  'Wed',
  '1;2',
  '',
  '\u00e9',
  'NaN',
  '1e3',
]
const statuses = [200, 200, 200, 201, 204, 302, 400, 401, 403, 408, 429, 500, 503]

/** Returns the same response for the same seed. */
export function randomResponse(seed: number): RandomResponse {
  const random = createRandom(seed)
  const below = (most: number): number => Math.floor(random() * most)
  const pick = <Value>(values: readonly Value[]): Value => values[below(values.length)]!
  const text = (): string =>
    String.fromCharCode(...Array.from({ length: below(12) }, () => below(below(4) ? 128 : 65_536)))

  const value = (depth: number): unknown => {
    const kind = below(depth > 4 ? 6 : 10)
    if (kind < 5) return pick(leaves)
    if (kind === 5) return below(2) ? text() : (random() - 0.5) * 10 ** below(20)
    if (kind < 8) return Array.from({ length: below(4) }, () => value(depth + 1))
    return object(depth + 1, {})
  }
  const object = (depth: number, members: Record<string, unknown>): object => {
    for (let member = below(8); member > 0; member--) {
      const name = below(8) ? pick(knownNames) : text()
      Object.defineProperty(members, name, {
        value: value(depth),
        enumerable: true,
        configurable: true,
        writable: true,
      })
    }
    return members
  }
  const json = (): string => {
    const tokens: object[] = [{}, { access_token: 'A1b2' }, { access_token: 'A1b2', token_type: 'Bearer' }]
    const sorts = [() => object(0, {}), () => object(0, { ...pick(tokens) }), () => value(0)]
    return JSON.stringify(pick(sorts)()) ?? ''
  }
  const bodies = [
    json,
    json,
    json,
    json,
    () => json().slice(0, below(200)),
    () => `\uFEFF${json()}${pick(['', '\0', '\r\n', '}'])}`,
    text,
    () => pick(['<html>', '<fault>Spike arrest violation</fault>', '', 'null', '[]', '"x"', '{}']),
  ]
  const headers: Record<string, string> = {}
  if (below(2)) headers[pick(['Retry-After', 'retry-after'])] = below(4) ? pick(retryAfter) : text()
  if (below(4) === 0) headers['Date'] = pick(retryAfter)
  if (below(8) === 0) headers['get'] = 'odd'
  return { status: below(4) ? pick(statuses) : below(600), headers, body: pick(bodies)() }
}

/** Bodies of about `size` characters that would keep a careless parser busy. */
export function largeBodies(size: number): string[] {
  const token = '"access_token":"A1b2","token_type":"Bearer"'
  const fill = (piece: string): string => piece.repeat(size / piece.length)
  return [
    `{${token},"scope":"${fill(' ')}"}`,
    `{${token},"scope":"${fill('a ')}"}`,
    `{${token},"expires_in":"${fill(' ')}x"}`,
    `{${token},"expires_in":"${fill('9')}"}`,
    `{${token},"api_product_list":"${fill(']')}"}`,
    `{${token},"api_product_list":"${fill('] ')}x"}`,
    `{${token},"api_product_list":"${fill(',')}"}`,
    `{"access_token":"${fill('a')}"}`,
    `{"access_token":"a${fill(' ')}"}`,
    `{"access_token":"${fill('a ')}\\n"}`,
    `{"token_type":"${fill('bearer')}"}`,
    `{"fault":{"faultstring":"${fill('app')}"}}`,
    `{"fault":{"faultstring":[${fill('1,')}1]}}`,
    `{"fault":{"faultstring":${fill('[')}`,
    `{"error":"${fill('a')}"}`,
    `{"fault":{"detail":{"errorcode":"${fill('spike')}"}}}`,
    `{${Array.from({ length: size / 17 }, (_, index) => `"m${index}":1`).join(',')}}`,
    fill('{"a":'),
    fill('['),
    `${fill('[').slice(0, size / 2)}${fill(']').slice(0, size / 2)}`,
    fill('<quota '),
    fill('spike arrest '),
  ]
}
