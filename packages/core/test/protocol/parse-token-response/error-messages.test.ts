import { parseTokenResponse } from '@tokenwell/core/protocol'
import { describe, expect, it } from 'vitest'

const identity = { client: 'billing', clientId: 'q7Zt', tokenEndpoint: 'https://auth.example.com/token' }
const rejected = { error: 'invalid_client', fault: { detail: { errorcode: 'oauth.v2.Other' } } }

describe('the message of an error', () => {
  it.each([
    [
      401,
      rejected,
      'The token endpoint rejected the client credentials (401 invalid_client oauth.v2.Other). Check the client ID, secret and approval of "billing" at https://auth.example.com/token.',
      'The token endpoint rejected the client credentials (401 invalid_client oauth.v2.Other). Check the client ID, secret and approval.',
    ],
    [
      400,
      { error: 'invalid_scope' },
      'The token endpoint https://auth.example.com/token rejected the request (400 invalid_scope). Check the URL, grant and scope of "billing".',
      'The token endpoint rejected the request (400 invalid_scope). Check the URL, grant and scope.',
    ],
    [
      302,
      {},
      'The token endpoint https://auth.example.com/token redirected the request (302). Redirects are not followed. Check the URL.',
      'The token endpoint redirected the request (302). Redirects are not followed. Check the URL.',
    ],
    [
      0,
      {},
      'The token endpoint https://auth.example.com/token redirected the request (redirect). Redirects are not followed. Check the URL.',
      'The token endpoint redirected the request (redirect). Redirects are not followed. Check the URL.',
    ],
    [
      429,
      {},
      'The token endpoint https://auth.example.com/token rate-limited the request (429).',
      'The token endpoint rate-limited the request (429).',
    ],
    [
      503,
      {},
      'The token endpoint https://auth.example.com/token is unavailable (503).',
      'The token endpoint is unavailable (503).',
    ],
    [
      200,
      {},
      'The response has no valid access_token (200). Check the URL of the token endpoint, https://auth.example.com/token.',
      'The response has no valid access_token (200). Check the URL of the token endpoint.',
    ],
    [
      200,
      { access_token: 'A1b2', token_type: 'mac' },
      'The response has an unsupported token_type (200). Check the URL of the token endpoint, https://auth.example.com/token.',
      'The response has an unsupported token_type (200). Check the URL of the token endpoint.',
    ],
  ])('names the client and the token endpoint, if they are known: %d %j', (status, body, named, unnamed) => {
    const parse = (options?: typeof identity) => () =>
      parseTokenResponse(status, {}, JSON.stringify(body), options)
    expect(parse(identity)).toThrow(expect.objectContaining({ message: named }))
    expect(parse()).toThrow(expect.objectContaining({ message: unnamed }))
  })
})
